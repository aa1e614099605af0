//! What is remembered of the payloads that were read, so that each is proved once.

use std::collections::{HashMap, VecDeque};

use object_store::ObjectMeta;
use object_store::path::Path;
use parking_lot::Mutex;

/// The most payloads whose state is remembered. Beyond them the first ones are proved anew when they are read.
const MAX_KNOWN: usize = 1_000;

/// What is known of the payloads that were read.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    known: Mutex<RememberedProofs>,
}

#[derive(Debug, Default)]
struct RememberedProofs {
    states: HashMap<Path, ObjectState>,
    /// Their names, the one that is remembered longest first.
    order: VecDeque<Path>,
}

/// What is known of one.
#[derive(Debug, PartialEq)]
pub(super) enum ObjectState {
    /// It had the digest of its name when the object store said this of it. Whatever is written there changes that.
    Proved(Box<ObjectMeta>),
    /// It had another digest, and the log says so.
    Damaged,
}

impl Proofs {
    pub(super) fn has(&self, found: &ObjectMeta) -> bool {
        let known = self.known.lock();
        let Some(ObjectState::Proved(proved)) = known.states.get(&found.location) else { return false };
        (proved.size, proved.last_modified, &proved.e_tag) == (found.size, found.last_modified, &found.e_tag)
    }

    /// Takes note of a state, and says whether it was known.
    pub(super) fn note(&self, name: &Path, state: ObjectState) -> bool {
        let mut known = self.known.lock();
        let was_known = known.states.get(name) == Some(&state);
        if known.states.insert(name.clone(), state).is_none() {
            known.order.push_back(name.clone());
        }
        if known.order.len() > MAX_KNOWN
            && let Some(first) = known.order.pop_front()
        {
            known.states.remove(&first);
        }
        was_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounded_number_is_remembered() {
        let proofs = Proofs::default();
        let name = |number: usize| Path::from(format!("results/{number}"));
        for number in 0..MAX_KNOWN + 5 {
            assert!(!proofs.note(&name(number), ObjectState::Damaged));
            assert!(proofs.note(&name(number), ObjectState::Damaged), "the log is told once");
        }
        let known = proofs.known.lock();
        assert_eq!((known.states.len(), known.order.len()), (MAX_KNOWN, MAX_KNOWN));
        assert!(!known.states.contains_key(&name(4)) && known.states.contains_key(&name(5)));
    }
}
