//! What may be told of a credential: never its value.

use std::time::Duration;

use toolplane_records::codes::Code;

use crate::config::CredentialConfig;

/// A credential as it may be announced and shown: names, scopes and ages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialStatus {
    /// Its name.
    pub name: String,
    /// Its kind, as in the configuration.
    pub kind: &'static str,
    /// Where it comes from: `file`, `env`, `command` or `oauth2_client_credentials`. Not which.
    pub source: &'static str,
    /// Who it is for, as the configuration says.
    pub scope: ScopeTexts,
    /// Whether it can be given now. A token that nobody needed yet counts as there.
    pub available: bool,
    /// How often it had a new value, since the worker started; 0 where it was not read yet.
    pub generation: u64,
    /// How long ago the value in force was read.
    pub age: Option<Duration>,
    /// How long a token may still be used.
    pub ends_in: Option<Duration>,
    /// What was wrong when its source was looked at last: a code, and a text without secrets and paths. With a value in force that one is
    /// still used.
    pub fault: Option<(Code, String)>,
}

/// Who a credential is for. Absent means that nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeTexts {
    /// Ids of providers.
    pub providers: Option<Vec<String>>,
    /// Patterns of tools.
    pub tools: Option<Vec<String>>,
    /// Tenants.
    pub tenants: Option<Vec<String>>,
    /// Actors.
    pub actors: Option<Vec<String>>,
}

impl ScopeTexts {
    pub(super) fn of(config: &CredentialConfig) -> Self {
        Self {
            providers: config.providers.clone(),
            tools: config.tools.clone(),
            tenants: config.tenants.clone(),
            actors: config.actors.clone(),
        }
    }
}
