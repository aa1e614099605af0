//! Streams of what happens to a call or a batch.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{iter, try_unfold, unfold};
use futures_util::{Stream, StreamExt as _, TryStreamExt};
use prost::Message;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_runtime::draining;
use toolplane_runtime::page::split;

use super::encode;
use super::forms::Telling;
use super::status;
use crate::error::CallError;
use crate::groups::{BatchEnd, BatchItem, BatchNews, BatchWatch};
use crate::watch::{Watch, WatchItem};

mod parts;

use parts::{Part, parts};

/// A stream of answers.
pub(super) type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// What the first message of a stream says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum First {
    /// What was begun; a caller that has not heard it could not come back.
    Acceptance,
    /// What happened, as every other one.
    News,
}

/// `messages` until this process is told to stop (`drains`): then they end in words, and the caller goes on elsewhere; see [`draining`].
pub(super) fn until_drained<T: Send + 'static>(
    messages: Messages<T>,
    first: First,
    drains: CancellationToken,
) -> Messages<T> {
    Box::pin(unfold(Some((messages, first)), move |following| {
        let drains = drains.clone();
        async move {
            let (mut messages, first) = following?;
            let message = match first {
                First::Acceptance => messages.next().await,
                First::News => match draining::wait(&drains, messages.next()).await {
                    Some(message) => message,
                    None => return Some((Err(draining::last_words().into()), None)),
                },
            };
            Some((message?, Some((messages, First::News))))
        }
    }))
}

/// What is told at once may take several messages.
pub(super) fn one_by_one<T: Send + 'static>(
    news: impl Stream<Item = Result<Vec<T>, Status>> + Send + 'static,
) -> Messages<T> {
    Box::pin(news.map_ok(|messages| iter(messages.into_iter().map(Ok))).try_flatten())
}

/// What a step is told as: in messages, and in a form where one was asked for.
async fn parts_of(
    record: &Invocation,
    item: &WatchItem,
    telling: Option<&mut Telling>,
) -> Result<Vec<Part>, CallError> {
    let formed = match telling {
        Some(telling) => telling.tell(item).await?,
        None => Vec::new(),
    };
    let result = item.terminal.as_deref().map(|terminal| Box::new(encode::result(terminal)));
    Ok(parts(encode::events(record, &item.events), formed, result))
}

/// The messages of an `Invoke` stream: the first says how the call was accepted, the last carries the result.
pub(super) fn invoked(
    first: v1::Acceptance,
    record: Arc<Invocation>,
    watch: Watch,
    telling: Option<Telling>,
) -> Messages<v1::InvokeResponse> {
    one_by_one(try_unfold((watch, telling, Some(first)), move |(mut watch, mut telling, mut first)| {
        let record = record.clone();
        async move {
            let Some(item) = watch.next().await.map_err(|error| status::of(error.into()))? else { return Ok(None) };
            let parts = parts_of(&record, &item, telling.as_mut()).await.map_err(status::of)?.into_iter();
            let messages = parts.map(|Part { events, formed, result }| v1::InvokeResponse {
                events,
                accepted: first.take(),
                result,
                formed,
            });
            Ok(Some((messages.collect(), (watch, telling, None))))
        }
    }))
}

/// The messages of a `WatchInvocation` stream.
pub(super) fn watched(
    record: Arc<Invocation>,
    watch: Watch,
    telling: Option<Telling>,
) -> Messages<v1::WatchInvocationResponse> {
    one_by_one(try_unfold((watch, telling), move |(mut watch, mut telling)| {
        let record = record.clone();
        async move {
            let Some(item) = watch.next().await.map_err(|error| status::of(error.into()))? else { return Ok(None) };
            let head_seq = watch.head_seq();
            let parts = parts_of(&record, &item, telling.as_mut()).await.map_err(status::of)?.into_iter();
            let messages = parts.map(|Part { events, formed, result }| v1::WatchInvocationResponse {
                events,
                head_seq,
                result,
                formed,
            });
            Ok(Some((messages.collect(), (watch, telling))))
        }
    }))
}

/// A batch being followed.
pub(super) struct Following {
    pub(super) watch: BatchWatch,
    /// Its calls, for what their events say of them.
    pub(super) records: Vec<Arc<Invocation>>,
    /// Each call in the form that was asked for; none when no form was.
    pub(super) tellings: Vec<Telling>,
}

/// One message's worth of news.
#[derive(Default)]
struct Told {
    items: Vec<v1::BatchItem>,
    batch: Option<v1::Batch>,
    context_modifiers: Vec<v1::BatchContextModifiers>,
}

impl Following {
    async fn next(&mut self) -> Result<Option<Vec<Told>>, CallError> {
        Ok(match self.watch.next().await? {
            Some(BatchNews::Items(items)) => {
                let mut told = Vec::with_capacity(items.len());
                for item in items {
                    told.extend(self.items(item).await?);
                }
                let messages = split(told, Message::encoded_len).into_iter();
                Some(messages.map(|items| Told { items, ..Told::default() }).collect())
            }
            Some(BatchNews::End(end)) => Some(ended(&end)),
            None => None,
        })
    }

    async fn items(&mut self, item: BatchItem) -> Result<Vec<v1::BatchItem>, CallError> {
        let Some(record) = self.records.get(item.index as usize) else { return Ok(Vec::new()) };
        let mut result = item.terminal.as_deref().map(|terminal| Box::new(encode::result(terminal)));
        if let Some(result) = result.as_mut().filter(|_| self.watch.defers_modifiers()) {
            result.context_modifiers.clear();
        }
        let events = encode::events(record, &item.events);
        let formed = match self.tellings.get_mut(item.index as usize) {
            Some(telling) => telling.tell(&WatchItem { events: item.events, terminal: item.terminal }).await?,
            None => Vec::new(),
        };
        let parts = parts(events, formed, result).into_iter();
        let of_it = parts.map(|Part { events, formed, result }| v1::BatchItem {
            index: item.index,
            invocation_id: item.invocation_id.to_string(),
            events,
            yield_seq: if result.is_some() { item.yield_seq } else { 0 },
            result,
            formed,
        });
        Ok(of_it.collect())
    }
}

/// The last messages: the very last has the batch.
fn ended(end: &BatchEnd) -> Vec<Told> {
    let waited = end.modifiers.iter().map(|(index, id, modifiers)| v1::BatchContextModifiers {
        index: *index,
        invocation_id: id.to_string(),
        context_modifiers: modifiers.iter().map(Into::into).collect(),
    });
    let messages = split(waited, Message::encoded_len).into_iter();
    let mut told: Vec<_> = messages.map(|context_modifiers| Told { context_modifiers, ..Told::default() }).collect();
    let batch = end.batch.as_ref().map(Into::into);
    match told.last_mut() {
        Some(last) => last.batch = batch,
        None => told.push(Told { batch, ..Told::default() }),
    }
    told
}

/// The messages of an `InvokeBatch` stream: the first says how the batch was accepted, the last has the batch as it ended.
pub(super) fn batch_invoked(first: v1::BatchAcceptance, following: Following) -> Messages<v1::InvokeBatchResponse> {
    one_by_one(try_unfold((following, Some(first)), |(mut following, first)| async move {
        if first.is_some() {
            // Told at once, whatever the calls do.
            let message = v1::InvokeBatchResponse { accepted: first, ..Default::default() };
            return Ok(Some((vec![message], (following, None))));
        }
        let Some(told) = following.next().await.map_err(status::of)? else { return Ok(None) };
        let message = |Told { items, batch, context_modifiers }| v1::InvokeBatchResponse {
            items,
            accepted: None,
            batch,
            context_modifiers,
        };
        Ok(Some((told.into_iter().map(message).collect(), (following, None))))
    }))
}

/// The messages of a `WatchBatch` stream.
pub(super) fn batch_watched(following: Following) -> Messages<v1::WatchBatchResponse> {
    one_by_one(try_unfold(following, |mut following| async move {
        let Some(told) = following.next().await.map_err(status::of)? else { return Ok(None) };
        let message =
            |Told { items, batch, context_modifiers }| v1::WatchBatchResponse { items, batch, context_modifiers };
        Ok(Some((told.into_iter().map(message).collect(), following)))
    }))
}
