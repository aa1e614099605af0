//! Heartbeats: the proof that the worker lives, and its own end of doubtful executions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tonic::Code;
use tonic::transport::{Channel, Endpoint};
use toolplane_proto::v1::HeartbeatRequest;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;

use super::shared::Worker;

/// Between two heartbeats. Fault tests run with short leases.
const EVERY: Duration = Duration::from_millis(300);
/// How long a scheduler may take to answer one.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// Renews every lease, in an endless loop, at whichever scheduler answers.
pub(crate) async fn run(worker: Arc<Worker>) {
    let mut clients: Vec<_> = worker.options.schedulers.iter().filter_map(|endpoint| client(endpoint)).collect();
    let mut tick = tokio::time::interval(EVERY);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut spoken = true;
    while !clients.is_empty() {
        tokio::select! {
            _ = tick.tick() => {}
            () = worker.held.is_urgent() => {}
        }
        // First: a process that was halted must not act on what it believed before.
        if spoken {
            worker.held.kill_doubtful();
        }
        let leases = worker.held.leases();
        if leases.is_empty() {
            continue;
        }
        let request = HeartbeatRequest {
            worker_id: worker.options.worker_id.clone(),
            incarnation: worker.incarnation.clone(),
            leases: leases.clone(),
            previous_incarnation_dead: true,
        };
        let sent = Instant::now();
        match tokio::time::timeout(PATIENCE, clients[0].heartbeat(request)).await {
            Ok(Ok(answer)) => {
                let answer = answer.into_inner();
                worker.held.renewed(leases.iter().filter(|lease| !answer.unsure.contains(lease)), sent);
                answer.fenced.iter().for_each(|lease| worker.held.fenced(lease, worker.options.deaf));
                for cancel in answer.cancels {
                    super::session::cancel(&worker, cancel);
                }
            }
            // A cluster that knows heartbeats on the stream only.
            Ok(Err(status)) if status.code() == Code::Unimplemented => spoken = false,
            Ok(Err(_)) | Err(_) => clients.rotate_left(1),
        }
        if spoken {
            worker.held.kill_doubtful();
        }
    }
}

fn client(endpoint: &str) -> Option<WorkerServiceClient<Channel>> {
    let endpoint = Endpoint::from_shared(endpoint.to_owned()).ok()?.connect_timeout(Duration::from_millis(500));
    Some(WorkerServiceClient::new(endpoint.tcp_nodelay(true).connect_lazy()))
}
