//! The hooks after a call: asked once its tool has ended, before anything of what it gave leaves this worker.
//!
//! The tool's clock stands then; the lease goes on being renewed. What hooks may take is what is left until the scheduler
//! would give the call up. Hooks that are not done by then, like hooks that fail, withhold the output: the effect of the
//! tool is done and said to be, and nobody sees what it gave.

use std::time::Duration;

use tokio::time::Instant;
use toolplane_execution::Outcome;
use toolplane_hooks::{Folded, HookInput, HookOutcome};
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{AbortReason, HookEvent};

use crate::executor::Core;
use crate::outcome;

mod effects;

pub(crate) use effects::{Effects, Withheld};

/// The points a worker is in charge of.
pub(crate) const EVENTS: &[HookEvent] =
    &[HookEvent::PostToolUse, HookEvent::PostToolUseFailure, HookEvent::ResultPersistence];

/// Whether any hook is to be asked about this ending.
pub(crate) fn applies(core: &Core, told: &HookInput, outcome: &Outcome) -> bool {
    events(outcome).iter().any(|event| core.options.hooks.applies(*event, &told.tool))
}

/// What is left of an ending once its hooks were asked, which takes at most `bound`.
pub(crate) async fn run(
    core: &Core,
    told: &HookInput,
    mut outcome: Outcome,
    worked: Duration,
    bound: Duration,
) -> (Outcome, Effects) {
    let mut effects = Effects::default();
    let until = Instant::now() + bound;
    for event in events(&outcome) {
        if !core.options.hooks.applies(event, &told.tool) {
            continue;
        }
        // What was withheld by one point is not shown to the next.
        if event == HookEvent::ResultPersistence && is_empty(&outcome) {
            continue;
        }
        match asked(core, told, event, &outcome, worked, until).await {
            Ok(folded) => effects.apply(&mut outcome, folded),
            Err(why) => {
                effects.unasked(&mut outcome, why);
                break;
            }
        }
    }
    (outcome, effects)
}

/// The points of this ending, in order.
fn events(outcome: &Outcome) -> [HookEvent; 2] {
    let failed = outcome::is_error(outcome.status);
    [if failed { HookEvent::PostToolUseFailure } else { HookEvent::PostToolUse }, HookEvent::ResultPersistence]
}

/// What the hooks of one point say, or why they could not be asked.
async fn asked(
    core: &Core,
    told: &HookInput,
    event: HookEvent,
    outcome: &Outcome,
    worked: Duration,
    until: Instant,
) -> Result<Folded, &'static str> {
    let abort = outcome.error.as_ref().and_then(|error| error.abort_reason);
    if abort == Some(AbortReason::RuntimeShutdown) {
        return Err("the worker ends");
    }
    let given = HookOutcome {
        content: outcome.content.clone(),
        structured_content: outcome.structured_content.clone(),
        error: outcome.error.clone(),
        duration_ms: outcome::millis(worked),
        interrupted: abort.is_some(),
    };
    let input = HookInput { outcome: Some(given), ..told.clone() };
    tokio::select! {
        biased;
        folded = tokio::time::timeout_at(until, core.options.hooks.run(event, &input)) => {
            folded.map_err(|_| "the time of the call was up")
        }
        () = core.hurry.cancelled() => Err("the worker ends"),
    }
}

fn is_empty(outcome: &Outcome) -> bool {
    outcome.structured_content.is_none() && outcome.content.iter().all(|block| *block == ContentBlock::Empty)
}
