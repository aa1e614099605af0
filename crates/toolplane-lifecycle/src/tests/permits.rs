//! Permission over the life of a call: answers, edits, withdrawals, and what hooks did.

use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::{ApprovalId, DecisionId};
use toolplane_records::payload::Digest;
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::trail;
use toolplane_records::vocabulary::*;

use super::fixtures::*;
use crate::*;

fn named(id: &str, behavior: Behavior) -> PermissionDecision {
    PermissionDecision { decision_id: DecisionId::from_trusted(id), policy_digest: id.into(), ..decision(behavior) }
}

fn classes(transition: &Transition) -> Vec<EventClass> {
    transition.events.iter().map(|event| event.class).collect()
}

#[test]
fn a_permission_that_ran_out_lets_nothing_start() {
    let until = PermissionDecision { expires_at: Some(at(1_000)), ..named("v1", Behavior::Allow) };
    for idempotent in [true, false] {
        let preparation = Preparation::Ready { decision: until.clone(), dispatch: dispatch(idempotent, true) };
        let ready = accept(acceptance(idempotent), preparation, at(0)).unwrap().invocation;
        let facts = ready.dispatch.as_ref().unwrap();
        assert_eq!((facts.policy_digest.as_str(), facts.permit_until), ("v1", Some(at(1_000))));
        assert!(matches!(apply(&ready, Command::Claim(grant(1)), at(1_000)), Err(Refusal::Illegal { .. })));
        let claimed = apply(&ready, Command::Claim(grant(1)), at(999)).unwrap().invocation;
        let start = Command::Start { lease: key(&claimed), lease_ms: LEASE_MS };
        // What has started goes on; what has only been claimed does not start any more.
        assert_eq!(apply(&claimed, start, at(1_000)).is_ok(), idempotent);
        let confirmed = Command::Confirm { decision: named("v2", Behavior::Allow), replan: None };
        let again = apply(&ready, confirmed.clone(), at(5_000)).unwrap();
        assert_eq!(again.invocation.dispatch.as_ref().unwrap().policy_digest, "v2");
        assert_eq!(classes(&again), [EventClass::PermissionDecided]);
        assert!(apply(&again.invocation, Command::Claim(grant(1)), at(5_001)).is_ok());
        assert!(matches!(apply(&claimed, confirmed, at(5_000)), Err(Refusal::Illegal { .. })));
    }
}

#[test]
fn an_answer_to_an_old_question_answers_no_new_one() {
    let parked = asked(acceptance(true), dispatch(true, true)).invocation;
    let first = question(&parked);
    let queued = apply(&parked, approve(&parked), at(1)).unwrap().invocation;
    let again = Command::AskAgain {
        decision: named("v2", Behavior::Ask),
        approval_id: ApprovalId::from_trusted("apr_2"),
        expires_at: at(90_000),
    };
    let parked = apply(&queued, again, at(2)).unwrap().invocation;
    assert_eq!(parked.dispatch.as_ref().unwrap().policy_digest, "", "nothing is in force while somebody is asked");
    let stale = [
        Command::Approve { approval_id: first.clone(), decision: decision(Behavior::Allow), edit: None },
        Command::Reject { approval_id: first.clone(), decision: decision(Behavior::Deny), expired: true },
        Command::Refuse {
            approval_id: Some(first),
            decisions: vec![],
            edited: None,
            error: error(ErrorClass::PermissionDenied),
        },
    ];
    for command in stale {
        assert_eq!(apply(&parked, command, at(3)).unwrap_err(), Refusal::NothingToDo);
    }
    let released = apply(&parked, approve(&parked), at(3)).unwrap().invocation;
    assert!(matches!(apply(&released, approve(&released), at(4)), Err(Refusal::Illegal { .. })), "used up");
}

#[test]
fn an_edited_input_takes_the_place_of_all_but_the_models() {
    let parked = asked(acceptance(false), dispatch(false, true)).invocation;
    let edited = apply(&parked, edited(&parked, true, None), at(5)).unwrap();
    let record = &edited.invocation;
    assert_eq!(record.inputs.model, parked.inputs.model, "whatever the edit says");
    assert_eq!(record.inputs.call.as_ref().unwrap().digest, Digest::of(b"{1}"));
    assert!(record.safety.is_idempotent);
    assert_eq!(record.dispatch.as_ref().unwrap().policy_digest, "v2", "the decision about the edit is in force");
    assert!(classes(&edited).contains(&EventClass::ExtInputMutated));
    assert!(edited.effects.contains(&Effect::Enqueue));
}

#[test]
fn an_edit_that_policy_asks_about_waits_again() {
    let parked = asked(acceptance(true), dispatch(true, true)).invocation;
    let next = ApprovalId::from_trusted("apr_2");
    let again = apply(&parked, edited(&parked, true, Some(next.clone())), at(5)).unwrap().invocation;
    assert_eq!((again.status, &again.approval_request_ref), (InvocationStatus::AwaitingApproval, &Some(next)));
    let steps: Vec<_> = again.status_transitions.iter().rev().take(3).map(|step| step.to).collect();
    use InvocationStatus::{Approved, AwaitingApproval, Queued};
    assert_eq!(steps, [AwaitingApproval, Queued, Approved]);
}

/// Another input may need other locks: the call draws a ticket for those.
#[test]
fn an_edit_may_change_the_locks() {
    let parked = asked(acceptance(true), dispatch(true, true)).invocation;
    let Command::Approve { approval_id, decision, edit: Some(mut edit) } = edited(&parked, true, None) else {
        panic!()
    };
    edit.resource_locks = vec![ResourceLock { key: "repo".into(), mode: LockMode::Exclusive }];
    edit.lock_domain = Some("session:s".into());
    let held = apply(&parked, Command::Approve { approval_id, decision, edit: Some(edit) }, at(5)).unwrap();
    assert_eq!(held.invocation.holds, [Hold::Locks]);
    assert!(held.effects.iter().any(|effect| matches!(effect, Effect::Settle(Scope::Locks { .. }))));
    assert!(!held.effects.contains(&Effect::Enqueue));
}

#[test]
fn a_waiting_call_ends_when_its_permission_is_withdrawn() {
    let refuse = |approval_id| Command::Refuse {
        approval_id,
        decisions: vec![named("v2", Behavior::Deny)],
        edited: None,
        error: revoked(),
    };
    let queued = ready(false, true).invocation;
    let refused = apply(&queued, refuse(None), at(1)).unwrap();
    assert_eq!(refused.invocation.status, InvocationStatus::Denied);
    assert!(refused.effects.contains(&Effect::Dequeue));
    let result = refused.terminal.unwrap().result;
    assert_eq!(
        (result.status, result.error.unwrap().error_code.as_str()),
        (ResultStatus::Denied, codes::PERMISSION_REVOKED.as_str())
    );
    let running = run(ready(false, true).invocation, started(false)).invocation;
    assert!(matches!(apply(&running, refuse(None), at(3)), Err(Refusal::Illegal { .. })), "what runs is not stopped");
    let parked = asked(acceptance(true), dispatch(true, true)).invocation;
    assert!(matches!(apply(&parked, refuse(None), at(1)), Err(Refusal::Illegal { .. })), "its question is not named");
    let denied = apply(&parked, refuse(Some(question(&parked))), at(1)).unwrap().invocation;
    assert_eq!(denied.permission_decision_refs.len(), 2);
}

/// An attempt that is not charged was still a start.
#[test]
fn what_has_started_once_keeps_its_plan_and_its_kind() {
    let running = run(ready(true, true).invocation, started(true)).invocation;
    let release = Command::Release { lease: key(&running), reason: "drain".into() };
    let back = apply(&running, release, at(5)).unwrap().invocation;
    assert_eq!((back.attempt, back.status), (0, InvocationStatus::Queued));
    let replan = Replan { dispatch: dispatch(false, true), safety: Default::default() };
    let confirm = |replan| Command::Confirm { decision: named("v2", Behavior::Allow), replan };
    assert!(matches!(apply(&back, confirm(Some(Box::new(replan))), at(6)), Err(Refusal::Illegal { .. })));
    assert!(apply(&back, confirm(None), at(6)).is_ok());
    let again = Command::AskAgain {
        decision: named("v2", Behavior::Ask),
        approval_id: ApprovalId::from_trusted("apr_2"),
        expires_at: at(90_000),
    };
    let parked = apply(&back, again, at(6)).unwrap().invocation;
    assert!(matches!(apply(&parked, edited(&parked, false, None), at(7)), Err(Refusal::Illegal { .. })));
    assert!(apply(&parked, edited(&parked, true, None), at(7)).is_ok());
}

fn revoked() -> toolplane_records::error::ToolError {
    let class = ErrorClass::PermissionDenied;
    toolplane_records::error::ToolError::new(codes::PERMISSION_REVOKED, class, Recoverability::NotRetryable, "no")
}

#[test]
fn what_hooks_did_is_kept_before_and_after() {
    let acceptance = Acceptance {
        hooks: vec![
            hook("a", HookEvent::PreToolUse),
            hook("b", HookEvent::PreToolUse),
            hook("p", HookEvent::PermissionDecision),
        ],
        mutations: vec![mutation()],
        ..acceptance(true)
    };
    let preparation = Preparation::Ready { decision: decision(Behavior::Allow), dispatch: dispatch(true, true) };
    let first = accept(acceptance.clone(), preparation, at(0)).unwrap();
    assert_eq!(first.invocation.hook_refs, ["hook:inv_1/1", "hook:inv_1/2", "hook:inv_1/3"]);
    let decided = first.events.iter().position(|event| event.class == EventClass::PermissionDecided).unwrap();
    assert_eq!(first.events[decided - 2].class, EventClass::HookPreCompleted, "what decided with it stands before it");
    let order = [
        EventClass::HookPreStarted,
        EventClass::HookPreCompleted,
        EventClass::HookPreCompleted,
        EventClass::ExtInputMutated,
    ];
    assert!(classes(&first).windows(4).any(|window| window == order), "{:?}", classes(&first));
    let kept = first.effects.iter().filter(|effect| matches!(effect, Effect::KeepHook { .. })).count();
    assert_eq!(kept, 3);
    let running = run(first.invocation, started(true)).invocation;
    let mut done = outcome(ResultStatus::Succeeded, None);
    done.hooks = vec![hook("c", HookEvent::PostToolUse)];
    let ended = apply(&running, Command::Complete { lease: key(&running), outcome: done }, at(9)).unwrap();
    assert_eq!(ended.invocation.hook_refs[3], "hook:inv_1/4");
    assert_eq!(classes(&ended)[0], EventClass::HookPostCompleted, "that they were asked is on record since then");

    let stopped = accept(acceptance, Preparation::Stopped { error: error(ErrorClass::HookBlocked) }, at(0)).unwrap();
    assert_eq!(stopped.invocation.status, InvocationStatus::Denied);
    assert_eq!(stopped.terminal.unwrap().result.status, ResultStatus::Denied);
    assert!(stopped.events.iter().any(|event| event.class == EventClass::ExtInputMutated), "what was changed is told");
}

/// A call may wait for days while rules change every minute.
#[test]
fn of_many_decisions_and_hook_runs_the_first_and_the_newest_are_kept() {
    let mut record = ready(true, true).invocation;
    let first = record.permission_decision_refs.clone();
    let (mut forgotten, mut dropped) = (Vec::new(), Vec::new());
    for number in 0..5_000 {
        let decision = named(&format!("later_{number}"), Behavior::Allow);
        let kept = hooks_ran(&record, vec![hook("h", HookEvent::PermissionDecision)], at(1));
        let confirmed = apply(&kept.invocation, Command::Confirm { decision, replan: None }, at(1)).unwrap();
        assert!(confirmed.events.iter().any(|event| event.class == EventClass::PermissionDecided), "the log tells all");
        crate::invariant::check_change(&record, &confirmed.invocation).unwrap();
        for effect in kept.effects.iter().chain(&confirmed.effects) {
            match effect {
                Effect::ForgetDecision { decision_id } => forgotten.push(decision_id.to_string()),
                Effect::ForgetHook { hook_ref } => dropped.push(hook_ref.clone()),
                _ => {}
            }
        }
        record = confirmed.invocation;
    }
    let refs = &record.permission_decision_refs;
    assert_eq!((refs.len() as u64, refs[..first.len()] == first), (trail::DECISIONS.most() as u64, true));
    assert_eq!(refs.last().unwrap().as_str(), "later_4999");
    assert_eq!(record.decisions_left_out, 5_000 + first.len() as u64 - refs.len() as u64);
    assert_eq!((forgotten.len() as u64, forgotten[0].as_str()), (record.decisions_left_out, "later_7"));
    assert_eq!((record.hook_refs.len(), record.hooks_left_out), (trail::HOOKS.most(), 5_000 - 256));
    assert_eq!((record.hook_refs[63].as_str(), record.hook_refs[64].as_str()), ("hook:inv_1/64", "hook:inv_1/4809"));
    assert_eq!((dropped.len(), dropped[0].as_str()), (5_000 - 256, "hook:inv_1/65"));
    assert!(serde_json::to_vec(&record).unwrap().len() < 32 * 1024, "its row stays small");
}
