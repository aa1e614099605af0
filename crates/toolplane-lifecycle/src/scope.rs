//! What several calls share, and what is therefore decided for all of them at once.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use toolplane_records::SmolStr;
use toolplane_records::ids::{BatchId, InvalidId, InvocationId, TenantId};
use toolplane_records::invocation::Invocation;

/// Something that has to be settled among calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Releases, cancellations and yields of a batch.
    Batch {
        /// Owner.
        tenant: TenantId,
        /// The batch.
        id: BatchId,
    },
    /// Tickets and grants of a lock domain.
    Locks {
        /// Owner.
        tenant: TenantId,
        /// Name of the domain.
        domain: SmolStr,
    },
}

/// What `invocation` shares with others.
pub fn scopes_of(invocation: &Invocation) -> Vec<Scope> {
    let tenant = &invocation.tenant;
    let batch = invocation.batch.as_ref();
    let batch = batch.map(|place| Scope::Batch { tenant: tenant.clone(), id: place.batch_id.clone() });
    let domain = invocation.lock_domain.clone().filter(|_| !invocation.resource_locks.is_empty());
    let locks = domain.map(|domain| Scope::Locks { tenant: tenant.clone(), domain });
    batch.into_iter().chain(locks).collect()
}

/// Records that were read to settle a scope, by id; `None` for a call that no longer exists.
pub type Known = BTreeMap<InvocationId, Option<Invocation>>;

/// Why a text is not a scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidScope {
    /// Neither `batch:...` nor `locks:.../...`.
    #[error("is neither `batch:<tenant>|<id>` nor `locks:<tenant>/<domain>`")]
    Form,
    /// One of its parts is not an identifier.
    #[error(transparent)]
    Id(#[from] InvalidId),
}

impl Scope {
    /// Owner of the calls that share it.
    pub fn tenant(&self) -> &TenantId {
        match self {
            Self::Batch { tenant, .. } | Self::Locks { tenant, .. } => tenant,
        }
    }
}

/// `batch:<tenant>|<id>`, without the tenant for that of unauthenticated callers, or `locks:<tenant>/<domain>`, with `/` in the
/// tenant written as `%2F`, so that every text reads back.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Batch { tenant, id } => write!(f, "batch:{}", tenant.scoped(id)),
            // `%` is not a character of identifiers.
            Self::Locks { tenant, domain } => write!(f, "locks:{}/{domain}", tenant.as_str().replace('/', "%2F")),
        }
    }
}

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        match text.split_once(':') {
            Some(("batch", name)) => {
                let (tenant, id) = match name.split_once('|') {
                    Some((tenant, id)) => (TenantId::parse(tenant)?, id),
                    None => (TenantId::unauthenticated(), name),
                };
                Ok(Self::Batch { tenant, id: BatchId::parse(id)? })
            }
            Some(("locks", rest)) => {
                let (tenant, domain) = rest.split_once('/').ok_or(InvalidScope::Form)?;
                let tenant = TenantId::parse(&tenant.replace("%2F", "/"))?;
                Ok(Self::Locks { tenant, domain: domain.into() })
            }
            _ => Err(InvalidScope::Form),
        }
    }
}
