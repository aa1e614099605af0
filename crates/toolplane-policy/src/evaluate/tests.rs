//! Decisions: a table for people, and an independent evaluator that must always agree.

use proptest::prelude::*;
use toolplane_records::ids::ToolId;
use toolplane_records::invocation::InputSafety;
use toolplane_records::vocabulary::RuleSource;

use super::*;
use crate::config::PolicyConfig;
use crate::facts::FactName;
use crate::matcher::{FactCondition, Matcher, ToolPattern};

fn rules(text: &str) -> RuleSet {
    RuleSet::from_config(&toml::from_str::<PolicyConfig>(text).unwrap()).unwrap()
}

/// A known harmless reader, `files.read_file`, that also answers to `read_file`.
fn reader() -> Facts {
    let known = |read_only| InputSafety {
        is_read_only: read_only,
        is_concurrency_safe: true,
        is_destructive: false,
        is_open_world: false,
        is_idempotent: true,
        requires_exclusive_context: false,
    };
    let facts = Facts::of_tool(ToolId::from_trusted("tool_files_read"), "files.read_file", "files");
    Facts { other_names: vec!["read_file".to_owned()], ..facts.with_safety(&known(true), []) }
}

fn check(rules: &RuleSet, facts: &Facts, behavior: Behavior, source: &str) {
    let verdict = evaluate(rules, facts);
    assert_eq!((verdict.behavior, verdict.source.as_str()), (behavior, source), "{verdict:?}");
}

#[test]
fn deny_beats_ask_beats_allow_whatever_the_order() {
    let allow = r#"{ behavior = "allow", tool = "files.*" }"#;
    let ask = r#"{ behavior = "ask", tool = "namespace:files", source = "session" }"#;
    let deny = r#"{ behavior = "deny", tool = "tool_files_read", source = "policy_settings" }"#;
    check(&rules(&format!("rules = [{allow}]")), &reader(), Behavior::Allow, "project_settings");
    for order in [format!("{allow}, {ask}"), format!("{ask}, {allow}")] {
        check(&rules(&format!("rules = [{order}]")), &reader(), Behavior::Ask, "session");
    }
    for order in [format!("{allow}, {ask}, {deny}"), format!("{deny}, {allow}, {ask}")] {
        check(&rules(&format!("rules = [{order}]")), &reader(), Behavior::Deny, "policy_settings");
    }
}

#[test]
fn no_rule_means_ask() {
    check(&RuleSet::default(), &reader(), Behavior::Ask, "default");
    check(&rules(r#"rules = [{ behavior = "allow", tool = "files" }]"#), &reader(), Behavior::Ask, "default");
    check(&rules(r#"rules = [{ behavior = "allow", tool = "namespace:file" }]"#), &reader(), Behavior::Ask, "default");
}

#[test]
fn the_verdict_names_every_rule_that_fits() {
    let set = rules(
        r#"rules = [
            { id = "a", behavior = "allow", tool = "*" },
            { id = "b", behavior = "deny", tool = "other.*" },
            { id = "c", behavior = "ask", tool = "files.read_file", reason = "look first" },
        ]"#,
    );
    let verdict = evaluate(&set, &reader());
    assert_eq!(verdict.matched, ["a", "c"]);
    assert_eq!(verdict.deciding.as_deref(), Some("c"));
    assert_eq!(verdict.reason.rule_ref.as_deref(), Some("c"));
    assert_eq!(verdict.reason.message, "the rule `c` says ask: look first");
}

#[test]
fn an_alias_is_no_way_around_a_deny_and_no_way_into_an_allow() {
    check(
        &rules(r#"rules = [{ behavior = "deny", tool = "read_file" }]"#),
        &reader(),
        Behavior::Deny,
        "project_settings",
    );
    check(&rules(r#"rules = [{ behavior = "allow", tool = "read_file" }]"#), &reader(), Behavior::Ask, "default");
}

#[test]
fn unknown_facts_satisfy_no_allow_and_pass_no_deny() {
    let unknown = Facts { read_only: Certainty::Unknown, destructive: Certainty::Unknown, ..reader() };
    let allow = rules(r#"rules = [{ behavior = "allow", tool = "*", facts = ["read_only"] }]"#);
    check(&allow, &reader(), Behavior::Allow, "project_settings");
    check(&allow, &unknown, Behavior::Ask, "default");
    let not_destructive = rules(r#"rules = [{ behavior = "allow", tool = "*", facts = ["!destructive"] }]"#);
    check(&not_destructive, &reader(), Behavior::Allow, "project_settings");
    check(&not_destructive, &unknown, Behavior::Ask, "default");
    let deny = rules(
        r#"rules = [{ behavior = "allow", tool = "*" }, { behavior = "deny", tool = "*", facts = ["destructive"], source = "session" }]"#,
    );
    check(&deny, &reader(), Behavior::Allow, "project_settings");
    check(&deny, &unknown, Behavior::Ask, "session");
    check(&deny, &Facts { destructive: Certainty::Yes, ..reader() }, Behavior::Deny, "session");
}

#[test]
fn destructive_calls_and_sensitive_sinks_are_never_just_allowed() {
    let all = rules(r#"rules = [{ behavior = "allow", tool = "*" }]"#);
    for facts in [
        Facts { destructive: Certainty::Yes, read_only: Certainty::No, ..reader() },
        Facts { sensitive_sink: Certainty::Yes, ..reader() },
    ] {
        check(&all, &facts, Behavior::Ask, "safety_floor");
        let deny = rules(r#"rules = [{ behavior = "deny", tool = "*" }]"#);
        check(&deny, &facts, Behavior::Deny, "project_settings");
    }
    assert_eq!(
        evaluate(&all, &Facts { destructive: Certainty::Yes, ..reader() }).reason.reason_type,
        ReasonType::SafetyCheck
    );
}

#[test]
fn nobody_to_ask_means_no() {
    let facts = Facts { can_ask: false, ..reader() };
    let verdict = evaluate(&RuleSet::default(), &facts);
    assert_eq!((verdict.behavior, verdict.reason.reason_type), (Behavior::Deny, ReasonType::AsyncAgent));
    let ask = rules(r#"rules = [{ id = "look", behavior = "ask", tool = "*" }]"#);
    let verdict = evaluate(&ask, &facts);
    assert_eq!((verdict.behavior, verdict.deciding.as_deref()), (Behavior::Deny, Some("look")));
    check(&rules(r#"rules = [{ behavior = "allow", tool = "*" }]"#), &facts, Behavior::Allow, "project_settings");
}

#[test]
fn defaults_of_a_safety_evaluation_are_not_knowledge() {
    let safety = InputSafety { is_open_world: true, ..InputSafety::default() };
    let facts =
        Facts::of_tool(ToolId::from_trusted("t"), "a.t", "a").with_safety(&safety, ["is_read_only", "is_open_world"]);
    assert_eq!(
        (facts.read_only, facts.destructive, facts.open_world),
        (Certainty::Unknown, Certainty::No, Certainty::Unknown)
    );
}

// --- an evaluator written another way round: it tries every assignment of the unknown facts ---

const NAMES: [&str; 5] = ["files.read", "files.write", "files.sub.read", "web.get", "fil"];

fn naive(rules: &RuleSet, facts: &Facts) -> Behavior {
    let unknown: Vec<FactName> =
        FactName::ALL.iter().copied().filter(|name| facts.certainty(*name) == Certainty::Unknown).collect();
    let worlds: Vec<Vec<(FactName, bool)>> = (0..1u32 << unknown.len())
        .map(|bits| unknown.iter().enumerate().map(|(i, name)| (*name, bits >> i & 1 == 1)).collect())
        .collect();
    let holds_in = |rule: &Rule, world: &[(FactName, bool)]| {
        tool_fits(rule, facts)
            && rule.matcher.facts.iter().all(|condition| {
                let guessed = world.iter().find(|(name, _)| *name == condition.name).map(|(_, value)| *value);
                guessed.unwrap_or(facts.certainty(condition.name) == Certainty::Yes) == condition.holds
            })
    };
    let always = |behavior| {
        rules.rules().iter().any(|rule| rule.behavior == behavior && worlds.iter().all(|world| holds_in(rule, world)))
    };
    let perhaps = |behavior| {
        rules.rules().iter().any(|rule| rule.behavior == behavior && worlds.iter().any(|world| holds_in(rule, world)))
    };
    let question = if facts.can_ask { Behavior::Ask } else { Behavior::Deny };
    if always(Behavior::Deny) {
        Behavior::Deny
    } else if perhaps(Behavior::Ask)
        || perhaps(Behavior::Deny)
        || facts.destructive == Certainty::Yes
        || facts.sensitive_sink == Certainty::Yes
        || !always(Behavior::Allow)
    {
        question
    } else {
        Behavior::Allow
    }
}

fn tool_fits(rule: &Rule, facts: &Facts) -> bool {
    let written = rule.matcher.tool.to_string();
    let mut names = vec![facts.tool_id.as_str(), facts.full_name.as_str()];
    if rule.behavior != Behavior::Allow {
        names.extend(facts.other_names.iter().map(String::as_str));
    }
    if let Some(namespace) = written.strip_prefix("namespace:") {
        return facts.namespace == namespace || facts.namespace.starts_with(&format!("{namespace}."));
    }
    match written.split_once('*') {
        Some((prefix, _)) => prefix.is_empty() || names.iter().any(|name| name.starts_with(prefix)),
        None => names.contains(&written.as_str()),
    }
}

fn any_rule() -> impl Strategy<Value = (Behavior, ToolPattern, Vec<FactCondition>)> {
    let behavior = prop::sample::select(vec![Behavior::Allow, Behavior::Ask, Behavior::Deny]);
    let pattern = prop_oneof![
        Just("*".to_owned()),
        prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        prop::sample::select(NAMES.to_vec()).prop_map(|name| format!("{}*", &name[..name.len().min(4)])),
        prop::sample::select(vec!["files", "files.sub", "web"]).prop_map(|name| format!("namespace:{name}")),
    ]
    .prop_map(|text| text.parse::<ToolPattern>().unwrap());
    let facts = prop::sample::subsequence(FactName::ALL.to_vec(), 0..=2)
        .prop_flat_map(|names| (prop::collection::vec(any::<bool>(), names.len()), Just(names)))
        .prop_map(|(holds, names)| {
            names.into_iter().zip(holds).map(|(name, holds)| FactCondition { name, holds }).collect()
        });
    (behavior, pattern, facts)
}

fn any_certainty() -> impl Strategy<Value = Certainty> {
    prop::sample::select(vec![Certainty::No, Certainty::Unknown, Certainty::Yes])
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let name = prop::sample::select(NAMES.to_vec());
    let facts = [any_certainty(), any_certainty(), any_certainty(), any_certainty(), any_certainty()];
    (name.clone(), prop::option::of(name), facts, any::<bool>()).prop_map(|(name, alias, facts, can_ask)| Facts {
        tool_id: ToolId::from_trusted(format!("tool_{}", name.replace('.', "_"))),
        full_name: name.to_owned(),
        namespace: name.rsplit_once('.').map_or(name, |(namespace, _)| namespace).to_owned(),
        other_names: alias.into_iter().map(str::to_owned).collect(),
        read_only: facts[0],
        destructive: facts[1],
        open_world: facts[2],
        sensitive_sink: facts[3],
        approval_required: facts[4],
        can_ask,
    })
}

fn any_set() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(any_rule(), 0..6).prop_map(|rules| {
        let rule = |(index, (behavior, tool, facts)): (usize, (Behavior, ToolPattern, Vec<FactCondition>))| Rule {
            id: format!("r{index}"),
            source: RuleSource::Session,
            behavior,
            matcher: Matcher { tool, facts },
            reason: String::new(),
        };
        rules.into_iter().enumerate().map(rule).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_evaluators_agree(rules in any_set(), facts in any_facts()) {
        let set = RuleSet::new(rules);
        prop_assert_eq!(evaluate(&set, &facts).behavior, naive(&set, &facts));
    }

    #[test]
    fn knowing_less_never_allows_more(rules in any_set(), facts in any_facts()) {
        let set = RuleSet::new(rules);
        let vague = Facts { read_only: Certainty::Unknown, open_world: Certainty::Unknown, ..facts.clone() };
        if evaluate(&set, &vague).behavior == Behavior::Allow {
            prop_assert_eq!(evaluate(&set, &facts).behavior, Behavior::Allow);
        }
    }

    #[test]
    fn the_order_of_rules_decides_nothing(rules in any_set(), facts in any_facts()) {
        let mut reversed = rules.clone();
        reversed.reverse();
        let (there, back) = (evaluate(&RuleSet::new(rules), &facts), evaluate(&RuleSet::new(reversed), &facts));
        prop_assert_eq!(there.behavior, back.behavior);
    }
}
