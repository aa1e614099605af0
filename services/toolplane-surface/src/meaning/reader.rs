//! Reading tools with the model, in the background: a few at a time, of each tenant in turn, so that none waits for another one's thousands.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use toolplane_catalog::search::told;
use toolplane_meaning::Quantised;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::ToolLifecycle;
use toolplane_store::{Commit, RecordKey, Store, StoreError, Write};

use super::Meaning;
use super::understood::Understood;
use crate::keys;
use crate::registry::Registry;

/// Tools read before the next tenant has its turn.
const AT_ONCE: usize = 16;
/// How long it rests when the store or the model fails.
const REST: Duration = Duration::from_secs(5);

/// What is kept of a tool.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// The model that read it.
    model: String,
    /// The text it read.
    text: Digest,
    /// The vector, in hexadecimal.
    vector: String,
}

/// A tool to be read.
struct Unread {
    id: ToolId,
    digest: Digest,
    text: String,
}

/// Tools that are not as they were when they were last looked at.
#[derive(Default)]
struct New {
    unread: Vec<Unread>,
    retired: Vec<ToolId>,
}

/// Tools are not read now.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("their vectors cannot be kept: {0}")]
    Store(#[from] StoreError),
    #[error("{0}")]
    Model(String),
}

/// Tools that may be new to the model.
type Waiting = BTreeMap<TenantId, VecDeque<ToolId>>;

impl Meaning {
    /// Reads every tool, and those that change, until `stop`.
    pub(crate) async fn read_tools(self, registry: Registry, stop: CancellationToken) {
        let mut revisions = registry.0.hub.revisions();
        let mut waiting = Waiting::new();
        stop.run_until_cancelled(async {
            loop {
                // Noted before it is looked: what changes meanwhile is looked at once more.
                revisions.borrow_and_update();
                self.gather(&registry, &mut waiting);
                if waiting.is_empty() && revisions.changed().await.is_err() {
                    return;
                }
                if let Err(fault) = self.read_some(&registry, &mut waiting).await {
                    tracing::warn!(error = %fault, "tools are not read by the embedding model now; it goes on later");
                    tokio::time::sleep(REST).await;
                }
            }
        })
        .await;
    }

    /// Adds the tools that have changed since it was last looked.
    fn gather(&self, registry: &Registry, waiting: &mut Waiting) {
        for (tenant, owner) in registry.tenants() {
            let fresh: Vec<ToolId> = match owner.take_unread() {
                Some(some) => some.into_iter().collect(),
                None => {
                    let catalog = owner.catalog.read();
                    self.of_tenant(&tenant).retain(|id| catalog.get(id).is_some());
                    catalog.entries().map(|entry| entry.tool_id().clone()).collect()
                }
            };
            if !fresh.is_empty() {
                waiting.entry(tenant).or_default().extend(fresh);
            }
        }
    }

    /// Reads some tools of each tenant. Those it fails with go on waiting.
    async fn read_some(&self, registry: &Registry, waiting: &mut Waiting) -> Result<(), Fault> {
        for (tenant, ids) in waiting.iter_mut() {
            let some: Vec<ToolId> = ids.iter().take(AT_ONCE).cloned().collect();
            self.read(registry, tenant, &some).await?;
            ids.drain(..some.len());
        }
        waiting.retain(|_, ids| !ids.is_empty());
        Ok(())
    }

    async fn read(&self, registry: &Registry, tenant: &TenantId, ids: &[ToolId]) -> Result<(), Fault> {
        let known = self.of_tenant(tenant);
        let New { unread, retired } = New::among(registry, tenant, ids, &known);
        drop_out(registry.store(), tenant, &known, retired).await?;
        let fresh = self.not_kept(registry.store(), tenant, &known, unread).await?;
        if fresh.is_empty() {
            return Ok(());
        }
        let read = self.with_vectors(fresh).await?;
        let writes = read.iter().filter_map(|(one, vector)| {
            let bytes = self.stored(&one.digest, vector.as_ref()?);
            Some(Write::Put { key: keys::meaning(tenant, &one.id), bytes })
        });
        registry.store().commit(Commit { writes: writes.collect(), ..Commit::default() }).await?;
        read.into_iter().for_each(|(one, vector)| known.keep(one.id, one.digest, vector.as_ref()));
        Ok(())
    }

    /// Takes in what is in the store; what is left has to be read.
    async fn not_kept(
        &self,
        store: &dyn Store,
        tenant: &TenantId,
        known: &Understood,
        unread: Vec<Unread>,
    ) -> Result<Vec<Unread>, Fault> {
        let records: Vec<_> = unread.iter().map(|one| keys::meaning(tenant, &one.id)).collect();
        let found = store.get_each(&records).await?;
        let mut fresh = Vec::new();
        let mut damaged = Vec::new();
        for ((one, found), record) in unread.into_iter().zip(found).zip(records) {
            damaged.extend(found.is_err().then_some(record));
            match found.ok().flatten().and_then(|found| self.kept(&found.bytes, &one.digest)) {
                Some(vector) => known.keep(one.id, one.digest, Some(&vector)),
                None => fresh.push(one),
            }
        }
        // It is made again; a store lets nobody write over what is damaged.
        take_out(store, damaged).await?;
        Ok(fresh)
    }

    async fn with_vectors(&self, fresh: Vec<Unread>) -> Result<Vec<(Unread, Option<Quantised>)>, Fault> {
        let embedder = Arc::clone(&self.0.options.embedder);
        let (fresh, vectors) = tokio::task::spawn_blocking(move || {
            let texts: Vec<&str> = fresh.iter().map(|one| one.text.as_str()).collect();
            let vectors = embedder.embed(&texts);
            (fresh, vectors)
        })
        .await
        .map_err(|error| Fault::Model(error.to_string()))?;
        let vectors = vectors.map_err(|error| Fault::Model(error.to_string()))?;
        Ok(fresh.into_iter().zip(vectors).map(|(one, vector)| (one, Quantised::of(&vector))).collect())
    }

    fn stored(&self, text: &Digest, vector: &Quantised) -> Bytes {
        let model = self.0.options.embedder.model().to_string();
        let stored = Stored { model, text: *text, vector: hex::encode(vector.to_bytes()) };
        // Texts and a digest are always JSON; without one, the tool is read again after the next start.
        Bytes::from(serde_json::to_vec(&stored).unwrap_or_default())
    }

    /// What is stored, when this model made it of this text.
    fn kept(&self, bytes: &[u8], text: &Digest) -> Option<Quantised> {
        let stored: Stored = serde_json::from_slice(bytes).ok()?;
        let embedder = &self.0.options.embedder;
        if stored.model != embedder.model().as_str() || stored.text != *text {
            return None;
        }
        let vector = Quantised::from_bytes(&hex::decode(&stored.vector).ok()?)?;
        (vector.dimension() == embedder.dimension()).then_some(vector)
    }
}

impl New {
    fn among(registry: &Registry, tenant: &TenantId, ids: &[ToolId], known: &Understood) -> Self {
        let owner = registry.tenant(tenant);
        let catalog = owner.catalog.read();
        let mut new = Self::default();
        for entry in ids.iter().filter_map(|id| catalog.get(id)) {
            let id = entry.tool_id().clone();
            if entry.tool.registration().lifecycle() == ToolLifecycle::Retired {
                new.retired.extend((!known.knows(&id, None)).then_some(id));
                continue;
            }
            let text = told(&entry.tool);
            let digest = Digest::of(text.as_bytes());
            if !known.knows(&id, Some(&digest)) {
                new.unread.push(Unread { id, digest, text });
            }
        }
        new
    }
}

/// Nobody finds retired tools: what was made of them goes.
async fn drop_out(
    store: &dyn Store,
    tenant: &TenantId,
    known: &Understood,
    retired: Vec<ToolId>,
) -> Result<(), StoreError> {
    let records: Vec<_> = retired.iter().map(|id| keys::meaning(tenant, id)).collect();
    let found = store.get_each(&records).await?;
    // Each start looks at all of them; most have nothing there.
    let there = records.into_iter().zip(found).filter(|(_, found)| !matches!(found, Ok(None)));
    take_out(store, there.map(|(record, _)| record).collect()).await?;
    retired.into_iter().for_each(|id| known.drop_out(id));
    Ok(())
}

async fn take_out(store: &dyn Store, records: Vec<RecordKey>) -> Result<(), StoreError> {
    if !records.is_empty() {
        let writes = records.into_iter().map(|key| Write::Delete { key }).collect();
        store.commit(Commit { writes, ..Commit::default() }).await?;
    }
    Ok(())
}
