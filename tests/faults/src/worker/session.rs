//! The stream to a scheduler: kept up, over to the next one when one goes away.

use std::sync::Arc;
use std::time::Duration;

use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::{Channel, Endpoint};
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_proto::v1::{CancelAcknowledged, CancelExecution, LeaseRef, WorkerHeartbeat, WorkerHello};

use super::execution;
use super::shared::Worker;

/// Between two attempts to connect.
const WAIT: Duration = Duration::from_millis(50);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_millis(500);
/// Between two heartbeats on the stream.
const BEAT: Duration = Duration::from_millis(300);
/// Every so many heartbeats, reports that were not acknowledged are made again.
const BEATS_TO_SAY_AGAIN: u32 = 3;
/// The pool of the ledger tools.
const POOL: &str = "native";
/// A stream on which nothing comes for so long is asked whether its peer lives.
const KEEPALIVE: Duration = Duration::from_secs(2);

/// Connects again and again.
pub(crate) async fn run(worker: Arc<Worker>) {
    // Workers spread over schedulers by the numbers in their names, without a word between them.
    let number = worker.options.worker_id.rsplit('-').next().and_then(|number| number.parse::<usize>().ok());
    let first = number.unwrap_or(1).saturating_sub(1);
    for turn in first.. {
        let endpoint = &worker.options.schedulers[turn % worker.options.schedulers.len()];
        if let Err(cause) = stream(&worker, endpoint).await {
            eprintln!("{}: stream to {endpoint}: {cause}", worker.options.worker_id);
        }
        toolplane_wait::pause(WAIT, "a worker comes back after a while").await;
    }
}

async fn stream(worker: &Arc<Worker>, endpoint: &str) -> Result<(), String> {
    let endpoint = Endpoint::from_shared(endpoint.to_owned()).map_err(|error| error.to_string())?;
    let endpoint = endpoint.connect_timeout(CONNECT).tcp_nodelay(true);
    let endpoint = endpoint.http2_keep_alive_interval(KEEPALIVE).keep_alive_timeout(KEEPALIVE);
    let channel = endpoint.connect().await.map_err(|error| error.to_string())?;
    let mut client = WorkerServiceClient::new(channel.clone()).max_decoding_message_size(64 * 1024 * 1024);
    let requests = worker.held.open(|held| Report::Hello(hello(worker, held)));
    let answer = client.work(UnboundedReceiverStream::new(requests)).await;
    let mut commands = answer.map_err(|status| status.to_string())?.into_inner();
    let mut beat = tokio::time::interval(BEAT);
    let mut beats = 0_u32;
    loop {
        tokio::select! {
            message = commands.message() => match message {
                Ok(Some(message)) => {
                    for command in message.commands.into_iter().filter_map(|command| command.command) {
                        if obey(worker, &channel, command) {
                            return Ok(());
                        }
                    }
                }
                Ok(None) => return Ok(()),
                Err(status) => return Err(status.to_string()),
            },
            _ = beat.tick() => {
                beats = beats.wrapping_add(1);
                let leases = worker.held.leases();
                worker.held.say(Report::Heartbeat(WorkerHeartbeat { leases, free_slots: 0 }));
                if beats.is_multiple_of(BEATS_TO_SAY_AGAIN) {
                    worker.held.say_again();
                }
            }
        }
    }
}

fn hello(worker: &Worker, held: Vec<LeaseRef>) -> WorkerHello {
    WorkerHello {
        worker_id: worker.options.worker_id.clone(),
        incarnation: worker.incarnation.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        slots: worker.options.slots,
        pools: vec![POOL.to_owned()],
        // All of the ledger tools, and none that is built in.
        native_tools: vec!["storm.*".to_owned()],
        held,
        // The lock of the folder is ours, and tools are threads of the process that had it.
        previous_incarnation_dead: true,
        ..WorkerHello::default()
    }
}

/// Does what the scheduler says; true when it asks to go elsewhere.
fn obey(worker: &Arc<Worker>, channel: &Channel, command: Command) -> bool {
    match command {
        Command::Offer(offer) => {
            if let (Some(lease), Some(dispatch)) = (offer.lease, offer.dispatch) {
                execution::take(worker, channel, lease, *dispatch);
            }
        }
        Command::StartGranted(granted) => granted.lease.iter().for_each(|lease| worker.held.granted(lease)),
        Command::StartRefused(refused) => refused.lease.iter().for_each(|lease| worker.held.forget(lease)),
        Command::Fenced(fenced) => fenced.lease.iter().for_each(|lease| worker.held.fenced(lease, worker.options.deaf)),
        Command::DoneAcknowledged(done) => done.lease.iter().for_each(|lease| worker.held.forget(lease)),
        Command::Cancel(cancel_execution) => cancel(worker, cancel_execution),
        Command::Welcome(welcome) => worker.held.set_lease(Duration::from_millis(welcome.lease_ms.into())),
        Command::GoAway(_) => return true,
        Command::InputProvided(_) | Command::ReportRefused(_) => {}
    }
    false
}

/// Stops an execution for a caller.
pub(crate) fn cancel(worker: &Worker, cancel: CancelExecution) {
    if let Some(lease) = cancel.lease.filter(|lease| worker.held.cancel(lease)) {
        worker.held.say(Report::CancelAcknowledged(CancelAcknowledged { lease: Some(lease), supported: true }));
    }
}
