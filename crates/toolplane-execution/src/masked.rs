//! Taking secrets out of everything a tool gives, the last thing before it leaves the toolbox: content, exact bytes, structured content,
//! errors, evidence, news and questions.
//!
//! What shortens an output before it gets here masks it first: half a secret is none that is found.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolplane_credentials::Mask;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_sandbox::Captured;

use crate::ask::{Answer, Asker, InputQuestion};
use crate::call::Context;
use crate::credentials::CredentialSource;
use crate::outcome::{Exact, Outcome};
use crate::progress::{ProgressSink, ProgressUpdate};

/// A context whose news and questions are masked.
pub(crate) fn context(context: &Context, credentials: &Arc<CredentialSource>) -> Context {
    Context {
        progress: Arc::new(MaskedProgress(Arc::clone(&context.progress), Arc::clone(credentials))),
        asker: Arc::new(MaskedAsker(Arc::clone(&context.asker), Arc::clone(credentials))),
        ..context.clone()
    }
}

struct MaskedProgress(Arc<dyn ProgressSink>, Arc<CredentialSource>);

impl ProgressSink for MaskedProgress {
    fn report(&self, mut update: ProgressUpdate) {
        text(&self.1.mask(), &mut update.message);
        self.0.report(update);
    }

    fn show(&self, mut blocks: Vec<ContentBlock>) {
        let mask = self.1.mask();
        blocks.iter_mut().for_each(|block| content(&mask, block));
        self.0.show(blocks);
    }
}

struct MaskedAsker(Arc<dyn Asker>, Arc<CredentialSource>);

impl Asker for MaskedAsker {
    fn ask(&self, mut question: InputQuestion) -> BoxFuture<'_, Answer> {
        let mask = self.1.mask();
        text(&mask, &mut question.prompt);
        question.schema = question.schema.map(|schema| json(&mask, schema));
        self.0.ask(question)
    }
}

/// The outcome without secrets.
pub(crate) fn outcome(mask: &Mask, mut outcome: Outcome) -> Outcome {
    if mask.is_empty() {
        return outcome;
    }
    outcome.content.iter_mut().for_each(|block| content(mask, block));
    outcome.exact = outcome.exact.into_iter().map(|exact| bytes(mask, exact)).collect();
    outcome.structured_content = outcome.structured_content.map(|value| json(mask, value));
    outcome.evidence = outcome.evidence.map(|value| json(mask, value));
    outcome.context_modifiers = outcome.context_modifiers.into_iter().map(|value| json(mask, value)).collect();
    if let Some(error) = &mut outcome.error {
        self::error(mask, error);
    }
    outcome
}

fn error(mask: &Mask, error: &mut ToolError) {
    text(mask, &mut error.message);
    let options = [&mut error.native_error_ref, &mut error.blocked_path];
    options.into_iter().flatten().for_each(|one| text(mask, one));
    error.evidence_refs.iter_mut().for_each(|one| text(mask, one));
    for violation in &mut error.field_violations {
        text(mask, &mut violation.field);
        text(mask, &mut violation.description);
    }
}

fn content(mask: &Mask, block: &mut ContentBlock) {
    match block {
        ContentBlock::Text { text: shown } => text(mask, shown),
        ContentBlock::Log { text: shown, stream } => {
            text(mask, shown);
            text(mask, stream);
        }
        // Names that a tool chose: all the texts of the record, in its JSON form.
        ContentBlock::ResourceLink { .. }
        | ContentBlock::ArtifactRef { .. }
        | ContentBlock::EmbeddedResource { .. }
        | ContentBlock::HandoffRef { .. }
        | ContentBlock::Image { .. }
        | ContentBlock::Audio { .. }
        | ContentBlock::Video { .. }
        | ContentBlock::Diff { .. } => {
            let whole = JsonPayload::of(block);
            if let Cow::Owned(masked) = mask.json(whole.text()).unwrap_or(Cow::Borrowed("")) {
                *block = serde_json::from_str(&masked).unwrap_or(ContentBlock::Empty);
            }
        }
        ContentBlock::File { .. } | ContentBlock::PersistedOutputRef { .. } | ContentBlock::Empty => {}
    }
}

fn text(mask: &Mask, shown: &mut String) {
    if let Cow::Owned(masked) = mask.text(shown) {
        *shown = masked;
    }
}

fn json(mask: &Mask, value: JsonPayload) -> JsonPayload {
    match mask.json(value.text()) {
        Ok(Cow::Borrowed(_)) => value,
        Ok(Cow::Owned(masked)) => JsonPayload::from_checked(masked),
        // It always is JSON; what cannot be looked through is not shown.
        Err(_) => JsonPayload::of(&serde_json::Value::Null),
    }
}

fn bytes(mask: &Mask, exact: Exact) -> Exact {
    let has_gap = exact.end.is_some();
    let Cow::Owned(masked) = mask.cut(&exact.bytes, false, has_gap) else {
        return Exact { end: exact.end.map(|end| end_of(mask, end)), ..exact };
    };
    let less = |total: u64| (total + masked.len() as u64).saturating_sub(exact.bytes.len() as u64);
    let total_bytes = less(exact.total_bytes);
    Exact { bytes: Bytes::from(masked), end: exact.end.map(|end| end_of(mask, end)), total_bytes, ..exact }
}

fn end_of(mask: &Mask, end: Bytes) -> Bytes {
    match mask.cut(&end, true, false) {
        Cow::Borrowed(_) => end,
        Cow::Owned(masked) => Bytes::from(masked),
    }
}

/// What was kept of a stream, without secrets and without parts of them beside what was left out.
pub(crate) fn captured(mask: &Mask, captured: &mut Captured) {
    if mask.is_empty() {
        return;
    }
    let gap = captured.omitted_bytes() > 0;
    if !gap {
        // Head and tail are one text here, and a secret may lie across.
        if let Cow::Owned(masked) = mask.cut(&captured.kept(), false, captured.truncated) {
            captured.total_bytes = masked.len() as u64;
            (captured.head, captured.tail) = (masked, Vec::new());
        }
        return;
    }
    let left_out = captured.omitted_bytes();
    captured.head = mask.cut(&captured.head, false, true).into_owned();
    captured.tail = mask.cut(&captured.tail, true, captured.truncated).into_owned();
    captured.total_bytes = left_out + (captured.head.len() + captured.tail.len()) as u64;
}

/// The body of an answer without secrets; `cut` when there is more of it.
pub(crate) fn body(mask: &Mask, body: Vec<u8>, is_json: bool, cut: bool) -> Vec<u8> {
    if mask.is_empty() {
        return body;
    }
    // A secret may be a number in it, and what stands in its place is a text.
    if let Some(text) = std::str::from_utf8(&body).ok().filter(|_| is_json && !cut)
        && let Ok(masked) = mask.json(text)
    {
        return masked.into_owned().into_bytes();
    }
    mask.cut(&body, false, cut).into_owned()
}
