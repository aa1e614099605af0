//! Small objects beside the payloads: proofs that an execution was started, and archives of ended calls.

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutMode, PutPayload};
use toolplane_records::ids::{InvocationKey, path_segment};
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::day;
use super::store::PayloadStore;

/// First part of the names of start proofs.
const STARTS: &str = "start";
/// First part of the names of archives.
const ARCHIVE: &str = "archive";

/// Who has started a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartClaim {
    /// The same caller asked, now or earlier.
    Mine,
    /// Another caller, who gave this text.
    Other(String),
}

impl PayloadStore {
    /// Claims the one start of `call` for `claimant`: of all that ever ask, the first one has it for good.
    ///
    /// When this returns `Mine`, the claim is durable. Asking again with the same text gives the same answer, so a lost
    /// answer costs nothing.
    ///
    /// Fails with [`PayloadError::Store`] when the object store does not answer; the claim may still be stored, and
    /// asking again tells.
    pub async fn claim_start(&self, call: &InvocationKey, claimant: &str) -> Result<StartClaim, PayloadError> {
        let path = proof_of(call);
        let body = PutPayload::from(claimant.as_bytes().to_vec());
        match self.objects.put_opts(&path, body, PutMode::Create.into()).await {
            Ok(_) => return Ok(StartClaim::Mine),
            // A conflict is another party's attempt at the same time, or an earlier one of ours whose answer was lost.
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {}
            Err(source) => return Err(PayloadError::store("put", source)),
        }
        let found = self.objects.get(&path).await.map_err(|source| PayloadError::store("read", source))?;
        let body = found.bytes().await.map_err(|source| PayloadError::store("read", source))?;
        if body == claimant.as_bytes() {
            return Ok(StartClaim::Mine);
        }
        Ok(StartClaim::Other(String::from_utf8_lossy(&body).into_owned()))
    }

    /// Puts the proof that `from` was started, if there is one, in the place of `to`: the same call under another name.
    /// Fails with [`PayloadError::Store`] when the object store does not answer; asking again does what is left.
    pub async fn carry_start(&self, from: &InvocationKey, to: &InvocationKey) -> Result<(), PayloadError> {
        let found = match self.objects.get(&proof_of(from)).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => return Ok(()),
            Err(source) => return Err(PayloadError::store("read", source)),
        };
        let body = found.bytes().await.map_err(|source| PayloadError::store("read", source))?;
        self.claim_start(to, &String::from_utf8_lossy(&body)).await?;
        self.forget_start(from).await
    }

    /// Removes the proof that `call` was started. Removing what is not there is no error. Fails with
    /// [`PayloadError::Store`] when the object store cannot delete.
    pub async fn forget_start(&self, call: &InvocationKey) -> Result<(), PayloadError> {
        let path = proof_of(call);
        match self.objects.delete(&path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(PayloadError::store("delete", source)),
        }
    }

    /// Keeps `lines` (JSON, one record a line) under `archive/<day of made_at>/<name>.jsonl`, replacing what is there.
    /// Fails with [`PayloadError::Store`] when the object store cannot write.
    pub async fn put_archive(&self, made_at: Timestamp, name: &str, lines: Bytes) -> Result<(), PayloadError> {
        let path = Path::from_iter([ARCHIVE.to_owned(), day(made_at), format!("{}.jsonl", path_segment(name))]);
        let put = self.objects.put(&path, PutPayload::from_bytes(lines)).await;
        put.map(drop).map_err(|source| PayloadError::store("put", source))
    }
}

/// Where the proof of a start is: `start/<invocation>`, beneath its tenant for all tenants but that of unauthenticated callers.
fn proof_of(call: &InvocationKey) -> Path {
    let tenant = (!call.tenant.is_unauthenticated()).then(|| path_segment(call.tenant.as_str()));
    Path::from_iter(std::iter::once(STARTS.to_owned()).chain(tenant).chain([path_segment(call.id.as_str())]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::store::PayloadOptions;

    #[tokio::test]
    async fn of_all_claims_the_first_one_stands() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let options = PayloadOptions::default();
        let local = PayloadStore::local(folder.path(), options.clone()).expect("local store");
        for store in [local, PayloadStore::in_memory(options)] {
            let id: InvocationKey = "inv_1/2".parse().expect("a key");
            let claims = (0..8).map(|number| {
                let (store, id) = (store.clone(), id.clone());
                async move { store.claim_start(&id, &format!("lease-{number}")).await.expect("answer") }
            });
            let claims = futures_util::future::join_all(claims).await;
            let mine = claims.iter().filter(|claim| **claim == StartClaim::Mine).count();
            assert_eq!(mine, 1);
            let winner = claims.iter().position(|claim| *claim == StartClaim::Mine).expect("winner");
            let winner = format!("lease-{winner}");
            assert!(claims.iter().all(|claim| match claim {
                StartClaim::Mine => true,
                StartClaim::Other(other) => *other == winner,
            }));
            assert_eq!(store.claim_start(&id, &winner).await.expect("again"), StartClaim::Mine);
            store.forget_start(&id).await.expect("forget");
            store.forget_start(&id).await.expect("nothing is there");
            assert_eq!(store.claim_start(&id, "later").await.expect("new"), StartClaim::Mine);
            // The same id of another tenant is another call.
            let other: InvocationKey = "acme|inv_1/2".parse().expect("a key");
            assert_eq!(store.claim_start(&other, "its own").await.expect("theirs"), StartClaim::Mine);
            // A call that gets another name keeps its proof.
            let renamed: InvocationKey = "globex|inv_1/2".parse().expect("a key");
            store.carry_start(&id, &renamed).await.expect("carry");
            assert_eq!(
                store.claim_start(&renamed, "too late").await.expect("asked"),
                StartClaim::Other("later".into())
            );
            assert_eq!(store.claim_start(&id, "free").await.expect("free again"), StartClaim::Mine);
        }
    }
}
