//! From a persistence decision to what people and models see, mapped exactly once.

use toolplane_records::SmolStr;
use toolplane_records::error::ToolError;
use toolplane_records::payload::PayloadRef;
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::refs::{ArtifactRef, HandoffRef};
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::PersistenceStrategy;

use crate::decide::{REASON_STORE_FAILED, needs_store};
use crate::outputs::Decided;
use crate::preview::{Preview, PreviewLimits, grouped, preview};

#[cfg(test)]
mod tests;

/// The longest summary line, in characters.
pub const MAX_SUMMARY_CHARS: usize = 160;

/// What is put after a text that is not the output itself.
pub const VIEW: &str = "[this is a view: the output is not plain UTF-8 text, or not all of it is shown]";

/// Where in the result an output belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The answer itself.
    Answer,
    /// A log beside the answer, by the name of its stream (e.g. `stderr`).
    Log(String),
}

/// As much of an output as is in memory.
#[derive(Clone, Copy, Debug)]
pub enum OutputBody<'a> {
    /// All of it, as text.
    Text(&'a str),
    /// All of it, as a text in which U+FFFD stands for bytes that are not UTF-8, or a line for what was left out.
    View(&'a str),
    /// Head and tail of it, already sampled.
    Sampled(&'a Preview),
    /// Nothing that could be shown: the bytes are not text.
    Binary,
}

/// One output, ready for the result envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendered {
    /// The blocks of `content`.
    pub content: Vec<ContentBlock>,
    /// The completed decision record.
    pub persistence: ResultPersistence,
}

/// Carries out a decision: chooses the content blocks and completes the record.
///
/// `payload` is the proof that the whole output was kept. A decision that needs one and did not get one becomes
/// `drop_with_reason` with [`REASON_STORE_FAILED`]: the effect of the tool is done, so a lost payload is never a failure.
pub fn render(
    mut persistence: ResultPersistence,
    body: OutputBody<'_>,
    channel: &Channel,
    payload: Option<PayloadRef>,
    limits: PreviewLimits,
) -> Rendered {
    if needs_store(persistence.strategy) && payload.is_none() {
        persistence.strategy = PersistenceStrategy::DropWithReason;
        persistence.reason = SmolStr::new_static(REASON_STORE_FAILED);
    }
    let mut content = Vec::new();
    match persistence.strategy {
        PersistenceStrategy::Inline => match body {
            OutputBody::Text(text) | OutputBody::View(text) => content.push(shown(channel, text)),
            OutputBody::Sampled(sample) => content.push(shown(channel, &sample.text)),
            OutputBody::Binary => content.push(ContentBlock::Empty),
        },
        PersistenceStrategy::RefOnly => {}
        _ => {
            let text = shortened(body, limits);
            persistence.preview_size_bytes = Some(text.len() as u64);
            let text = if payload.is_some() { text } else { format!("{text}\n{}", not_kept(&persistence)) };
            content.push(shown(channel, &text));
        }
    }
    if let Some(payload) = payload.filter(|_| needs_store(persistence.strategy)) {
        content.push(ContentBlock::PersistedOutputRef { payload: payload.clone() });
        persistence.persisted_ref = Some(payload);
    }
    Rendered { content, persistence }
}

/// What a model is given for these blocks: the same text, with references spelled out as a line it can act on.
/// Of what only the beginning is kept, by its decision among `kept`, the line says so.
pub fn model_facing(content: &[ContentBlock], kept: &[Decided]) -> Vec<ContentBlock> {
    let cut_from = |payload: &PayloadRef| {
        let of_it =
            |decision: &&ResultPersistence| decision.persisted_ref.as_ref().is_some_and(|it| it.uri == payload.uri);
        kept.iter().map(|kept| &kept.decision).find(of_it)?.cut_from()
    };
    content.iter().map(|block| model_block(block, cut_from)).collect()
}

/// One line for people, at most [`MAX_SUMMARY_CHARS`] characters: the error, or what the output amounts to.
pub fn summarize(content: &[ContentBlock], error: Option<&ToolError>) -> String {
    if let Some(error) = error {
        return one_line(&format!("{}: {}", error.error_code, error.message));
    }
    let kept = content.iter().find_map(ContentBlock::payload);
    let first = content.iter().find_map(|block| match block {
        ContentBlock::Text { text } | ContentBlock::Diff { text, .. } => {
            text.lines().map(str::trim).find(|line| !line.is_empty())
        }
        _ => None,
    });
    match (first, kept) {
        (Some(line), Some(payload)) => {
            let size = format!(" ({} bytes kept)", grouped(payload.size_bytes));
            let room = MAX_SUMMARY_CHARS.saturating_sub(size.chars().count());
            format!("{}{size}", cut(line, room))
        }
        (Some(line), None) => one_line(line),
        (None, Some(payload)) => format!("{} bytes kept", grouped(payload.size_bytes)),
        (None, None) if content.iter().all(|block| *block == ContentBlock::Empty) => "no output".to_owned(),
        (None, None) => format!("{} content blocks", content.len()),
    }
}

fn shown(channel: &Channel, text: &str) -> ContentBlock {
    match channel {
        _ if text.is_empty() => ContentBlock::Empty,
        Channel::Answer => ContentBlock::Text { text: text.to_owned() },
        Channel::Log(stream) => ContentBlock::Log { text: text.to_owned(), stream: stream.clone() },
    }
}

fn shortened(body: OutputBody<'_>, limits: PreviewLimits) -> String {
    match body {
        OutputBody::Text(text) => preview(text, limits).text,
        OutputBody::View(text) => {
            let view = preview(text, limits).text;
            let line_end = if view.ends_with('\n') { "" } else { "\n" };
            format!("{view}{line_end}{VIEW}")
        }
        OutputBody::Sampled(sample) => sample.text.clone(),
        OutputBody::Binary => "[binary output]".to_owned(),
    }
}

fn not_kept(persistence: &ResultPersistence) -> String {
    let size = grouped(persistence.original_size_bytes);
    format!("[the whole output of {size} bytes was not kept: {}]", persistence.reason)
}

fn model_block(block: &ContentBlock, cut_from: impl Fn(&PayloadRef) -> Option<u64>) -> ContentBlock {
    let line = match block {
        ContentBlock::PersistedOutputRef { payload } => {
            let size = grouped(payload.size_bytes);
            let what = match cut_from(payload) {
                Some(all) => format!("the beginning of the output, {size} of {} bytes of", grouped(all)),
                None => format!("the whole output, {size} bytes of"),
            };
            format!("[{what} {}, is kept at {}; read it by range]", payload.media_type, payload.uri)
        }
        ContentBlock::File { payload } => bytes("file", payload, ""),
        ContentBlock::Image { payload, description } => bytes("image", payload, description),
        ContentBlock::Audio { payload, description } => bytes("audio", payload, description),
        ContentBlock::Video { payload, description } => bytes("video", payload, description),
        ContentBlock::EmbeddedResource { text: Some(text), .. } => text.clone(),
        ContentBlock::EmbeddedResource { uri, payload: Some(payload), .. } => bytes("resource", payload, uri),
        ContentBlock::ArtifactRef { artifact: ArtifactRef { artifact_id, payload: Some(payload), .. } } => {
            bytes("artifact", payload, artifact_id)
        }
        ContentBlock::HandoffRef { handoff } => handed_on(handoff),
        // The diff says it all.
        ContentBlock::Diff { text, path, lines, .. } => {
            let (text, path, lines) = (text.clone(), path.clone(), lines.clone());
            return ContentBlock::Diff { text, path, lines, old_text: None, new_text: None };
        }
        other => return other.clone(),
    };
    ContentBlock::Text { text: line }
}

/// Bytes a model is told of instead of being given them.
fn bytes(kind: &str, payload: &PayloadRef, what: &str) -> String {
    let what = if what.is_empty() { String::new() } else { format!(" ({})", cut(what, MAX_SUMMARY_CHARS)) };
    format!("[{kind}{what}, {} bytes of {}, at {}]", grouped(payload.size_bytes), payload.media_type, payload.uri)
}

fn handed_on(handoff: &HandoffRef) -> String {
    let HandoffRef { handoff_id, target, uri, reason } = handoff;
    let said = [("to", target), ("at", uri), ("because", reason)];
    let said = said.into_iter().filter(|(_, said)| !said.is_empty()).map(|(word, said)| format!(" {word} {said}"));
    format!("[handed on as {handoff_id}{}]", said.collect::<String>())
}

fn one_line(text: &str) -> String {
    cut(text, MAX_SUMMARY_CHARS)
}

fn cut(text: &str, most: usize) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > most {
        line = line.chars().take(most.saturating_sub(1)).collect();
        line.push('…');
    }
    line
}
