//! Calls that workers died of: the same version with the same input is refused for a while.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_store::ScoreRange;

use super::commit::{Builder, score};
use super::{Engine, EngineError, keys};

/// Entries read at once.
const PAGE: usize = 1_000;

/// What is under quarantine, as of the last tick.
#[derive(Debug, Default)]
pub(crate) struct Quarantine {
    until: RwLock<HashMap<Digest, Timestamp>>,
    count: AtomicUsize,
}

impl Quarantine {
    pub(crate) fn add(&self, key: Digest, until: Timestamp) {
        let mut keys = self.until.write();
        keys.insert(key, until);
        self.count.store(keys.len(), Ordering::Release);
    }

    fn replace(&self, keys: HashMap<Digest, Timestamp>) {
        self.count.store(keys.len(), Ordering::Release);
        *self.until.write() = keys;
    }

    /// Until when `key` is refused.
    pub(crate) fn until(&self, key: &Digest) -> Option<Timestamp> {
        // Nearly always nothing is under quarantine.
        if self.count.load(Ordering::Acquire) == 0 { None } else { self.until.read().get(key).copied() }
    }
}

impl Engine {
    /// Until when calls with this quarantine key are refused; `None` when they are not.
    pub fn quarantined_until(&self, key: &Digest) -> Option<Timestamp> {
        self.0.quarantine.until(key)
    }

    /// Reads what is under quarantine, and ends what has been there long enough.
    pub(crate) async fn refresh_quarantine(&self, now: Timestamp) -> Result<(), EngineError> {
        let store = &self.0.store;
        for entry in store.scan(keys::QUARANTINE, ScoreRange::up_to(score(now)), PAGE).await? {
            let mut builder = Builder::default();
            builder.leave(keys::QUARANTINE, entry.member.clone());
            builder.delete(keys::quarantined(&entry.member));
            self.write(builder.done(true)).await?;
        }
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
        self.0.quarantine.replace(keys);
        Ok(())
    }
}
