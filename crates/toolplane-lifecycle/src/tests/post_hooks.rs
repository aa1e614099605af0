//! The hooks after a call: between the end of an execution and its result.

use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::{ApprovalId, DecisionId};
use toolplane_records::invocation::Invocation;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::*;

/// A call whose hooks are asked until 20 s, and the transition that led there.
fn asked(idempotent: bool) -> (LeaseKey, Transition) {
    let running = run(ready(idempotent, true).invocation, started(idempotent)).invocation;
    let lease = key(&running);
    let wait = Command::AwaitHooks {
        lease: lease.clone(),
        hook_ids: vec!["clean".into()],
        due_at: at(20_000),
        question: None,
    };
    (lease, apply(&running, wait, at(10)).unwrap())
}

fn conclude(record: &Invocation, status: ResultStatus, class: Option<ErrorClass>, now: i64) -> Transition {
    apply(record, Command::Conclude { outcome: outcome(status, class.map(error)), answer: None }, at(now)).unwrap()
}

fn classes(transition: &Transition) -> Vec<EventClass> {
    transition.events.iter().map(|event| event.class).collect()
}

#[test]
fn its_worker_is_done_while_hooks_are_asked_and_nothing_of_the_ending_is_told() {
    let (lease, waits) = asked(false);
    let record = &waits.invocation;
    assert_eq!((record.status, record.lease.is_none()), (InvocationStatus::PostHooksRunning, true));
    assert_eq!(classes(&waits), [EventClass::HookPostStarted]);
    assert!(waits.terminal.is_none() && waits.effects.contains(&Effect::SetTimer(Timer::PostHooks, at(20_000))));
    // The worker says it again: it is known, and no late report.
    let again = Command::AwaitHooks { lease: lease.clone(), hook_ids: vec![], due_at: at(30_000), question: None };
    assert_eq!(apply(record, again, at(11)).unwrap_err(), Refusal::Fenced);
    assert!(
        is_kept(record, &lease) && late_report(record, &lease, &outcome(ResultStatus::Failed, None), at(11)).is_none()
    );
    // Neither a late timeout of the tool nor a cancel request ends what is done.
    for timer in [Timer::Execution, Timer::Cancel, Timer::PostHooks, Timer::Lease] {
        assert_eq!(apply(record, Command::Fire(timer), at(500_000)).unwrap_err(), Refusal::NothingToDo, "{timer:?}");
    }
    let canceled = apply(record, cancel_request(), at(12)).unwrap().invocation;
    assert_eq!(canceled.cancel.as_ref().unwrap().failed.as_deref(), Some("completed_first"));
    let ended = conclude(&canceled, ResultStatus::Succeeded, None, 13);
    assert_eq!(ended.invocation.status, InvocationStatus::Succeeded);
    assert!(ended.effects.contains(&Effect::ForgetEnding));
    assert!(late_report(&ended.invocation, &lease, &outcome(ResultStatus::Failed, None), at(14)).is_none());
}

#[test]
fn somebody_else_asks_them_when_they_are_overdue() {
    let (_, waits) = asked(false);
    let take =
        |record: &Invocation, alone, now| apply(record, Command::TakeHooks { due_at: at(40_000), alone }, at(now));
    assert_eq!(take(&waits.invocation, false, 19_999).unwrap_err(), Refusal::NothingToDo);
    let alone = take(&waits.invocation, true, 11).unwrap();
    assert_eq!(alone.invocation.post_hooks.unwrap().tries, 2, "who is alone need not wait");
    let taken = take(&waits.invocation, false, 20_000).unwrap().invocation;
    assert_eq!(take(&taken, false, 20_001).unwrap_err(), Refusal::NothingToDo, "one at a time");
    let ended = conclude(&taken, ResultStatus::Succeeded, None, 20_002).invocation;
    assert_eq!(take(&ended, true, 20_003).unwrap_err(), Refusal::Terminal(InvocationStatus::Succeeded));
}

#[test]
fn a_failure_that_may_be_repeated_is_repeated_after_its_hooks() {
    let (_, waits) = asked(true);
    let again = conclude(&waits.invocation, ResultStatus::Failed, Some(ErrorClass::DependencyUnavailable), 20);
    assert_eq!((again.invocation.status, again.invocation.post_hooks), (InvocationStatus::Queued, None));
    assert!(again.effects.contains(&Effect::ForgetEnding));
    let (_, waits) = asked(false);
    let ended = conclude(&waits.invocation, ResultStatus::Failed, Some(ErrorClass::DependencyUnavailable), 20);
    assert_eq!(ended.invocation.status, InvocationStatus::Failed, "no call that must not run twice does");
}

#[test]
fn the_patience_of_the_caller_ends_it_and_the_effect_is_called_done() {
    let (_, waits) = asked(false);
    let ended = apply(&waits.invocation, Command::Fire(Timer::Deadline), at(600_000)).unwrap();
    let error = ended.terminal.as_ref().unwrap().result.error.clone().unwrap();
    assert_eq!(
        (ended.invocation.status, error.side_effects.as_deref()),
        (InvocationStatus::TimedOut, Some("completed"))
    );
    assert_eq!(error.recoverability, Recoverability::VerifyBeforeRetry);
    assert!(ended.effects.contains(&Effect::ForgetEnding));
}

#[test]
fn a_result_says_what_it_has_to_say() {
    let ended = |outcome: ReportedOutcome| {
        let record = run(ready(false, true).invocation, started(false)).invocation;
        let done = Command::Complete { lease: key(&record), outcome: Box::new(outcome) };
        apply(&record, done, at(5)).unwrap().terminal.unwrap().result
    };
    let text = |text: &str| ContentBlock::Text { text: text.to_owned() };
    let plain = *outcome(ResultStatus::Succeeded, None);
    // A worker that left out what the model is given.
    let result = ended(ReportedOutcome { content: vec![text("a")], ..plain.clone() });
    assert_eq!((result.model_facing_content, result.content), (vec![text("a")], vec![text("a")]));
    let value = toolplane_records::payload::JsonPayload::of(&7);
    let result = ended(ReportedOutcome { structured_content: Some(value), ..plain.clone() });
    assert_eq!((result.model_facing_content, result.content), (vec![text("7")], vec![]));
    let result = ended(plain);
    assert_eq!((result.model_facing_content, result.content), (vec![ContentBlock::Empty], vec![ContentBlock::Empty]));
    // A failure that gave nothing.
    let failed = *outcome(ResultStatus::Failed, Some(error(ErrorClass::ExecutionFailed)));
    let result = ended(failed.clone());
    assert_eq!(
        (result.content, result.model_facing_content),
        (vec![text("no [exec.exit_code]")], vec![text("no [exec.exit_code]")])
    );
    let result = ended(ReportedOutcome { content: vec![text("half")], ..failed });
    assert_eq!(
        (result.content, result.model_facing_content),
        (vec![text("half")], vec![text("no [exec.exit_code]"), text("half")])
    );
    // One that the scheduler made itself.
    let record = run(ready(false, true).invocation, started(false)).invocation;
    let lost = apply(&record, Command::Fire(Timer::Deadline), at(600_000)).unwrap().terminal.unwrap().result;
    assert!(matches!(&lost.content[..], [ContentBlock::Text { text }] if text.contains("deadline")), "{lost:?}");
}

#[test]
fn modifiers_that_were_left_out_are_counted_in_the_log() {
    let record = run(ready(false, true).invocation, started(false)).invocation;
    let outcome = Box::new(ReportedOutcome { undeclared_modifiers: 2, ..*outcome(ResultStatus::Succeeded, None) });
    let ended = apply(&record, Command::Complete { lease: key(&record), outcome }, at(5)).unwrap();
    let created = ended.events.iter().find(|event| event.class == EventClass::ResultCreated).unwrap();
    let dropped = created.data.as_ref().unwrap().to_value()["context_modifiers_dropped"].clone();
    assert_eq!(dropped, serde_json::json!({ "count": 2, "reason": "not_declared" }));
}

#[test]
fn a_question_about_the_result_and_its_answer_are_in_the_record() {
    let running = run(ready(false, true).invocation, started(false)).invocation;
    let decided =
        |id: &str, behavior| PermissionDecision { decision_id: DecisionId::from_trusted(id), ..decision(behavior) };
    let approval_id = ApprovalId::from_trusted("apr_result");
    let question =
        ResultQuestion { decision: decided("perm_asks", Behavior::Ask), approval_id, expires_at: at(20_000) };
    let question = Some(Box::new(question));
    let wait = Command::AwaitHooks { lease: key(&running), hook_ids: vec![], due_at: at(20_200), question };
    let waits = apply(&running, wait, at(10)).unwrap();
    assert_eq!(
        classes(&waits),
        [EventClass::PermissionRequested, EventClass::PermissionDecided, EventClass::HookPostStarted]
    );
    assert!(waits.invocation.evidence_refs.iter().any(|said| said == "ask:question:apr_result"));
    assert_eq!(waits.invocation.approval_request_ref, running.approval_request_ref, "the call was asked about before");
    let outcome = outcome(ResultStatus::Succeeded, None);
    let answer = Some(Box::new(decided("perm_answers", Behavior::Allow)));
    let ended = apply(&waits.invocation, Command::Conclude { outcome, answer }, at(11)).unwrap();
    assert!(classes(&ended).contains(&EventClass::PermissionDecided));
    let named = |id: &str| ended.invocation.permission_decision_refs.iter().any(|named| named.as_str() == id);
    assert!(named("perm_asks") && named("perm_answers"));
}
