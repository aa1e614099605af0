//! Outputs that a worker has kept in the object store. One that holds something to be taken out is kept anew without it.

use std::borrow::Cow;

use bytes::Bytes;
use futures_util::StreamExt as _;
use toolplane_cleaning::fields::Looked;
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

/// In a text at most one of so many bytes is none of UTF-8.
const STRANGE_SHARE: usize = 10;

/// Whose outputs they are.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) record: &'a Invocation,
    pub(super) lease_no: u32,
    pub(super) now: Timestamp,
}

impl Origin<'_> {
    /// Where what takes the place of `payload` comes from; nothing where it is of another call: what a worker may not name is refused
    /// where its report is read.
    fn of(&self, payload: &PayloadRef) -> Option<PayloadOrigin> {
        let Self { record, lease_no, now } = *self;
        let key = payload.uri.parse::<PayloadKey>().ok()?;
        key.is_of(&record.tenant, &record.invocation_id, lease_no).then(|| PayloadOrigin {
            tenant: record.tenant.clone(),
            invocation_id: record.invocation_id.clone(),
            lease_no,
            media_type: payload.media_type.to_string(),
            made_at: now,
        })
    }
}

/// Whether the worker has kept anything.
pub(super) fn any(outcome: &v1::ExecutionOutcome) -> bool {
    !outcome.persisted.is_empty()
        || outcome.artifact_refs.iter().any(|artifact| artifact.payload.is_some())
        || outcome.content.iter().chain(&outcome.model_facing_content).any(|block| block.kept().is_some())
}

/// Whether everything that is kept is a text, whatever it is called: what is packed, or written in UTF-16, has no form that patterns know. A
/// byte of another encoding here and there is no harm to them.
pub(super) async fn are_texts(
    payloads: &PayloadStore,
    origin: Origin<'_>,
    outcome: &mut v1::ExecutionOutcome,
) -> Result<bool, PayloadError> {
    for uri in super::message::uploaded(outcome) {
        let Some(key) = named(outcome, &uri).and_then(|payload| payload.uri.parse::<PayloadKey>().ok()) else {
            continue;
        };
        let mut bytes = match payloads.read_range(&key, 0, u64::MAX, origin.now).await {
            Ok(read) => read.stream,
            // What is not there is given to nobody.
            Err(PayloadError::NotFound { .. } | PayloadError::Expired { .. }) => continue,
            Err(error) => return Err(error),
        };
        let (mut all, mut strange) = (0, 0);
        while let Some(piece) = bytes.next().await {
            let piece = piece?;
            if piece.contains(&0) {
                return Ok(false);
            }
            all += piece.len();
            strange += piece.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
        }
        if strange > all / STRANGE_SHARE {
            return Ok(false);
        }
    }
    Ok(true)
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
        refer_anew(cleaner, outcome, &uri, cleaned, preview);
        replaced.push(uri);
    }
    Ok(replaced)
}

/// Has an outcome refer to what is kept now in the place of `uri`.
fn refer_anew(
    cleaner: &OutputCleaner,
    outcome: &mut v1::ExecutionOutcome,
    uri: &str,
    cleaned: PayloadRef,
    preview: Preview,
) {
    super::message::shown_anew(&cleaner.shown, outcome, uri, preview);
    for kept in &mut outcome.persisted {
        if let Some(payload) = kept.payload.as_ref().filter(|payload| payload.uri == uri) {
            // It is as short by what is not kept of it as before: what is masked does not look like what was cut.
            let left_out = kept.original_size_bytes.saturating_sub(payload.size_bytes);
            kept.original_size_bytes = cleaned.size_bytes + left_out;
            kept.redaction_state = v1::RedactionState::Redacted.into();
        }
    }
    refer_to(outcome, uri, &cleaned);
}

/// Has an outcome refer to `now` wherever it refers to `uri`.
pub(crate) fn refer_to(outcome: &mut v1::ExecutionOutcome, uri: &str, now: &PayloadRef) {
    let cleaned = v1::PayloadRef::from(now);
    let blocks = outcome.content.iter_mut().chain(&mut outcome.model_facing_content);
    let in_blocks = blocks.filter_map(v1::ContentBlock::kept_mut);
    let persisted = outcome.persisted.iter_mut().filter_map(|kept| kept.payload.as_mut());
    in_blocks.chain(persisted).filter(|payload| payload.uri == uri).for_each(|payload| *payload = cleaned.clone());
    super::message::artifacts(outcome).for_each(|artifact| follow(artifact, uri, &cleaned));
}

/// Masks the declared fields in what is kept, and notes what was `replaced`; in how many places.
pub(super) async fn fields(
    cleaner: &OutputCleaner,
    payloads: &PayloadStore,
    origin: Origin<'_>,
    outcome: &mut v1::ExecutionOutcome,
    replaced: &mut Vec<String>,
) -> Result<u64, PayloadError> {
    let mut places = 0;
    if cleaner.fields.is_empty() {
        return Ok(places);
    }
    for uri in super::message::uploaded(outcome) {
        let Some(payload) = named(outcome, &uri).filter(|payload| is_readable(&payload.media_type)) else { continue };
        let Some(origin_of) = origin.of(&payload) else { continue };
        let bytes = match payloads.read_verified(&payload, MAX_JSON, origin.now).await {
            Ok(bytes) => bytes,
            Err(PayloadError::NotFound { .. } | PayloadError::Expired { .. }) => continue,
            Err(error) => return Err(error),
        };
        // What is no text has no fields; a cut text may begin as JSON all the same.
        let text = String::from_utf8_lossy(&bytes);
        let masked = match toolplane_cleaning::fields::mask(&text, &cleaner.fields) {
            Looked::Same => continue,
            Looked::Masked(masked, more) => {
                places += more;
                masked
            }
            Looked::Unreadable => {
                places += 1;
                super::asked::UNREADABLE.to_owned()
            }
        };
        let mut shown = Sampler::new(PreviewLimits::default());
        shown.push(masked.as_bytes());
        let kept = payloads.put(&origin_of, masked.into()).await?;
        refer_anew(cleaner, outcome, &uri, kept, shown.finish());
        replaced.push(uri);
    }
    Ok(places)
}

/// An artifact is where its bytes are.
fn follow(artifact: &mut v1::ArtifactRef, uri: &str, cleaned: &v1::PayloadRef) {
    let held = artifact.payload.as_mut().filter(|payload| payload.uri == uri || payload.uri == cleaned.uri);
    if let Some(payload) = held {
        *payload = cleaned.clone();
        (artifact.uri, artifact.digest) = (cleaned.uri.clone(), cleaned.digest.clone());
    }
}

/// The reference of an outcome to that address, where it is one that can be read.
fn named(outcome: &v1::ExecutionOutcome, uri: &str) -> Option<PayloadRef> {
    let blocks = outcome.content.iter().chain(&outcome.model_facing_content).filter_map(v1::ContentBlock::kept);
    let beside = outcome.artifact_refs.iter().filter_map(|artifact| artifact.payload.as_ref());
    let mut all = blocks.chain(outcome.persisted.iter().filter_map(|kept| kept.payload.as_ref())).chain(beside);
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
    let Some(origin_of) = origin.of(payload) else { return Ok(None) };
    let Ok(key) = payload.uri.parse::<PayloadKey>() else { return Ok(None) };
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
    if is_text_kind(&kind) {
        return Some(&cleaner.kept);
    }
    is_readable(media_type).then_some(&cleaner.binary)
}

/// Whether anything is looked for in bytes of this kind.
pub(super) fn is_readable(media_type: &str) -> bool {
    let kind = essence(media_type);
    let packed = ["zip", "gzip", "x-tar", "x-bzip2", "x-xz", "zstd", "x-7z-compressed", "pdf", "wasm", "vnd.sqlite3"];
    let media = ["image/", "audio/", "video/", "font/"];
    let unread = media.iter().any(|media| kind.starts_with(media))
        || kind
            .strip_prefix("application/")
            .is_some_and(|kind| packed.contains(&kind) || kind.starts_with("vnd.openxmlformats"));
    is_text_kind(&kind) || !unread
}

fn is_text_kind(kind: &str) -> bool {
    let application = kind.strip_prefix("application/");
    kind.starts_with("text/") || kind == "image/svg+xml" || application.is_some_and(is_text)
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
