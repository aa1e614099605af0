//! What lies outside of the store of calls and is to be removed: kept outputs, and questions to people.
//!
//! The commit that takes a call out, or some of its records, writes down what else has to go. So a process that dies in between, and a store
//! or a service that is away, only delay it.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use toolplane_faultpoint::point;
use toolplane_records::ids::{ApprovalId, InvocationId, InvocationKey, TenantId};
use toolplane_results::PayloadStore;
use toolplane_results::payload::key::PayloadKey;
use toolplane_store::{Expect, ScoreRange};

use super::tombstone::{LostOutput, Tombstone};
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Storage, keys};
use toolplane_records::time::Timestamp;

/// Calls whose rest is removed in one round.
const PAGE: usize = 64;

/// What is still to be removed of one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Rest {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) outputs: Vec<LostOutput>,
    /// What people were asked about it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) questions: bool,
    /// Questions that are known by name: the service finds those of earlier versions no other way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) approvals: Vec<ApprovalId>,
}

impl Rest {
    fn is_empty(&self) -> bool {
        self.outputs.is_empty() && !self.questions
    }

    fn and(mut self, more: Self) -> Self {
        let new = more.outputs.into_iter().filter(|output| !self.outputs.contains(output)).collect::<Vec<_>>();
        self.outputs.extend(new);
        self.questions |= more.questions;
        self.approvals.extend(more.approvals);
        self.approvals.sort_unstable();
        self.approvals.dedup();
        self
    }
}

/// Who keeps what people were asked.
pub(crate) trait Questions: Send + Sync {
    /// Removes what was asked about a call, and these approvals. Done again it changes nothing. An error says why it is to be tried again.
    fn forget<'a>(
        &'a self,
        tenant: &'a TenantId,
        call: &'a InvocationId,
        approvals: &'a [ApprovalId],
    ) -> BoxFuture<'a, Result<(), String>>;
}

/// Where nobody is ever asked.
#[derive(Debug)]
pub(crate) struct NoQuestions;

impl Questions for NoQuestions {
    fn forget<'a>(
        &'a self,
        _: &'a TenantId,
        _: &'a InvocationId,
        _: &'a [ApprovalId],
    ) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Removes what is left. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Unfinished {
    pub(super) storage: Storage,
    pub(super) objects: PayloadStore,
    pub(super) questions: Arc<dyn Questions>,
}

impl fmt::Debug for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unfinished").finish_non_exhaustive()
    }
}

impl Unfinished {
    pub(crate) fn new(storage: Storage, objects: PayloadStore, questions: Arc<dyn Questions>) -> Self {
        Self { storage, objects, questions }
    }

    /// Writes into `builder` that `rest` of a call has to go, beside what had to before.
    pub(super) async fn note(
        &self,
        builder: &mut Builder,
        id: &InvocationKey,
        rest: Rest,
        now: Timestamp,
    ) -> Result<(), RecordError> {
        if rest.is_empty() {
            return Ok(());
        }
        let (before, expect) = self.of(id).await?.unwrap_or((Rest::default(), Expect::Absent));
        builder.compare(keys::unremoved(id), expect);
        builder.put_json(keys::unremoved(id), &before.and(rest))?;
        builder.enter(keys::UNREMOVED, id.to_string(), score(now));
        Ok(())
    }

    async fn of(&self, id: &InvocationKey) -> Result<Option<(Rest, Expect)>, RecordError> {
        let stored = self.storage.get(&keys::unremoved(id)).await?;
        let read = stored.map(|stored| Ok((serde_json::from_slice(&stored.bytes)?, Expect::Version(stored.version))));
        read.transpose().map_err(|error: serde_json::Error| error.into())
    }

    /// Removes what is left of calls that were taken out; at most a page of them.
    pub(crate) async fn finish(&self) -> Result<(), RecordError> {
        for entry in self.storage.scan(keys::UNREMOVED, ScoreRange::all(), PAGE).await? {
            if let Ok(id) = InvocationKey::parse(&entry.member) {
                self.finish_one(&id).await?;
            }
        }
        Ok(())
    }

    /// Removes what is left of one call. What cannot be removed now is tried again by [`Unfinished::finish`].
    pub(super) async fn finish_one(&self, id: &InvocationKey) -> Result<(), RecordError> {
        let (rest, expect) = match self.of(id).await? {
            Some((rest, expect)) => (rest, expect),
            None => (self.of_tombstone(id).await?, Expect::Absent),
        };
        point("scheduler.mid_remove");
        if let Err(error) = self.remove(id, &rest).await {
            tracing::warn!(invocation_id = %id, error, "something of a call that is gone is still kept; trying again later");
            return Ok(());
        }
        let mut builder = Builder::default();
        // Lost when more of the call was taken out meanwhile: then that is still to be removed.
        builder.compare(keys::unremoved(id), expect);
        if expect != Expect::Absent {
            builder.delete(keys::unremoved(id));
        }
        builder.leave(keys::UNREMOVED, id.to_string());
        self.storage.write(builder.done(true)).await.map(drop)
    }

    async fn remove(&self, id: &InvocationKey, rest: &Rest) -> Result<(), String> {
        for output in &rest.outputs {
            let Ok(key) = output.uri.parse::<PayloadKey>() else { continue };
            self.objects.remove(&key).await.map_err(|error| error.to_string())?;
            point("scheduler.mid_remove_outputs");
        }
        match rest.questions {
            true => self.questions.forget(&id.tenant, &id.id, &rest.approvals).await,
            false => Ok(()),
        }
    }

    /// What a deletion of an earlier version left: its tombstone alone says what had to go.
    async fn of_tombstone(&self, id: &InvocationKey) -> Result<Rest, RecordError> {
        let stored = self.storage.get(&keys::deleted(id)).await?;
        let left: Option<Tombstone> = stored.map(|stored| serde_json::from_slice(&stored.bytes)).transpose()?;
        Ok(Rest { outputs: left.map(|left| left.outputs).unwrap_or_default(), ..Rest::default() })
    }
}
