//! Taking secrets out of everything a tool gives, the last thing before it leaves the toolbox: content, exact bytes, structured content,
//! errors, evidence, news and questions.
//!
//! What shortens an output before it gets here masks it first: half a secret is none that is found.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use tokio::io::AsyncReadExt as _;
use toolplane_credentials::Mask;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_sandbox::{Captured, OutputFile, OutputWriter};

use crate::ask::{Answer, Asker, InputQuestion};
use crate::call::Context;
use crate::credentials::CredentialSource;
use crate::outcome::{Exact, Outcome};
use crate::progress::{ProgressSink, ProgressUpdate};

/// Bytes of a file masked at once.
const PIECE: usize = 256 * 1024;

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
    // What is in them was masked when they were copied.
    outcome.artifacts.iter_mut().for_each(|artifact| text(mask, &mut artifact.path));
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

/// A file was masked when its stream was.
fn bytes(mask: &Mask, exact: Exact) -> Exact {
    if exact.file.is_some() {
        return exact;
    }
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
pub(crate) async fn captured(mask: &Mask, captured: &mut Captured) {
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
    let Some(file) = captured.file.take() else { return };
    let is_whole = !captured.truncated;
    match rewritten(mask, &file, captured.truncated).await {
        Ok(file) => {
            if is_whole {
                captured.total_bytes = file.size_bytes();
            }
            captured.file = Some(Arc::new(file));
        }
        // The middle is lost then, which the result says.
        Err(_) => captured.truncated = true,
    }
}

/// The file without secrets, as a new one. `cut` when the stream went on.
async fn rewritten(mask: &Mask, file: &OutputFile, cut: bool) -> std::io::Result<OutputFile> {
    let dir = file.path().parent().unwrap_or_else(|| file.path());
    let (mut source, mut writer) = (tokio::fs::File::open(file.path()).await?, OutputWriter::create(dir).await?);
    let (mut stream, mut piece, mut out) = (mask.stream(), vec![0; PIECE], Vec::new());
    loop {
        let length = source.read(&mut piece).await?;
        if length == 0 {
            break;
        }
        stream.push(&piece[..length], &mut out);
        writer.write(&out).await?;
        out.clear();
    }
    if cut {
        stream.finish_cut(&mut out);
    } else {
        stream.finish(&mut out);
    }
    writer.write(&out).await?;
    writer.finish().await
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

#[cfg(test)]
mod tests {
    use toolplane_credentials::Secret;

    use super::*;

    #[tokio::test]
    async fn a_secret_in_an_output_on_disk_is_masked_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let secret = Secret::new("correct-horse-battery-staple");
        let mask = Mask::new([("github", &secret)]);
        let mut whole = vec![b'.'; PIECE * 2];
        // Across what is read at once.
        whole[PIECE - 9..PIECE - 9 + secret.reveal().len()].copy_from_slice(secret.reveal());
        let mut writer = OutputWriter::create(folder.path()).await.unwrap();
        writer.write(&whole).await.unwrap();
        let file = Some(Arc::new(writer.finish().await.unwrap()));
        let (head, tail) = (whole[..100].to_vec(), whole[whole.len() - 100..].to_vec());
        let mut kept = Captured { head, tail, total_bytes: whole.len() as u64, file, ..Captured::default() };
        captured(&mask, &mut kept).await;
        let masked = std::fs::read(kept.file.as_ref().unwrap().path()).unwrap();
        let text = String::from_utf8(masked).unwrap();
        assert_eq!(text.trim_matches('.'), "[credential github]");
        assert_eq!((kept.total_bytes, kept.truncated), (text.len() as u64, false));
        drop(kept);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "neither file is left");
    }
}
