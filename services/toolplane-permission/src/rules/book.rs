//! The rule book: which rules are in force, and how that changes while the role runs.
//!
//! A new set is built and checked apart and then swapped in as a whole; a set that cannot be built leaves the old one in
//! force. Configured and stored rules come together here: each can change without the other.

use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use tokio::sync::{Mutex, watch};

use super::RulesError;
use super::active::{self, Active};
use super::fault::{Fault, Faults};
use super::source::{Configured, Fingerprint, Source};
use super::stored::{self, Snapshot};
use crate::ledger::{Ledger, Stream};

/// Which set is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Digest over everything decisions are made from.
    pub digest: String,
    /// Grows with every change in this process.
    pub revision: u64,
}

/// The rules in force and how they change.
#[derive(Debug)]
pub struct RuleBook {
    pub(super) ledger: Arc<Ledger>,
    source: Source,
    active: ArcSwap<Active>,
    /// What the active set was made from; only the holder of the lock makes another.
    parts: Mutex<Parts>,
    policy: watch::Sender<Policy>,
    fault: ArcSwapOption<Faults>,
    /// The files as they were when they were read last, with whatever success.
    files: ArcSwap<Fingerprint>,
    pub(super) max_rules: u64,
}

#[derive(Debug)]
struct Parts {
    configured: Configured,
    stored: Snapshot,
}

impl RuleBook {
    /// Reads everything and builds the first set. What is wrong with it is an error here, with its place.
    pub(crate) async fn open(ledger: Arc<Ledger>, source: Source, max_rules: u64) -> Result<Self, RulesError> {
        let (files, configured) = read(&source).await?;
        let configured = configured?;
        let stored = stored::load(&ledger).await?;
        let active = Active::build_leniently(&configured, &stored)?;
        let policy = Policy { digest: active.digest().to_owned(), revision: stored.revision + 1 };
        Ok(Self {
            ledger,
            source,
            active: ArcSwap::from_pointee(active),
            parts: Mutex::new(Parts { configured, stored }),
            policy: watch::Sender::new(policy),
            fault: ArcSwapOption::empty(),
            files: ArcSwap::from_pointee(files),
            max_rules,
        })
    }

    /// The set in force here.
    pub fn active(&self) -> Arc<Active> {
        self.active.load_full()
    }

    /// The set in force everywhere: a rule another process has stored, and answered for, is in it.
    pub(crate) async fn current(&self) -> Result<Arc<Active>, RulesError> {
        // Where no other process writes, the task that stored a rule here has built the set with it before the answer.
        if self.ledger.store().is_shared() && self.ledger.head(Stream::Rules).await? > self.active().stored_revision() {
            self.refresh().await?;
        }
        Ok(self.active())
    }

    /// Which set is in force, as it changes.
    pub fn follow_policy(&self) -> watch::Receiver<Policy> {
        self.policy.subscribe()
    }

    /// Why the configured rules are not those on disk; nothing when they are.
    pub fn fault(&self) -> Option<Arc<Faults>> {
        self.fault.load_full()
    }

    /// Takes over what was stored since the last look.
    pub(crate) async fn refresh(&self) -> Result<(), RulesError> {
        let mut parts = self.parts.lock().await;
        if self.ledger.head(Stream::Rules).await? == parts.stored.revision {
            return Ok(());
        }
        let stored = stored::load(&self.ledger).await?;
        let active = Active::build_leniently(&parts.configured, &stored);
        self.swap(active.map_err(RulesError::Unusable)?);
        parts.stored = stored;
        Ok(())
    }

    /// Reads the configuration again; the set with it comes into force as a whole, unless it is only to be checked. When
    /// anything is wrong with it the old one stays.
    ///
    /// Fails with [`RulesError::Refused`] when a file cannot be read or anything in the rules is wrong, and with
    /// [`RulesError::Interrupted`] when the process ends before all is read.
    pub async fn reload(&self, validate_only: bool) -> Result<Arc<Active>, RulesError> {
        // The task that reads later writes later: two reloads at once do not bring the older reading back.
        let mut parts = self.parts.lock().await;
        let (files, configured) = read(&self.source).await?;
        let built = configured.map_err(RulesError::from).and_then(|configured| {
            let active = Active::build_leniently(&configured, &parts.stored)?;
            Ok((configured, active))
        });
        if validate_only {
            return built.map(|(_, active)| Arc::new(active));
        }
        self.files.store(Arc::new(files));
        match built {
            Ok((configured, active)) => {
                parts.configured = configured;
                self.swap(active);
                self.fault.store(None);
                Ok(self.active())
            }
            Err(error) => {
                if let RulesError::Refused(faults) = &error {
                    self.fault.store(Some(Arc::new(faults.clone())));
                }
                Err(error)
            }
        }
    }

    /// Whether a set with these rules added could be built; for rules that are not stored yet.
    pub(super) async fn try_with(
        &self,
        added: &[toolplane_records::rule::PermissionRule],
    ) -> Result<Active, RulesError> {
        let slips: Vec<Fault> = added.iter().filter_map(active::slip_of_stored).collect();
        if !slips.is_empty() {
            return Err(Faults(slips).into());
        }
        let parts = self.parts.lock().await;
        let mut stored = parts.stored.clone();
        stored.rules.extend_from_slice(added);
        Ok(Active::build(&parts.configured, &stored)?)
    }

    /// Whether a file the configuration was read from has changed since.
    pub(super) async fn files_have_changed(&self) -> bool {
        let files = self.files.load_full();
        tokio::task::spawn_blocking(move || files.has_changed()).await.unwrap_or_default()
    }

    fn swap(&self, active: Active) {
        let digest = active.digest().to_owned();
        self.active.store(Arc::new(active));
        self.policy.send_if_modified(|policy| {
            let changed = policy.digest != digest;
            if changed {
                *policy = Policy { digest, revision: policy.revision + 1 };
            }
            changed
        });
    }
}

async fn read(source: &Source) -> Result<(Fingerprint, Result<Configured, Faults>), RulesError> {
    let source = source.clone();
    let read = tokio::task::spawn_blocking(move || source.read()).await;
    read.map_err(|error| RulesError::Interrupted(error.to_string()))
}
