//! Keeping what is in memory right while other processes change the same tools and surfaces.
//!
//! Changes of others are taken in when a notice of one arrives, and twice a second without one. The process that makes
//! a change waits until every process that answers from memory has taken it in, so while this process holds its lease,
//! no answer from memory is older than a change that was answered anywhere. Without the lease every answer looks at the
//! store first.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use futures_util::{StreamExt as _, future};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use toolplane_catalog::catalog::Prepared;
use toolplane_records::codes;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_runtime::ApiError;
use toolplane_runtime::health::Need;

use super::Registry;
use crate::changes::{Head, RENEW};
use crate::error::SurfaceError;
use crate::keys;
use crate::records::StoredTool;
use crate::sync::Subject;

/// How many changed tools are read at once.
const READ_PAGE: usize = 200;
/// Wait before notices are listened for again after their stream ended.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

impl Registry {
    /// Sees to it that nothing in memory is older than what any process has answered for.
    pub(crate) async fn current(&self) -> Result<(), ApiError> {
        match &self.0.followers {
            Some(followers) if followers.trusted_for().is_none() => self.catch_up().await.map_err(behind),
            _ => Ok(()),
        }
    }

    /// The same, and that what is in memory is not older than `revision`, as far as there is such a revision.
    pub(crate) async fn current_at(&self, revision: u64) -> Result<(), ApiError> {
        if self.0.followers.is_some() && self.0.hub.revision() < revision {
            return self.catch_up().await.map_err(behind);
        }
        self.current().await
    }

    /// For how long schedulers may rely on what they were told up to now. Nothing where the stream alone says it; an
    /// error where this process cannot say that it hears of all changes.
    pub(crate) fn trusted_for(&self) -> Result<Option<Duration>, ApiError> {
        match self.0.followers.as_ref().map(|followers| followers.trusted_for()) {
            None => Ok(None),
            Some(Some(time)) => Ok(Some(time)),
            Some(None) => Err(cut_off()),
        }
    }

    /// Takes in what other processes have changed up to now, where there are others.
    pub(crate) async fn newest(&self) -> Result<(), ApiError> {
        match &self.0.followers {
            Some(_) => self.catch_up().await.map_err(behind),
            None => Ok(()),
        }
    }

    /// Takes in every change that was durable when this was called.
    pub(super) async fn catch_up(&self) -> Result<(), SurfaceError> {
        let asked = Instant::now();
        let mut taken_in = self.0.taking_in.lock().await;
        // Another task has done it meanwhile.
        if taken_in.is_some_and(|began| began > asked) {
            return Ok(());
        }
        let began = Instant::now();
        self.take_in_newer().await?;
        *taken_in = Some(began);
        Ok(())
    }

    /// Takes a change of this process in, which is durable at `made` and is about `subjects`: tells the schedulers, and returns the
    /// revision they are told.
    pub(crate) async fn take_in(
        &self,
        made: Option<Head>,
        subjects: &[Subject],
        apply: impl FnOnce(),
    ) -> Result<u64, ApiError> {
        let Some(made) = made else {
            apply();
            return Ok(self.0.hub.publish(subjects));
        };
        let _alone = self.0.taking_in.lock().await;
        let applied = *self.0.applied.lock();
        if applied.is_followed_by(made) {
            apply();
            *self.0.applied.lock() = made;
            self.0.hub.publish_at(subjects, made.revision);
        } else if applied.version < made.version {
            self.take_in_newer().await.map_err(behind)?;
        }
        Ok(made.revision)
    }

    /// Waits until no scheduler of this process, and no other process, goes by what was before `revision`.
    pub(crate) async fn settled(&self, revision: u64) {
        let others = async {
            if let Some(followers) = &self.0.followers {
                followers.settled(revision).await;
            }
        };
        future::join(self.0.hub.settled(revision), others).await;
    }

    /// Only for who holds `taking_in`.
    async fn take_in_newer(&self) -> Result<(), SurfaceError> {
        let (head, applied) = (self.0.changes.head().await?, *self.0.applied.lock());
        if head == applied {
            return Ok(());
        }
        let changed = self.0.changes.since(applied.revision).await?;
        let told: Vec<Subject> = changed.iter().map(|(_, subject)| subject.clone()).collect();
        // The newest change has an entry; where it has none, the index does not say everything.
        let complete = changed.last().is_some_and(|(newest, _)| *newest >= head.revision);
        if complete && self.take_in_changed(told.clone()).await? {
            *self.0.applied.lock() = head;
            self.0.hub.publish_at(&told, head.revision);
            return Ok(());
        }
        tracing::warn!(revision = head.revision, "the list of changes is incomplete; all tools are read again");
        self.read_again().await?;
        *self.0.applied.lock() = head;
        self.0.hub.publish_reset(head.revision);
        Ok(())
    }

    /// Reads what has changed; false when something of it is not there any more.
    async fn take_in_changed(&self, changed: Vec<Subject>) -> Result<bool, SurfaceError> {
        let mut tools: HashMap<TenantId, Vec<ToolId>> = HashMap::new();
        let mut others = Vec::new();
        for subject in changed {
            match subject {
                Subject::Tool(tenant, id) => tools.entry(tenant).or_default().push(id),
                other => others.push(other),
            }
        }
        for (tenant, ids) in tools {
            for ids in ids.chunks(READ_PAGE) {
                if !self.take_in_tools(&tenant, ids).await? {
                    return Ok(false);
                }
            }
        }
        self.0.memory.read_changed(self.store(), others).await?;
        Ok(true)
    }

    async fn take_in_tools(&self, tenant: &TenantId, ids: &[ToolId]) -> Result<bool, SurfaceError> {
        let records: Vec<_> = ids.iter().map(|id| keys::tool(tenant, id)).collect();
        let found = self.store().get_many(&records).await?;
        let Some(found) = found.into_iter().collect::<Option<Vec<_>>>() else { return Ok(false) };
        let keyed: Vec<_> =
            records.into_iter().map(|key| key.id).zip(found.into_iter().map(|found| found.bytes)).collect();
        // What their names lead to was decided by the process that registered them.
        let read = tokio::task::spawn_blocking(move || {
            let tools = keyed.iter().map(|(key, bytes)| StoredTool::change(key, bytes).map(Prepared::from));
            tools.collect::<Result<Vec<_>, SurfaceError>>()
        });
        self.tenant(tenant).apply(read.await.map_err(|_| SurfaceError::ending())??);
        Ok(true)
    }

    /// Follows the changes of other processes until `stop`.
    pub(crate) async fn follow(self, stop: CancellationToken) {
        if self.0.followers.is_none() {
            return;
        }
        let work = future::join3(self.listen(), self.keep_current(), self.acknowledge());
        stop.run_until_cancelled(work).await;
        self.leave().await;
    }

    /// Keeps `need` up to date about whether this process can follow the changes of others, until `stop`.
    pub(crate) async fn follow_health(self, need: Need, stop: CancellationToken) {
        let Some(followers) = &self.0.followers else { return need.there() };
        let mut follows = followers.follows();
        let following = async {
            loop {
                match *follows.borrow_and_update() {
                    Some(true) => need.there(),
                    Some(false) => need.missing("they cannot be applied; the log says why"),
                    None => {}
                }
                if follows.changed().await.is_err() {
                    return;
                }
            }
        };
        stop.run_until_cancelled(following).await;
    }

    /// Begins to answer from memory. To be called once before anything is answered.
    pub(crate) async fn join(&self) -> Result<(), SurfaceError> {
        let Some(followers) = &self.0.followers else { return Ok(()) };
        let renewed = followers.renew().await?;
        self.catch_up().await?;
        followers.acknowledge(self.0.hub.revision()).await?;
        followers.trust(renewed);
        Ok(())
    }

    /// No change needs to wait for this process any longer.
    async fn leave(&self) {
        let Some(followers) = &self.0.followers else { return };
        if let Err(error) = followers.leave().await {
            tracing::debug!(%error, "the lease of this process ends by itself");
        }
    }

    /// Takes notice of what other processes say.
    async fn listen(&self) {
        loop {
            let mut hints = self.store().hints();
            while let Some(hint) = hints.next().await {
                match (hint.topic.as_str(), &self.0.followers) {
                    (keys::CHANGES, _) => drop(self.catch_up_and_tell().await),
                    (keys::ACKNOWLEDGED, Some(followers)) => followers.heard(),
                    _ => {}
                }
            }
            tokio::time::sleep(LISTEN_AGAIN).await;
        }
    }

    /// Renews the lease, and takes in what no notice has told of.
    async fn keep_current(&self) {
        let Some(followers) = &self.0.followers else { return };
        let mut tick = tokio::time::interval(RENEW);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            // Who cannot take changes in must not be waited for.
            if followers.trusted_for().is_none() && !self.catch_up_and_tell().await {
                followers.cannot_follow();
                continue;
            }
            match followers.renew().await {
                Ok(renewed) if self.catch_up_and_tell().await => followers.trust(renewed),
                Ok(_) => {
                    followers.cannot_follow();
                    self.leave().await;
                }
                Err(error) => tracing::debug!(%error, "the lease of this process cannot be renewed now"),
            }
        }
    }

    async fn catch_up_and_tell(&self) -> bool {
        let outcome = self.catch_up().await;
        if let Err(error) = &outcome {
            tracing::error!(%error, code = error.code(), "changes of other processes cannot be applied");
        }
        outcome.is_ok()
    }

    /// Says how far this process and its schedulers have come, whenever that grows.
    async fn acknowledge(&self) {
        let Some(followers) = &self.0.followers else { return };
        let mut revisions = self.0.hub.revisions();
        loop {
            let revision = *revisions.borrow_and_update();
            self.0.hub.settled(revision).await;
            let said = followers.acknowledge(revision).await;
            if let Err(error) = &said {
                tracing::debug!(%error, "it cannot be said now that a change was taken in");
                tokio::time::sleep(RENEW).await;
            } else if revisions.changed().await.is_err() {
                return;
            }
        }
    }
}

/// Why what is in memory cannot be brought up to date, for the caller.
pub(super) fn behind(error: SurfaceError) -> ApiError {
    match error {
        SurfaceError::Store(error) => crate::error::of_store(error),
        error => {
            tracing::error!(%error, code = error.code(), "changes of other processes cannot be applied");
            cut_off()
        }
    }
}

fn cut_off() -> ApiError {
    ApiError::unavailable(
        codes::CATALOG_BEHIND,
        "this process does not know the newest tools and surfaces; ask another one",
    )
}
