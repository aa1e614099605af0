//! The stream to the scheduler: kept up for as long as the worker lives, and what is said on it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};
use tonic::Streaming;
use toolplane_proto::convert::word;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_proto::v1::{CancelExecution, LeaseRef, Offer, Welcome, WorkResponse};
use toolplane_records::vocabulary::AbortReason;
use toolplane_runtime::client::{Backoff, Peer};

use crate::execution;
use crate::executor::Core;
use crate::leases::{Seat, Stop};

/// Makes a channel to the scheduler; each call may lead to another replica. The error is for the log.
pub type Connect = Arc<dyn Fn() -> Result<Peer, String> + Send + Sync>;

/// How long a scheduler may take to answer a new stream and to welcome the worker.
const WELCOME_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a scheduler may take to close a stream after a goodbye.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(2);
/// A stream that lasted this long was a good one: the next failure is the first.
const GOOD_STREAM: Duration = Duration::from_secs(5);
/// Bounds on what a scheduler may ask for.
const HEARTBEAT: std::ops::RangeInclusive<u32> = 10..=60_000;

/// Why a stream ended.
enum End {
    /// The scheduler went away, or never was there.
    Lost(String),
    /// In order: after a goodbye.
    Over,
}

/// Keeps a stream up until the worker has drained.
pub(crate) async fn run(core: Arc<Core>, connect: Connect) {
    let mut tried = 0_u32;
    loop {
        let begun = Instant::now();
        let end = stream(&core, &connect).await;
        core.outbox.detach();
        let was_connected = core.connected.send_replace(false);
        if begun.elapsed() >= GOOD_STREAM {
            tried = 0;
        }
        tried = tried.saturating_add(1);
        match end {
            End::Over if core.is_draining() => return,
            End::Over => tracing::info!("left the scheduler; connecting anew"),
            End::Lost(cause) if was_connected => {
                tracing::warn!(cause, held = core.leases.len(), "lost the scheduler; calls go on");
            }
            // Said at once and then now and then: an operator with a wrong address must see it, but not every second.
            End::Lost(cause) if tried % 30 == 1 => tracing::warn!(cause, tried, "no scheduler yet; trying on"),
            End::Lost(cause) => tracing::debug!(cause, tried, "no scheduler yet"),
        }
        tokio::time::sleep(Backoff::default().wait(tried, None)).await;
    }
}

/// One stream from its hello to its end.
async fn stream(core: &Arc<Core>, connect: &Connect) -> End {
    let peer = match connect() {
        Ok(peer) => peer,
        Err(cause) => return End::Lost(cause),
    };
    // One message may carry an offer for every slot, each with an input of its own.
    let max_bytes = core.options.max_message_bytes.saturating_mul(16);
    let mut client = WorkerServiceClient::new(peer).max_decoding_message_size(max_bytes);
    core.outbox.want_calls(!core.is_draining());
    let reader = core.outbox.open(&core.leases, core.hello());
    let requests = futures_util::stream::unfold((reader, core.clone()), |(mut reader, core)| async {
        let request = reader.next(&core.outbox, &core.leases).await?;
        Some((request, (reader, core)))
    });
    let begin = async {
        let mut commands = client.work(requests).await.map_err(|status| describe(&status))?.into_inner();
        let first = next(&mut commands).await?;
        let mut first = first.commands.into_iter().filter_map(|command| command.command);
        match first.next() {
            Some(Command::Welcome(welcome)) => Ok((commands, welcome, first)),
            _ => Err("its first command was no welcome".to_owned()),
        }
    };
    let (commands, welcome, rest) = match tokio::time::timeout(WELCOME_TIMEOUT, begin).await {
        Ok(Ok(begun)) => begun,
        Ok(Err(cause)) => return End::Lost(cause),
        Err(_) => return End::Lost("no welcome in time".to_owned()),
    };
    welcomed(core, &welcome);
    let mut leaving = false;
    for command in rest {
        leaving |= obey(core, command);
    }
    converse(core, commands, &welcome, leaving).await
}

fn welcomed(core: &Core, welcome: &Welcome) {
    if welcome.max_inline_bytes > 0 {
        core.set_inline_bytes(welcome.max_inline_bytes);
    }
    core.connected.send_replace(true);
    tracing::info!(
        lease_ms = welcome.lease_ms,
        heartbeat_ms = welcome.heartbeat_ms,
        held = core.leases.len(),
        "connected to the scheduler"
    );
}

/// Obeys commands and renews leases until the stream ends.
async fn converse(core: &Arc<Core>, mut commands: Streaming<WorkResponse>, welcome: &Welcome, leaving: bool) -> End {
    let every = welcome.heartbeat_ms.clamp(*HEARTBEAT.start(), *HEARTBEAT.end());
    let mut heartbeat = tokio::time::interval(Duration::from_millis(every.into()));
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // A report that could not be stored is not answered.
    let patience = Duration::from_millis((welcome.lease_ms / 3).max(every).into());
    let (mut leaving, mut leave_at) = (leaving, None);
    loop {
        let left = core.leases.changed.notified();
        if leaving && leave_at.is_none() && core.leases.len() == 0 && !core.is_draining() {
            core.outbox.goodbye();
            leave_at = Some(Instant::now() + GOODBYE_TIMEOUT);
        }
        tokio::select! {
            message = commands.message() => match message {
                Ok(Some(message)) => {
                    for command in message.commands.into_iter().filter_map(|command| command.command) {
                        leaving |= obey(core, command);
                    }
                }
                Ok(None) if core.outbox.said_goodbye() => return End::Over,
                Ok(None) => return End::Lost("it closed the stream".to_owned()),
                Err(status) => return End::Lost(describe(&status)),
            },
            _ = heartbeat.tick() => {
                core.outbox.heartbeat();
                for done in core.leases.unheard(patience) {
                    core.outbox.done(done);
                }
            }
            () = left, if leaving && leave_at.is_none() => {}
            () = tokio::time::sleep_until(leave_at.unwrap_or_else(Instant::now)), if leave_at.is_some() => return End::Over,
        }
    }
}

/// Does what the scheduler says; true when it asks the worker to leave.
fn obey(core: &Arc<Core>, command: Command) -> bool {
    match command {
        Command::Offer(offer) => take(core, offer),
        Command::StartGranted(granted) => {
            if let Some(seat) = granted.lease.and_then(|lease| core.leases.get(&lease)) {
                seat.granted();
            }
        }
        Command::StartRefused(refused) => drop_lease(core, refused.lease, &refused.reason),
        Command::Fenced(fenced) => drop_lease(core, fenced.lease, "fenced"),
        Command::Cancel(cancel) => stop(core, cancel),
        Command::DoneAcknowledged(done) => {
            if let Some(lease) = done.lease {
                core.leases.forget(&lease);
            }
        }
        Command::GoAway(away) => {
            tracing::info!(reason = away.reason, "the scheduler asks to leave");
            core.outbox.want_calls(false);
            return true;
        }
        Command::Welcome(welcome) => welcomed(core, &welcome),
    }
    false
}

fn take(core: &Arc<Core>, offer: Offer) {
    let (Some(lease), Some(dispatch)) = (offer.lease, offer.dispatch) else {
        tracing::warn!("an offer without a lease or a call");
        return;
    };
    if core.is_draining() {
        core.outbox.released(lease, "draining");
        return;
    }
    // A well-behaved scheduler is at most a few cancels ahead of us; one that is not gets the rest back.
    if core.leases.busy() >= core.leases.slots().saturating_mul(2) {
        core.outbox.released(lease, "no_free_slot");
        return;
    }
    let seat = Arc::new(Seat::new(lease, !dispatch.requires_start_grant, dispatch.supports_cancel));
    if core.leases.seat(seat.clone()) {
        core.runtime.spawn(execution::run(core.clone(), seat, dispatch));
    }
}

/// The lease is not ours: what runs under it is killed, and nobody hears of it.
fn drop_lease(core: &Core, lease: Option<LeaseRef>, reason: &str) {
    if let Some(seat) = lease.and_then(|lease| core.leases.forget(&lease)) {
        tracing::info!(invocation_id = seat.lease.invocation_id, lease_no = seat.lease.lease_no, reason, "lease lost");
        seat.stop(Stop::Fenced);
    }
}

fn stop(core: &Core, cancel: CancelExecution) {
    let open = cancel.lease.filter(|lease| core.leases.is_open(lease));
    let Some(seat) = open.and_then(|lease| core.leases.get(&lease)) else { return };
    let running = core.leases.is_running(&seat.lease);
    // What has not begun can always be stopped.
    let supported = seat.supports_cancel || !running;
    core.outbox.cancel_acknowledged(seat.lease.clone(), supported);
    if supported {
        let reason = word::optional_open("abort_reason", &cancel.abort_reason, cancel.abort_reason_code);
        seat.stop(Stop::Cancel(reason.ok().flatten().unwrap_or(AbortReason::UserInterruption)));
    }
}

async fn next(commands: &mut Streaming<WorkResponse>) -> Result<WorkResponse, String> {
    match commands.message().await {
        Ok(Some(message)) => Ok(message),
        Ok(None) => Err("it closed the stream before a welcome".to_owned()),
        Err(status) => Err(describe(&status)),
    }
}

fn describe(status: &tonic::Status) -> String {
    toolplane_runtime::status::describe(status).to_string()
}
