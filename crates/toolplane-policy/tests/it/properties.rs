//! What holds for every situation.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use toolplane_policy::{CallFacts, evaluate, evaluate_and_note, explain, suggestions};
use toolplane_records::explanation::HookVerdict;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::Behavior;

use crate::generate::{any_case, any_rule, hook, numbered};
use crate::naive;
use crate::world::{Case, NOW, now};

/// Random situations on which both evaluators must agree.
const COMPARED: u32 = 100_000;
/// Random situations for each of the other properties.
const CASES: u32 = 3_000;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 5_000, ..ProptestConfig::default() }
}

/// How much a decision lets through: more is looser.
fn looseness(behavior: Behavior) -> u8 {
    match behavior {
        Behavior::Deny => 0,
        Behavior::Ask | Behavior::Passthrough => 1,
        Behavior::Allow => 2,
    }
}

fn decided(case: &Case) -> Behavior {
    evaluate(&case.policy(), &case.call(), now()).behavior
}

#[test]
fn an_independent_evaluator_agrees() {
    let counts = std::cell::RefCell::new([0_u32; 3]);
    let outcome = TestRunner::new(config(COMPARED)).run(&any_case(), |case| {
        let verdict = evaluate(&case.policy(), &case.call(), now());
        let answer = naive::decide(&case);
        let mut matched = verdict.matched.clone();
        matched.sort();
        let found = (verdict.behavior, verdict.queue == "review", matched);
        prop_assert_eq!(found, (answer.behavior, answer.review, answer.matched), "{:?}", verdict.reason);
        if let Some(reason) = answer.reason {
            prop_assert_eq!(verdict.reason.reason_type, reason);
        }
        counts.borrow_mut()[usize::from(looseness(verdict.behavior))] += 1;
        Ok(())
    });
    outcome.unwrap();
    // A world in which one answer never comes up would prove little.
    let counts = counts.into_inner();
    assert!(counts.iter().all(|count| *count > COMPARED / 20), "deny, ask, allow: {counts:?}");
}

/// The call of `case` with the input of `other`.
fn with_input_of(case: &Case, other: &Case) -> CallFacts {
    let (subject, limit, label) = (other.subject.clone(), other.limit, other.label);
    Case { subject, limit, label, ..case.clone() }.call()
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn another_deny_or_ask_never_loosens(case in any_case(), added in any_rule(), deny: bool) {
        let behavior = if deny { Behavior::Deny } else { Behavior::Ask };
        let before = decided(&case);
        let mut rules = case.rules.clone();
        rules.push(toolplane_records::rule::PermissionRule { behavior, ..added });
        // An ask may turn a deny for want of a mode into nothing weaker than that deny.
        let after = decided(&Case { rules: numbered(rules), ..case });
        prop_assert!(looseness(after) <= looseness(before), "{before} became {after}");
    }

    #[test]
    fn a_hook_that_may_not_allow_never_loosens(case in any_case(), hook in hook()) {
        let before = decided(&case);
        let mut hooks = case.hooks.clone();
        hooks.push(HookVerdict { authoritative: false, ..hook });
        let after = decided(&Case { hooks, ..case });
        prop_assert!(looseness(after) <= looseness(before), "{before} became {after}");
    }

    #[test]
    fn rules_that_only_watch_change_nothing(case in any_case(), added in any_rule()) {
        let before = evaluate(&case.policy(), &case.call(), now());
        let mut rules = case.rules.clone();
        rules.push(toolplane_records::rule::PermissionRule { shadow: true, rule_id: "watcher".to_owned(), ..added });
        let after = evaluate(&Case { rules, ..case.clone() }.policy(), &case.call(), now());
        let silent = toolplane_policy::Verdict { shadow: before.shadow.clone(), ..after };
        prop_assert_eq!(silent, before);
    }

    #[test]
    fn the_order_of_rules_changes_nothing(case in any_case()) {
        let mut rules = case.rules.clone();
        rules.reverse();
        let reversed = Case { rules, ..case.clone() };
        prop_assert_eq!(case.policy().digest(), reversed.policy().digest());
        let there = evaluate(&case.policy(), &case.call(), now());
        prop_assert_eq!(there, evaluate(&reversed.policy(), &reversed.call(), now()));
    }

    #[test]
    fn an_explanation_explains_what_was_decided(case in any_case()) {
        let verdict = evaluate(&case.policy(), &case.call(), now());
        let (explained, explanation) = explain(&case.policy(), &case.call(), now());
        prop_assert_eq!(&explained, &verdict);
        let decided: Vec<&str> =
            explanation.rules.iter().filter(|rule| rule.decided).map(|rule| rule.rule_id.as_str()).collect();
        prop_assert_eq!(decided, verdict.deciding.as_deref().into_iter().collect::<Vec<_>>());
        for id in &verdict.matched {
            prop_assert!(explanation.rules.iter().any(|rule| rule.rule_id == *id && !rule.shadow));
        }
    }

    #[test]
    fn what_was_not_looked_at_changes_nothing(case in any_case(), other in any_case(), later in 0..3_i64) {
        let (policy, call) = (case.policy(), case.call());
        let (verdict, looked_at) = evaluate_and_note(&policy, &call, now());
        let mut changed = case.call();
        if !looked_at.input && !evaluate_and_note(&policy, &with_input_of(&case, &other), now()).1.input {
            changed = with_input_of(&case, &other);
        }
        if !looked_at.session {
            changed.caller.session = other.session.to_owned();
        }
        if !looked_at.surface {
            changed.caller.surface = "another".to_owned();
        }
        let then = Timestamp::from_millis(NOW + if looked_at.time { 0 } else { later });
        prop_assert_eq!(evaluate(&policy, &changed, then), verdict);
    }

    #[test]
    fn a_suggestion_answers_and_shows_what_it_matches(case in any_case()) {
        let (policy, call) = (case.policy(), case.call());
        let verdict = evaluate(&policy, &call, now());
        for update in suggestions(&policy, &call, &verdict, now()) {
            let mut rules = case.rules.clone();
            rules.extend(update.rules.iter().cloned());
            let after = Case { rules: rules.clone(), ..case.clone() };
            // The rules carry the preview as their examples, so building the set checks it as well.
            prop_assert_eq!(decided(&after), Behavior::Allow);
            let of_rules: usize = update.rules.iter().map(|rule| rule.matches.len()).sum();
            prop_assert_eq!(update.preview.matches.len(), of_rules);
            prop_assert!(update.rules.iter().all(|rule| !rule.not_matches.is_empty()));
            let mut never = case.rules.clone();
            never.extend(update.rejecting().rules);
            prop_assert_eq!(decided(&Case { rules: never, ..case.clone() }), Behavior::Deny);
        }
    }
}
