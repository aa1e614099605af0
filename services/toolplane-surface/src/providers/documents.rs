//! Documents that were handed in, kept in parts.

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use toolplane_records::ids::TenantId;
use toolplane_records::payload::Digest;
use toolplane_records::provider::MAX_DOCUMENT_BYTES;
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, IndexOp, Write};

use crate::error::{of_store, unreadable};
use crate::keys;
use crate::registry::Registry;

/// Most bytes of a document.
pub(crate) const MAX_BYTES: usize = MAX_DOCUMENT_BYTES as usize;
/// Bytes of each part but the last.
const PART: usize = 512 * 1024;

/// What is kept of a document beside its parts.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    bytes: u64,
    parts: usize,
}

/// A document that cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DocumentError {
    /// Nobody handed it in, or it was forgotten.
    #[error("the document is not kept here any more: hand it in again")]
    Missing,
    /// It is not what it was.
    #[error("the document cannot be read any more: hand it in again")]
    Damaged,
}

/// A document on its way in.
#[derive(Debug, Default)]
pub(crate) struct Uploading(BytesMut);

impl Uploading {
    /// Adds a part.
    pub(crate) fn add(&mut self, data: &[u8]) -> Result<(), ApiError> {
        if self.0.len() + data.len() > MAX_BYTES {
            let rule = format!("has more than {} MiB", MAX_BYTES / 1024 / 1024);
            return Err(ApiError::invalid_argument("data", rule));
        }
        self.0.extend_from_slice(data);
        Ok(())
    }

    /// All of it.
    pub(crate) fn whole(self) -> Bytes {
        self.0.freeze()
    }
}

impl Registry {
    /// Keeps a document; once more changes nothing.
    pub(crate) async fn keep_document(&self, tenant: &TenantId, document: &Bytes) -> Result<Digest, ApiError> {
        let digest = Digest::of(document);
        let mut parts = 0;
        let mut rest = document.clone();
        while !rest.is_empty() {
            let part = rest.split_to(rest.len().min(PART));
            let key = keys::document_part(tenant, &digest, parts);
            let commit = Commit { writes: vec![Write::Put { key, bytes: part }], ..Commit::default() };
            self.store().commit(commit).await.map_err(of_store)?;
            parts += 1;
        }
        let kept = Kept { bytes: document.len() as u64, parts };
        let bytes = Bytes::from(serde_json::to_vec(&kept).map_err(unreadable)?);
        let (index, score) = (keys::DOCUMENTS.to_owned(), keys::score(self.now().await?));
        let commit = Commit {
            writes: vec![Write::Put { key: keys::document(tenant, &digest), bytes }],
            index: vec![IndexOp::Put { index, score, member: format!("{tenant}|{digest}") }],
            ..Commit::default()
        };
        self.store().commit(commit).await.map_err(of_store)?;
        Ok(digest)
    }

    /// Whether a document is kept.
    pub(crate) async fn has_document(&self, tenant: &TenantId, digest: &Digest) -> Result<bool, ApiError> {
        Ok(self.store().get(&keys::document(tenant, digest)).await.map_err(of_store)?.is_some())
    }

    /// The bytes of a document.
    pub(crate) async fn document(
        &self,
        tenant: &TenantId,
        digest: &Digest,
    ) -> Result<Result<Bytes, DocumentError>, ApiError> {
        let Some(found) = self.store().get(&keys::document(tenant, digest)).await.map_err(of_store)? else {
            return Ok(Err(DocumentError::Missing));
        };
        let Ok(kept) = serde_json::from_slice::<Kept>(&found.bytes) else { return Ok(Err(DocumentError::Damaged)) };
        let mut whole = BytesMut::new();
        for part in 0..kept.parts {
            let found = self.store().get(&keys::document_part(tenant, digest, part)).await.map_err(of_store)?;
            let Some(found) = found else { return Ok(Err(DocumentError::Damaged)) };
            whole.extend_from_slice(&found.bytes);
        }
        match Digest::of(&whole) == *digest {
            true => Ok(Ok(whole.freeze())),
            false => Ok(Err(DocumentError::Damaged)),
        }
    }
}
