//! Proving that a payload is what it is named after: once for each, before any byte of it is given.

use std::collections::{HashMap, VecDeque};

use futures_util::StreamExt as _;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStoreExt as _};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;

use super::PayloadStore;
use super::error::PayloadError;
use super::key::PayloadKey;

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

#[derive(Debug, PartialEq)]
enum ObjectState {
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
    fn note(&self, name: &Path, state: ObjectState) -> bool {
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

impl PayloadStore {
    /// What the object store says of a payload that is known to be what its name says. The first time, all of it is read for
    /// that; after that only when the object is not the same any more.
    pub(super) async fn proved(&self, key: &PayloadKey, now: Timestamp) -> Result<ObjectMeta, PayloadError> {
        let found = self.objects.head(key.path()).await.map_err(|source| self.reading(key, now, source))?;
        if self.proofs.has(&found) { Ok(found) } else { self.prove(key, now).await }
    }

    /// Reads a whole payload and checks it against the digest in its name. Anything else there is damage, never
    /// overwritten silently.
    pub(super) async fn prove(&self, key: &PayloadKey, now: Timestamp) -> Result<ObjectMeta, PayloadError> {
        let found = self.objects.get(key.path()).await.map_err(|source| self.reading(key, now, source))?;
        let (meta, mut stream, mut hash) = (found.meta.clone(), found.into_stream(), Sha256::new());
        while let Some(chunk) = stream.next().await {
            hash.update(&chunk.map_err(|source| PayloadError::store("read", source))?);
        }
        let actual = Digest::from_bytes(hash.finalize().into());
        self.hold(key, actual)?;
        self.proofs.note(key.path(), ObjectState::Proved(Box::new(meta.clone())));
        Ok(meta)
    }

    /// Holds the digest of a payload's bytes to its name. The log is told of damage once.
    pub(super) fn hold(&self, key: &PayloadKey, actual: Digest) -> Result<(), PayloadError> {
        if key.digest() == Some(actual) {
            return Ok(());
        }
        let uri = key.uri();
        if !self.proofs.note(key.path(), ObjectState::Damaged) {
            tracing::error!(
                kind = "payload",
                name = uri,
                reason = %format_args!("its bytes have the digest {actual}"),
                "stored data is damaged and set aside; `toolplane store check` lists it"
            );
        }
        Err(PayloadError::Damaged { uri, actual })
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
