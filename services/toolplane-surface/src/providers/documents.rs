//! Documents that were handed in, kept in parts.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use toolplane_records::ids::TenantId;
use toolplane_records::payload::Digest;
use toolplane_records::provider::{MAX_DOCUMENT_BYTES, ProviderDocument, ProviderSource};
use toolplane_records::time::Timestamp;
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, IndexOp, ScoreRange, Write};

use super::held::{Held, Shelf};
use crate::error::{of_store, unreadable};
use crate::keys;
use crate::registry::Registry;

/// Most bytes of a document.
pub(crate) const MAX_BYTES: usize = MAX_DOCUMENT_BYTES as usize;
/// How long a document is kept that no provider uses, in milliseconds, and how often such ones are looked for.
const UNUSED_MS: i64 = 24 * 60 * 60 * 1000;
const FORGET_EVERY: Duration = Duration::from_secs(60 * 60);
/// Documents looked at together.
const PAGE: usize = 500;
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

/// What names a document in [`keys::DOCUMENTS`].
fn member(tenant: &TenantId, digest: &Digest) -> String {
    format!("{tenant}|{digest}")
}

/// The document a provider in use was made from, when it was handed in.
fn used_by(held: &Held) -> Option<String> {
    match &held.provider.source {
        ProviderSource::Openapi { document: ProviderDocument::Uploaded { digest }, .. } if !held.is_retired() => {
            Some(member(&held.provider.tenant, digest))
        }
        _ => None,
    }
}

/// The documents. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Documents {
    registry: Registry,
    /// Who uses them.
    shelf: Arc<Shelf>,
}

impl Documents {
    pub(crate) fn new(registry: Registry, shelf: Arc<Shelf>) -> Self {
        Self { registry, shelf }
    }

    /// Keeps a document; once more changes nothing.
    pub(crate) async fn keep(&self, tenant: &TenantId, document: &Bytes) -> Result<Digest, ApiError> {
        let digest = Digest::of(document);
        let mut parts = 0;
        let mut rest = document.clone();
        while !rest.is_empty() {
            let part = rest.split_to(rest.len().min(PART));
            let key = keys::document_part(tenant, &digest, parts);
            let commit = Commit { writes: vec![Write::Put { key, bytes: part }], ..Commit::default() };
            self.registry.store().commit(commit).await.map_err(of_store)?;
            parts += 1;
        }
        let kept = Kept { bytes: document.len() as u64, parts };
        let bytes = Bytes::from(serde_json::to_vec(&kept).map_err(unreadable)?);
        let (index, score) = (keys::DOCUMENTS.to_owned(), keys::score(self.registry.now().await?));
        let commit = Commit {
            writes: vec![Write::Put { key: keys::document(tenant, &digest), bytes }],
            index: vec![IndexOp::Put { index, score, member: member(tenant, &digest) }],
            ..Commit::default()
        };
        self.registry.store().commit(commit).await.map_err(of_store)?;
        Ok(digest)
    }

    /// Forgets, now and then until `stop`, documents that nobody uses.
    pub(crate) async fn follow(self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(FORGET_EVERY);
        stop.run_until_cancelled(async {
            loop {
                tick.tick().await;
                let forgotten = match self.registry.now().await {
                    Ok(now) => self.forget_unused(now).await,
                    Err(error) => Err(error),
                };
                match forgotten {
                    Ok(0) => {}
                    Ok(count) => tracing::info!(count, "documents that no provider uses were forgotten"),
                    Err(error) => tracing::warn!(%error, "unused documents cannot be forgotten now"),
                }
            }
        })
        .await;
    }

    /// Forgets the documents that were handed in more than a day before `now` and that no provider in use names; answers with how many.
    pub(super) async fn forget_unused(&self, now: Timestamp) -> Result<usize, ApiError> {
        self.registry.current().await?;
        let used: BTreeSet<String> = self.shelf.all().iter().filter_map(|held| used_by(held)).collect();
        let mut range = ScoreRange::up_to(keys::score(now.plus_millis(-UNUSED_MS)));
        let mut forgotten = 0;
        loop {
            let page = self.registry.store().scan(keys::DOCUMENTS, range.clone(), PAGE).await.map_err(of_store)?;
            let Some(last) = page.last() else { return Ok(forgotten) };
            range = range.after(last);
            for entry in page.iter().filter(|entry| !used.contains(&entry.member)) {
                self.forget(&entry.member).await?;
                forgotten += 1;
            }
        }
    }

    async fn forget(&self, member: &str) -> Result<(), ApiError> {
        let index = vec![IndexOp::Remove { index: keys::DOCUMENTS.to_owned(), member: member.to_owned() }];
        let mut commit = Commit { index, ..Commit::default() };
        let named = member.split_once('|').and_then(|(tenant, digest)| Some((tenant, digest.parse::<Digest>().ok()?)));
        if let Some((tenant, digest)) = named {
            let tenant = TenantId::from_trusted(tenant);
            let found = self.registry.store().get(&keys::document(&tenant, &digest)).await.map_err(of_store)?;
            let kept = found.and_then(|found| serde_json::from_slice::<Kept>(&found.bytes).ok());
            let parts = (0..kept.map_or(0, |kept| kept.parts)).map(|part| keys::document_part(&tenant, &digest, part));
            let all = std::iter::once(keys::document(&tenant, &digest)).chain(parts);
            commit.writes = all.map(|key| Write::Delete { key }).collect();
        }
        self.registry.store().commit(commit).await.map(drop).map_err(of_store)
    }

    /// Whether a document is kept.
    pub(crate) async fn has(&self, tenant: &TenantId, digest: &Digest) -> Result<bool, ApiError> {
        Ok(self.registry.store().get(&keys::document(tenant, digest)).await.map_err(of_store)?.is_some())
    }

    /// The bytes of a document.
    pub(crate) async fn read(
        &self,
        tenant: &TenantId,
        digest: &Digest,
    ) -> Result<Result<Bytes, DocumentError>, ApiError> {
        let Some(found) = self.registry.store().get(&keys::document(tenant, digest)).await.map_err(of_store)? else {
            return Ok(Err(DocumentError::Missing));
        };
        let Ok(kept) = serde_json::from_slice::<Kept>(&found.bytes) else { return Ok(Err(DocumentError::Damaged)) };
        let mut whole = BytesMut::new();
        for part in 0..kept.parts {
            let found =
                self.registry.store().get(&keys::document_part(tenant, digest, part)).await.map_err(of_store)?;
            let Some(found) = found else { return Ok(Err(DocumentError::Damaged)) };
            whole.extend_from_slice(&found.bytes);
        }
        match Digest::of(&whole) == *digest {
            true => Ok(Ok(whole.freeze())),
            false => Ok(Err(DocumentError::Damaged)),
        }
    }
}
