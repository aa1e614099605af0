use proptest::prelude::*;
use toolplane_matching::ToolFacts;
use toolplane_records::decision_request::CallerContext;
use toolplane_records::hook::{HookPermission, HookStop};
use toolplane_records::ids::{InvocationId, TenantId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ClassifierAuthority, HookEvent, PersistenceStrategy};

use super::{Folded, HookMeta, HookRun, Keeping, fold};
use crate::failure::HookFailure;
use crate::input::HookInput;
use crate::output::{Classified, HookOutput, strictness};
use crate::replacement::Replacement;

fn input() -> HookInput {
    let tool = ToolFacts::named(ToolId::from_trusted("tool:1"), "a.b", "a");
    let caller = CallerContext::of(TenantId::unauthenticated());
    HookInput::new(InvocationId::from_trusted("inv_1"), caller, tool, JsonPayload::from_checked("{}"))
}

fn run(name: &str, outcome: Result<HookOutput, HookFailure>) -> HookRun {
    let hook = HookMeta { hook_id: name.to_owned(), matcher: "*".to_owned(), ..HookMeta::default() };
    HookRun { hook, started_at: Timestamp::from_millis(1), ended_at: Timestamp::from_millis(2), outcome }
}

fn hint(behavior: Behavior) -> HookOutput {
    let permission = Some(HookPermission { behavior, message: "m".to_owned() });
    HookOutput { permission, ..HookOutput::default() }
}

fn failed() -> Result<HookOutput, HookFailure> {
    Err(HookFailure::ExitCode { code: 1 })
}

fn folded(event: HookEvent, runs: &[HookRun]) -> Folded {
    fold(event, &input(), runs.to_vec())
}

#[test]
fn the_last_input_counts_and_both_are_recorded() {
    let update = |json: &str| HookOutput {
        updated_input: Some(JsonPayload::from_checked(json.to_owned())),
        ..HookOutput::default()
    };
    let runs = [run("a", Ok(update(r#"{"n":1}"#))), run("b", Ok(hint(Behavior::Ask))), run("c", Ok(update("{}")))];
    let all = folded(HookEvent::PreToolUse, &runs);
    let steps: Vec<_> = all.updates.iter().map(|step| (step.hook_id.as_str(), step.input.text())).collect();
    assert_eq!(steps, [("a", r#"{"n":1}"#), ("c", "{}")]);
    assert_eq!(all.updated_input().unwrap().hook_id, "c");
    let recorded: Vec<_> = all.records.iter().map(|record| record.updated_input.is_some()).collect();
    assert_eq!(recorded, [true, false, true]);
    assert_eq!(all.behavior(), Behavior::Ask);
    assert!(all.records.iter().all(|record| record.invocation_id.is_some() && record.ended_at.is_some()));
}

#[test]
fn a_failed_hook_denies_before_the_call_and_withholds_after_it() {
    for event in [HookEvent::PreToolUse, HookEvent::PermissionRequest, HookEvent::PermissionDecision] {
        let all = folded(event, &[run("a", Ok(hint(Behavior::Allow))), run("b", failed())]);
        assert_eq!(all.behavior(), Behavior::Deny, "{event}");
        assert_eq!(all.failed.unwrap().message(), "hook `b` ended with exit code 1");
        assert_eq!(all.verdicts[1].message, "hook `b` ended with exit code 1");
        assert!(all.records[1].outputs[0].text().contains("hooks.exit_code"));
    }
    for event in [HookEvent::PostToolUse, HookEvent::PostToolUseFailure, HookEvent::ResultPersistence] {
        let all = folded(event, &[run("a", failed()), run("b", Ok(HookOutput::default()))]);
        assert_eq!((all.keeping, all.behavior()), (Keeping::Drop, Behavior::Passthrough), "{event}");
        assert_eq!(all.failed.unwrap().hook_id, "a");
    }
}

#[test]
fn a_stop_and_a_failure_are_last_words() {
    let stop = HookOutput { stop: Some(HookStop { reason: "enough".to_owned() }), ..HookOutput::default() };
    assert!(run("a", Ok(stop.clone())).is_last_word() && run("a", failed()).is_last_word());
    assert!(!run("a", Ok(hint(Behavior::Deny))).is_last_word());
    let all = folded(HookEvent::PreToolUse, &[run("a", Ok(hint(Behavior::Allow))), run("b", Ok(stop))]);
    assert_eq!(all.stop.unwrap().hook_id, "b");
}

#[test]
fn a_classifier_decides_what_the_operator_lets_it() {
    let classifier = |name: &str, authority, behavior| HookRun {
        hook: HookMeta { classifier_authority: Some(authority), ..run(name, failed()).hook },
        ..run(name, Ok(hint(behavior)))
    };
    use ClassifierAuthority::{Approve, Deny, Recommend};
    let one = folded(HookEvent::PreToolUse, &[classifier("c", Approve, Behavior::Allow)]);
    assert!(one.verdicts.is_empty(), "a classifier gives no hint of a hook");
    let check = one.classifier.unwrap();
    assert_eq!((check.classifier_ref.as_str(), check.behavior, check.pending), ("c", Some(Behavior::Allow), false));
    // One that is only recorded never hides one that decides, in whatever order.
    for runs in [
        [classifier("r", Recommend, Behavior::Deny), classifier("d", Deny, Behavior::Deny)],
        [classifier("d", Deny, Behavior::Deny), classifier("r", Recommend, Behavior::Deny)],
    ] {
        assert_eq!(folded(HookEvent::PreToolUse, &runs).classifier.unwrap().authority, Deny);
    }
    let mut pending = classifier("p", Approve, Behavior::Allow);
    let said = Classified { pending: true, behavior: Some(Behavior::Allow), ..Classified::default() };
    pending.outcome = Ok(HookOutput { classifier: Some(said), ..HookOutput::default() });
    let check =
        folded(HookEvent::PreToolUse, &[classifier("a", Approve, Behavior::Allow), pending]).classifier.unwrap();
    assert_eq!((check.pending, check.behavior), (true, None));
    let broken = HookRun { outcome: failed(), ..classifier("c", Approve, Behavior::Allow) };
    assert_eq!(folded(HookEvent::PreToolUse, &[broken]).behavior(), Behavior::Deny);
}

#[test]
fn large_values_are_recorded_by_their_digest() {
    let large = JsonPayload::of(&"x".repeat(20_000));
    let output = HookOutput { updated_output: Some(Replacement::of(large.clone()).unwrap()), ..HookOutput::default() };
    let all = folded(HookEvent::PostToolUse, &[run("a", Ok(output))]);
    assert_eq!(all.updated_output.unwrap().given, large);
    let recorded = all.records[0].updated_output.clone().unwrap();
    assert!(recorded.size() < 200 && recorded.text().contains(&large.digest().to_string()));
}

const KEEPINGS: [Keeping; 5] =
    [Keeping::AsUsual, Keeping::NeverPersist, Keeping::RefOnly, Keeping::Redact, Keeping::Drop];

/// What a way of keeping allows: to be shown inline, to be kept in the object store.
fn allows(keeping: Keeping) -> (bool, bool) {
    match keeping {
        Keeping::AsUsual => (true, true),
        Keeping::NeverPersist => (true, false),
        Keeping::RefOnly => (false, true),
        Keeping::Redact | Keeping::Drop => (false, false),
    }
}

#[test]
fn two_ways_of_keeping_allow_what_both_allow() {
    for (a, b) in KEEPINGS.iter().flat_map(|a| KEEPINGS.iter().map(move |b| (*a, *b))) {
        let both = a.and(b);
        let (shown, kept) = (allows(a).0 && allows(b).0, allows(a).1 && allows(b).1);
        assert_eq!(allows(both), (shown, kept), "{a:?} and {b:?}");
        assert_eq!(both, b.and(a));
        assert_eq!(a.and(a), a);
    }
    let strategies: Vec<_> = PersistenceStrategy::ALL.iter().map(|strategy| Keeping::of(*strategy)).collect();
    assert_eq!(strategies[..2], [Keeping::AsUsual, Keeping::AsUsual]);
}

fn behaviors() -> impl Strategy<Value = Behavior> {
    prop::sample::select(Behavior::ALL)
}

fn outcomes() -> impl Strategy<Value = Result<HookOutput, HookFailure>> {
    let texts = || prop::collection::vec("[a-c]{1,3}", 0..3);
    let parts = (
        prop::option::of(behaviors()),
        prop::option::of(Just("{}")),
        prop::option::of(Just("stop")),
        prop::option::of(prop::sample::select(PersistenceStrategy::ALL)),
        texts(),
        texts(),
    );
    let output = parts.prop_map(|(behavior, input, stop, persistence, additional_context, messages)| HookOutput {
        permission: behavior.map(|behavior| HookPermission { behavior, message: String::new() }),
        updated_input: input.map(JsonPayload::from_checked),
        stop: stop.map(|reason| HookStop { reason: reason.to_owned() }),
        persistence,
        additional_context,
        messages,
        ..HookOutput::default()
    });
    prop_oneof![9 => output.prop_map(Ok), 1 => Just(failed())]
}

fn runs() -> impl Strategy<Value = Vec<HookRun>> {
    let one = (outcomes(), any::<bool>()).prop_map(|(outcome, authoritative)| {
        let mut one = run("h", outcome);
        one.hook.authoritative = authoritative;
        one
    });
    prop::collection::vec(one, 0..6).prop_map(|mut runs| {
        runs.iter_mut().enumerate().for_each(|(index, run)| run.hook.hook_id = format!("h{index}"));
        runs
    })
}

fn looser(a: Keeping, b: Keeping) -> bool {
    let (a, b) = (allows(a), allows(b));
    (a.0 && !b.0) || (a.1 && !b.1)
}

proptest! {
    #[test]
    fn another_hook_never_loosens(runs in runs(), more in runs(), event in prop::sample::select(HookEvent::ALL)) {
        let fit = |mut run: HookRun| {
            run.outcome = run.outcome.map(|output| output.fit(event));
            run
        };
        let before: Vec<HookRun> = runs.into_iter().map(fit).collect();
        let mut after = before.clone();
        after.extend(more.into_iter().map(fit));
        let (few, all) = (folded(event, &before), folded(event, &after));
        prop_assert!(strictness(all.behavior()) >= strictness(few.behavior()));
        prop_assert!(all.stop.is_some() >= few.stop.is_some());
        prop_assert!(all.failed.is_some() >= few.failed.is_some());
        prop_assert!(!looser(all.keeping, few.keeping));
        prop_assert_eq!(all.records.len(), after.len());
    }

    #[test]
    fn order_is_kept_and_the_strictest_counts(runs in runs()) {
        let all = folded(HookEvent::PreToolUse, &runs);
        let hooks: Vec<_> = all.records.iter().map(|record| record.hook_id.clone()).collect();
        let asked: Vec<_> = runs.iter().map(|run| run.hook.hook_id.clone()).collect();
        prop_assert_eq!(hooks, asked);
        let strictest = runs.iter().map(|run| match &run.outcome {
            Err(_) => 3,
            Ok(output) => output.permission.as_ref().map_or(0, |hint| strictness(hint.behavior)),
        });
        prop_assert_eq!(strictness(all.behavior()), strictest.max().unwrap_or(0));
        let context: Vec<_> = all.additional_context.iter().map(|said| said.text.clone()).collect();
        let said: Vec<_> =
            runs.iter().filter_map(|run| run.outcome.as_ref().ok()).flat_map(|out| out.additional_context.clone()).collect();
        prop_assert_eq!(context, said);
        let last = runs.iter().rev().find(|run| run.outcome.as_ref().is_ok_and(|output| output.updated_input.is_some()));
        prop_assert_eq!(all.updated_input().map(|step| &step.hook_id), last.map(|run| &run.hook.hook_id));
    }
}
