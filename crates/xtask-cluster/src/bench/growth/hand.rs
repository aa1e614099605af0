//! A worker of the bench's own with one slot: a call stays with it until the bench says that it is done.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tonic::Streaming;
use toolplane_proto::v1;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::worker_service_client::WorkerServiceClient;
use toolplane_testkit::{Cluster, Problem};

use super::bed::HELD;

/// How long a call may take to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The worker, connected.
pub(super) struct Hand {
    reports: mpsc::Sender<v1::WorkRequest>,
    commands: Streaming<v1::WorkResponse>,
    held: Option<v1::LeaseRef>,
}

impl Hand {
    /// Connects the worker, new or back after its scheduler ended: nothing it held before runs any more.
    pub(super) async fn connect(cluster: &Cluster) -> Result<Self, Problem> {
        let (reports, requests) = mpsc::channel(16);
        let hello = v1::WorkerHello {
            worker_id: "bench".to_owned(),
            incarnation: uuid::Uuid::new_v4().simple().to_string(),
            version: "0".to_owned(),
            slots: 1,
            native_tools: vec![HELD.to_owned()],
            previous_incarnation_dead: true,
            ..Default::default()
        };
        let mut hand_over = WorkerServiceClient::new(cluster.clients().channel());
        say(&reports, Report::Hello(hello)).await?;
        let commands = hand_over.work(tokio_stream::wrappers::ReceiverStream::new(requests)).await?.into_inner();
        Ok(Self { reports, commands, held: None })
    }

    /// Waits until it has a call.
    pub(super) async fn hold(&mut self) -> Result<(), Problem> {
        while self.held.is_none() {
            let message = tokio::time::timeout(PATIENCE, self.commands.message()).await;
            let message = message.map_err(|_| Problem::Missing("a call for the worker".to_owned()))??;
            let message = message.ok_or_else(|| Problem::Missing("the stream of the worker".to_owned()))?;
            for command in message.commands.into_iter().filter_map(|command| command.command) {
                if let Command::Offer(v1::Offer { lease: Some(lease), .. }) = command {
                    self.held = Some(lease);
                }
            }
        }
        Ok(())
    }

    /// Says that the call it has is done; when it said so.
    pub(super) async fn finish(&mut self) -> Result<Instant, Problem> {
        let lease = self.held.take();
        let outcome = v1::ExecutionOutcome {
            status: "succeeded".to_owned(),
            summary: "the bench said so".to_owned(),
            ..Default::default()
        };
        let said = Instant::now();
        say(&self.reports, Report::Done(v1::ExecutionDone { lease, outcome: Some(Box::new(outcome)) })).await?;
        Ok(said)
    }
}

async fn say(reports: &mpsc::Sender<v1::WorkRequest>, report: Report) -> Result<(), Problem> {
    let request = v1::WorkRequest { reports: vec![v1::WorkerReport { report: Some(report) }] };
    reports.send(request).await.map_err(|_| Problem::Missing("a scheduler that listens to the worker".to_owned()))
}
