//! What is shown of each output, and what is kept of it elsewhere, whichever worker gave it.

use toolplane_cleaning::Treatment;
use toolplane_hooks::fold::Keeping;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::PayloadRef;
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{PersistenceStrategy, RedactionState, ResultStatus};
use toolplane_results::PayloadStore;
use toolplane_results::decide::DecisionIds;
use toolplane_results::outputs::{Body, Decided, Handling, Keep, Keeper, Loss, MAX_NOTE, MAX_PREVIEW, OutputBounds};
use toolplane_results::payload::PayloadOrigin;
use toolplane_results::payload::key::URI_PREFIX;

use super::effects::{Effects, Withheld};
use super::report::{self, Report};
use super::told;
use crate::plan::DispatchPlan;

/// A hook said how it may be kept.
const REASON_HOOK: &str = "kept_less_by_hook";
/// The persistence policy of its tool said so.
const REASON_POLICY: &str = "persistence_policy";
/// Cleaning found what is to be read by reference alone.
const REASON_CLEANED: &str = "previewed_by_cleaning";
/// Most bytes of a preview where cleaning has it so: a quarter of this at each end.
const PREVIEWED_BYTES: u64 = 2048;
/// Hooks could not be shown it, so it is shown to no reader.
const REASON_UNSEEN: &str = "too_large_for_hooks";

/// How much of the ending of a call is shown.
pub(super) fn bounds(plan: Option<&DispatchPlan>, max_inline_bytes: u64, payloads: &PayloadStore) -> OutputBounds {
    OutputBounds {
        one_bytes: plan.map_or(max_inline_bytes, |plan| plan.inline.max_bytes),
        one_chars: plan.map(|plan| plan.inline.max_chars),
        all_bytes: max_inline_bytes,
        max_persist_bytes: payloads.max_bytes(),
    }
}

/// Keeps outputs of one lease in the object store.
struct Shelf<'a> {
    payloads: &'a PayloadStore,
    origin: PayloadOrigin,
}

impl Keep for Shelf<'_> {
    async fn keep(&self, name: &str, media_type: &str, body: Body) -> Option<PayloadRef> {
        // Only workers have outputs in files.
        let Body::Held(bytes) = body else { return None };
        let origin = PayloadOrigin { media_type: media_type.to_owned(), ..self.origin.clone() };
        let size = bytes.len();
        let kept = Box::pin(self.payloads.put(&origin, bytes)).await.inspect_err(|error| {
            let invocation_id = &origin.invocation_id;
            tracing::warn!(%invocation_id, output = name, bytes = size, %error, "output not kept");
        });
        kept.ok()
    }
}

/// Decides about every output of a `report` of one lease, and keeps what is to be kept. The decision that stands for all of
/// them is the first of `kept` afterwards.
pub(super) async fn keep(
    payloads: &PayloadStore,
    record: &Invocation,
    lease_no: u32,
    bounds: OutputBounds,
    now: Timestamp,
    mut report: Box<Report>,
    effects: &Effects,
) -> Box<Report> {
    let given = report.size();
    let origin = PayloadOrigin {
        tenant: record.tenant.clone(),
        invocation_id: record.invocation_id.clone(),
        lease_no,
        media_type: String::new(),
        made_at: now,
    };
    let ids = DecisionIds {
        decision_id: report::decision_id(record),
        invocation_id: record.invocation_id.clone(),
        result_id: None,
    };
    let shelf = Shelf { payloads, origin };
    let previewed = report.cleaned.iter().any(|found| found.treatment == Treatment::Reference.as_str());
    let mut bounds = bounds;
    if previewed {
        bounds.one_bytes = bounds.one_bytes.min(PREVIEWED_BYTES);
        report.output.by_reference = true;
    }
    let unkept = effects.keeping == Keeping::NeverPersist && !report.uploads.is_empty();
    if previewed || unkept || effects.keeping == Keeping::RefOnly {
        // The worker's words may say all of it, or that it is kept.
        report.words.facing.clear();
        report.words.summary.clear();
    }
    let mut keeper = Keeper::new(shelf, ids, bounds, handling(effects, previewed), now);
    if let Some(withheld) = &effects.withheld {
        report.output.kept.push(not_kept(record, withheld, now));
    }
    for block in std::mem::take(&mut report.output.content) {
        match &block {
            _ if block.payload().is_some() => {
                keeper.decided(uploaded(block, &mut report.output.kept, effects), 0);
            }
            // What its worker has cut already is not cut again.
            block if is_preview(block, &report.output.kept) => {
                if effects.keeping != Keeping::RefOnly {
                    keeper.decided(block.clone(), told::text_of(block).map_or(0, str::len) as u64);
                }
            }
            _ => keeper.show(block, None).await,
        }
    }
    if let Some(value) = report.output.structured_content.take() {
        report.output.structured_content = keeper.structured(value, report.output.by_reference).await;
    }
    let outputs = keeper.finish();
    report.output.content = outputs.content;
    if effects.keeping == Keeping::NeverPersist {
        without_places(&mut report, effects);
    }
    without_bytes(&mut report);
    report.output.kept.extend(outputs.decided);
    if report.output.kept.is_empty() {
        report.output.kept.push(Decided { name: String::new(), decision: report::inline(record, given, now) });
    }
    let kept_until = kept_until(payloads.kept_until(now), report.keep_ms.map(|ms| now.plus_millis(ms)));
    for Decided { name, decision } in &mut report.output.kept {
        decision.output = name.as_str().into();
        decision.expires_at = decision.persisted_ref.as_ref().and(kept_until);
    }
    with_loss(&mut report, outputs.loss.as_ref());
    report
}

/// An output goes when its tool wants it to, and never later than all outputs go.
fn kept_until(usual: Option<Timestamp>, wanted: Option<Timestamp>) -> Option<Timestamp> {
    usual.into_iter().chain(wanted).min()
}

/// Has no decision name bytes, where none may be kept: also of an output of which nothing is shown.
fn without_places(report: &mut Report, effects: &Effects) {
    for Decided { decision, .. } in &mut report.output.kept {
        if decision.persisted_ref.take().is_some() {
            decision.strategy = PersistenceStrategy::NeverPersist;
            decision.reason = reason(effects).into();
        }
    }
}

/// What is kept no more is no artifact any more: its block is a text by now.
fn without_bytes(report: &mut Report) {
    let there = |uri: &str| report.output.content.iter().filter_map(report::reference).any(|kept| kept.uri == uri);
    report.beside.artifact_refs.retain(|artifact| artifact.payload.as_ref().is_none_or(|payload| there(&payload.uri)));
}

/// What hooks, the tool's policy and cleaning allow.
fn handling(effects: &Effects, previewed: bool) -> Handling {
    let keeping = effects.keeping;
    let by_others = (keeping != Keeping::AsUsual).then(|| reason(effects));
    Handling {
        by_reference: keeping == Keeping::RefOnly,
        previewed,
        never_persist: keeping == Keeping::NeverPersist,
        reason: by_others.or(previewed.then_some(REASON_CLEANED)),
    }
}

/// Who says that less is kept than usual.
fn reason(effects: &Effects) -> &'static str {
    if effects.by_policy { REASON_POLICY } else { REASON_HOOK }
}

/// Says of an output that hooks took away as a whole how it was not kept.
fn not_kept(record: &Invocation, withheld: &Withheld, now: Timestamp) -> Decided {
    let decision = ResultPersistence {
        strategy: withheld.strategy,
        redaction_state: Some(RedactionState::Redacted),
        reason: REASON_HOOK.into(),
        ..report::inline(record, withheld.bytes, now)
    };
    Decided { name: "withheld".to_owned(), decision }
}

/// Whether its worker shows this in the place of an output that is `kept` elsewhere, or is lost.
fn is_preview(block: &ContentBlock, kept: &[Decided]) -> bool {
    let Some(text) = told::text_of(block) else { return false };
    let bytes = text.len() as u64;
    let of = |kept: &Decided| match kept.decision.preview_size_bytes {
        Some(preview) if kept.decision.persisted_ref.is_some() => bytes == preview,
        // With a line that says why it is not kept.
        Some(preview) => (preview..preview + MAX_NOTE).contains(&bytes),
        None => false,
    };
    bytes <= MAX_PREVIEW && kept.iter().any(of)
}

/// An output its worker has kept stays so, unless hooks say otherwise or have not seen it.
fn uploaded(block: ContentBlock, kept: &mut [Decided], effects: &Effects) -> ContentBlock {
    let Some(payload) = report::reference(&block).filter(|payload| payload.uri.starts_with(URI_PREFIX)).cloned() else {
        return block;
    };
    let less = reason(effects);
    let reason = match effects.keeping {
        Keeping::NeverPersist => Some(less),
        _ if effects.unseen.contains(&payload.uri) => Some(REASON_UNSEEN),
        _ => None,
    };
    let by_reference = effects.keeping == Keeping::RefOnly;
    let of_it = |kept: &&mut Decided| kept.decision.persisted_ref.as_ref().is_some_and(|kept| kept.uri == payload.uri);
    let kept = kept.iter_mut().find(of_it);
    let Some(reason) = reason else {
        if let Some(kept) = kept.filter(|_| by_reference) {
            kept.decision.strategy = PersistenceStrategy::RefOnly;
            kept.decision.preview_size_bytes = None;
            kept.decision.reason = less.into();
        }
        return block;
    };
    let mut size = payload.size_bytes;
    if let Some(kept) = kept {
        // Of a cut one no more than the beginning was kept.
        size = size.max(kept.decision.original_size_bytes);
        kept.decision.persisted_ref = None;
        kept.decision.strategy = PersistenceStrategy::NeverPersist;
        kept.decision.reason = reason.into();
    }
    let text = format!("[the whole output of {size} bytes was not kept: {reason}]");
    ContentBlock::Text { text }
}

/// An output that got lost makes a success a partial one.
fn with_loss(report: &mut Report, loss: Option<&Loss>) {
    if let (Some(loss), ResultStatus::Succeeded, None) = (loss, report.status, &report.error) {
        let (status, error) = loss.ending();
        report.status = status;
        report.error = Some(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_may_have_outputs_kept_for_less_and_never_for_longer() {
        let at = |ms| Some(Timestamp::from_millis(ms));
        assert_eq!(kept_until(at(10), at(3)), at(3));
        assert_eq!(kept_until(at(10), at(30)), at(10));
        assert_eq!((kept_until(None, at(3)), kept_until(at(10), None), kept_until(None, None)), (at(3), at(10), None));
    }
}
