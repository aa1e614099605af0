//! The hooks after a call, asked about its ending.

use tokio::time::Instant;
use toolplane_hooks::{HookInput, HookOutcome, Hooks};
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::HookEvent;
use toolplane_results::PayloadStore;

use super::effects::Effects;
use super::report::{Report, is_error};
use super::told;

/// The points of this ending, in order.
pub(super) fn events(report: &Report) -> [HookEvent; 2] {
    let failed = is_error(report.status);
    [if failed { HookEvent::PostToolUseFailure } else { HookEvent::PostToolUse }, HookEvent::ResultPersistence]
}

/// Asks the hooks of every point, until `until` at the latest. What is left of the ending is in `report` afterwards.
///
/// Hooks that are not done by then, like hooks that fail, withhold the output: the effect of the tool is done and said
/// to be, and its output is not shown.
pub(super) async fn ask(
    hooks: &Hooks,
    payloads: &PayloadStore,
    told: &HookInput,
    report: &mut Report,
    effects: &mut Effects,
    until: Instant,
    now: Timestamp,
) {
    let (mut seen, unseen) = told::outcome(report, payloads, now).await;
    effects.unseen = unseen;
    for event in events(report) {
        // What was withheld by one point is not shown to the next.
        let silent = event == HookEvent::ResultPersistence && is_empty(&seen);
        if silent || !hooks.applies(event, &told.tool) {
            continue;
        }
        let input = HookInput { outcome: Some(seen.clone()), ..told.clone() };
        match tokio::time::timeout_at(until, hooks.run(event, &input)).await {
            Ok(folded) => effects.apply(report, folded),
            Err(_) => return effects.unasked(report, "their time was up"),
        }
        if effects.redacted {
            seen.content.clone_from(&report.output.content);
            seen.structured_content.clone_from(&report.output.structured_content);
        }
        seen.error.clone_from(&report.error);
    }
}

fn is_empty(outcome: &HookOutcome) -> bool {
    outcome.structured_content.is_none() && outcome.content.iter().all(|block| *block == ContentBlock::Empty)
}
