//! Cancellation as facts.

use toolplane_records::codes;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::*;

#[test]
fn completion_before_the_cancel_wins_and_says_so() {
    let cancel = Command::RequestCancel {
        requested_by: "u".into(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    };
    let done = Command::Complete {
        lease: key(&ready(false, true).invocation),
        outcome: outcome(ResultStatus::Succeeded, None),
    };
    let mut commands = started(false);
    commands.extend([(10, cancel), (20, done)]);
    let last = run(ready(false, true).invocation, commands);
    assert_eq!(last.invocation.status, InvocationStatus::Succeeded);
    assert_eq!(last.invocation.cancel.unwrap().failed.as_deref(), Some("completed_first"));
    assert!(last.events.iter().any(|event| event.class == EventClass::ExtCancelFailed));
}

#[test]
fn a_canceled_call_that_is_given_back_ends_instead_of_running_again() {
    let record = ready(true, true).invocation;
    let claimed = run(record, vec![(1, Command::Claim(grant(1)))]).invocation;
    let cancel = Command::RequestCancel {
        requested_by: "u".into(),
        message: String::new(),
        abort_reason: AbortReason::UserInterruption,
    };
    let release = Command::Release { lease: key(&claimed), reason: "canceled".into() };
    let last = run(claimed, vec![(2, cancel), (3, release)]);
    assert_eq!(last.invocation.status, InvocationStatus::Canceled);
    assert_eq!(last.terminal.unwrap().result.error.unwrap().side_effects.as_deref(), Some("none"));
}

fn facts(behavior: InterruptBehavior, supports_cancel: bool) -> toolplane_records::invocation::DispatchFacts {
    toolplane_records::invocation::DispatchFacts { interrupt_behavior: behavior, ..dispatch(true, supports_cancel) }
}

fn running(behavior: InterruptBehavior, supports_cancel: bool) -> toolplane_records::invocation::Invocation {
    let dispatch = facts(behavior, supports_cancel);
    let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch };
    let record = accept(acceptance(false), preparation, at(0)).unwrap().invocation;
    run(record, started(false)).invocation
}

fn sibling() -> Command {
    let cause = SiblingCause {
        invocation_id: toolplane_records::ids::InvocationId::from_trusted("inv_3"),
        index: 3,
        tool_name: "files.read".into(),
        status: InvocationStatus::Failed,
    };
    Command::CancelSibling { cause }
}

/// One rule, for every canceling party and whatever the tool says of interruptions: it is stopped exactly if it can be.
#[test]
fn a_running_tool_is_stopped_if_it_can_be_whoever_cancels() {
    use InterruptBehavior::{Block, Cancel};
    let commands = [cancel_request(), sibling()];
    let behaviors = [(Block, true), (Cancel, true), (Block, false), (Cancel, false)];
    let cases = commands.iter().flat_map(|command| behaviors.map(|case| (command.clone(), case)));
    for (command, (behavior, supports_cancel)) in cases {
        let failed = (!supports_cancel).then_some("unsupported");
        let name = format!("{command:?} {behavior:?} {supports_cancel}");
        let last = apply(&running(behavior, supports_cancel), command, at(10)).unwrap();
        assert_eq!(last.invocation.status, InvocationStatus::Running, "{name}");
        let classes: Vec<EventClass> = last.events.iter().map(|event| event.class).collect();
        assert_eq!(classes[0], EventClass::ExtCancelRequested, "{name}");
        assert_eq!(classes.get(1), failed.map(|_| &EventClass::ExtCancelFailed), "{name}");
        assert_eq!(last.invocation.cancel.unwrap().failed.as_deref(), failed, "{name}");
        let sent = last.effects.iter().any(|effect| matches!(effect, Effect::Tell(LeaseMessage::Cancel { .. })));
        assert_eq!(sent, failed.is_none(), "{name}");
    }
}

/// The facts stay: asking again changes nothing, before the end and after it.
#[test]
fn a_replayed_cancel_changes_nothing() {
    let once = apply(&running(InterruptBehavior::Block, true), cancel_request(), at(10)).unwrap().invocation;
    assert_eq!(apply(&once, cancel_request(), at(11)).unwrap_err(), Refusal::NothingToDo);
    let stopped = complete(&once, ResultStatus::Canceled, Some(error(ErrorClass::Canceled)));
    let ended = apply(&once, stopped, at(12)).unwrap().invocation;
    assert_eq!(apply(&ended, cancel_request(), at(13)).unwrap_err(), Refusal::Terminal(InvocationStatus::Canceled));
    assert_eq!(ended.cancel, once.cancel);
}

/// Every cancellation has a fact that says how it came out.
#[test]
fn a_cancel_that_is_overtaken_says_so() {
    let asked = apply(&running(InterruptBehavior::Block, true), cancel_request(), at(10)).unwrap().invocation;
    let late = apply(&asked, Command::Fire(Timer::Deadline), at(600_000)).unwrap();
    assert_eq!(late.invocation.status, InvocationStatus::TimedOut);
    assert_eq!(late.invocation.cancel.unwrap().failed.as_deref(), Some("ended_first"));
    let classes: Vec<EventClass> = late.events.iter().map(|event| event.class).collect();
    assert!(classes.contains(&EventClass::ExtCancelFailed) && classes.last() == Some(&EventClass::TimedOut));
}

#[test]
fn a_call_canceled_for_a_sibling_names_it() {
    let held = ready(false, true).invocation;
    let last = apply(&held, sibling(), at(5)).unwrap();
    assert_eq!(last.invocation.status, InvocationStatus::Canceled);
    let result = last.terminal.unwrap().result;
    let error = result.error.unwrap();
    assert!(result.is_error && result.status == ResultStatus::Canceled);
    assert_eq!(
        (error.error_class, error.error_code.as_str()),
        (ErrorClass::SiblingCanceled, codes::SIBLING_CANCELED.as_str())
    );
    assert_eq!(error.abort_reason, Some(AbortReason::SiblingError));
    assert_eq!(error.side_effects.as_deref(), Some("none"));
    assert_eq!(error.message, "not executed: sibling 3 `files.read` (inv_3) is failed");
}

#[test]
fn a_tool_stopped_for_a_sibling_is_of_that_class() {
    let asked = apply(&running(InterruptBehavior::Cancel, true), sibling(), at(10)).unwrap().invocation;
    let stopped = complete(&asked, ResultStatus::Canceled, Some(error(ErrorClass::Canceled)));
    let error = apply(&asked, stopped, at(12)).unwrap().terminal.unwrap().result.error.unwrap();
    assert_eq!(error.error_class, ErrorClass::SiblingCanceled);
    assert_eq!(error.abort_reason, Some(AbortReason::SiblingError));
    let lost = apply(&asked, Command::Fire(Timer::Lease), at(20_000)).unwrap().terminal.unwrap().result;
    assert_eq!(lost.error.unwrap().error_class, ErrorClass::SiblingCanceled);
}
