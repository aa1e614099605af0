//! Streams of what happens to a call or a batch.

use std::sync::Arc;

use futures_util::stream::try_unfold;
use toolplane_proto::v1;
use toolplane_records::batch::Batch;
use toolplane_records::invocation::Invocation;

use super::accept::Accepted;
use super::batches::AcceptedBatch;
use super::invocations::{InvocationApi, Messages};
use super::{encode, status};
use crate::engine::{BatchItem, BatchNews, BatchWatch, Watch};
use crate::error::CallError;

/// The messages of an `Invoke` stream: the first says how the call was accepted, the last carries the result.
pub(super) fn invoked(api: &InvocationApi, accepted: Accepted) -> Messages<v1::InvokeResponse> {
    let first = Some(api.acceptance(&accepted));
    let Accepted { record, watch, .. } = accepted;
    Box::pin(try_unfold((watch, first), move |(mut watch, first)| {
        let record = record.clone();
        async move {
            let Some(item) = watch.next().await.map_err(|error| status::of(error.into()))? else { return Ok(None) };
            let message = v1::InvokeResponse {
                events: encode::events(&record, &item.events),
                accepted: first,
                result: item.terminal.as_deref().map(encode::result),
            };
            Ok(Some((message, (watch, None))))
        }
    }))
}

/// The messages of a `WatchInvocation` stream.
pub(super) fn watched(record: Arc<Invocation>, watch: Watch) -> Messages<v1::WatchInvocationResponse> {
    Box::pin(try_unfold(watch, move |mut watch| {
        let record = record.clone();
        async move {
            let Some(item) = watch.next().await.map_err(|error| status::of(error.into()))? else { return Ok(None) };
            let message = v1::WatchInvocationResponse {
                events: encode::events(&record, &item.events),
                head_seq: watch.head_seq(),
                result: item.terminal.as_deref().map(encode::result),
            };
            Ok(Some((message, watch)))
        }
    }))
}

/// A batch being followed.
struct Following {
    watch: BatchWatch,
    /// Its calls, for what their events say of them.
    records: Vec<Arc<Invocation>>,
}

/// One message's worth of news.
#[derive(Default)]
struct Told {
    items: Vec<v1::BatchItem>,
    batch: Option<v1::Batch>,
    context_modifiers: Vec<v1::BatchContextModifiers>,
}

impl Following {
    async fn next(&mut self) -> Result<Option<Told>, CallError> {
        match self.watch.next().await? {
            Some(BatchNews::Items(items)) => {
                let items = items.into_iter().filter_map(|item| self.item(item)).collect();
                Ok(Some(Told { items, ..Told::default() }))
            }
            Some(BatchNews::End(end)) => Ok(Some(Told {
                items: Vec::new(),
                batch: end.batch.as_ref().map(Into::into),
                context_modifiers: end
                    .modifiers
                    .iter()
                    .map(|(index, id, modifiers)| v1::BatchContextModifiers {
                        index: *index,
                        invocation_id: id.to_string(),
                        context_modifiers: modifiers.iter().map(Into::into).collect(),
                    })
                    .collect(),
            })),
            None => Ok(None),
        }
    }

    fn item(&self, item: BatchItem) -> Option<v1::BatchItem> {
        let record = self.records.get(item.index as usize)?;
        let mut result = item.terminal.as_deref().map(encode::result);
        if let Some(result) = result.as_mut().filter(|_| self.watch.defers_modifiers()) {
            result.context_modifiers.clear();
        }
        Some(v1::BatchItem {
            index: item.index,
            invocation_id: item.invocation_id.to_string(),
            events: encode::events(record, &item.events),
            result,
            yield_seq: item.yield_seq,
        })
    }
}

/// The messages of an `InvokeBatch` stream: the first says how the batch was accepted, the last has the batch as it ended.
pub(super) fn batch_invoked(api: &InvocationApi, accepted: AcceptedBatch) -> Messages<v1::InvokeBatchResponse> {
    let first = Some(api.batch_acceptance(&accepted));
    let AcceptedBatch { batch, records, traces, .. } = accepted;
    let start = crate::engine::BatchStart { traces, ..Default::default() };
    let following = Following { watch: api.engine.watch_batch(&batch, start), records };
    Box::pin(try_unfold((following, first), |(mut following, first)| async move {
        if first.is_some() {
            // Told at once, whatever the calls do.
            let message = v1::InvokeBatchResponse { accepted: first, ..Default::default() };
            return Ok(Some((message, (following, None))));
        }
        let Some(told) = following.next().await.map_err(status::of)? else { return Ok(None) };
        let Told { items, batch, context_modifiers } = told;
        Ok(Some((v1::InvokeBatchResponse { items, accepted: None, batch, context_modifiers }, (following, None))))
    }))
}

/// The messages of a `WatchBatch` stream.
pub(super) fn batch_watched(
    api: &InvocationApi,
    batch: &Batch,
    records: Vec<Arc<Invocation>>,
    start: crate::engine::BatchStart,
) -> Messages<v1::WatchBatchResponse> {
    let following = Following { watch: api.engine.watch_batch(batch, start), records };
    Box::pin(try_unfold(following, |mut following| async move {
        let Some(told) = following.next().await.map_err(status::of)? else { return Ok(None) };
        let Told { items, batch, context_modifiers } = told;
        Ok(Some((v1::WatchBatchResponse { items, batch, context_modifiers }, following)))
    }))
}
