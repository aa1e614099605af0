//! The outputs of one ending, one after the other: each is shown whole, shown as a preview of what is kept elsewhere, or only
//! referred to, within bounds for all of them together.
//!
//! Workers go this way with what a tool gave, and schedulers with what a worker reported; where bytes are kept is all they
//! differ in ([`Keep`]).

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use toolplane_records::SmolStr;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::refs::ArtifactRef;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{PersistenceStrategy, ResultStatus};

use crate::decide::{self, DecisionIds, LargeOutput, OutputFacts, PersistencePolicy, needs_store};
use crate::preview::{PreviewLimits, Sampler};
use crate::render::{Channel, OutputBody, render};

#[cfg(test)]
mod tests;

/// The output that is the answer itself.
pub const ANSWER: &str = "result";
/// A file that was left in the workspace.
pub const ARTIFACT: &str = "artifact";
/// The output that is one JSON value.
pub const STRUCTURED: &str = "structured_content";

/// Most bytes of each half of a preview.
const HALF_PREVIEW: u64 = 2048;
/// Most bytes of the text that replaces an output: both halves, and a line that says why it is not kept.
pub const MAX_PREVIEW: u64 = 2 * HALF_PREVIEW + MAX_NOTE;
/// Longest line that says why an output is not kept, with room.
pub const MAX_NOTE: u64 = 256;

/// How the names of kinds begin that nobody reads as text.
const NO_TEXTS: &[&str] = &[
    "image/",
    "audio/",
    "video/",
    "application/gzip",
    "application/pdf",
    "application/vnd.openxmlformats",
    "application/vnd.sqlite3",
    "application/zip",
];

/// Where bytes are kept.
pub trait Keep {
    /// Keeps an output durably, that of its file where it has one; nothing when that cannot be done, for a reason that went to the log.
    fn keep(&self, name: &str, media_type: &str, body: Body) -> impl Future<Output = Option<PayloadRef>> + Send;
}

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub struct OutputBounds {
    /// Most bytes of one output.
    pub one_bytes: u64,
    /// Most characters of one output, when its tool says so.
    pub one_chars: Option<u64>,
    /// Most bytes of all outputs together.
    pub all_bytes: u64,
    /// Most bytes of an output that is kept.
    pub max_persist_bytes: u64,
}

/// What the hooks said about all outputs of an ending.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handling {
    /// They are shown by reference only.
    pub by_reference: bool,
    /// Each is kept, and a preview of it is shown, however little it is.
    pub previewed: bool,
    /// They are not kept.
    pub never_persist: bool,
    /// The reason of each decision in the place of the usual one.
    pub reason: Option<&'static str>,
}

/// One output and how it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// Which output, e.g. `stdout`; different from every other of the same ending.
    pub name: String,
    /// How it is kept.
    pub decision: ResultPersistence,
}

/// The bytes of an output, wherever they are.
#[derive(Clone, Debug)]
pub enum Body {
    /// In memory.
    Held(Bytes),
    /// In a file, because they are too many for memory.
    File(Arc<OutputOnDisk>),
}

/// An output in a file, and what is to be known of it without reading it again.
#[derive(Debug)]
pub struct OutputOnDisk {
    /// The file.
    pub path: PathBuf,
    /// How many bytes it has.
    pub size_bytes: u64,
    /// Digest of all its bytes.
    pub digest: Digest,
    /// What has seen all its bytes, and what there was of the output beside them.
    pub sample: Sampler,
}

/// One output as it is kept.
#[derive(Clone, Debug)]
pub struct Whole {
    /// What the bytes are.
    pub media_type: String,
    /// All of it, or its beginning when some was left out.
    pub body: Body,
    /// Its last bytes, when some were left out in between.
    pub end: Option<Bytes>,
    /// Bytes there were in all.
    pub total_bytes: u64,
    /// The text that is shown says all there is to keep.
    pub is_shown: bool,
}

impl Whole {
    /// A text, letter for letter.
    pub fn text(text: &str) -> Self {
        let (bytes, media_type) = (Bytes::copy_from_slice(text.as_bytes()), "text/plain; charset=utf-8".to_owned());
        Self { media_type, body: Body::Held(bytes), end: None, total_bytes: text.len() as u64, is_shown: true }
    }

    fn file(&self) -> Option<&OutputOnDisk> {
        match &self.body {
            Body::Held(_) => None,
            Body::File(file) => Some(file),
        }
    }

    /// A picture, sound or film, a document or an archive: of none of them a view as text would say anything.
    fn is_media(&self) -> bool {
        !self.is_shown && NO_TEXTS.iter().any(|kind| self.media_type.starts_with(kind))
    }

    fn facts(&self) -> OutputFacts {
        let end = self.end.as_ref().map_or(0, Bytes::len) as u64;
        let facts = match &self.body {
            Body::Held(bytes) => OutputFacts::of_bytes(bytes, bytes.len() as u64 + end),
            // Of what is only sampled, the sample tells whether it is worth to be shown.
            Body::File(file) => {
                return OutputFacts { bytes: file.size_bytes + end, ..file.sample.facts() };
            }
        };
        let stored = facts.bytes;
        match self.is_shown {
            true => OutputFacts { chars: Some(facts.chars.unwrap_or(stored)), legible: true, ..facts },
            false => OutputFacts { chars: None, ..facts },
        }
    }
}

/// The first output that is not there in whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Which one, e.g. `result`, with its size and digest: what is found elsewhere can be told to be the same.
    output: String,
    /// It is larger than the object store may be asked to keep. Else the store did not take it.
    too_large: bool,
}

impl Loss {
    /// What a success that lost an output amounts to: the effect is done and must not look undone, so it is a partial one.
    pub fn ending(&self) -> (ResultStatus, ToolError) {
        let (status, code, what) = if self.too_large {
            (ResultStatus::TooLarge, codes::RESULT_TOO_LARGE, "is larger than may be kept")
        } else {
            (ResultStatus::PartialSucceeded, codes::RESULT_NOT_KEPT, "could not be kept in whole")
        };
        let message = format!("the tool succeeded, but its {} {what}: only a preview is left", self.output);
        (status, ToolError::of(code, message))
    }
}

/// What happened to the outputs of one ending.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// What is shown.
    pub content: Vec<ContentBlock>,
    /// How each output that does not fit is kept.
    pub decided: Vec<Decided>,
    /// What got lost.
    pub loss: Option<Loss>,
}

/// Goes through the outputs of one ending.
#[derive(Debug)]
pub struct Keeper<K> {
    keep: K,
    ids: DecisionIds,
    bounds: OutputBounds,
    handling: Handling,
    now: Timestamp,
    /// Bytes that may still be shown.
    budget: u64,
    names: Vec<String>,
    outputs: Outputs,
}

impl<K: Keep> Keeper<K> {
    /// Nothing is shown yet. Each decision gets the same `ids`.
    pub fn new(keep: K, ids: DecisionIds, bounds: OutputBounds, handling: Handling, now: Timestamp) -> Self {
        let budget = bounds.all_bytes;
        Self { keep, ids, bounds, handling, now, budget, names: Vec::new(), outputs: Outputs::default() }
    }

    /// Shows a block that is decided about already, of which `bytes` count as shown.
    pub fn decided(&mut self, block: ContentBlock, bytes: u64) {
        self.budget = self.budget.saturating_sub(bytes);
        self.outputs.content.push(block);
    }

    /// Shows a block, whole when it is small, else as a preview of what is kept. Of a text that is only a view, the `whole` is
    /// kept however little it is.
    pub async fn show(&mut self, block: ContentBlock, whole: Option<Whole>) {
        let (name, channel, text) = match &block {
            ContentBlock::Text { .. } if whole.as_ref().is_some_and(Whole::is_media) => {
                return self.media(block, whole).await;
            }
            ContentBlock::EmbeddedResource { .. } => return self.resource(block, whole).await,
            ContentBlock::Text { text } => (ANSWER, Channel::Answer, text),
            ContentBlock::Diff { text, .. } => ("diff", Channel::Answer, text),
            ContentBlock::Log { text, stream } => {
                let name = if stream.is_empty() { "log" } else { stream.as_str() };
                (name, Channel::Log(stream.clone()), text)
            }
            _ => return self.outputs.content.push(block),
        };
        if text.is_empty() {
            return self.outputs.content.push(ContentBlock::Empty);
        }
        let policy = self.policy(LargeOutput::PreviewAndPersist);
        // Of an output in a file the text is no more than its two ends.
        let in_file = whole.as_ref().and_then(Whole::file).is_some();
        let fits = !in_file && fits(text, &policy) && !self.handling.previewed;
        if fits && whole.as_ref().is_none_or(|whole| whole.is_shown) {
            return self.decided(within(block.clone(), self.budget), text.len() as u64);
        }
        let whole = whole.unwrap_or_else(|| Whole::text(text));
        let name = self.name(name);
        // A text that fits is shown whole, also where it is only a view of what is kept.
        let limits = match fits {
            true => PreviewLimits { head_bytes: text.len(), tail_bytes: 0 },
            false => preview_limits(&policy),
        };
        // What is previewed is kept also where it would fit.
        let inline = if self.handling.previewed { 0 } else { policy.max_inline_bytes };
        let kept = PersistencePolicy { max_inline_bytes: inline, ..policy };
        let (mut decision, payload) = self.decide(&kept, &name, &whole).await;
        decision.original_size_bytes = whole.total_bytes;
        let sampled = whole.file().map(|file| file.sample.clone().within(limits).finish());
        let body = match &sampled {
            Some(sampled) => OutputBody::Sampled(sampled),
            None if whole.is_shown => OutputBody::Text(text),
            None => OutputBody::View(text),
        };
        let end = match (&whole.end, &payload) {
            (Some(end), Some(_)) => {
                self.keep.keep(&format!("{name}-end"), &whole.media_type, Body::Held(end.clone())).await
            }
            _ => None,
        };
        let rendered = render(decision, body, &channel, payload, limits);
        self.note(name, &whole.body, rendered.persistence);
        self.outputs.content.extend(rendered.content);
        // Of an output with a gap, what is referred to as the whole is its beginning: the text says so.
        self.outputs.content.extend(end.map(|payload| ContentBlock::File { payload }));
    }

    /// Keeps a picture, sound or film, and shows it as one. Where it is not kept, the text stands for it.
    async fn media(&mut self, text: ContentBlock, whole: Option<Whole>) {
        let Some(whole) = whole else { return self.outputs.content.push(text) };
        match self.keep_whole(ANSWER, &whole).await {
            Some(payload) => self.outputs.content.push(ContentBlock::kept(payload, String::new())),
            None => self.outputs.content.push(text),
        }
    }

    /// Shows a resource that came with the result: its text where it is small, else by reference.
    async fn resource(&mut self, block: ContentBlock, whole: Option<Whole>) {
        let ContentBlock::EmbeddedResource { uri, media_type, text, payload } = block else { return };
        let policy = self.policy(LargeOutput::RefOnly);
        let shown = text.as_ref().filter(|text| fits(text, &policy) && !self.handling.previewed);
        let shown = shown.map(|text| text.len() as u64);
        if payload.is_some() || (shown.is_some() && whole.as_ref().is_none_or(|whole| whole.is_shown)) {
            return self.decided(ContentBlock::EmbeddedResource { uri, media_type, text, payload }, shown.unwrap_or(0));
        }
        let whole = whole.or_else(|| text.as_deref().map(Whole::text));
        let Some(whole) = whole else {
            return self.decided(ContentBlock::EmbeddedResource { uri, media_type, text, payload }, 0);
        };
        let payload = self.keep_whole("resource", &whole).await;
        self.outputs.content.push(ContentBlock::EmbeddedResource { uri, media_type, text: None, payload });
    }

    /// Keeps a file that a tool has left, and refers to it by its `path`. Where it is not kept, there is nothing to refer to.
    pub async fn artifact(&mut self, path: &str, whole: &Whole) {
        let Some(payload) = self.keep_for(Some(decide::REASON_ARTIFACT), ARTIFACT, whole).await else { return };
        let artifact = ArtifactRef {
            artifact_id: path.to_owned(),
            uri: payload.uri.to_string(),
            media_type: payload.media_type.to_string(),
            digest: Some(payload.digest),
            version: String::new(),
            relation: "produced_by".to_owned(),
            payload: Some(payload),
        };
        self.outputs.content.push(ContentBlock::ArtifactRef { artifact });
    }

    /// A file that a tool has left at `path` is there no more.
    pub fn lost(&mut self, path: &str) {
        let output = format!("`{path}`");
        self.outputs.loss.get_or_insert(Loss { output, too_large: false });
    }

    /// Keeps an output of which nothing is shown beside it.
    async fn keep_whole(&mut self, name: &str, whole: &Whole) -> Option<PayloadRef> {
        self.keep_for(None, name, whole).await
    }

    /// The same, for a reason that is given.
    async fn keep_for(&mut self, reason: Option<&'static str>, name: &str, whole: &Whole) -> Option<PayloadRef> {
        let policy = PersistencePolicy { max_inline_bytes: 0, ..self.policy(LargeOutput::RefOnly) };
        let name = self.name(name);
        let (mut decision, payload) = self.decide(&policy, &name, whole).await;
        if let Some(reason) = reason.filter(|_| decision.strategy == PersistenceStrategy::RefOnly) {
            decision.reason = SmolStr::new_static(reason);
        }
        decision.original_size_bytes = whole.total_bytes;
        decision.persisted_ref.clone_from(&payload);
        if payload.is_none() {
            if needs_store(decision.strategy) {
                decision.reason = SmolStr::new_static(decide::REASON_STORE_FAILED);
            }
            decision.strategy = PersistenceStrategy::DropWithReason;
        }
        self.note(name, &whole.body, decision);
        payload
    }

    /// Gives structured content back when it is small and may be shown (`by_reference` says it may not); else it is kept and
    /// referred to, because half a JSON value is none.
    pub async fn structured(&mut self, value: JsonPayload, by_reference: bool) -> Option<JsonPayload> {
        let mut policy = PersistencePolicy { max_inline_chars: None, ..self.policy(LargeOutput::RefOnly) };
        if by_reference {
            policy.max_inline_bytes = 0;
        }
        if fits(value.text(), &policy) {
            return Some(value);
        }
        let name = self.name(STRUCTURED);
        let whole = Whole { media_type: "application/json".to_owned(), ..Whole::text(value.text()) };
        let (mut decision, payload) = self.decide(&policy, &name, &whole).await;
        match payload {
            Some(payload) => {
                decision.persisted_ref = Some(payload.clone());
                self.outputs.content.push(ContentBlock::PersistedOutputRef { payload });
            }
            None => {
                if needs_store(decision.strategy) {
                    decision.reason = SmolStr::new_static(decide::REASON_STORE_FAILED);
                }
                decision.strategy = PersistenceStrategy::DropWithReason;
            }
        }
        self.note(name, &whole.body, decision);
        None
    }

    /// What happened to them.
    pub fn finish(self) -> Outputs {
        self.outputs
    }

    fn policy(&self, large: LargeOutput) -> PersistencePolicy {
        let Handling { by_reference, never_persist, .. } = self.handling;
        PersistencePolicy {
            max_inline_bytes: if by_reference { 0 } else { self.bounds.one_bytes.min(self.budget) },
            max_inline_chars: self.bounds.one_chars,
            large: if by_reference { LargeOutput::RefOnly } else { large },
            never_persist,
            max_persist_bytes: self.bounds.max_persist_bytes,
        }
    }

    /// Decides, and keeps the output when that is the decision.
    async fn decide(
        &self,
        policy: &PersistencePolicy,
        name: &str,
        whole: &Whole,
    ) -> (ResultPersistence, Option<PayloadRef>) {
        let mut decision = decide::decide(policy, &whole.facts(), self.ids.clone(), self.now);
        if let Some(reason) = self.handling.reason.filter(|_| decision.reason != decide::REASON_TOO_LARGE) {
            decision.reason = SmolStr::new_static(reason);
        }
        let payload = match needs_store(decision.strategy) {
            true => self.keep.keep(name, &whole.media_type, whole.body.clone()).await,
            false => None,
        };
        (decision, payload)
    }

    fn note(&mut self, name: String, body: &Body, decision: ResultPersistence) {
        if decision.strategy == PersistenceStrategy::DropWithReason {
            self.outputs.loss.get_or_insert_with(|| Loss {
                output: match body {
                    Body::Held(bytes) => format!("`{name}` ({} bytes, {})", bytes.len(), Digest::of(bytes)),
                    Body::File(file) => format!("`{name}` ({} bytes, {})", file.size_bytes, file.digest),
                },
                too_large: decision.reason == decide::REASON_TOO_LARGE,
            });
        }
        self.budget = self.budget.saturating_sub(decision.preview_size_bytes.unwrap_or(0));
        self.outputs.decided.push(Decided { name, decision });
    }

    /// `name`, made different from every earlier one.
    fn name(&mut self, name: &str) -> String {
        let earlier = self.names.iter().filter(|earlier| *earlier == name).count();
        self.names.push(name.to_owned());
        if earlier == 0 { name.to_owned() } else { format!("{name}-{}", earlier + 1) }
    }
}

/// A diff without the texts it is about, where those do not fit too.
fn within(mut block: ContentBlock, budget: u64) -> ContentBlock {
    if let ContentBlock::Diff { text, old_text, new_text, .. } = &mut block {
        let texts = [old_text.as_ref(), new_text.as_ref()].into_iter().flatten().map(String::len).sum::<usize>();
        if (text.len() + texts) as u64 > budget {
            (*old_text, *new_text) = (None, None);
        }
    }
    block
}

fn fits(text: &str, policy: &PersistencePolicy) -> bool {
    let bytes = text.len() as u64;
    // Characters are counted only when there can be too many of them.
    let few = |most: u64| bytes <= most || text.chars().count() as u64 <= most;
    bytes <= policy.max_inline_bytes && policy.max_inline_chars.is_none_or(few)
}

/// A preview never grows beyond what might have been shown whole.
fn preview_limits(policy: &PersistencePolicy) -> PreviewLimits {
    let bound = policy.max_inline_chars.unwrap_or(u64::MAX).min(policy.max_inline_bytes);
    let half = usize::try_from((bound / 4).min(HALF_PREVIEW)).unwrap_or_default();
    PreviewLimits { head_bytes: half, tail_bytes: half }
}
