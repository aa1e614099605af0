//! How long each step of a call took, and how that is drawn; pure.

use prost_types::Timestamp;
use serde::Serialize;
use toolplane_proto::v1;
use toolplane_runtime::clock;

/// One step: what the call did or waited for, until something else began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Step {
    pub(super) name: String,
    /// When it began, milliseconds after the call was accepted.
    pub(super) at_ms: u64,
    pub(super) took_ms: u64,
    /// It goes on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) open: bool,
}

/// Milliseconds from one instant to another that is not earlier.
pub(super) fn between(from: Option<&Timestamp>, to: Option<&Timestamp>) -> Option<u64> {
    let millis = |at: &Timestamp| at.seconds * 1000 + i64::from(at.nanos) / 1_000_000;
    Some(u64::try_from(millis(to?) - millis(from?)).unwrap_or(0))
}

/// The steps of a call; what is in a status that means the same as the one before is one step.
pub(super) fn of(call: &v1::Invocation) -> Vec<Step> {
    let accepted = call.created_at.as_ref();
    let mut steps: Vec<Step> = Vec::new();
    for change in &call.status_transitions {
        let at_ms = between(accepted, change.at.as_ref()).unwrap_or_default();
        if let Some(last) = steps.last_mut().filter(|last| last.open) {
            last.took_ms = at_ms.saturating_sub(last.at_ms);
            last.open = false;
        }
        let Some(name) = name(&change.to, change.attempt) else { continue };
        match steps.last_mut() {
            Some(last) if last.name == name => last.open = true,
            _ => steps.push(Step { name, at_ms, took_ms: 0, open: true }),
        }
    }
    if let Some(last) = steps.last_mut().filter(|last| last.open) {
        // It goes on: until now, by this machine's clock.
        let now = Timestamp { seconds: i64::try_from(clock::since_epoch().as_secs()).unwrap_or(i64::MAX), nanos: 0 };
        let until = between(accepted, call.ended_at.as_ref().or(Some(&now))).unwrap_or_default();
        last.took_ms = until.saturating_sub(last.at_ms);
    }
    // What took no time is no step of a waterfall.
    steps.retain(|step| step.took_ms > 0 || step.open || step.name.starts_with("run"));
    steps
}

/// What a call does in a status; nothing when it has ended.
fn name(status: &str, attempt: u32) -> Option<String> {
    let name = match status {
        "planned" | "selected" | "arguments_ready" | "approved" => "prepare",
        "pre_hooks_running" => "hooks before",
        "awaiting_approval" => "wait for a person",
        "queued" => "wait for a worker",
        "running" | "partial_result" if attempt > 1 => return Some(format!("run, attempt {attempt}")),
        "running" | "partial_result" => "run",
        "needs_input" => "wait for an answer",
        "post_hooks_running" => "hooks after",
        _ => return None,
    };
    Some(name.to_owned())
}

/// A step as a bar of a line that stands for the `whole` time.
pub(super) fn bar(step: &Step, whole: u64, width: usize) -> String {
    let place = |ms: u64| usize::try_from(ms.saturating_mul(width as u64) / whole.max(1)).unwrap_or(width);
    let from = place(step.at_ms).min(width - 1);
    let to = place(step.at_ms + step.took_ms).clamp(from + 1, width);
    let end = if step.open { '>' } else { '#' };
    let mut bar: String = " ".repeat(from) + &"#".repeat(to - from - 1);
    bar.push(end);
    format!("|{bar:<width$}|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_lies_where_its_step_did_and_is_never_invisible() {
        let step = |at_ms, took_ms, open| Step { name: String::new(), at_ms, took_ms, open };
        assert_eq!(bar(&step(0, 50, false), 100, 10), "|#####     |");
        assert_eq!(bar(&step(50, 50, true), 100, 10), "|     ####>|");
        assert_eq!(bar(&step(100, 0, false), 100, 10), "|         #|");
        assert_eq!(bar(&step(0, 0, false), 0, 10), "|#         |");
    }
}
