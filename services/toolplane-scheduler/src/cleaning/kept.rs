//! Outputs that a worker has kept in the object store. One that holds something to be taken out is kept anew without it.

use std::borrow::Cow;

use bytes::Bytes;
use futures_util::StreamExt as _;
use toolplane_cleaning::{Cleaner, Findings};
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::PayloadRef;
use toolplane_records::time::Timestamp;
use toolplane_results::payload::PayloadOrigin;
use toolplane_results::payload::error::PayloadError;
use toolplane_results::payload::key::PayloadKey;
use toolplane_results::preview::{Preview, PreviewLimits, Sampler};
use toolplane_results::{PayloadStore, PayloadWriter};

use super::{MAX_JSON, OutputCleaner};

/// Whose outputs they are.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) record: &'a Invocation,
    pub(super) lease_no: u32,
    pub(super) now: Timestamp,
}

/// Whether the worker has kept anything.
pub(super) fn any(outcome: &v1::ExecutionOutcome) -> bool {
    !outcome.persisted.is_empty()
        || outcome.content.iter().chain(&outcome.model_facing_content).any(|block| block.kept().is_some())
}

/// Cleans each output that `outcome` refers to, and has it refer to what is kept now. Gives the addresses of what was replaced.
pub(super) async fn outputs(
    cleaner: &OutputCleaner,
    payloads: &PayloadStore,
    origin: Origin<'_>,
    outcome: &mut v1::ExecutionOutcome,
    found: &mut Findings,
) -> Result<Vec<String>, PayloadError> {
    let mut replaced = Vec::new();
    for uri in super::message::uploaded(outcome) {
        let Some(payload) = named(outcome, &uri) else { continue };
        let Some((cleaned, preview)) = output(cleaner, payloads, origin, &payload, found).await? else { continue };
        super::message::shown_anew(&cleaner.shown, outcome, &uri, preview);
        let cleaned = v1::PayloadRef::from(&cleaned);
        let blocks = outcome.content.iter_mut().chain(&mut outcome.model_facing_content);
        let in_blocks = blocks.filter_map(v1::ContentBlock::kept_mut);
        let persisted = outcome.persisted.iter_mut().filter_map(|kept| {
            let payload = kept.payload.as_mut().filter(|payload| payload.uri == uri)?;
            kept.redaction_state = v1::RedactionState::Redacted.into();
            Some(payload)
        });
        in_blocks.chain(persisted).filter(|payload| payload.uri == uri).for_each(|payload| *payload = cleaned.clone());
        replaced.push(uri);
    }
    Ok(replaced)
}

/// The reference of an outcome to that address, where it is one that can be read.
fn named(outcome: &v1::ExecutionOutcome, uri: &str) -> Option<PayloadRef> {
    let blocks = outcome.content.iter().chain(&outcome.model_facing_content).filter_map(v1::ContentBlock::kept);
    let mut all = blocks.chain(outcome.persisted.iter().filter_map(|kept| kept.payload.as_ref()));
    all.find(|payload| payload.uri == uri)?.clone().try_into().ok()
}

/// Cleans one output; nothing where it stays as it is, else what is kept now with a preview of it: one of the first bytes may end within
/// what was taken out.
async fn output(
    cleaner: &OutputCleaner,
    payloads: &PayloadStore,
    origin: Origin<'_>,
    payload: &PayloadRef,
    found: &mut Findings,
) -> Result<Option<(PayloadRef, Preview)>, PayloadError> {
    let Some(cleaner) = by_media_type(cleaner, &payload.media_type).filter(|cleaner| !cleaner.is_empty()) else {
        return Ok(None);
    };
    // Only of its own call: what it may not name is refused where the report is read.
    let Ok(key) = payload.uri.parse::<PayloadKey>() else { return Ok(None) };
    if !key.is_of(&origin.record.tenant, &origin.record.invocation_id, origin.lease_no) {
        return Ok(None);
    }
    let origin_of = PayloadOrigin {
        tenant: origin.record.tenant.clone(),
        invocation_id: origin.record.invocation_id.clone(),
        lease_no: origin.lease_no,
        media_type: payload.media_type.to_string(),
        made_at: origin.now,
    };
    let said = match is_json(&payload.media_type) && payload.size_bytes <= MAX_JSON {
        true => as_json(cleaner, payloads, origin, payload).await,
        false => Ok(None),
    };
    let cleaned = match said {
        Ok(Some((cleaned, said))) => {
            found.merge(&said);
            match cleaned {
                Some(cleaned) => {
                    let mut shown = Sampler::new(PreviewLimits::default());
                    shown.push(&cleaned);
                    Some((payloads.put(&origin_of, cleaned).await?, shown.finish()))
                }
                None => None,
            }
        }
        Ok(None) => as_bytes(cleaner, payloads, origin, (&key, payload), origin_of, found).await?,
        // What is not there any more, or never was, is found out by who reads it.
        Err(PayloadError::NotFound { .. } | PayloadError::Expired { .. }) => None,
        Err(error) => return Err(error),
    };
    Ok(cleaned)
}

/// Cleans a JSON value; nothing where the bytes are none. `None` inside: it stays as it is.
async fn as_json(
    cleaner: &Cleaner,
    payloads: &PayloadStore,
    origin: Origin<'_>,
    payload: &PayloadRef,
) -> Result<Option<(Option<Bytes>, Findings)>, PayloadError> {
    let bytes = payloads.read_verified(payload, MAX_JSON, origin.now).await?;
    let mut said = Findings::default();
    let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(None) };
    Ok(match cleaner.json(text, &mut said) {
        Ok(Cow::Owned(cleaned)) => Some((Some(cleaned.into()), said)),
        Ok(Cow::Borrowed(_)) => Some((None, said)),
        Err(_) => None,
    })
}

/// Cleans bytes in two passes: the second, which writes, is made only where the first found something to take out. So an output without
/// anything is read once and written never.
async fn as_bytes(
    cleaner: &Cleaner,
    payloads: &PayloadStore,
    origin: Origin<'_>,
    (key, payload): (&PayloadKey, &PayloadRef),
    origin_of: PayloadOrigin,
    found: &mut Findings,
) -> Result<Option<(PayloadRef, Preview)>, PayloadError> {
    let first = match pass(cleaner, payloads, origin, key, None).await {
        Ok((said, _)) => said,
        Err(PayloadError::NotFound { .. } | PayloadError::Expired { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    found.merge(&first);
    if first.masked() == 0 {
        return Ok(None);
    }
    let (_, cleaned) = pass(cleaner, payloads, origin, key, Some(payloads.writer(origin_of))).await?;
    Ok(cleaned.filter(|(cleaned, _)| cleaned.digest != payload.digest))
}

/// One pass over the bytes of `key`; what it leaves goes into `writer`, if there is one.
async fn pass(
    cleaner: &Cleaner,
    payloads: &PayloadStore,
    origin: Origin<'_>,
    key: &PayloadKey,
    mut writer: Option<PayloadWriter>,
) -> Result<(Findings, Option<(PayloadRef, Preview)>), PayloadError> {
    let mut bytes = payloads.read_range(key, 0, u64::MAX, origin.now).await?.stream;
    let (mut stream, mut out) = (cleaner.stream(), Vec::new());
    let mut shown = Sampler::new(PreviewLimits::default());
    while let Some(piece) = bytes.next().await {
        stream.push(&piece?, &mut out);
        match &mut writer {
            Some(writer) if !out.is_empty() => {
                shown.push(&out);
                writer.write(std::mem::take(&mut out).into()).await?;
            }
            _ => out.clear(),
        }
    }
    let said = stream.finish(&mut out);
    let cleaned = match writer {
        Some(mut writer) => {
            shown.push(&out);
            writer.write(out.into()).await?;
            Some((writer.finish().await?, shown.finish()))
        }
        None => None,
    };
    Ok((said, cleaned))
}

/// What cleans bytes of this kind; nothing where they are pictures, sounds or packed, in which nobody reads anything.
fn by_media_type<'a>(cleaner: &'a OutputCleaner, media_type: &str) -> Option<&'a Cleaner> {
    let kind = essence(media_type);
    let packed = ["zip", "gzip", "x-tar", "x-bzip2", "x-xz", "zstd", "x-7z-compressed", "pdf", "wasm", "vnd.sqlite3"];
    let media = ["image/", "audio/", "video/", "font/"];
    let svg = kind == "image/svg+xml";
    let application = kind.strip_prefix("application/");
    if kind.starts_with("text/") || svg || application.is_some_and(is_text) {
        return Some(&cleaner.kept);
    }
    let unread =
        media.iter().any(|media| kind.starts_with(media)) || application.is_some_and(|kind| packed.contains(&kind));
    (!unread).then_some(&cleaner.binary)
}

/// Kinds of application data that are texts.
fn is_text(kind: &str) -> bool {
    let texts = ["json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-ndjson", "jsonl", "sql", "x-sh", "graphql"];
    texts.contains(&kind) || ["+json", "+xml", "+yaml"].iter().any(|end| kind.ends_with(end))
}

fn is_json(media_type: &str) -> bool {
    let kind = essence(media_type);
    kind == "application/json" || kind.ends_with("+json")
}

fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
