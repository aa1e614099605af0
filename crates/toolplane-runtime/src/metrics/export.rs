//! Metrics to the OTLP receiver: everything, from time to time and at the end. Sums are cumulative, so one that is not taken is
//! missing and nothing is lost with it.

use std::sync::mpsc as sync_mpsc;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsServiceRequest as ExportRequest, ExportMetricsServiceResponse as ExportResponse,
};
use opentelemetry_sdk::Resource;
use tokio::sync::mpsc;
use tonic::Code;
use toolplane_metrics::{collect, table};

use super::otlp::Writer;
use crate::tasks;
use crate::telemetry::OtlpClient;

type Told = sync_mpsc::Sender<()>;

/// The task that sends them; it ends with this.
#[derive(Debug)]
pub(crate) struct MetricExport {
    wishes: mpsc::UnboundedSender<Told>,
}

impl MetricExport {
    /// Sends the metrics of the process `resource` by `client` each `interval`.
    pub(crate) fn start(client: OtlpClient, resource: &Resource, interval: Duration) -> Self {
        table::TELEMETRY_LOST.begin(["metrics"]);
        let (wishes, wished) = mpsc::unbounded_channel();
        let exporter = Exporter { client, writer: Writer::of(resource), failing: false, unwanted: false };
        drop(tasks::spawn("metric exporter", exporter.run(interval, wished)));
        Self { wishes }
    }

    /// Sends everything as it is now, and waits for it at most so long; says whether it was. Blocks the thread.
    pub(crate) fn flush(&self, limit: Duration) -> bool {
        let (sent, told) = sync_mpsc::channel();
        self.wishes.send(sent).is_ok() && told.recv_timeout(limit).is_ok()
    }
}

struct Exporter {
    client: OtlpClient,
    writer: Writer,
    /// The receiver did not take the last ones, and the log says so.
    failing: bool,
    /// The receiver knows no metrics.
    unwanted: bool,
}

impl Exporter {
    async fn run(mut self, interval: Duration, mut wished: mpsc::UnboundedReceiver<Told>) {
        loop {
            match tokio::time::timeout(interval, wished.recv()).await {
                Err(_) => self.send().await,
                Ok(Some(told)) => {
                    self.send().await;
                    // Who gave up waiting needs no answer.
                    let _ = told.send(());
                }
                Ok(None) => return,
            }
        }
    }

    async fn send(&mut self) {
        if self.unwanted {
            return;
        }
        let request = self.writer.request(&collect());
        match self.client.export::<ExportRequest, ExportResponse>(request).await {
            Ok(answer) => {
                let refused = answer.partial_success.filter(|partial| partial.rejected_data_points > 0);
                if let Some(refused) = refused {
                    tracing::warn!(
                        points = refused.rejected_data_points,
                        reason = refused.error_message,
                        "the receiver of metrics refused some"
                    );
                }
                if std::mem::take(&mut self.failing) {
                    tracing::warn!("metrics are sent again");
                }
            }
            Err(status) if status.code() == Code::Unimplemented => {
                self.unwanted = true;
                tracing::info!("the receiver of traces takes no metrics; none are sent");
            }
            Err(status) => self.failed(&status),
        }
    }

    fn failed(&mut self, status: &tonic::Status) {
        table::TELEMETRY_LOST.add(["metrics"], 1);
        if !std::mem::replace(&mut self.failing, true) {
            let (code, reason) = (status.code(), status.message());
            tracing::warn!(?code, reason, "metrics cannot be sent until the receiver is there again");
        }
    }
}
