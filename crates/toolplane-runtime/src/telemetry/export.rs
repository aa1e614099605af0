//! From finished spans to the OTLP receiver: spans wait together, and a task of their own sends them.
//!
//! What ends a span puts its bytes where the others wait, and is done. A receiver that is away costs a bounded memory: beyond it spans
//! are left out, and the log says so once until it is there again.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use opentelemetry_sdk::Resource;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tonic::Code;
use toolplane_metrics::table;

use super::client::OtlpClient;
use super::otlp::{
    ExportRequest, ExportResponse, Instrumentation, ResourceAttributes, ResourceSpans, ScopeSpans, attribute,
};
use crate::tasks;

/// Spans wait at most this long.
const LONGEST: Duration = Duration::from_secs(1);
/// So many bytes of spans are sent at once; receivers take 4 MiB.
const BATCH_BYTES: usize = 512 * 1024;
/// Spans beyond this many bytes are left out.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Waits before a request that failed is sent again.
const RETRIES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1600)];

/// Finished spans, until they are sent. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct FinishedSpans(Arc<WaitingSpans>);

#[derive(Debug, Default)]
struct WaitingSpans {
    waiting: Mutex<SpanQueue>,
    /// There is enough to send, somebody waits for it, or no more will come.
    due: Notify,
}

#[derive(Debug, Default)]
struct SpanQueue {
    spans: Vec<Bytes>,
    bytes: usize,
    left_out: u64,
    /// Who wants to know that everything was sent.
    flushing: Vec<mpsc::Sender<()>>,
    /// No more will come.
    ended: bool,
}

impl FinishedSpans {
    /// Takes a span in.
    pub(super) fn push(&self, span: Bytes) {
        let mut waiting = self.0.waiting.lock();
        if waiting.bytes + span.len() > MOST_BYTES || waiting.ended {
            waiting.left_out += 1;
            return;
        }
        let before = waiting.bytes;
        waiting.bytes += span.len();
        waiting.spans.push(span);
        let enough = before < BATCH_BYTES && waiting.bytes >= BATCH_BYTES;
        drop(waiting);
        if enough {
            self.0.due.notify_one();
        }
    }

    /// Waits until what is here has been sent, at most so long; says whether it was. Blocks the thread.
    pub(super) fn flush(&self, limit: Duration) -> bool {
        self.wait(limit, false)
    }

    /// The same, and takes nothing in any more.
    pub(super) fn end(&self, limit: Duration) -> bool {
        self.wait(limit, true)
    }

    fn wait(&self, limit: Duration, ended: bool) -> bool {
        let (sent, told) = mpsc::channel();
        {
            let mut waiting = self.0.waiting.lock();
            waiting.flushing.push(sent);
            waiting.ended |= ended;
        }
        self.0.due.notify_one();
        told.recv_timeout(limit).is_ok()
    }

    /// What is sent next: at most [`BATCH_BYTES`], but for the last of the spans.
    fn batch(&self) -> Vec<Bytes> {
        let mut waiting = self.0.waiting.lock();
        let mut taken = 0;
        let fits = |span: &&Bytes| {
            taken += span.len();
            taken <= BATCH_BYTES
        };
        let count = waiting.spans.iter().take_while(fits).count().max(1).min(waiting.spans.len());
        let rest = waiting.spans.split_off(count);
        let batch = std::mem::replace(&mut waiting.spans, rest);
        waiting.bytes -= batch.iter().map(Bytes::len).sum::<usize>();
        batch
    }

    /// Who waits, and whether that is the last time.
    fn wishes(&self) -> (Vec<mpsc::Sender<()>>, bool) {
        let mut waiting = self.0.waiting.lock();
        (std::mem::take(&mut waiting.flushing), waiting.ended)
    }

    /// The spans that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> Vec<Bytes> {
        self.0.waiting.lock().spans.clone()
    }

    fn left_out(&self) -> u64 {
        std::mem::take(&mut self.0.waiting.lock().left_out)
    }
}

/// Sends spans as they come, until [`FinishedSpans::end`].
pub(super) struct Exporter {
    spans: FinishedSpans,
    client: OtlpClient,
    resource: ResourceAttributes,
    /// The receiver did not take the last ones, and the log says so.
    failing: bool,
}

impl Exporter {
    /// Sends `spans` of the process `resource` by `client`, in a task of its own.
    pub(super) fn start(spans: FinishedSpans, client: OtlpClient, resource: &Resource) {
        let attributes = resource.iter().map(|(key, value)| attribute(key.as_str(), value)).collect();
        let exporter = Self::new(spans, client, ResourceAttributes { attributes });
        table::TELEMETRY_LOST.begin(["spans"]);
        drop(tasks::spawn("span exporter", exporter.run()));
    }

    fn new(spans: FinishedSpans, client: OtlpClient, resource: ResourceAttributes) -> Self {
        Self { spans, client, resource, failing: false }
    }

    async fn run(mut self) {
        loop {
            let _elapsed = tokio::time::timeout(LONGEST, self.spans.0.due.notified()).await;
            let (flushing, ended) = self.spans.wishes();
            loop {
                let batch = self.spans.batch();
                if batch.is_empty() {
                    break;
                }
                self.send(batch).await;
            }
            for told in flushing {
                // Who gave up waiting needs no answer.
                let _ = told.send(());
            }
            if ended {
                return;
            }
        }
    }

    async fn send(&mut self, spans: Vec<Bytes>) {
        let count = spans.len();
        let scope_spans = vec![ScopeSpans { scope: Some(Instrumentation { name: "toolplane".to_owned() }), spans }];
        let resource_spans = vec![ResourceSpans { resource: Some(self.resource.clone()), scope_spans }];
        let request = ExportRequest { resource_spans };
        let mut waits = RETRIES.iter();
        let refused = loop {
            match self.client.export::<ExportRequest, ExportResponse>(request.clone()).await {
                Ok(answer) => break answer.partial_success.filter(|partial| partial.rejected_spans > 0),
                Err(status) => match waits.next().filter(|_| may_pass(status.code())) {
                    Some(wait) => tokio::time::sleep(*wait).await,
                    None => return self.failed(count, &status),
                },
            }
        };
        if let Some(refused) = refused {
            tracing::warn!(
                spans = refused.rejected_spans,
                reason = refused.error_message,
                "the receiver of traces refused spans"
            );
        }
        let left_out = self.spans.left_out();
        table::TELEMETRY_LOST.add(["spans"], left_out);
        if std::mem::take(&mut self.failing) || left_out > 0 {
            tracing::warn!(left_out, "traces are sent again; spans that ended meanwhile may be missing");
        }
    }

    fn failed(&mut self, spans: usize, status: &tonic::Status) {
        table::TELEMETRY_LOST.add(["spans"], spans as u64);
        if !std::mem::replace(&mut self.failing, true) {
            let (code, reason) = (status.code(), status.message());
            tracing::warn!(
                spans,
                ?code,
                reason,
                "traces cannot be sent; spans are lost until the receiver is there again"
            );
        }
    }
}

/// Whether the same request may be taken later.
fn may_pass(code: Code) -> bool {
    use Code::{Aborted, Cancelled, DataLoss, DeadlineExceeded, OutOfRange, ResourceExhausted, Unavailable};
    matches!(code, Aborted | Cancelled | DataLoss | DeadlineExceeded | OutOfRange | ResourceExhausted | Unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_bounded_and_counted() {
        let spans = FinishedSpans::default();
        let large = Bytes::from(vec![0; MOST_BYTES / 4]);
        (0..6).for_each(|_| spans.push(large.clone()));
        assert_eq!((spans.waiting().len(), spans.left_out()), (4, 2));
        assert_eq!(spans.batch().len(), 1, "one that is larger than a batch goes alone");
        assert_eq!(spans.waiting().len(), 3);
    }

    #[test]
    fn a_batch_has_a_bound_and_keeps_the_order() {
        let spans = FinishedSpans::default();
        (0..5).for_each(|number| spans.push(Bytes::from(vec![number; BATCH_BYTES / 2])));
        let batches: Vec<Vec<u8>> = (0..4).map(|_| spans.batch().iter().map(|span| span[0]).collect()).collect();
        assert_eq!(batches, [vec![0, 1], vec![2, 3], vec![4], vec![]]);
        assert_eq!(spans.0.waiting.lock().bytes, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_receiver_that_is_away_costs_the_spans_and_nothing_else() {
        let spans = FinishedSpans::default();
        // Nothing listens at this port of the loopback address.
        let client = OtlpClient::to("http://127.0.0.1:1", super::super::client::Signal::Traces).expect("an address");
        spans.push(Bytes::from_static(b"span"));
        let (sent, told) = mpsc::channel();
        spans.0.waiting.lock().flushing.push(sent);
        spans.0.waiting.lock().ended = true;
        Exporter::new(spans.clone(), client, ResourceAttributes::default()).run().await;
        assert_eq!(told.try_recv(), Ok(()), "who waits is told when all tries are over");
        assert!(spans.waiting().is_empty());
        spans.push(Bytes::from_static(b"late"));
        assert!(spans.waiting().is_empty(), "nothing is taken in after the end");
    }
}
