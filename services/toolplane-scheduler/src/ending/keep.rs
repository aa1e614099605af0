//! What is shown of each output, and what is kept of it elsewhere, whichever worker gave it.

use bytes::Bytes;
use toolplane_hooks::fold::Keeping;
use toolplane_records::error::ToolError;
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, PersistenceStrategy, Recoverability, RedactionState, ResultStatus};
use toolplane_results::PayloadStore;
use toolplane_results::decide::{self, DecisionIds, LargeOutput, OutputFacts, PersistencePolicy, needs_store};
use toolplane_results::payload::PayloadOrigin;
use toolplane_results::payload::key::URI_PREFIX;
use toolplane_results::preview::PreviewLimits;
use toolplane_results::render::{Channel, OutputBody, render};

use super::effects::{Effects, Withheld};
use super::report::{self, Kept, Report, STRUCTURED};
use super::told;
use crate::engine::DispatchPlan;

/// Most bytes of each half of a preview.
const HALF_PREVIEW: u64 = 2048;

/// Longest line that says why an output is not kept, with room.
const MAX_NOTE: u64 = 256;

/// A hook said how it may be kept.
const REASON_HOOK: &str = "kept_less_by_hook";
/// Hooks could not be shown it, so nobody is.
const REASON_UNSEEN: &str = "too_large_for_hooks";

/// How much of one ending is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Of one output, by its tool.
    tool_bytes: u64,
    tool_chars: Option<u64>,
    /// Of all outputs together.
    all: u64,
}

impl Bounds {
    pub(super) fn of(plan: Option<&DispatchPlan>, max_inline_bytes: u64) -> Self {
        Self {
            tool_bytes: plan.map_or(max_inline_bytes, |plan| plan.max_inline_bytes),
            tool_chars: plan.map(|plan| plan.max_inline_chars),
            all: max_inline_bytes,
        }
    }
}

/// The first output that is not there in whole.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Loss {
    /// Which one, with its size and digest: what is found elsewhere can be told to be the same.
    output: String,
    /// It is larger than the object store may be asked to keep. Else the store did not take it.
    too_large: bool,
}

/// Goes through the outputs of one ending.
pub(super) struct Keeper<'a> {
    payloads: &'a PayloadStore,
    record: &'a Invocation,
    origin: PayloadOrigin,
    bounds: Bounds,
    /// What hooks allow.
    keeping: Keeping,
    now: Timestamp,
    /// Bytes that may still be shown.
    budget: u64,
    content: Vec<ContentBlock>,
    kept: Vec<Kept>,
    loss: Option<Loss>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(
        payloads: &'a PayloadStore,
        record: &'a Invocation,
        lease_no: u32,
        bounds: Bounds,
        keeping: Keeping,
        now: Timestamp,
    ) -> Self {
        let origin = PayloadOrigin {
            tenant: record.tenant.clone(),
            invocation_id: record.invocation_id.clone(),
            lease_no,
            media_type: String::new(),
            made_at: now,
        };
        let budget = bounds.all;
        Self { payloads, record, origin, bounds, keeping, now, budget, content: vec![], kept: vec![], loss: None }
    }

    /// Decides about every output of `report`, and keeps what is to be kept. The decision that stands for all of them is the
    /// first of `kept` afterwards.
    pub(super) async fn keep(mut self, mut report: Report, effects: &Effects) -> Report {
        let given = report.size();
        self.kept = std::mem::take(&mut report.kept);
        if let Some(withheld) = &effects.withheld {
            self.withheld(withheld);
        }
        for block in std::mem::take(&mut report.content) {
            match &block {
                ContentBlock::PersistedOutputRef { .. } | ContentBlock::File { .. } => self.uploaded(block, effects),
                // What its worker has cut already is not cut again.
                block if self.is_preview(block) => self.preview(block.clone()),
                _ => self.show(block).await,
            }
        }
        if let Some(value) = report.structured_content.take() {
            report.structured_content = self.structured(value, report.by_reference).await;
        }
        let loss = self.loss.take();
        report.content = std::mem::take(&mut self.content);
        if self.kept.is_empty() {
            self.kept.push(Kept { name: String::new(), decision: report::inline(self.record, given, self.now) });
        }
        report.kept = std::mem::take(&mut self.kept);
        with_loss(&mut report, loss);
        report
    }

    /// Says of an output that hooks took away as a whole how it was not kept.
    fn withheld(&mut self, withheld: &Withheld) {
        let decision = ResultPersistence {
            strategy: withheld.strategy,
            redaction_state: Some(RedactionState::Redacted),
            reason: REASON_HOOK.to_owned(),
            ..report::inline(self.record, withheld.bytes, self.now)
        };
        self.kept.push(Kept { name: "withheld".to_owned(), decision });
    }

    /// Whether its worker shows this in the place of an output that is kept elsewhere, or is lost.
    fn is_preview(&self, block: &ContentBlock) -> bool {
        let Some(text) = told::text_of(block) else { return false };
        let bytes = text.len() as u64;
        let of = |kept: &Kept| match kept.decision.preview_size_bytes {
            Some(preview) if kept.decision.persisted_ref.is_some() => bytes == preview,
            // With a line that says why it is not kept.
            Some(preview) => (preview..preview + MAX_NOTE).contains(&bytes),
            None => false,
        };
        bytes <= 2 * HALF_PREVIEW + MAX_NOTE && self.kept.iter().any(of)
    }

    fn preview(&mut self, block: ContentBlock) {
        if self.keeping != Keeping::RefOnly {
            self.budget = self.budget.saturating_sub(told::text_of(&block).map_or(0, str::len) as u64);
            self.content.push(block);
        }
    }

    /// An output its worker has kept stays so, unless hooks say otherwise or have not seen it.
    fn uploaded(&mut self, block: ContentBlock, effects: &Effects) {
        let Some(payload) = report::reference(&block).filter(|payload| payload.uri.starts_with(URI_PREFIX)).cloned()
        else {
            return self.content.push(block);
        };
        let reason = match self.keeping {
            Keeping::NeverPersist => Some(REASON_HOOK),
            _ if effects.unseen.contains(&payload.uri) => Some(REASON_UNSEEN),
            _ => None,
        };
        let by_reference = self.keeping == Keeping::RefOnly;
        let of_it = |kept: &&mut Kept| kept.decision.persisted_ref.as_ref().is_some_and(|kept| kept.uri == payload.uri);
        let kept = self.kept.iter_mut().find(of_it);
        let Some(reason) = reason else {
            if let Some(kept) = kept.filter(|_| by_reference) {
                kept.decision.strategy = PersistenceStrategy::RefOnly;
                kept.decision.preview_size_bytes = None;
                kept.decision.reason = REASON_HOOK.to_owned();
            }
            return self.content.push(block);
        };
        if let Some(kept) = kept {
            kept.decision.persisted_ref = None;
            kept.decision.strategy = PersistenceStrategy::NeverPersist;
            kept.decision.reason = reason.to_owned();
        }
        let text = format!("[the whole output of {} bytes was not kept: {reason}]", payload.size_bytes);
        self.content.push(ContentBlock::Text { text });
    }

    /// Shows a block, whole when it is small, else as a preview of what is kept.
    async fn show(&mut self, block: ContentBlock) {
        let (name, channel, text) = match &block {
            ContentBlock::Text { text } => ("result", Channel::Answer, text),
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
        if fits(text, &policy) {
            self.budget = self.budget.saturating_sub(text.len() as u64);
            return self.content.push(block);
        }
        let (decision, payload) = self.decide(&policy, name, "text/plain; charset=utf-8", text).await;
        let rendered = render(decision, OutputBody::Text(text), &channel, payload, preview_limits(&policy));
        self.note(name, text, rendered.persistence);
        self.content.extend(rendered.content);
    }

    /// Structured content, when it is small and may be shown; else it is kept and referred to, because half a JSON value is none.
    async fn structured(&mut self, value: JsonPayload, by_reference: bool) -> Option<JsonPayload> {
        let mut policy = PersistencePolicy { max_inline_chars: None, ..self.policy(LargeOutput::RefOnly) };
        if by_reference {
            policy.max_inline_bytes = 0;
        }
        if fits(value.text(), &policy) {
            return Some(value);
        }
        let (mut decision, payload) = self.decide(&policy, STRUCTURED, "application/json", value.text()).await;
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
        self.note(STRUCTURED, value.text(), decision);
        None
    }

    fn policy(&self, large: LargeOutput) -> PersistencePolicy {
        let by_reference = self.keeping == Keeping::RefOnly;
        PersistencePolicy {
            max_inline_bytes: if by_reference { 0 } else { self.bounds.tool_bytes.min(self.budget) },
            max_inline_chars: self.bounds.tool_chars,
            large: if by_reference { LargeOutput::RefOnly } else { large },
            never_persist: self.keeping == Keeping::NeverPersist,
            max_persist_bytes: self.payloads.max_bytes(),
        }
    }

    /// Decides, and keeps the output when that is the decision.
    async fn decide(
        &self,
        policy: &PersistencePolicy,
        name: &str,
        media_type: &str,
        text: &str,
    ) -> (ResultPersistence, Option<PayloadRef>) {
        let ids = DecisionIds {
            decision_id: report::decision_id(self.record),
            invocation_id: InvocationId::from_trusted(self.record.invocation_id.as_str()),
            result_id: None,
        };
        let mut decision = decide::decide(policy, &OutputFacts::of_text(text), ids, self.now);
        if self.keeping != Keeping::AsUsual && decision.reason != decide::REASON_TOO_LARGE {
            decision.reason = REASON_HOOK.to_owned();
        }
        if !needs_store(decision.strategy) {
            return (decision, None);
        }
        let origin = PayloadOrigin { media_type: media_type.to_owned(), ..self.origin.clone() };
        let payload = self.payloads.put(&origin, Bytes::copy_from_slice(text.as_bytes())).await.inspect_err(|error| {
            let invocation_id = &self.record.invocation_id;
            tracing::warn!(%invocation_id, output = name, bytes = text.len(), %error, "output not kept");
        });
        (decision, payload.ok())
    }

    fn note(&mut self, name: &str, text: &str, decision: ResultPersistence) {
        if decision.strategy == PersistenceStrategy::DropWithReason {
            self.loss.get_or_insert_with(|| Loss {
                output: format!("`{name}` ({} bytes, {})", text.len(), Digest::of(text.as_bytes())),
                too_large: decision.reason == decide::REASON_TOO_LARGE,
            });
        }
        self.budget = self.budget.saturating_sub(decision.preview_size_bytes.unwrap_or(0));
        self.kept.push(Kept { name: name.to_owned(), decision });
    }
}

/// An output that got lost makes a success a partial one: the effect is done and must not look undone.
fn with_loss(report: &mut Report, loss: Option<Loss>) {
    let (Some(loss), ResultStatus::Succeeded, None) = (loss, report.status, &report.error) else { return };
    let (status, code, class, what) = if loss.too_large {
        (ResultStatus::TooLarge, "result.too_large", ErrorClass::ResultTooLarge, "is larger than may be kept")
    } else {
        (ResultStatus::PartialSucceeded, "result.not_kept", ErrorClass::PartialFailure, "could not be kept in whole")
    };
    let message = format!("the tool succeeded, but its {} {what}: only a preview is left", loss.output);
    report.status = status;
    report.error = Some(ToolError::new(code, class, Recoverability::NotRetryable, message));
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
