//! Heartbeats: leases are renewed from a thread of their own, over a connection of its own, by one request for all of them.
//!
//! Nothing a tool does to the runtime, and no large message on the stream, delays them. Short calls cost none. The same
//! thread kills what must not outlive its lease when nobody answers.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tonic::Code;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_proto::v1::{HeartbeatRequest, HeartbeatResponse, LeaseRef};
use toolplane_runtime::client::Peer;
use tracing::instrument::WithSubscriber as _;
use tracing::subscriber::NoSubscriber;

use crate::clock::Moment;
use crate::commands;
use crate::error::ExecutorError;
use crate::executor::Core;
use crate::identity::PREVIOUS_INCARNATION_DEAD;
use crate::seat::{Seat, Stop};

/// Starts the thread. It ends when `over` is cancelled, which must be the last thing a worker does.
pub(crate) fn spawn(core: Arc<Core>, over: CancellationToken) -> Result<(), ExecutorError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ExecutorError::Session)?;
    let thread = std::thread::Builder::new().name("executor-beats".to_owned());
    let work = async move {
        tokio::select! {
            () = over.cancelled() => {}
            () = beat_on(&core) => {}
            () = guard(&core) => {}
        }
    };
    thread.spawn(move || runtime.block_on(work)).map_err(ExecutorError::Session)?;
    Ok(())
}

/// Renews leases for ever.
async fn beat_on(core: &Arc<Core>) {
    let mut line = Line::default();
    let chance = RandomState::new();
    let mut beats = 0_u64;
    loop {
        // A tenth more or less, so that workers that started together do not beat together.
        beats += 1;
        let share = 900 + chance.hash_one(beats) % 201;
        let every = core.terms.heartbeat() * u32::try_from(share).unwrap_or(1000) / 1000;
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = core.beat_now.notified() => {}
        }
        let due = core.leases.due(&core.terms, Moment::now());
        if !due.is_empty() && !renew(core, &mut line, &due).await {
            // Each try that fails takes from the time the leases have left.
            core.beat_now.notify_one();
            tokio::time::sleep(core.terms.heartbeat() / 4).await;
        }
    }
}

/// The connection of the heartbeats, and where it leads.
#[derive(Default)]
struct Line(Option<(String, WorkerServiceClient<Peer>)>);

impl Line {
    /// A client of the scheduler at `url`, on this thread's runtime.
    fn to(&mut self, core: &Core, url: String) -> Result<WorkerServiceClient<Peer>, String> {
        if let Some((_, client)) = self.0.as_ref().filter(|(to, _)| *to == url) {
            return Ok(client.clone());
        }
        let client = WorkerServiceClient::new(core.schedulers.connect(&url)?);
        Ok(self.0.insert((url, client)).1.clone())
    }
}

/// One request for all of `due`, to the scheduler of the stream or else to any other; false when none answered.
async fn renew(core: &Arc<Core>, line: &mut Line, due: &[Arc<Seat>]) -> bool {
    // Long enough for a slow link, short enough for another try while the lease stands.
    let bound = core.terms.lease() / 3;
    for place in 0..core.schedulers.count() {
        let url = core.schedulers.after_current(place);
        let sent = Moment::now();
        match tokio::time::timeout(bound, ask(core, line, url, due)).await {
            Ok(Ok(answer)) => {
                heed(core, due, sent, answer);
                return true;
            }
            Ok(Err(cause)) => tracing::debug!(cause, leases = due.len(), "a heartbeat was not answered"),
            Err(_) => tracing::debug!(leases = due.len(), "a heartbeat was not answered in time"),
        }
        // What hangs is not asked again.
        line.0 = None;
    }
    tracing::warn!(leases = due.len(), "no scheduler renews the leases");
    false
}

async fn ask(core: &Core, line: &mut Line, url: String, due: &[Arc<Seat>]) -> Result<HeartbeatResponse, String> {
    let request = HeartbeatRequest {
        worker_id: core.identity.worker_id.to_string(),
        incarnation: core.identity.incarnation.clone(),
        leases: due.iter().map(|seat| seat.lease.clone()).collect(),
        previous_incarnation_dead: PREVIOUS_INCARNATION_DEAD,
    };
    let mut client = line.to(core, url)?;
    // A heartbeat belongs to no trace.
    let answer = client.heartbeat(request).with_subscriber(NoSubscriber::default()).await;
    match &answer {
        Ok(_) => core.outbox.renew_on_stream(false),
        // A scheduler of an older version: the stream renews, and what it does not is not known here.
        Err(status) if status.code() == Code::Unimplemented => {
            core.outbox.renew_on_stream(true);
            return Ok(HeartbeatResponse::default());
        }
        Err(_) => {}
    }
    answer.map(tonic::Response::into_inner).map_err(|status| toolplane_runtime::status::describe(&status).to_string())
}

/// Does what the answer to a request says that was sent at `sent`.
fn heed(core: &Arc<Core>, due: &[Arc<Seat>], sent: Moment, answer: HeartbeatResponse) {
    core.terms.set(0, answer.lease_ms);
    let doubtful: HashSet<&LeaseRef> = answer.fenced.iter().chain(&answer.unsure).collect();
    for seat in due.iter().filter(|seat| !doubtful.contains(&seat.lease)) {
        seat.renewed(sent);
    }
    for lease in answer.fenced {
        // The end of an ended call is still told: it changes nothing, but it is evidence.
        if core.leases.is_open(&lease) {
            commands::lose(core, Some(lease), "fenced");
        }
    }
    for cancel in answer.cancels {
        commands::stop(core, cancel);
    }
    for provided in answer.inputs {
        commands::answer(core, provided);
    }
}

/// Kills, for ever, holders of exclusive locks before their leases can end unseen.
async fn guard(core: &Core) {
    loop {
        tokio::time::sleep(core.terms.check_every()).await;
        for seat in core.leases.in_doubt(&core.terms, Moment::now()) {
            let silent = seat.last_renewed().age(Moment::now());
            tracing::warn!(
                invocation_id = seat.lease.invocation_id,
                silent_ms = crate::outcome::millis(silent),
                "the lease of a lock could not be renewed; killing its holder"
            );
            seat.stop(Stop::InDoubt);
            seat.kill.throw();
        }
    }
}
