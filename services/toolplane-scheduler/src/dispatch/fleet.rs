//! The workers of the cluster: those connected here as they are, others as their schedulers recorded them.

use std::sync::Arc;

use toolplane_records::ids::WorkerId;

use super::link::WorkerLink;
use super::queues::ReadyQueues;
use super::roster::{RecordedWorker, Roster};
use super::workers::Workers;
use crate::cluster::Members;
use crate::storage::RecordError;

/// All workers. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    workers: Arc<Workers>,
    roster: Arc<Roster>,
    members: Arc<Members>,
    queues: Arc<ReadyQueues>,
    shared: bool,
}

impl Fleet {
    /// The workers connected here, those of `roster`, and the schedulers that hold them.
    pub(crate) fn new(
        workers: Arc<Workers>,
        roster: Arc<Roster>,
        members: Arc<Members>,
        queues: Arc<ReadyQueues>,
        shared: bool,
    ) -> Self {
        Self { workers, roster, members, queues, shared }
    }

    /// Workers connected here.
    pub(crate) fn here(&self) -> &Workers {
        &self.workers
    }

    /// The schedulers of the cluster.
    pub(crate) fn schedulers(&self) -> &Members {
        &self.members
    }

    /// Makes a worker available for calls, and records that it is connected here.
    pub(crate) async fn connect(&self, link: &Arc<WorkerLink>) {
        self.workers.connect(link.clone());
        self.queues.ring();
        self.roster.enlist(link).await;
    }

    /// A worker that is connected here told something new of itself.
    pub(crate) async fn record_anew(&self, link: &WorkerLink) {
        self.roster.enlist(link).await;
    }

    /// The stream of a worker ended here. One that said goodbye on its last stream is forgotten; one that has another stream here goes
    /// on with that.
    pub(crate) async fn left(&self, link: &WorkerLink, said_goodbye: bool) {
        match self.workers.here(&link.info.worker_id) {
            Some(other) if other.info.incarnation == link.info.incarnation => {
                self.queues.ring();
                self.roster.enlist(&other).await;
            }
            _ => self.roster.left(link, said_goodbye).await,
        }
    }

    /// Whose credential the worker of this id is connected with now, to whichever scheduler. Returns an error when the store does.
    pub(crate) async fn actor_of(&self, worker_id: &WorkerId) -> Result<Option<String>, RecordError> {
        if let Some(link) = self.workers.here(worker_id) {
            return Ok(link.info.actor.clone());
        }
        if !self.shared {
            return Ok(None);
        }
        let recorded = self.roster.one(worker_id).await?;
        Ok(recorded
            .filter(|one| !one.is_lost(|scheduler| self.members.lives(scheduler)))
            .and_then(|one| one.info.actor))
    }

    /// Every worker that is recorded, by id; also those connected here. Returns an error when the store does.
    pub(crate) async fn recorded(&self) -> Result<Vec<RecordedWorker>, RecordError> {
        Ok(self.roster.all().await?)
    }
}
