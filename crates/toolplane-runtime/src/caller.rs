//! Whose request it is: the tenant, the actor and the roles that authentication found.
//!
//! The server puts the [`Caller`] into every request before a handler sees it. Handlers ask [`Caller::of`] and nothing
//! else: what a request says about its own sender counts only when a peer of the cluster says it.

use std::sync::{Arc, LazyLock};

use toolplane_records::codes;
use toolplane_records::ids::TenantId;

use crate::status::ApiError;

mod delegated;
pub(crate) mod roles;
#[cfg(test)]
mod tests;

pub use delegated::{ACTOR, CALLER, ROLES, TENANT};
pub use roles::{Role, RoleSet};

pub(crate) use delegated::{carry, carry_tenant, speaks_for};

/// The name of every tenant at once, where a peer may ask for all of them.
pub const EVERY_TENANT: &str = "*";

/// Who makes a request. Shared as `Arc`: one is made for each credential, not for each call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Whose things are meant. Everything of another tenant is as if it did not exist.
    pub tenant: TenantId,
    /// The person or program, as the credential names it; at most 256 characters.
    pub actor: Option<String>,
    /// The credential: `key:<id>`, `jwt:<issuer>#<sub>`, `mtls:<subject>`, `token`, `process` (this very process), or
    /// empty when the server asks for none. Never the secret itself; at most 512 characters.
    pub caller_ref: String,
    /// What the caller may do.
    pub roles: RoleSet,
    /// Whether a credential was asked for and found good.
    pub authenticated: bool,
}

impl Caller {
    /// The caller of a server that asks for no credential: tenant `default`, every role.
    pub fn unauthenticated() -> Arc<Self> {
        static NOBODY: LazyLock<Arc<Caller>> = LazyLock::new(|| {
            Arc::new(Caller {
                tenant: TenantId::unauthenticated(),
                actor: None,
                caller_ref: String::new(),
                roles: RoleSet::ALL,
                authenticated: false,
            })
        });
        Arc::clone(&NOBODY)
    }

    /// Who did something, for records: the actor of the credential, or the credential itself; only without authentication what
    /// the request says.
    pub fn doer<'a>(&'a self, said: &'a str) -> &'a str {
        match &self.actor {
            _ if !self.authenticated => said,
            Some(actor) => actor,
            None => &self.caller_ref,
        }
    }

    /// A process calling itself: trusted in everything, because nothing from outside can be taken for it.
    pub(crate) fn this_process() -> Arc<Self> {
        static OWN: LazyLock<Arc<Caller>> = LazyLock::new(|| Caller::everything("process"));
        Arc::clone(&OWN)
    }

    /// A credential of the whole cluster: tenant `default`, every role.
    pub(crate) fn everything(caller_ref: &str) -> Arc<Self> {
        let (tenant, caller_ref) = (TenantId::unauthenticated(), caller_ref.to_owned());
        Arc::new(Self { tenant, actor: None, caller_ref, roles: RoleSet::ALL, authenticated: true })
    }

    /// The caller of a request. One that no server has looked at, as in tests of handlers, is unauthenticated.
    pub fn of<T>(request: &tonic::Request<T>) -> Arc<Self> {
        request.extensions().get::<Arc<Self>>().map_or_else(Self::unauthenticated, Arc::clone)
    }

    /// Whether the caller has a role.
    pub fn is(&self, role: Role) -> bool {
        self.roles.contains(role)
    }

    /// The tenant a request is about, where it may name one: the caller's own, or left out. A peer may name any.
    ///
    /// Fails with [`ApiError::PermissionDenied`] when a caller that is not an authenticated peer names another tenant,
    /// and with [`ApiError::InvalidArgument`] when a peer gives a name that is not an identifier.
    pub fn tenant_named(&self, name: &str) -> Result<TenantId, ApiError> {
        if name.is_empty() || name == self.tenant.as_str() {
            return Ok(self.tenant.clone());
        }
        if !self.speaks_for_others() {
            let message = "the request names a tenant that is not the caller's".to_owned();
            return Err(ApiError::PermissionDenied { reason: codes::FOREIGN_TENANT, message });
        }
        TenantId::parse(name).map_err(|rule| ApiError::invalid_argument("tenant", rule.to_string()))
    }

    /// The same where all tenants may be meant: `None` for a peer that names [`EVERY_TENANT`]. Without authentication
    /// there is one tenant, and it is all of them. Returns an error as [`tenant_named`](Self::tenant_named) does; an authenticated
    /// caller that is not a peer may not name [`EVERY_TENANT`].
    pub fn tenants_named(&self, name: &str) -> Result<Option<TenantId>, ApiError> {
        match name {
            EVERY_TENANT if self.speaks_for_others() => Ok(None),
            EVERY_TENANT if !self.authenticated => Ok(Some(self.tenant.clone())),
            name => self.tenant_named(name).map(Some),
        }
    }

    /// Whether what the caller says about other callers is trusted.
    fn speaks_for_others(&self) -> bool {
        self.authenticated && self.is(Role::Peer)
    }
}
