//! Bytes a call keeps by reference: its inputs, and outputs too large to be inline.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tonic::Status;
use toolplane_lifecycle::Terminal;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::link_payload_request::Selector as LinkSelector;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::PayloadRef;
use toolplane_records::result::ToolResult;
use toolplane_records::vocabulary::RecordClass;
use toolplane_results::PayloadStore;
use toolplane_results::payload::MAX_LINK;
use toolplane_results::payload::error::PayloadError;
use toolplane_results::payload::key::PayloadKey;
use toolplane_runtime::Caller;

use super::sight::may_read;
use super::status;
use crate::calls::Records;
use crate::error::CallError;
use crate::keeping::Holds;
use crate::kept::is_over;
use crate::named_payloads::outputs;
use crate::storage::RecordError;

/// For how long a link is good where nothing is said.
const LINK_SECONDS: u32 = 600;

type Chunks = Pin<Box<dyn Stream<Item = Result<v1::ReadPayloadResponse, Status>> + Send>>;

/// Streams the selected part of a payload of `record` in messages of at most `chunk` bytes.
pub(crate) async fn read(
    records: &Records,
    (payloads, holds): (&PayloadStore, &Holds),
    caller: &Caller,
    record: &Invocation,
    request: &v1::ReadPayloadRequest,
    chunk: usize,
) -> Result<Chunks, CallError> {
    let terminal = records.result(&record.key()).await?;
    let kept = select(caller, record, terminal.as_ref().map(|terminal| &terminal.result), request.selector.as_ref())?;
    in_time(records, holds, record, (terminal.as_ref(), &kept)).await?;
    let limit = if request.limit == 0 { u64::MAX } else { request.limit };
    let Ok(key) = kept.uri.parse::<PayloadKey>() else {
        still_there(record, RecordClass::Inputs)?;
        let whole = records.input(record, &kept).await?;
        let whole = whole.ok_or_else(|| CallError::NotFound { kind: "payload", id: kept.uri.to_string() })?;
        let size = whole.len() as u64;
        if request.offset > size {
            return Err(out_of_range(size));
        }
        let end = request.offset.saturating_add(limit).min(size);
        let range = usize::try_from(request.offset).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
        let part = futures_util::stream::iter([Ok(whole.slice(range))]);
        return Ok(messages(kept, request.offset, end, chunk, part.boxed()));
    };
    // A payload named in a result belongs to the result's call; should any other ever be named, it is not handed out.
    if !key.belongs_to(&record.tenant) {
        return Err(CallError::NotFound { kind: "payload", id: kept.uri.to_string() });
    }
    still_there(record, RecordClass::Outputs)?;
    let part = payloads.read_range(&key, request.offset, limit, records.now().await?).await.map_err(refused)?;
    let end = part.offset + part.length;
    Ok(messages(kept, part.offset, end, chunk, part.stream))
}

/// A link to the selected payload of `record`.
pub(super) async fn link(
    records: &Records,
    (payloads, holds): (&PayloadStore, &Holds),
    caller: &Caller,
    record: &Invocation,
    request: &v1::LinkPayloadRequest,
) -> Result<v1::LinkPayloadResponse, CallError> {
    let seconds = if request.expires_seconds == 0 { LINK_SECONDS } else { request.expires_seconds };
    let expires = Duration::from_secs(seconds.into());
    if expires > MAX_LINK {
        return Err(CallError::invalid("expires_seconds", format!("must be at most {}", MAX_LINK.as_secs())));
    }
    let selector = request.selector.as_ref().map(|selector| match selector {
        LinkSelector::Uri(uri) => Selector::Uri(uri.clone()),
        LinkSelector::Digest(digest) => Selector::Digest(digest.clone()),
    });
    let terminal = records.result(&record.key()).await?;
    let kept = select(caller, record, terminal.as_ref().map(|terminal| &terminal.result), selector.as_ref())?;
    in_time(records, holds, record, (terminal.as_ref(), &kept)).await?;
    let key = kept.uri.parse::<PayloadKey>().ok().filter(|key| key.belongs_to(&record.tenant));
    let Some(key) = key else {
        return Err(CallError::NoLink(
            "it is kept in the store of calls, which nobody reads over a network".to_owned(),
        ));
    };
    still_there(record, RecordClass::Outputs)?;
    let now = records.now().await?;
    // A link to what is not there would be a promise nobody keeps.
    payloads.size(&key, now).await.map_err(refused)?;
    let url = payloads.link(&key, expires).await.map_err(refused)?;
    let expires_at = now.plus_millis(i64::from(seconds) * 1000);
    Ok(v1::LinkPayloadResponse { url, expires_at: field::instant(expires_at), payload: Some((&kept).into()) })
}

/// Refuses what went before its call.
fn still_there(record: &Invocation, class: RecordClass) -> Result<(), CallError> {
    match record.keeping.removed_at(class) {
        Some(at) => {
            Err(CallError::Precondition(format!("the {class} of this call were removed at {at}: their time was over")))
        }
        None => Ok(()),
    }
}

/// Refuses an output whose time is over, although its bytes may be there for some minutes more. What a legal hold keeps may be read.
async fn in_time(
    records: &Records,
    holds: &Holds,
    record: &Invocation,
    (end, kept): (Option<&Terminal>, &PayloadRef),
) -> Result<(), CallError> {
    let now = records.now().await?;
    let over = end.is_some_and(|end| is_over(end, &kept.uri, now));
    if !over || holds.on(record).await?.is_some() {
        return Ok(());
    }
    Err(CallError::Precondition(format!("payload `{}` is gone: its time is over", kept.uri)))
}

fn out_of_range(size: u64) -> CallError {
    CallError::invalid("offset", format!("must be at most the payload's size of {size} bytes"))
}

pub(super) fn refused(error: PayloadError) -> CallError {
    match error {
        PayloadError::OutOfRange { size, .. } => out_of_range(size),
        PayloadError::Expired { .. } => CallError::Precondition(error.to_string()),
        PayloadError::NoLink { reason } => CallError::NoLink(reason.to_owned()),
        error => CallError::Record(RecordError::Objects(error)),
    }
}

/// The one reference the request means; without a selector the persisted output, when there is exactly one.
fn select(
    caller: &Caller,
    record: &Invocation,
    result: Option<&ToolResult>,
    selector: Option<&Selector>,
) -> Result<PayloadRef, CallError> {
    let outputs: Vec<&PayloadRef> = result.map(outputs).unwrap_or_default();
    let inputs = &record.inputs;
    let inputs = [Some(&inputs.model), inputs.observable.as_ref(), inputs.permission.as_ref(), inputs.call.as_ref()];
    let inputs = inputs.into_iter().flatten().filter(|input| may_read(caller, record, input.digest));
    let mut all = outputs.iter().copied().chain(inputs);
    let (found, asked) = match selector {
        Some(Selector::Uri(uri)) => (all.find(|kept| kept.uri == *uri), uri.clone()),
        Some(Selector::Digest(digest)) => {
            let wanted =
                digest.parse().map_err(|_| CallError::invalid("digest", "must be `sha256:` and 64 hex digits"))?;
            (all.find(|kept| kept.digest == wanted), digest.clone())
        }
        None => (outputs.first().copied(), "output".to_owned()),
    };
    found.cloned().ok_or(CallError::NotFound { kind: "payload", id: asked })
}

/// Cuts a byte stream into messages that say where they belong.
fn messages(
    kept: PayloadRef,
    offset: u64,
    end: u64,
    chunk: usize,
    bytes: futures_util::stream::BoxStream<'static, Result<Bytes, PayloadError>>,
) -> Chunks {
    let pieces = bytes.flat_map(move |piece| match piece {
        Ok(piece) => futures_util::stream::iter(split(piece, chunk).into_iter().map(Ok).collect::<Vec<_>>()),
        Err(error) => futures_util::stream::iter(vec![Err(error)]),
    });
    let message = move |at: u64, data: Bytes| v1::ReadPayloadResponse {
        eof: at + data.len() as u64 >= kept.size_bytes,
        data,
        offset: at,
        total_size_bytes: kept.size_bytes,
        media_type: kept.media_type.to_string(),
        sha256: Bytes::copy_from_slice(kept.digest.as_bytes()),
    };
    // An empty part is still answered: one message that says how large the whole is.
    if offset == end {
        let only = message(offset, Bytes::new());
        return Box::pin(futures_util::stream::iter([Ok(only)]));
    }
    Box::pin(pieces.scan(offset, move |at, piece| {
        let answer = piece.map_err(|error| status::of(refused(error))).map(|data| {
            let message = message(*at, data);
            *at += message.data.len() as u64;
            message
        });
        std::future::ready(Some(answer))
    }))
}

/// Bytes in pieces of at most `chunk`.
pub(super) fn split(mut piece: Bytes, chunk: usize) -> Vec<Bytes> {
    let mut parts = Vec::new();
    while piece.len() > chunk {
        parts.push(piece.split_to(chunk));
    }
    parts.push(piece);
    parts
}
