//! Which providers have said, by a server of theirs, that their tools have changed.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Most providers that are remembered until somebody asks. Further ones are heard of when they are asked next.
const MAX_REMEMBERED: usize = 10_000;

/// A provider of a tenant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedProvider {
    /// Owner.
    pub tenant: String,
    /// The provider.
    pub provider_id: String,
}

/// Providers whose tools have changed. One that says so many times before somebody asks is told of once.
#[derive(Debug, Default)]
pub struct ProviderChanges {
    said: Mutex<BTreeSet<ChangedProvider>>,
    wake: Notify,
}

impl ProviderChanges {
    pub(super) fn note(&self, changed: ChangedProvider) {
        let mut said = self.said.lock();
        if said.len() < MAX_REMEMBERED && said.insert(changed) {
            self.wake.notify_one();
        }
    }

    /// The next one, as soon as there is one. Nothing is lost when the future is dropped.
    pub async fn next(&self) -> ChangedProvider {
        loop {
            let next = self.said.lock().pop_first();
            match next {
                Some(next) => return next,
                None => self.wake.notified().await,
            }
        }
    }
}
