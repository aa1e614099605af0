//! Reading tools with the model, in the background: a few at a time, of each tenant in turn, so that none waits for another one's thousands.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use toolplane_catalog::search::told;
use toolplane_meaning::Quantised;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::ToolLifecycle;
use toolplane_runtime::client::Backoff;
use toolplane_store::{Commit, RecordKey, Store, StoreError, Write};

use super::Meaning;
use super::each::{self, Made};
use super::source::Unread as NotRead;
use super::understood::Understood;
use crate::keys;
use crate::registry::Registry;

/// How long it rests when the store, the model or the endpoint fails: twice as long each time.
const REST: Backoff = Backoff { first: Duration::from_secs(2), most: Duration::from_secs(60), tries: u32::MAX };
/// An endpoint is left alone at most so long when it asks for it.
const LONGEST_ASKED: Duration = Duration::from_secs(15 * 60);

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
    #[error("{reason}")]
    Away { reason: String, after: Option<Duration> },
}

/// Tools that may be new to the model.
type Waiting = BTreeMap<TenantId, VecDeque<ToolId>>;

impl Meaning {
    /// Reads every tool, and those that change, until `stop`.
    pub(crate) async fn read_tools(self, registry: Registry, stop: CancellationToken) {
        let mut revisions = registry.revisions();
        let (mut waiting, mut failed) = (Waiting::new(), 0_u32);
        stop.run_until_cancelled(async {
            loop {
                // Noted before it is looked: what changes meanwhile is looked at once more.
                revisions.borrow_and_update();
                self.gather(&registry, &mut waiting);
                if waiting.is_empty() && revisions.changed().await.is_err() {
                    return;
                }
                let Err(fault) = self.read_some(&registry, &mut waiting).await else {
                    failed = 0;
                    continue;
                };
                failed = failed.saturating_add(1);
                let rest = fault.rest(failed);
                tracing::warn!(error = %fault, ?rest, "tools are not read for their meaning now; it goes on later");
                tokio::time::sleep(rest).await;
            }
        })
        .await;
    }

    /// Adds the tools that have changed since it was last looked.
    fn gather(&self, registry: &Registry, waiting: &mut Waiting) {
        for (tenant, owner) in registry.tenants().all() {
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

    /// Reads some tools of each tenant. Those it fails with go on waiting; a tenant whose records cannot be kept holds back no other one.
    async fn read_some(&self, registry: &Registry, waiting: &mut Waiting) -> Result<(), Fault> {
        let (batch, mut failed) = (self.0.options.source.batch(), None);
        for (tenant, ids) in waiting.iter_mut() {
            let some: Vec<ToolId> = ids.iter().take(batch).cloned().collect();
            match self.read(registry, tenant, &some).await {
                Ok(()) => drop(ids.drain(..some.len())),
                Err(away @ Fault::Away { .. }) => return Err(away),
                Err(fault) => failed = Some(fault),
            }
        }
        waiting.retain(|_, ids| !ids.is_empty());
        failed.map_or(Ok(()), Err)
    }

    async fn read(&self, registry: &Registry, tenant: &TenantId, ids: &[ToolId]) -> Result<(), Fault> {
        let known = self.of_tenant(tenant);
        let New { unread, retired } = New::among(registry, tenant, ids, &known);
        drop_out(registry.store(), tenant, &known, retired).await?;
        let fresh = self.not_kept(registry.store(), tenant, &known, unread).await?;
        if fresh.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = fresh.iter().map(|one| one.text.clone()).collect();
        let each::Outcome { made, away } = each::each(self.0.options.source.as_ref(), &texts).await;
        let mut read = Vec::with_capacity(made.len());
        for (one, made) in fresh.into_iter().zip(made) {
            match made {
                Some(Made::Vector(Some(vector))) => {
                    self.check_dimension(&vector).map_err(|reason| Fault::Away { reason, after: None })?;
                    read.push((one, Some(vector)));
                }
                Some(Made::Vector(None)) => read.push((one, None)),
                Some(Made::Refused(reason)) => {
                    // Asked for again when its text changes, and by the next start.
                    tracing::warn!(tool_id = %one.id, error = reason, "the text of a tool is refused: it is found by words alone");
                    read.push((one, None));
                }
                None => {}
            }
        }
        let writes = read.iter().filter_map(|(one, vector)| {
            let bytes = self.stored(&one.digest, vector.as_ref()?);
            Some(Write::Put { key: keys::meaning(tenant, &one.id), bytes })
        });
        registry.store().commit(Commit { writes: writes.collect(), ..Commit::default() }).await?;
        read.into_iter().for_each(|(one, vector)| known.keep(one.id, one.digest, vector.as_ref()));
        match away {
            Some(NotRead::Away { reason, after }) => Err(Fault::Away { reason, after }),
            Some(NotRead::Refused { reason }) => Err(Fault::Away { reason, after: None }),
            None => Ok(()),
        }
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

    fn stored(&self, text: &Digest, vector: &Quantised) -> Bytes {
        let model = self.0.options.source.model().to_string();
        let stored = Stored { model, text: *text, vector: hex::encode(vector.to_bytes()) };
        // Texts and a digest are always JSON; without one, the tool is read again after the next start.
        Bytes::from(serde_json::to_vec(&stored).unwrap_or_default())
    }

    /// What is stored, when this model made it of this text.
    fn kept(&self, bytes: &[u8], text: &Digest) -> Option<Quantised> {
        let stored: Stored = serde_json::from_slice(bytes).ok()?;
        if stored.model != self.0.options.source.model().as_str() || stored.text != *text {
            return None;
        }
        let vector = Quantised::from_bytes(&hex::decode(&stored.vector).ok()?)?;
        self.check_dimension(&vector).is_ok().then_some(vector)
    }
}

impl Fault {
    /// How long it rests after so many failures in a row.
    fn rest(&self, failed: u32) -> Duration {
        let asked = match self {
            Self::Store(_) => None,
            Self::Away { after, .. } => *after,
        };
        REST.wait(failed, None).max(asked.unwrap_or_default().min(LONGEST_ASKED))
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
