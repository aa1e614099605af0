//! From the answer of a server to the outcome of a call.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Serialize;
use toolplane_openapi::{Answer, Content, Meaning, response};
use toolplane_records::codes;
use toolplane_records::error::{FieldViolation, ToolError};
use toolplane_records::evidence::NativeIds;
use toolplane_records::operation::OperationBinding;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::visible::excerpt;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};

use crate::failure::something_may_be_done;
use crate::http::body::{Read, bounded, native_ids};
use crate::outcome::{Exact, Outcome};

/// Most differences from the document that are told.
const MAX_TOLD: usize = 5;
/// Most characters of one of them.
const MAX_RULE: usize = 300;

/// What is known of the answer beside its content.
#[derive(Debug, Serialize)]
struct AnswerEvidence<'a> {
    operation: &'a str,
    status: u16,
    #[serde(skip_serializing_if = "NativeIds::is_empty")]
    native_ids: NativeIds,
    /// The URL that answered, without its query.
    url: &'a str,
    headers: BTreeMap<String, String>,
    body_bytes: u64,
    truncated: bool,
    /// Where the content is not what the document says.
    #[serde(skip_serializing_if = "<[FieldViolation]>::is_empty")]
    mismatch: &'a [FieldViolation],
    /// Fields of the input that ask for the next page, with their values.
    #[serde(skip_serializing_if = "<[(String, String)]>::is_empty")]
    next: &'a [(String, String)],
}

/// The outcome of an answer. JSON becomes the structured content, as it is.
pub(super) fn outcome(binding: &OperationBinding, read: Read, now: Timestamp) -> Outcome {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers: Vec<(String, String)> =
        read.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect();
    let answer = response(binding, read.status.as_u16(), &headers, &read.body, now);
    let evidence = JsonPayload::of(&AnswerEvidence {
        operation: &binding.operation,
        status: answer.status,
        native_ids: native_ids(&read.headers),
        url: read.url.as_str(),
        headers: bounded(&read.headers),
        body_bytes: read.body.len() as u64,
        truncated: read.truncated,
        mismatch: mismatch(&answer),
        next: answer.next.as_ref().map_or(&[], |next| &next.fields),
    });
    let mut outcome = shown(&answer, &read.body);
    outcome.evidence = Some(evidence);
    outcome.output_bytes = read.body.len() as u64;
    let cut = read.cut.map(|error| effects(error, binding));
    match cut.or_else(|| failure(answer.meaning, binding)) {
        Some(error) => outcome.failed(error),
        None => outcome,
    }
}

fn mismatch(answer: &Answer) -> &[FieldViolation] {
    match &answer.meaning {
        Meaning::Success { mismatch } => mismatch,
        _ => &[],
    }
}

/// The content, and in words what else there is to know.
fn shown(answer: &Answer, body: &Bytes) -> Outcome {
    let exact = |media_type: &str, view: &str| Some(Exact::answer(body.clone(), media_type, view));
    let (view, exact, structured) = match &answer.content {
        Content::Empty => (Cow::Borrowed(""), None, None),
        Content::Json(json) => {
            // With the white space around it the view is the whole answer.
            let whole = std::str::from_utf8(body).ok().filter(|whole| whole.trim_ascii() == json.text());
            let view = whole.unwrap_or(json.text());
            (Cow::Borrowed(view), exact("application/json", view), Some(json.clone()))
        }
        Content::Text { text, media_type } => (Cow::Borrowed(text.as_str()), exact(media_type, text), None),
        Content::Bytes { bytes, media_type } => {
            let view = String::from_utf8_lossy(bytes);
            let exact = exact(media_type, &view);
            (view, exact, None)
        }
    };
    let mut blocks = vec![ContentBlock::Text { text: view.into_owned() }];
    let notes = [different(mismatch(answer)), answer.next.as_ref().map(|next| next.hint())];
    blocks.extend(notes.into_iter().flatten().map(|text| ContentBlock::Log { text, stream: "note".to_owned() }));
    let mut outcome = Outcome::blocks(blocks).exactly(exact);
    outcome.structured_content = structured;
    outcome
}

/// The effect is done, so it is told and no failure.
fn different(mismatch: &[FieldViolation]) -> Option<String> {
    let told = |one: &FieldViolation| {
        let place = if one.field.is_empty() { "the answer" } else { &one.field };
        excerpt(&format!("`{place}` {}", one.description), MAX_RULE)
    };
    let list: Vec<String> = mismatch.iter().take(MAX_TOLD).map(told).collect();
    let more = mismatch.len().saturating_sub(MAX_TOLD);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    (!list.is_empty()).then(|| format!("The answer is not what its document says: {}{more}.", list.join("; ")))
}

fn failure(meaning: Meaning, binding: &OperationBinding) -> Option<ToolError> {
    match meaning {
        Meaning::Success { .. } => None,
        Meaning::Failure { error, .. } => Some(*error),
        // One that leads somewhere was followed, or refused.
        Meaning::Redirect { .. } => {
            let (class, advice) = (ErrorClass::ExecutionFailed, Recoverability::NotRetryable);
            let message = "the server redirects and does not say where to";
            Some(effects(ToolError::new(codes::HTTP_STATUS, class, advice, message), binding))
        }
    }
}

/// The request was sent, so what it does may be done.
fn effects(error: ToolError, binding: &OperationBinding) -> ToolError {
    let reads = matches!(binding.method.as_str(), "GET" | "HEAD");
    if reads { error } else { something_may_be_done(error) }
}
