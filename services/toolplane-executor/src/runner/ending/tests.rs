use toolplane_execution::Outcome;
use toolplane_records::error::ToolError;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{AbortReason, ErrorClass, Recoverability, ResultStatus};

use super::{Ending, settle};
use crate::assignments::{StopReason, StopSignal};

fn signal(stop: Option<StopReason>) -> StopSignal {
    let signal = StopSignal::default();
    if let Some(why) = stop {
        signal.give(why);
    }
    signal
}

fn killed() -> Outcome {
    let error = ToolError::new(
        toolplane_records::codes::SIGNAL,
        ErrorClass::ExecutionFailed,
        Recoverability::NotRetryable,
        "killed",
    );
    Outcome { content: vec![ContentBlock::Text { text: "half".to_owned() }], ..Outcome::failure(error) }
}

fn done() -> Outcome {
    Outcome::blocks(vec![ContentBlock::Text { text: "whole".to_owned() }])
}

/// Status, error code and abort reason of what is reported, or nothing when the call is given back.
fn check(
    ending: Ending,
    idempotent: bool,
    stop: Option<StopReason>,
    wanted: Option<(ResultStatus, &str, Option<AbortReason>)>,
) {
    let said = settle(ending, &signal(stop), idempotent);
    let said = said.as_ref().map(|outcome| {
        let error = outcome.error.as_ref();
        (outcome.status, error.map_or("", |error| &error.error_code), error.and_then(|error| error.abort_reason))
    });
    assert_eq!(said, wanted);
}

#[test]
fn a_canceled_tool_is_canceled_unless_it_was_faster() {
    let user = AbortReason::UserInterruption;
    let stop = Some(StopReason::Cancel(user));
    check(Ending::Stopped(Some(killed())), true, stop, Some((ResultStatus::Canceled, "exec.canceled", Some(user))));
    check(Ending::Stopped(None), false, stop, Some((ResultStatus::Canceled, "exec.canceled", Some(user))));
    check(Ending::Stopped(Some(done())), false, stop, Some((ResultStatus::Succeeded, "", None)));
}

#[test]
fn a_shutdown_gives_back_what_may_run_again_and_nothing_else() {
    let stop = Some(StopReason::Shutdown);
    check(Ending::Stopped(Some(killed())), true, stop, None);
    let shutdown = Some(AbortReason::RuntimeShutdown);
    let unknown = |reason| Some((ResultStatus::SyntheticError, "exec.outcome_unknown", reason));
    check(Ending::Stopped(Some(killed())), false, stop, unknown(shutdown));
    check(Ending::Stopped(None), false, stop, unknown(shutdown));
    check(Ending::Stopped(Some(done())), true, stop, Some((ResultStatus::Succeeded, "", None)));
}

#[test]
fn a_lock_holder_killed_in_doubt_runs_again_or_nobody_knows_what_it_did() {
    let stop = Some(StopReason::InDoubt);
    check(Ending::Stopped(Some(killed())), true, stop, None);
    let unknown = Some((ResultStatus::SyntheticError, "exec.outcome_unknown", None));
    check(Ending::Stopped(Some(killed())), false, stop, unknown);
    check(Ending::Stopped(Some(done())), false, stop, Some((ResultStatus::Succeeded, "", None)));
}

#[test]
fn a_killed_tool_that_is_seen_to_end_by_itself_was_killed_all_the_same() {
    let stop = signal(Some(StopReason::InDoubt));
    let settle = |ended, idempotent| settle(Ending::Ended(ended), &stop, idempotent);
    assert_eq!(settle(killed(), false).unwrap().error.unwrap().error_code, "exec.signal", "not by us");
    stop.kill.throw();
    assert!(settle(killed(), true).is_none());
    assert_eq!(settle(killed(), false).unwrap().error.unwrap().error_code, "exec.outcome_unknown");
    assert!(settle(done(), false).unwrap().is_success());
}

#[test]
fn a_timeout_says_whether_the_tool_stopped() {
    let timeout = Some(AbortReason::Timeout);
    check(Ending::TimedOut(Some(killed())), true, None, Some((ResultStatus::TimedOut, "exec.timeout", timeout)));
    check(Ending::TimedOut(None), true, None, Some((ResultStatus::TimedOut, "exec.timeout_unacked", timeout)));
    let kept = settle(Ending::TimedOut(Some(killed())), &signal(None), true).unwrap();
    assert_eq!(kept.content, killed().content);
    assert_eq!(kept.error.unwrap().side_effects.as_deref(), Some("unknown"));
}

#[test]
fn a_fenced_execution_is_never_reported() {
    check(Ending::Stopped(Some(killed())), false, Some(StopReason::Fenced), None);
}
