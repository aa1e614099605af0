//! One change of a provider and of what is known of its tools, made durable and told.

use std::sync::Arc;

use bytes::Bytes;
use toolplane_catalog::Registration;
use toolplane_records::ids::{ProviderId, TenantId, ToolId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::provider::{ProvidedTool, Provider, ProviderStatus};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, CommitOutcome, Expect, IndexOp, StoreError, Write};

use super::Providers;
use super::held::{Held, HeldTool};
use super::kept::{KeptProvider, KeptTool};
use crate::changes::Made;
use crate::error::{of_store, unreadable};
use crate::events::Log;
use crate::keys;
use crate::sync::Subject;

/// Most bytes of tool records in one commit.
const CHUNK_BYTES: usize = 2 * 1024 * 1024;
/// Most tool records in one commit.
const CHUNK: usize = 400;

/// What a provider becomes.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) provider: Provider,
    pub(super) status: ProviderStatus,
    pub(super) tools: Vec<ToolChange>,
    /// What its log says of it.
    pub(super) facts: Vec<(EventClass, JsonPayload)>,
    /// Others go by it: schedulers and other processes are told before it is answered.
    pub(super) is_told: bool,
}

/// What is known of a tool from then on.
#[derive(Debug)]
pub(super) enum ToolChange {
    /// This.
    Put(Box<PutTool>),
    /// Nothing.
    Forget(ToolId),
}

/// What is known of a tool.
#[derive(Debug)]
pub(super) struct PutTool {
    pub(super) tool: ProvidedTool,
    pub(super) registered: Option<Digest>,
    pub(super) definition: Option<Arc<Registration>>,
}

impl ToolChange {
    fn tool_id(&self) -> &ToolId {
        match self {
            Self::Put(put) => &put.tool.tool_id,
            Self::Forget(tool_id) => tool_id,
        }
    }
}

impl Providers {
    /// Makes a change of what was `before`; nothing when another process was faster, and then that is shown. Only for who has the
    /// provider's turn.
    pub(super) async fn change(
        &self,
        before: Option<&Held>,
        change: Change,
        now: Timestamp,
    ) -> Result<Option<Arc<Held>>, ApiError> {
        let Change { provider, status, tools, facts, is_told } = change;
        let (tenant, id) = (provider.tenant.clone(), provider.provider_id.clone());
        let mut after = Held {
            version: before.map_or(0, |before| before.version) + 1,
            tools: before.map(|before| before.tools.clone()).unwrap_or_default(),
            provider,
            status,
        };
        let mut commits =
            Writing { tenant: &tenant, provider: &id, before, commits: vec![Commit::default()], bytes: 0 };
        for change in tools {
            commits.add(&mut after, change)?;
        }
        let mut commits = commits.commits;
        let mut last = commits.pop().unwrap_or_default();
        for commit in commits {
            if !self.applied_alone(commit).await? {
                self.shelf.read_one(self.registry.store(), &tenant, &id).await.map_err(of_store)?;
                return Ok(None);
            }
        }
        add_provider(&mut last, before, &after)?;
        if !facts.is_empty() {
            let log = Log::Provider(tenant.clone(), id.clone());
            last.events.push(log.append(log.head(self.registry.store()).await? + 1, now, facts)?);
        }
        let after = Arc::new(after);
        let subjects = [Subject::Provider(tenant.clone(), id.clone())];
        let made = match is_told {
            true => self.registry.make_change(last, &subjects).await?,
            false if self.applied_alone(last).await? => {
                self.shelf.show(Arc::clone(&after));
                return Ok(Some(after));
            }
            false => Made::Lost,
        };
        let Made::At(head) = made else {
            self.shelf.read_one(self.registry.store(), &tenant, &id).await.map_err(of_store)?;
            return Ok(None);
        };
        let shown = Arc::clone(&after);
        let revision = self.registry.take_in(head, &subjects, || self.shelf.show(shown)).await?;
        self.registry.settled(revision).await;
        Ok(Some(after))
    }

    async fn applied_alone(&self, commit: Commit) -> Result<bool, ApiError> {
        match self.registry.store().commit(commit).await {
            Ok(CommitOutcome::Applied | CommitOutcome::Replayed) => Ok(true),
            Ok(CommitOutcome::Lost { .. } | CommitOutcome::Full { .. }) | Err(StoreError::SequenceGap { .. }) => {
                Ok(false)
            }
            Err(error) => Err(of_store(error)),
        }
    }
}

fn add_provider(commit: &mut Commit, before: Option<&Held>, after: &Held) -> Result<(), ApiError> {
    let Provider { tenant, provider_id, .. } = &after.provider;
    let key = keys::provider(tenant, provider_id);
    let kept = KeptProvider { provider: after.provider.clone(), status: after.status.clone() };
    let bytes = Bytes::from(serde_json::to_vec(&kept).map_err(unreadable)?);
    commit.compare.push((key.clone(), before.map_or(Expect::Absent, |before| Expect::Version(before.version))));
    commit.writes.push(Write::Put { key, bytes });
    if before.is_none() {
        let (index, member) = (keys::PROVIDERS.to_owned(), keys::provider_member(tenant, provider_id));
        commit.index.push(IndexOp::Put { index, score: 0, member });
    }
    Ok(())
}

/// Changes of tools on their way into commits.
struct Writing<'a> {
    tenant: &'a TenantId,
    provider: &'a ProviderId,
    before: Option<&'a Held>,
    commits: Vec<Commit>,
    bytes: usize,
}

impl Writing<'_> {
    fn add(&mut self, after: &mut Held, change: ToolChange) -> Result<(), ApiError> {
        let tool_id = change.tool_id().clone();
        let (index, member) = (keys::provided_by(self.tenant, self.provider), tool_id.to_string());
        let key = keys::provided(self.tenant, &tool_id);
        let known = self.before.and_then(|before| before.tools.get(&tool_id));
        let version = known.and_then(|known| known.version);
        if known.is_some() && version.is_none() {
            // What is damaged cannot be written over; it can be taken away.
            let commit = Commit { writes: vec![Write::Delete { key: key.clone() }], ..Commit::default() };
            self.commits.insert(0, commit);
        }
        let mut write = None;
        match change {
            ToolChange::Forget(_) => {
                after.tools.remove(&tool_id);
            }
            ToolChange::Put(put) => {
                let PutTool { tool, registered, definition } = *put;
                let kept = KeptTool { tool, registered, definition: definition.as_deref().cloned() };
                write = Some(Bytes::from(serde_json::to_vec(&kept).map_err(unreadable)?));
                let version = Some(version.unwrap_or(0) + 1);
                let held = HeldTool { record: kept.tool.into(), version, registered, definition };
                after.tools.insert(tool_id, Arc::new(held));
            }
        }
        let size = write.as_ref().map_or(0, Bytes::len);
        let full = |commit: &Commit, bytes: usize| commit.writes.len() >= CHUNK || bytes + size > CHUNK_BYTES;
        if self.commits.last().is_none_or(|commit| full(commit, self.bytes) && !commit.writes.is_empty()) {
            self.commits.push(Commit::default());
            self.bytes = 0;
        }
        self.bytes += size;
        let Some(commit) = self.commits.last_mut() else { return Ok(()) };
        commit.compare.push((key.clone(), version.map_or(Expect::Absent, Expect::Version)));
        match write {
            Some(bytes) => {
                commit.writes.push(Write::Put { key, bytes });
                if known.is_none() {
                    commit.index.push(IndexOp::Put { index, score: 0, member });
                }
            }
            None => {
                commit.writes.push(Write::Delete { key });
                commit.index.push(IndexOp::Remove { index, member });
            }
        }
        Ok(())
    }
}
