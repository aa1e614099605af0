//! Following a batch to its last result, over broken connections and restarts of the cluster.

use std::collections::BTreeMap;
use tonic::Status;
use toolplane_proto::v1;

use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::follow::is_break;
use crate::cli::outage::{Outage, PAUSE};

/// What is learned on the way.
#[derive(Debug)]
pub(super) enum BatchUpdate<'a> {
    /// The batch is on record.
    Accepted(&'a v1::BatchAcceptance),
    /// Something happened to the call at this position.
    Event(u32, &'a str, &'a v1::Event),
    /// A result was released, that of the call at this position.
    Result(u32, &'a v1::ToolResult),
    /// The connection broke; it is being made again.
    Broken(&'a Status),
}

/// How far a batch was followed.
#[derive(Default)]
struct BatchPosition {
    next_seq: BTreeMap<u32, u64>,
    yield_seq: u64,
}

impl BatchPosition {
    fn take(
        &mut self,
        items: &[v1::BatchItem],
        on_step: &mut impl FnMut(BatchUpdate<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for item in items {
            for event in &item.events {
                on_step(BatchUpdate::Event(item.index, &item.invocation_id, event))?;
            }
            if let Some(last) = item.events.last() {
                self.next_seq.insert(item.index, last.sequence + 1);
            }
            if let Some(result) = item.result.as_ref().filter(|_| item.yield_seq > self.yield_seq) {
                self.yield_seq = item.yield_seq;
                on_step(BatchUpdate::Result(item.index, result))?;
            }
        }
        Ok(())
    }

    fn request(&self, batch_id: &str) -> v1::WatchBatchRequest {
        let cursor = |(index, from_seq): (&u32, &u64)| v1::BatchCursor { index: *index, from_seq: *from_seq };
        v1::WatchBatchRequest {
            batch_id: batch_id.to_owned(),
            from: self.next_seq.iter().map(cursor).collect(),
            after_yield_seq: self.yield_seq,
            form: None,
        }
    }
}

/// Makes a batch and follows it. An error before acceptance means that there is no batch.
pub(super) async fn invoke(
    connection: &Connection,
    spec: v1::BatchSpec,
    on_step: &mut impl FnMut(BatchUpdate<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let request = v1::InvokeBatchRequest { spec: Some(spec), form: None };
    let mut stream = connection.invocations().invoke_batch(request).await?.into_inner();
    let (mut accepted, mut seen) = (None, BatchPosition::default());
    loop {
        match stream.message().await {
            Ok(Some(message)) => {
                if let Some(acceptance) = &message.accepted {
                    accepted = Some(acceptance.batch_id.clone());
                    on_step(BatchUpdate::Accepted(acceptance))?;
                }
                seen.take(&message.items, on_step)?;
                if message.batch.is_some() {
                    return Ok(());
                }
            }
            Ok(None) => break,
            Err(status) if accepted.is_some() && is_break(&status) => {
                on_step(BatchUpdate::Broken(&status))?;
                break;
            }
            Err(status) => return Err(status.into()),
        }
    }
    match accepted {
        Some(batch_id) => watch_from(connection, &batch_id, seen, on_step).await,
        None => Err(Failure::Answer("the stream ended before the batch was accepted".to_owned())),
    }
}

/// Follows a batch from its start.
pub(super) async fn watch(
    connection: &Connection,
    batch_id: String,
    on_step: &mut impl FnMut(BatchUpdate<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    watch_from(connection, &batch_id, BatchPosition::default(), on_step).await
}

async fn watch_from(
    connection: &Connection,
    batch_id: &str,
    mut seen: BatchPosition,
    on_step: &mut impl FnMut(BatchUpdate<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut outage = Outage::none();
    loop {
        match watch_once(connection, batch_id, &mut seen, &mut outage, on_step).await {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(Failure::Api(status)) if is_break(&status) && outage.may_end() => {
                if outage.is_news() {
                    on_step(BatchUpdate::Broken(&status))?;
                }
            }
            Err(failure) => return Err(failure),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One stream; true when the batch has ended.
async fn watch_once(
    connection: &Connection,
    batch_id: &str,
    seen: &mut BatchPosition,
    outage: &mut Outage,
    on_step: &mut impl FnMut(BatchUpdate<'_>) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    let mut stream = connection.invocations().watch_batch(seen.request(batch_id)).await?.into_inner();
    outage.opened();
    while let Some(message) = stream.message().await? {
        outage.heard();
        seen.take(&message.items, on_step)?;
        if message.batch.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
