//! Questions of running tools: the clock, the answer, and what happens without one.

use toolplane_records::codes;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::*;

fn question(input_id: &str, ttl_ms: u64) -> InputRequest {
    InputRequest { input_id: input_id.into(), prompt: "Which branch?".into(), schema: None, ttl_ms }
}

fn ask(record: &Invocation, input_id: &str) -> Command {
    Command::RequestInput { lease: key(record), input: question(input_id, 60_000) }
}

fn tell(input_id: &str, answer: Option<&str>) -> Command {
    let input = answer.map(JsonPayload::of);
    Command::ProvideInput { input_id: input_id.into(), input, by: "user:1".into() }
}

/// A call that started at 2 and asks at 1000.
fn asking(idempotent: bool) -> Invocation {
    let record = run(ready(idempotent, true).invocation, started(idempotent)).invocation;
    apply(&record, ask(&record, "in_1"), at(1_000)).unwrap().invocation
}

#[test]
fn the_clock_of_the_tool_stands_still_while_it_waits() {
    let record = run(ready(false, true).invocation, started(false)).invocation;
    let asked = apply(&record, ask(&record, "in_1"), at(1_000)).unwrap();
    assert_eq!(asked.invocation.status, InvocationStatus::NeedsInput);
    assert!(asked.effects.contains(&Effect::ClearTimer(Timer::Execution)));
    assert!(asked.effects.contains(&Effect::SetTimer(Timer::Input, at(61_000))));
    let long_after = apply(&asked.invocation, Command::Fire(Timer::Execution), at(59_000));
    assert_eq!(long_after.unwrap_err(), Refusal::NothingToDo);

    let told = apply(&asked.invocation, tell("in_1", Some("main")), at(51_000)).unwrap();
    assert_eq!(told.invocation.status, InvocationStatus::Running);
    assert_eq!(told.invocation.clock_paused_ms, 50_000);
    // Started at 2, allowed 30 s, paused for 50 s, and 10 s of grace.
    assert!(told.effects.contains(&Effect::SetTimer(Timer::Execution, at(90_002))));
    assert!(told.effects.contains(&Effect::ClearTimer(Timer::Input)));
    let early = apply(&told.invocation, Command::Fire(Timer::Execution), at(90_001));
    assert_eq!(early.unwrap_err(), Refusal::NothingToDo);
    let due = apply(&told.invocation, Command::Fire(Timer::Execution), at(90_002)).unwrap();
    assert_eq!(due.invocation.status, InvocationStatus::TimedOut);
}

#[test]
fn the_answer_reaches_the_worker_and_is_repeated() {
    let record = asking(false);
    let sent = |transition: &Transition| {
        transition.effects.iter().find_map(|effect| match effect {
            Effect::Tell(LeaseMessage::Input { input_id, input, expired, .. }) => {
                Some((input_id.clone(), input.clone(), *expired))
            }
            _ => None,
        })
    };
    let told = apply(&record, tell("in_1", Some("main")), at(2_000)).unwrap();
    let expected = Some(("in_1".to_owned(), Some(JsonPayload::of("main")), false));
    assert_eq!(sent(&told), expected);
    // The worker asks again because it heard nothing: the same answer, and no new facts.
    let again = apply(&told.invocation, ask(&told.invocation, "in_1"), at(3_000)).unwrap();
    assert_eq!(sent(&again), expected);
    assert!(again.events.is_empty() && again.invocation == told.invocation);
    // The next question replaces the answered one.
    let next = apply(&told.invocation, ask(&told.invocation, "in_2"), at(4_000)).unwrap().invocation;
    assert_eq!(next.pending_input.unwrap().input_id, "in_2");
}

#[test]
fn the_first_answer_stands() {
    let told = apply(&asking(false), tell("in_1", None), at(2_000)).unwrap().invocation;
    assert_eq!(apply(&told, tell("in_1", Some("main")), at(2_001)).unwrap_err(), Refusal::NothingToDo);
    let wrong = apply(&asking(false), tell("in_9", None), at(2_000)).unwrap_err();
    assert!(matches!(wrong, Refusal::Illegal { .. }));
    let answer = told.pending_input.unwrap().answer.unwrap();
    assert!(answer.input.is_none() && !answer.expired && answer.provided_by == "user:1");
}

/// There was no answer: the tool is told so, and goes on.
#[test]
fn an_expired_question_is_an_answer() {
    let record = asking(false);
    assert_eq!(apply(&record, Command::Fire(Timer::Input), at(60_999)).unwrap_err(), Refusal::NothingToDo);
    let last = apply(&record, Command::Fire(Timer::Input), at(61_000)).unwrap();
    assert_eq!(last.invocation.status, InvocationStatus::Running);
    assert!(last.invocation.pending_input.as_ref().unwrap().answer.as_ref().unwrap().expired);
    assert!(
        last.effects.iter().any(|effect| matches!(effect, Effect::Tell(LeaseMessage::Input { expired: true, .. })))
    );
    assert_eq!(apply(&last.invocation, tell("in_1", Some("main")), at(61_001)).unwrap_err(), Refusal::NothingToDo);
}

#[test]
fn a_worker_lost_while_it_waits_follows_the_table() {
    let lost = |idempotent| apply(&asking(idempotent), Command::Fire(Timer::Lease), at(20_000)).unwrap();
    let error = lost(false).terminal.unwrap().result.error.unwrap();
    assert_eq!(error.error_code, codes::OUTCOME_UNKNOWN.as_str());
    let again = lost(true);
    assert_eq!(again.invocation.status, InvocationStatus::Queued);
    assert!(again.invocation.pending_input.is_none() && again.invocation.clock_stopped_at.is_none());
    assert!(again.effects.contains(&Effect::ClearTimer(Timer::Input)));
}

#[test]
fn waits_are_bounded() {
    let record = run(ready(false, true).invocation, started(false)).invocation;
    let ttl = |asked: u64| {
        let input = question("in_1", asked);
        let record = apply(&record, Command::RequestInput { lease: key(&record), input }, at(0)).unwrap().invocation;
        record.pending_input.unwrap().expires_at.since_millis(at(0))
    };
    assert_eq!((ttl(0), ttl(5), ttl(u64::MAX)), (INPUT_TTL_MS, 5, MAX_INPUT_TTL_MS));
}
