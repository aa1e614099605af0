//! Calls that workers died of: the same version with the same input is refused for a while.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};
use toolplane_store::ScoreRange;

use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Storage, keys};

/// Entries read at once.
const PAGE: usize = 1_000;

/// What is under quarantine, as of the last tick and what was heard since.
#[derive(Debug)]
pub(crate) struct Quarantine {
    storage: Storage,
    known: RwLock<QuarantinedKeys>,
    count: AtomicUsize,
}

#[derive(Debug, Default)]
struct QuarantinedKeys {
    until: HashMap<Digest, Timestamp>,
    /// Heard of since the store was asked last: its answer may be older.
    news: HashMap<Digest, Timestamp>,
}

impl Quarantine {
    /// What `storage` says is under quarantine; known after the first [`Quarantine::refresh`].
    pub(crate) fn new(storage: Storage) -> Self {
        Self { storage, known: RwLock::default(), count: AtomicUsize::new(0) }
    }

    /// Takes note of a key before the store is asked again.
    pub(crate) fn add(&self, key: Digest, until: Timestamp) {
        let mut known = self.known.write();
        known.news.insert(key, until);
        known.until.insert(key, until);
        self.count.store(known.until.len(), Ordering::Release);
    }

    /// The store is about to be asked.
    fn ask(&self) {
        self.known.write().news.clear();
    }

    /// The store's answer takes the place of what was known before it was asked.
    fn answer(&self, mut keys: HashMap<Digest, Timestamp>) {
        let mut known = self.known.write();
        keys.extend(&known.news);
        self.count.store(keys.len(), Ordering::Release);
        known.until = keys;
    }

    /// Until when calls with this quarantine key are refused; `None` when they are not.
    pub(crate) fn until(&self, key: &Digest) -> Option<Timestamp> {
        // Nearly always nothing is under quarantine.
        if self.count.load(Ordering::Acquire) == 0 { None } else { self.known.read().until.get(key).copied() }
    }

    /// Why `record` may not be run now, when workers died of another call like it.
    pub(crate) fn kept_out(&self, record: &Invocation, now: Timestamp) -> Option<ToolError> {
        let until = self.until(record.dispatch.as_ref()?.quarantine_key.as_ref()?)?;
        let mut error = kept_out_error(&record.tool_name, until, now);
        if record.started_at.is_some() {
            error.side_effects = Some("unknown".to_owned());
        }
        Some(error)
    }

    /// Reads what is under quarantine, and ends what has been there long enough. Returns an error when the store does.
    pub(crate) async fn refresh(&self, now: Timestamp) -> Result<(), RecordError> {
        let store = &self.storage;
        for entry in store.scan(keys::QUARANTINE, ScoreRange::up_to(score(now)), PAGE).await? {
            let mut builder = Builder::default();
            builder.leave(keys::QUARANTINE, entry.member.clone());
            builder.delete(keys::quarantined(&entry.member));
            store.write(builder.done(true)).await?;
        }
        self.ask();
        let (mut keys, mut range) = (HashMap::new(), ScoreRange::between(score(now) + 1, u64::MAX));
        loop {
            let page = store.scan(keys::QUARANTINE, range.clone(), PAGE).await?;
            for entry in &page {
                if let Ok(key) = format!("sha256:{}", entry.member).parse() {
                    keys.insert(key, Timestamp::from_millis(i64::try_from(entry.score).unwrap_or(i64::MAX)));
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => range = range.after(last),
                _ => break,
            }
        }
        self.answer(keys);
        Ok(())
    }
}

/// The error of a call that is like one that workers died of.
pub(crate) fn kept_out_error(tool: &str, until: Timestamp, now: Timestamp) -> ToolError {
    let mut error = ToolError::new(
        codes::POISON,
        ErrorClass::PolicyBlocked,
        Recoverability::RetryLater,
        format!("workers were lost while they ran `{tool}` with this input, so it is not run again until {until}"),
    );
    error.side_effects = Some("none".to_owned());
    error.retry_after_ms = u64::try_from(until.since_millis(now)).ok();
    error
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::environment::Environment;

    #[test]
    fn what_is_heard_while_the_store_is_asked_outlives_its_answer() {
        let (old, new) = (Digest::of(b"old"), Digest::of(b"new"));
        let store = Arc::new(toolplane_store::MemoryStore::default());
        let quarantine = Quarantine::new(Storage::new(store, Environment::real()));
        quarantine.add(old, Timestamp::from_millis(1));
        quarantine.ask();
        quarantine.add(new, Timestamp::from_millis(2));
        quarantine.answer(HashMap::new());
        assert_eq!(quarantine.until(&new), Some(Timestamp::from_millis(2)), "the store did not know of it yet");
        assert_eq!(quarantine.until(&old), None, "the store says that it is over");
        quarantine.ask();
        quarantine.answer(HashMap::new());
        assert_eq!(quarantine.until(&new), None);
    }
}
