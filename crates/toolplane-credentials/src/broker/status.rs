//! What may be told of a credential: never its value.

use std::time::{Duration, Instant};

use toolplane_records::codes::Code;

use super::state::Policy;
use super::{Broker, Entry, Request};
use crate::config::CredentialConfig;
use crate::error::CredentialError;

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
    /// How long ago the file it comes from was written.
    pub file_age: Option<Duration>,
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

// === what a broker tells ===

impl Broker {
    /// Every credential in the order of names: what it is, for whom, how old; no values, and no source is looked at.
    pub fn names(&self) -> Vec<CredentialStatus> {
        let now = self.clock.now();
        self.entries.values().map(|entry| entry.status(now)).collect()
    }

    /// Whether a call would get the credential, as far as is known: no source is looked at. A tool that requires it can be hidden
    /// for the reason that the error names ([`CredentialError::hidden_reason`]).
    ///
    /// # Errors
    ///
    /// The [`CredentialError`] that the call would get; `Unavailable` of what was not looked at yet.
    pub fn check(&self, request: &Request<'_>) -> Result<(), CredentialError> {
        let entry = self.entry_for(request)?;
        let now = self.clock.now();
        if entry.is_available(now) { Ok(()) } else { Err(entry.error(now)) }
    }

    /// Looks at the source of that credential now, whatever its age and scope are, and says how it is.
    ///
    /// # Errors
    ///
    /// The [`CredentialError`] that a call would get.
    pub async fn test(&self, name: &str) -> Result<CredentialStatus, CredentialError> {
        let entry = self.entry(name)?;
        let reader = entry.reader.lock().await;
        self.look(entry, None).await;
        drop(reader);
        let now = self.clock.now();
        let fault = entry.state.lock().fault();
        match fault {
            Some(_) => Err(entry.error(now)),
            None => Ok(entry.status(now)),
        }
    }
}

impl Entry {
    /// Whether it can be given now. A token that nobody needed yet counts as there.
    fn is_available(&self, now: Instant) -> bool {
        let state = self.state.lock();
        let is_unasked = state.fault().is_none() && matches!(self.policy, Policy::ByLifetime);
        state.usable(self.policy, now).is_some() || is_unasked
    }

    fn status(&self, now: Instant) -> CredentialStatus {
        let available = self.is_available(now);
        let state = self.state.lock();
        let age = state.age(now);
        CredentialStatus {
            name: self.config.name.clone(),
            kind: self.config.kind.as_str(),
            source: self.source.kind(),
            scope: ScopeTexts::of(&self.config),
            available,
            generation: state.next_generation() - 1,
            age: age.map(|(age, _)| age),
            file_age: state.stamp().and_then(|stamp| stamp.written_ago()),
            ends_in: age.and_then(|(_, left)| left),
            fault: state.fault().map(|fault| (fault.code(), fault.to_string())),
        }
    }
}
