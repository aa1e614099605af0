//! Questions whose vectors are known: people and agents ask the same again.

use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;
use toolplane_meaning::Quantised;
use toolplane_records::ids::TenantId;

/// Most that are kept; with vectors of 3,072 numbers these are 7 MB.
const MOST: usize = 2_000;

/// The vectors of what was asked last, by tenant: nobody learns by the time of an answer what another tenant has asked.
pub(super) struct Questions(Mutex<LruCache<(TenantId, String), Arc<Quantised>>>);

impl Default for Questions {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(NonZeroUsize::new(MOST).unwrap_or(NonZeroUsize::MIN))))
    }
}

impl std::fmt::Debug for Questions {
    /// Tells no question.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Questions").field("known", &self.0.lock().len()).finish()
    }
}

impl Questions {
    pub(super) fn get(&self, question: &(TenantId, String)) -> Option<Arc<Quantised>> {
        self.0.lock().get(question).cloned()
    }

    pub(super) fn keep(&self, question: (TenantId, String), vector: Arc<Quantised>) {
        self.0.lock().put(question, vector);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leaves_and_tenants_are_apart() {
        let (questions, vector) = (Questions::default(), Arc::new(Quantised::of(&[1.0]).unwrap()));
        let asked = |tenant: &str, text: &str| (TenantId::from_trusted(tenant), text.to_owned());
        questions.keep(asked("a", "first"), Arc::clone(&vector));
        assert!(questions.get(&asked("a", "first")).is_some() && questions.get(&asked("b", "first")).is_none());
        (0..MOST).for_each(|n| questions.keep(asked("a", &n.to_string()), Arc::clone(&vector)));
        assert!(questions.get(&asked("a", "first")).is_none() && questions.get(&asked("a", "0")).is_some());
    }
}
