//! The broker: who asks for a credential by name, within its scope, gets it as it is now.
//!
//! | source | is looked at | while it fails | when it is gone |
//! |---|---|---|---|
//! | file | before every use; read when it changed | the last value, up to `max_age_ms` | missing at once |
//! | variable | before every use | the same | missing at once |
//! | command | after `refresh_ms` | the last value, up to `max_age_ms` | |
//! | token | when a fifth of its lifetime is left (a minute, or half of a shorter one) | the token, to its end and never longer | |
//!
//! A file that others may read, or that is another user's, is refused at once, whatever was read before. One caller looks at a source at a
//! time, others share what it finds. A command or token server that failed is asked again after 1, 2, 4 ... 30 seconds. A provider
//! that refuses a value is told by [`Broker::refused`]: a token is dropped, any other source looked at again.

mod masking;
mod state;
mod status;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use toolplane_matching::ToolFacts;

use self::masking::{Masking, Part};
use self::state::{Policy, State, Want};
use crate::clock::Clock;
use crate::config::{self, ConfigFault, CredentialConfig};
use crate::credential::Credential;
use crate::error::{CredentialError, SourceFault};
use crate::mask::Mask;
use crate::scope::Scope;
use crate::source::{Environment, FileStamp, Means, NewReading, Reading, Source};
use crate::tokens::{HttpTokens, NoTokens, TokenClient};
use crate::value::Value;

pub use self::status::{CredentialStatus, ScopeTexts};

/// Longest name that an error repeats.
const MAX_SHOWN: usize = 80;

/// What a broker is made of.
pub struct BrokerOptions {
    /// The credentials of the worker.
    pub credentials: Vec<CredentialConfig>,
    /// How token servers are asked.
    pub tokens: Arc<dyn TokenClient>,
    /// How variables are read.
    pub environment: Environment,
    /// The clock of ages.
    pub clock: Clock,
}

/// Who asks for which credential, for which tool.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The name of the credential.
    pub name: &'a str,
    /// The provider the tool is of, if it is of one.
    pub provider: Option<&'a str>,
    /// The tool.
    pub tool: &'a ToolFacts,
    /// The tenant of the call.
    pub tenant: &'a str,
    /// The actor of the call, if one is named.
    pub actor: Option<&'a str>,
}

/// The credentials of one worker.
pub struct Broker {
    entries: BTreeMap<String, Arc<Entry>>,
    means: Means,
    clock: Clock,
    masking: Arc<Masking>,
}

struct Entry {
    config: CredentialConfig,
    scope: Scope,
    source: Source,
    policy: Policy,
    state: Mutex<State>,
    /// Held by the one who looks at the source.
    reader: tokio::sync::Mutex<()>,
}

impl BrokerOptions {
    /// These credentials, with the environment of this process and its clock.
    pub fn new(credentials: Vec<CredentialConfig>, tokens: Arc<dyn TokenClient>) -> Self {
        Self { credentials, tokens, environment: Arc::new(|name| std::env::var_os(name)), clock: Clock::default() }
    }
}

impl fmt::Debug for BrokerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerOptions").field("credentials", &self.credentials).finish_non_exhaustive()
    }
}

// === impl Broker ===

impl Broker {
    /// A broker; no source is looked at yet.
    ///
    /// # Errors
    ///
    /// The first [`ConfigFault`] of the configuration.
    pub fn new(options: BrokerOptions) -> Result<Self, ConfigFault> {
        let entries = entries(options.credentials, &BTreeMap::new())?;
        let means = Means { environment: options.environment, tokens: options.tokens };
        Ok(Self { entries, means, clock: options.clock, masking: Arc::default() })
    }

    /// A broker of a process: with its environment and its clock, and token servers that are asked over HTTP; no source is looked at
    /// yet.
    ///
    /// # Errors
    ///
    /// The first [`ConfigFault`] of the configuration.
    pub fn of_process(credentials: Vec<CredentialConfig>) -> Result<Self, ConfigFault> {
        let tokens: Arc<dyn TokenClient> = match HttpTokens::usual() {
            Ok(tokens) => Arc::new(tokens),
            Err(error) => {
                tracing::error!(%error, "token servers cannot be asked: TLS cannot be set up");
                Arc::new(NoTokens)
            }
        };
        Self::new(BrokerOptions::new(credentials, tokens))
    }

    /// A broker with these credentials in place of its own: the configuration was read again. What has not changed in it keeps its
    /// value and its age, and what this broker knows goes on being masked by both: calls that began with this one go on with it.
    ///
    /// # Errors
    ///
    /// The first [`ConfigFault`] of the configuration; this broker stays as it is.
    pub fn with_credentials(&self, credentials: Vec<CredentialConfig>) -> Result<Self, ConfigFault> {
        let entries = entries(credentials, &self.entries)?;
        for name in self.entries.keys().filter(|name| !entries.contains_key(*name)) {
            self.masking.retire(name, self.clock.now());
        }
        Ok(Self { entries, means: self.means.clone(), clock: self.clock.clone(), masking: Arc::clone(&self.masking) })
    }

    /// Looks at every source that a call would have to look at first, so that what is in them is masked before the first call, and
    /// [`names`](Self::names) and [`check`](Self::check) are true. Of token servers only those that gave nothing are asked. What is
    /// wrong is logged. To be called at the start, and then every few seconds: a tool that is hidden because something was missing
    /// is called by nobody.
    pub async fn load(&self) {
        let now = self.clock.now();
        let is_looked_at = |entry: &&Entry| {
            let state = entry.state.lock();
            let is_asked = matches!(entry.source, Source::Plain(_)) || state.fault().is_some();
            is_asked && state.want(entry.policy, now) == Want::Read
        };
        let entries: Vec<&Entry> = self.entries.values().map(Arc::as_ref).filter(is_looked_at).collect();
        futures_util::future::join_all(entries.into_iter().map(|entry| self.freshen(entry))).await;
    }

    /// The credential of that name, as it is now, for a call within its scope. A name that is not known is told before anything else;
    /// of one that is not for the call nothing is read.
    ///
    /// # Errors
    ///
    /// A [`CredentialError`], which has a code of the registry and no secret.
    pub async fn credential(&self, request: &Request<'_>) -> Result<Credential, CredentialError> {
        let entry = self.entry_for(request)?;
        self.freshen(entry).await;
        let now = self.clock.now();
        let usable = {
            let mut state = entry.state.lock();
            state.used = true;
            state.usable(entry.policy, now).cloned()
        };
        usable.ok_or_else(|| entry.error(now))
    }

    /// A provider refused this credential (status 401, or what says the same). A token is dropped; any other source is looked at
    /// before the next use. The adapter then asks again, and tries once more if the generation is another one. Nothing happens when
    /// there is a newer value already.
    pub fn refused(&self, credential: &Credential) {
        let Ok(entry) = self.entry(credential.name()) else { return };
        let was_current = entry.state.lock().refused(credential.generation(), entry.policy, self.clock.now());
        if was_current {
            tracing::info!(
                credential = credential.name(),
                generation = credential.generation(),
                "a provider refuses it"
            );
        }
    }

    /// Looks for newer values of those that are due and in use, so that no call has to wait for it. To be called every few
    /// seconds.
    pub async fn renew(&self) {
        let now = self.clock.now();
        let is_due = |entry: &&Entry| {
            let state = entry.state.lock();
            state.used && state.want(entry.policy, now) == Want::Renew
        };
        let due: Vec<&Entry> = self.entries.values().map(Arc::as_ref).filter(is_due).collect();
        futures_util::future::join_all(due.into_iter().map(|entry| self.renew_one(entry))).await;
    }

    /// The mask of every value in use, of earlier ones for an hour, and of those that somebody still holds as a [`Credential`]. Take it
    /// for each output anew.
    pub fn mask(&self) -> Mask {
        self.masking.mask()
    }

    fn entry(&self, name: &str) -> Result<&Entry, CredentialError> {
        self.entries
            .get(name)
            .map(Arc::as_ref)
            .ok_or_else(|| CredentialError::Unknown { name: toolplane_records::visible::excerpt(name, MAX_SHOWN) })
    }

    fn entry_for(&self, request: &Request<'_>) -> Result<&Entry, CredentialError> {
        let entry = self.entry(request.name)?;
        match entry.scope.check(request) {
            Ok(()) => Ok(entry),
            Err(what) => Err(CredentialError::OutOfScope { name: entry.config.name.clone(), what }),
        }
    }

    /// Looks at the source if that is due.
    async fn freshen(&self, entry: &Entry) {
        let (want, looks) = entry.want(self.clock.now());
        match want {
            Want::Use | Want::Fail => {}
            Want::Renew => self.renew_one(entry).await,
            Want::Read => {
                let _reader = entry.reader.lock().await;
                if let Some(seen) = entry.not_looked_at_since(looks) {
                    self.look(entry, seen).await;
                }
            }
        }
    }

    /// Looks for a newer value, unless somebody does already; others use what there is meanwhile.
    async fn renew_one(&self, entry: &Entry) {
        // It may have been renewed while the lock was taken.
        if let Ok(_reader) = entry.reader.try_lock()
            && entry.want(self.clock.now()).0 == Want::Renew
        {
            self.look(entry, None).await;
        }
    }

    /// Looks at the source and takes what it gives. The caller holds the lock of readers; nothing has happened when it goes away.
    async fn look(&self, entry: &Entry, seen: Option<FileStamp>) {
        let asked = self.clock.now();
        let name = &entry.config.name;
        let read = entry.source.read(&self.means, seen).await;
        let outcome = read.and_then(|reading| match reading {
            Reading::Same => Ok(None),
            Reading::New(reading) => {
                if let Some(beside) = &reading.beside {
                    self.masking.put(name, Part::Beside, &[beside], asked);
                }
                Ok(Some((Value::read(&entry.config, &reading.secret)?, reading)))
            }
        });
        match outcome {
            Ok(None) => entry.state.lock().saw_the_same(asked),
            Ok(Some((value, reading))) => self.take(entry, value, &reading, asked),
            Err(fault) => {
                let earlier = entry.state.lock().failed(fault, self.clock.now());
                if earlier != Some(fault) {
                    tracing::warn!(credential = name, code = fault.code().as_str(), %fault, "the source of a credential fails");
                }
            }
        }
    }

    /// Takes a value: first into the mask, then into use.
    fn take(&self, entry: &Entry, value: Value, reading: &NewReading, asked: Instant) {
        let name = &entry.config.name;
        let state = &mut *entry.state.lock();
        let is_same = state.current().is_some_and(|current| current.value().is_same(&value));
        let generation = if is_same { state.next_generation() - 1 } else { state.next_generation() };
        let credential = match state.current() {
            Some(current) if is_same => current.clone(),
            _ => Credential::new(name, entry.config.kind, generation, value),
        };
        self.masking.put(name, Part::Value, &credential.value().secrets(), asked);
        if is_same && reading.lifetime.is_none() {
            state.saw_the_same(asked);
            state.restamp(reading.stamp);
            return;
        }
        state.took(credential, reading.stamp, reading.lifetime, asked);
        tracing::info!(credential = name, generation, "a credential was read");
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker").field("credentials", &self.entries.len()).finish_non_exhaustive()
    }
}

/// Entries of these configurations; those of `earlier` whose configuration is the same.
fn entries(
    credentials: Vec<CredentialConfig>,
    earlier: &BTreeMap<String, Arc<Entry>>,
) -> Result<BTreeMap<String, Arc<Entry>>, ConfigFault> {
    config::check(&credentials)?;
    let mut entries = BTreeMap::new();
    for (index, config) in credentials.into_iter().enumerate() {
        let fault = |key, rule: &str| ConfigFault { key: format!("credentials[{index}].{key}"), rule: rule.to_owned() };
        if let Some(same) = earlier.get(&config.name).filter(|entry| entry.config == config) {
            entries.insert(config.name, Arc::clone(same));
            continue;
        }
        let scope = Scope::new(&config).map_err(|rule| fault("tools", &rule))?;
        let source = Source::new(&config.source).ok_or_else(|| fault("source", "is missing"))?;
        let policy = Policy::of(&source, &config);
        let (state, reader) = (Mutex::default(), tokio::sync::Mutex::default());
        entries.insert(config.name.clone(), Arc::new(Entry { config, scope, source, policy, state, reader }));
    }
    Ok(entries)
}

// === impl Entry ===

impl Entry {
    fn want(&self, now: Instant) -> (Want, u64) {
        let state = self.state.lock();
        (state.want(self.policy, now), state.looks)
    }

    /// How the file was, if nobody looked at the source since.
    fn not_looked_at_since(&self, looks: u64) -> Option<Option<FileStamp>> {
        let state = self.state.lock();
        (state.looks == looks).then(|| state.stamp())
    }

    /// Why there is no value now.
    fn error(&self, now: Instant) -> CredentialError {
        let state = self.state.lock();
        let fault = state.fault().unwrap_or(SourceFault::Io);
        CredentialError::of_source(&self.config.name, fault, state.retry_after(now))
    }
}
