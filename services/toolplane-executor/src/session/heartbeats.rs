//! Heartbeats: leases are renewed from a thread of their own, over a connection of its own, by one request for all of them.
//!
//! Nothing a tool does to the runtime, and no large message on the stream, delays them. Short calls cost none. The same
//! thread kills what must not outlive its lease when no scheduler answers.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Commands;
use crate::assignments::{Assignment, Moment, StopReason};
use crate::error::ExecutorError;
use crate::messages::{Lease, Welcome};
use crate::schedulers::Schedulers;
use crate::wire::{HeartbeatAnswer, NoAnswer, ReadBounds, Renewals, SchedulerClient};
use crate::worker::Introduction;

/// Renews the leases of a worker.
#[derive(Debug)]
pub(crate) struct Heartbeats {
    pub(crate) introduction: Arc<Introduction>,
    pub(crate) schedulers: Schedulers,
    pub(crate) bounds: ReadBounds,
    pub(crate) commands: Arc<Commands>,
}

impl Heartbeats {
    /// Starts the thread. It ends when `over` is cancelled, which must be the last thing a worker does.
    pub(crate) fn spawn(self, over: CancellationToken) -> Result<(), ExecutorError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ExecutorError::Session)?;
        let thread = std::thread::Builder::new().name("executor-heartbeats".to_owned());
        let work = async move {
            tokio::select! {
                () = over.cancelled() => {}
                () = self.renew() => {}
                () = self.guard_locks() => {}
            }
        };
        thread.spawn(move || runtime.block_on(work)).map_err(ExecutorError::Session)?;
        Ok(())
    }

    /// Renews leases, in an endless loop.
    async fn renew(&self) {
        let Commands { assignments, terms, .. } = &*self.commands;
        let mut connection = None;
        let chance = RandomState::new();
        let mut beats = 0_u64;
        loop {
            // A tenth more or less, so that workers that started together do not beat together.
            beats += 1;
            let share = 900 + chance.hash_one(beats) % 201;
            let every = terms.heartbeat() * u32::try_from(share).unwrap_or(1000) / 1000;
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = assignments.renewal_wanted() => {}
            }
            let due = assignments.due(terms, Moment::now());
            if !due.is_empty() && !self.renew_all(&mut connection, &due).await {
                // Each try that fails takes from the time the leases have left.
                assignments.want_renewal();
                tokio::time::sleep(terms.heartbeat() / 4).await;
            }
        }
    }

    /// One request for all of `due`, to the scheduler of the stream or else to any other; false when none answered.
    async fn renew_all(&self, connection: &mut Option<Connection>, due: &[Arc<Assignment>]) -> bool {
        // Long enough for a slow link, short enough for another try while the lease is in force.
        let bound = self.commands.terms.lease() / 3;
        for place in 0..self.schedulers.count() {
            let url = self.schedulers.after_current(place);
            let sent = Moment::now();
            match tokio::time::timeout(bound, self.ask(connection, url, due)).await {
                Ok(Ok(renewals)) => {
                    self.heed(due, sent, renewals);
                    return true;
                }
                Ok(Err(cause)) => tracing::debug!(%cause, leases = due.len(), "a heartbeat was not answered"),
                Err(_) => tracing::debug!(leases = due.len(), "a heartbeat was not answered in time"),
            }
            // What hangs is not asked again.
            *connection = None;
        }
        tracing::warn!(leases = due.len(), "no scheduler renews the leases");
        false
    }

    async fn ask(
        &self,
        connection: &mut Option<Connection>,
        url: String,
        due: &[Arc<Assignment>],
    ) -> Result<Renewals, NoAnswer> {
        let leases: Vec<_> = due.iter().map(|assignment| assignment.lease.clone()).collect();
        let client = match connection {
            Some(known) if known.url == url => &mut known.client,
            _ => {
                let peer = self.schedulers.connect(&url).map_err(|error| NoAnswer(error.to_string()))?;
                &mut connection.insert(Connection { url, client: SchedulerClient::new(peer, self.bounds) }).client
            }
        };
        match client.heartbeat(&self.introduction.identity, &leases).await? {
            HeartbeatAnswer::Renewed(renewals) => {
                self.commands.outbox.renew_on_stream(false);
                Ok(renewals)
            }
            // The stream renews, and what it does not is not known here.
            HeartbeatAnswer::Unknown => {
                self.commands.outbox.renew_on_stream(true);
                Ok(Renewals::default())
            }
        }
    }

    /// Does what the answer to a request says that was sent at `sent`.
    fn heed(&self, due: &[Arc<Assignment>], sent: Moment, renewals: Renewals) {
        let Renewals { lost, unsure, commands, lease } = renewals;
        self.commands.terms.set(Welcome { lease, ..Welcome::default() });
        let doubtful: HashSet<&Lease> = lost.iter().chain(&unsure).collect();
        for assignment in due.iter().filter(|assignment| !doubtful.contains(&assignment.lease)) {
            assignment.renewal.renewed(sent);
        }
        for lease in &lost {
            self.commands.lose_open(lease);
        }
        for command in commands {
            self.commands.obey(command);
        }
    }

    /// Kills, in an endless loop, holders of exclusive locks before their leases can end unseen.
    async fn guard_locks(&self) {
        let Commands { assignments, terms, .. } = &*self.commands;
        loop {
            tokio::time::sleep(terms.check_every()).await;
            for assignment in assignments.in_doubt(terms, Moment::now()) {
                let silent = assignment.silent_for(Moment::now());
                tracing::warn!(
                    invocation_id = %assignment.lease.invocation_id,
                    silent_ms = silent.as_millis(),
                    "the lease of a lock could not be renewed; killing its holder"
                );
                assignment.stop.give(StopReason::InDoubt);
                assignment.stop.kill.throw();
            }
        }
    }
}

/// The connection of the heartbeats, and where it leads.
struct Connection {
    url: String,
    client: SchedulerClient,
}
