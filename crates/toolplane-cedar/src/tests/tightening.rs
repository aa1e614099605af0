//! More policies that forbid or ask never make an answer weaker.

use proptest::prelude::*;

use super::*;

fn rank(behavior: Behavior) -> u8 {
    match behavior {
        Behavior::Allow => 0,
        Behavior::Passthrough => 1,
        Behavior::Ask => 2,
        Behavior::Deny => 3,
    }
}

/// Conditions that hold for some calls, and one that fails for large numbers.
const CONDITIONS: [&str; 6] = [
    "",
    "when { resource has read_only && resource.read_only }",
    "when { context.mode == \"plan\" }",
    "when { context.arguments.number.hasTag(\"/n\") && context.arguments.number.getTag(\"/n\") + 1 > 5 }",
    "unless { principal in Role::\"agent\" }",
    "when { context.taints.contains(\"web\") }",
];
const SCOPES: [&str; 4] = [
    "resource",
    "resource == Tool::\"files.read_file\"",
    "resource in Namespace::\"files\"",
    "resource in Namespace::\"web\"",
];

fn policy() -> impl Strategy<Value = String> {
    let effects = prop::sample::select(vec!["permit", "forbid", "@ask(\"?\") permit", "@ask(\"?\") forbid"]);
    of(effects)
}

fn tightening() -> impl Strategy<Value = String> {
    of(prop::sample::select(vec!["forbid", "@ask(\"?\") forbid", "@ask(\"?\") permit"]))
}

fn of(effect: impl Strategy<Value = &'static str>) -> impl Strategy<Value = String> {
    (effect, prop::sample::select(SCOPES.to_vec()), prop::sample::select(CONDITIONS.to_vec()))
        .prop_map(|(effect, scope, condition)| format!("{effect} (principal, action, {scope}) {condition};\n"))
}

fn call() -> impl Strategy<Value = CallFacts> {
    (any::<bool>(), any::<bool>(), any::<bool>(), prop::sample::select(vec![0, 9, i64::MAX])).prop_map(
        |(agent, known, plan, n)| {
            let mut facts = reading(json!({ "n": n }));
            facts.caller.roles.retain(|_| agent);
            facts.safety.read_only = if known { toolplane_matching::Certainty::Yes } else { Default::default() };
            facts.caller.mode =
                if plan { toolplane_records::mode::Mode::Plan } else { toolplane_records::mode::Mode::Default };
            facts
        },
    )
}

/// Loading takes long, deciding does not.
fn calls() -> impl Strategy<Value = Vec<CallFacts>> {
    prop::collection::vec(call(), 8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn more_of_them_never_loosen(policies in prop::collection::vec(policy(), 0..6), more in tightening(), calls in calls()) {
        let (before, after) = (load(&policies.concat()), load(&format!("{}{more}", policies.concat())));
        for facts in calls {
            let (before, after) = (before.decide(&facts), after.decide(&facts));
            prop_assert!(rank(after.behavior) >= rank(before.behavior), "{before:?} became {after:?}");
        }
    }

    #[test]
    fn order_and_files_change_nothing(policies in prop::collection::vec(policy(), 1..6), calls in calls()) {
        let name = |index: usize, text: &String| format!("@id(\"p{index}\") {text}");
        let named: Vec<String> = policies.iter().enumerate().map(|(index, text)| name(index, text)).collect();
        let files: Vec<PolicyText> = named.iter().rev().map(|text| PolicyText::new("f", text.clone())).collect();
        let forward = load(&named.concat());
        let backward = CedarPolicies::load(&files, None, &PolicySettings::default()).unwrap();
        for facts in calls {
            let (forward, backward) = (forward.decide(&facts), backward.decide(&facts));
            prop_assert_eq!(&forward.behavior, &backward.behavior);
            prop_assert_eq!(&forward.policy_ids, &backward.policy_ids);
            prop_assert_eq!(&forward.reason, &backward.reason);
        }
    }
}
