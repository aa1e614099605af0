//! What is shown of each output, and what is kept of it elsewhere.

use std::time::SystemTime;

use bytes::Bytes;
use tokio::time::Instant;
use toolplane_execution::Exact;
use toolplane_proto::convert::field;
use toolplane_proto::convert::word::{Word as _, optional_number};
use toolplane_proto::v1::{LeaseRef, PersistedOutput};
use toolplane_records::ids::{DecisionId, InvocationId};
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::PersistenceStrategy;
use toolplane_results::decide::{self, DecisionIds, LargeOutput, OutputFacts, PersistencePolicy, needs_store};
use toolplane_results::preview::PreviewLimits;
use toolplane_results::render::{Channel, OutputBody, render};

use crate::executor::Core;
use crate::outcome::{Frame, timestamp};
use crate::upload::{Output, UploadError};

/// Most bytes of each half of a preview.
const HALF_PREVIEW: u64 = 2048;

/// The first output that is not there in whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    /// Which one, e.g. `result`, with its size and digest: what is found elsewhere can be told to be the same.
    pub(super) output: String,
    /// It is larger than the object store may be asked to keep. Else the store did not take it.
    pub(super) too_large: bool,
}

/// Goes through the outputs of one call.
pub(super) struct Keeper<'a> {
    core: &'a Core,
    lease: &'a LeaseRef,
    frame: &'a Frame,
    /// When what is not kept yet is given up.
    give_up_at: Instant,
    /// Bytes that may still be shown inline: all blocks of a report together are bounded like a single one.
    budget: u64,
    content: Vec<ContentBlock>,
    persisted: Vec<PersistedOutput>,
    names: Vec<String>,
    loss: Option<Loss>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(core: &'a Core, lease: &'a LeaseRef, frame: &'a Frame, give_up_at: Instant) -> Self {
        Self {
            core,
            lease,
            frame,
            give_up_at,
            budget: frame.inline_bytes,
            content: Vec::new(),
            persisted: Vec::new(),
            names: Vec::new(),
            loss: None,
        }
    }

    /// Shows a block, whole when it is small, else as a preview of what is kept. Of a text that is only a view, the `exact` bytes
    /// are kept however few they are.
    pub(super) async fn show(&mut self, block: ContentBlock, exact: Option<Exact>) {
        let (name, channel, text) = match &block {
            ContentBlock::Text { text } => (Exact::ANSWER, Channel::Answer, text),
            ContentBlock::Diff { text } => ("diff", Channel::Answer, text),
            ContentBlock::Log { text, stream } => {
                let name = if stream.is_empty() { "log" } else { stream.as_str() };
                (name, Channel::Log(stream.clone()), text)
            }
            _ => return self.content.push(block),
        };
        if text.is_empty() {
            return self.content.push(ContentBlock::Empty);
        }
        let policy = self.policy(LargeOutput::PreviewAndPersist);
        let whole = Whole::of(text, exact);
        if whole.is_shown && fits(text, &policy) {
            self.budget -= text.len() as u64;
            return self.content.push(block);
        }
        let name = self.name(name);
        let limits = if fits(text, &policy) { whole_text(text) } else { preview_limits(&policy) };
        let (mut decision, payload) = self.decide(&policy, &name, &whole).await;
        decision.original_size_bytes = whole.total_bytes;
        let body = if whole.is_shown { OutputBody::Text(text) } else { OutputBody::View(text) };
        let end = match (&whole.end, &payload) {
            (Some(end), Some(_)) => self.keep(&format!("{name}-end"), &whole.media_type, end.clone()).await,
            _ => None,
        };
        let rendered = render(decision, body, &channel, payload, limits);
        self.record(name, &whole.bytes, &rendered.persistence);
        self.content.extend(rendered.content);
        // Of an output with a gap, what is referred to as the whole is its beginning: the text says so.
        self.content.extend(end.map(|payload| ContentBlock::File { payload }));
    }

    /// Structured content, when it is small; else it is kept and referred to, because half a JSON value is none.
    pub(super) async fn structured(&mut self, value: JsonPayload) -> Option<JsonPayload> {
        let policy = PersistencePolicy { max_inline_chars: None, ..self.policy(LargeOutput::RefOnly) };
        if fits(value.text(), &policy) {
            return Some(value);
        }
        let name = self.name("structured_content");
        let whole = Whole { media_type: "application/json".to_owned(), ..Whole::of(value.text(), None) };
        let (mut decision, payload) = self.decide(&policy, &name, &whole).await;
        match payload {
            Some(payload) => {
                decision.persisted_ref = Some(payload.clone());
                self.content.push(ContentBlock::PersistedOutputRef { payload });
            }
            None => {
                if needs_store(decision.strategy) {
                    decision.reason = decide::REASON_STORE_FAILED.to_owned();
                }
                decision.strategy = PersistenceStrategy::DropWithReason;
            }
        }
        self.record(name, &whole.bytes, &decision);
        None
    }

    pub(super) fn finish(self) -> (Vec<ContentBlock>, Vec<PersistedOutput>, Option<Loss>) {
        (self.content, self.persisted, self.loss)
    }

    fn policy(&self, large: LargeOutput) -> PersistencePolicy {
        let bound = self.frame.inline_bytes.min(self.budget);
        let inline = self.frame.limits.max_inline_bytes.map_or(bound, |bytes| bytes.min(bound));
        PersistencePolicy {
            max_inline_bytes: inline,
            max_inline_chars: self.frame.limits.max_inline_chars,
            large,
            never_persist: false,
            max_persist_bytes: self.core.options.max_persist_bytes,
        }
    }

    /// Decides, and keeps the output when that is the decision.
    async fn decide(
        &self,
        policy: &PersistencePolicy,
        name: &str,
        whole: &Whole,
    ) -> (ResultPersistence, Option<PayloadRef>) {
        let ids = DecisionIds {
            // The scheduler names the decision; here it only has to be one.
            decision_id: DecisionId::from_trusted("pending"),
            invocation_id: InvocationId::from_trusted(self.lease.invocation_id.as_str()),
            result_id: None,
        };
        let decision = decide::decide(policy, &whole.facts(), ids, timestamp(SystemTime::now()));
        if !needs_store(decision.strategy) {
            return (decision, None);
        }
        let payload = self.keep(name, &whole.media_type, whole.bytes.clone()).await;
        (decision, payload)
    }

    async fn keep(&self, name: &str, media_type: &str, bytes: Bytes) -> Option<PayloadRef> {
        let size = bytes.len();
        let output = Output { name: name.to_owned(), media_type: media_type.to_owned(), bytes };
        let kept = tokio::select! {
            kept = self.core.uploader.keep(self.lease, output, self.give_up_at) => kept,
            () = self.core.hurry.cancelled() => Err(UploadError::GaveUp("the worker ends".to_owned())),
        };
        let kept = kept.inspect_err(|error| {
            let invocation_id = &self.lease.invocation_id;
            tracing::warn!(invocation_id, output = name, bytes = size, %error, "output not kept");
        });
        kept.ok()
    }

    fn record(&mut self, name: String, bytes: &Bytes, decision: &ResultPersistence) {
        if decision.strategy == PersistenceStrategy::DropWithReason {
            self.loss.get_or_insert_with(|| Loss {
                output: format!("`{name}` ({} bytes, {})", bytes.len(), Digest::of(bytes)),
                too_large: decision.reason == decide::REASON_TOO_LARGE,
            });
        }
        self.budget = self.budget.saturating_sub(decision.preview_size_bytes.unwrap_or(0));
        self.persisted.push(PersistedOutput {
            name,
            strategy: decision.strategy.number(),
            threshold: field::out(&decision.threshold),
            original_size_bytes: decision.original_size_bytes,
            preview_size_bytes: decision.preview_size_bytes,
            payload: field::out(&decision.persisted_ref),
            redaction_state: optional_number(decision.redaction_state),
            reason: decision.reason.clone(),
        });
    }

    /// `name`, made different from every earlier one.
    fn name(&mut self, name: &str) -> String {
        let earlier = self.names.iter().filter(|earlier| *earlier == name).count();
        self.names.push(name.to_owned());
        if earlier == 0 { name.to_owned() } else { format!("{name}-{}", earlier + 1) }
    }
}

/// One output as it is kept.
struct Whole {
    media_type: String,
    /// All of it, or its beginning when some was left out.
    bytes: Bytes,
    end: Option<Bytes>,
    total_bytes: u64,
    /// The text that is shown says all there is to keep.
    is_shown: bool,
}

impl Whole {
    fn of(text: &str, exact: Option<Exact>) -> Self {
        let Some(exact) = exact else {
            let (bytes, media_type) = (Bytes::copy_from_slice(text.as_bytes()), "text/plain; charset=utf-8".to_owned());
            return Self { media_type, bytes, end: None, total_bytes: text.len() as u64, is_shown: true };
        };
        // A text with a gap shows all that is left of it.
        let is_shown = exact.is_text || (exact.end.is_some() && exact.media_type.starts_with("text/"));
        let Exact { media_type, bytes, end, total_bytes, .. } = exact;
        Self { media_type, bytes, end, total_bytes, is_shown }
    }

    fn facts(&self) -> OutputFacts {
        let stored = (self.bytes.len() + self.end.as_ref().map_or(0, Bytes::len)) as u64;
        let facts = OutputFacts::of_bytes(&self.bytes, stored);
        match self.is_shown {
            true => OutputFacts { chars: Some(facts.chars.unwrap_or(stored)), legible: true, ..facts },
            false => OutputFacts { chars: None, ..facts },
        }
    }
}

/// A text that fits is shown whole, also where it is only a view of what is kept.
fn whole_text(text: &str) -> PreviewLimits {
    PreviewLimits { head_bytes: text.len(), tail_bytes: 0 }
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
