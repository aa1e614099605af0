//! Everything that decides: rules, settings, and the organisation's own policies.

use std::sync::Arc;

use toolplane_records::payload::{Digest, JsonPayload};

use crate::org::OrgPolicy;
use crate::set::RuleSet;
use crate::settings::PolicySettings;

/// What is in force at one time.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The rules.
    pub rules: Arc<RuleSet>,
    /// The operator's settings.
    pub settings: Arc<PolicySettings>,
    /// The organisation's policies, when there are any.
    pub org: Option<Arc<dyn OrgPolicy>>,
}

impl Policy {
    /// Rules alone, with default settings.
    pub fn of(rules: RuleSet) -> Self {
        Self { rules: Arc::new(rules), ..Self::default() }
    }

    /// SHA-256 over everything that can change a decision, and the version of this way of deciding.
    pub fn digest(&self) -> Digest {
        const VERSION: u32 = 1;
        let org = self.org.as_ref().map(|org| org.digest());
        JsonPayload::of(&("policy", VERSION, self.rules.digest(), self.settings.digest(), org)).digest()
    }
}
