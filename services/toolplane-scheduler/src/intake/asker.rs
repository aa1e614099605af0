//! Who asked for a call, and what else its decision was made from: kept with the call, so that it can be decided again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::ids::TenantId;
use toolplane_records::invocation::Invocation;
use toolplane_runtime::Caller;
use toolplane_runtime::caller::{Role, RoleSet};

use super::spec::CallSpec;

/// What a decision is made from beside the call itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Asker {
    /// The person or program behind the credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    roles: Vec<Role>,
    #[serde(default)]
    authenticated: bool,
    /// There is a person who can answer an approval.
    #[serde(default)]
    pub(crate) can_ask: bool,
    /// What hooks said of the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) verdicts: Vec<HookVerdict>,
    /// What a safety classifier said of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) classifier: Option<ClassifierCheck>,
}

impl Asker {
    /// Who asks for `spec`, before any hook was asked.
    pub(crate) fn of(spec: &CallSpec) -> Self {
        let caller = &spec.caller;
        Self {
            actor: caller.actor.clone(),
            roles: Role::ALL.into_iter().filter(|role| caller.is(*role)).collect(),
            authenticated: caller.authenticated,
            can_ask: spec.context.can_ask,
            verdicts: Vec::new(),
            classifier: None,
        }
    }

    /// The asker of a call of which nothing was kept, because there was nothing to keep: any caller of this cluster.
    pub(crate) fn anybody() -> Self {
        Self {
            actor: None,
            roles: Role::ALL.to_vec(),
            authenticated: false,
            can_ask: true,
            verdicts: Vec::new(),
            classifier: None,
        }
    }

    /// Whether nothing has to be kept.
    pub(crate) fn is_anybody(&self) -> bool {
        *self == Self::anybody()
    }

    /// The caller of `record`, as the permission service knows it.
    pub(crate) fn caller(&self, record: &Invocation) -> Arc<Caller> {
        self.caller_of(&record.tenant, record.caller_ref.as_deref().unwrap_or_default())
    }

    fn caller_of(&self, tenant: &TenantId, caller_ref: &str) -> Arc<Caller> {
        Arc::new(Caller {
            tenant: tenant.clone(),
            actor: self.actor.clone(),
            caller_ref: caller_ref.to_owned(),
            roles: RoleSet::of(&self.roles),
            authenticated: self.authenticated,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asked_reads_back_and_nothing_is_kept_of_anybody() {
        let asker = Asker {
            actor: Some("ann".into()),
            roles: vec![Role::Agent],
            authenticated: true,
            can_ask: false,
            ..Asker::anybody()
        };
        let text = serde_json::to_string(&asker).unwrap();
        assert_eq!(serde_json::from_str::<Asker>(&text).unwrap(), asker);
        assert!(!asker.is_anybody() && Asker::anybody().is_anybody());
        let caller = asker.caller_of(&TenantId::unauthenticated(), "key:a");
        assert!(caller.is(Role::Agent) && !caller.is(Role::Approver) && caller.authenticated);
    }
}
