//! What no policy looks at is not made of a call, and no answer is another one for it.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use toolplane_matching::Certainty;
use toolplane_policy::LookedAt;
use toolplane_records::assurance::{CallAssurance, Confidence};
use toolplane_records::mode::Mode;

use super::*;
use crate::wanted::Wanted;

const POLICIES: &[&str] = &[
    r#"forbid (principal, action, resource) when { context has commands && context.commands.programs.contains("rm") };"#,
    r#"forbid (principal, action, resource) when { context has paths && context.paths.beneath.contains("src") };"#,
    r#"permit (principal in Role::"agent", action, resource in Namespace::"files");"#,
    r#"permit (principal == Actor::"alice", action in [Action::"call"], resource is Tool in ToolKind::"shell_command");"#,
    r#"permit (principal, action, resource) when { principal in Tenant::"acme" && principal.tenant == "acme" };"#,
    r#"permit (principal, action, resource) when { resource has read_only && resource.read_only };"#,
    r#"forbid (principal, action, resource) when { resource.trusted && resource.id == "tool_shell_exec" };"#,
    r#"@ask("sure?") permit (principal, action, resource) when { context has confidence && context.confidence < 90 };"#,
    r#"forbid (principal, action, resource) when { context.taints.contains("web") };"#,
    r#"permit (principal, action, resource) when { context.mode == "plan" || context.session == "s1" };"#,
    r#"forbid (principal, action, resource)
       when { context.arguments.number.hasTag("/limit") && context.arguments.number.getTag("/limit") + 9223372036854775807 > 0 };"#,
    r#"permit (principal, action, resource) when { context.arguments.text.hasTag("/path") };"#,
    r#"permit (principal, action, resource) unless { context.arguments.complete };"#,
    r#"forbid (principal, action, resource) when { Namespace::"local.shell" in Namespace::"local" };"#,
    r#"permit (principal, action, resource) when { resource has "kind" && resource["kind"] == "file_operation" };"#,
];

fn any_call() -> impl Strategy<Value = CallFacts> {
    let input = select(vec![
        json!({ "path": "src/a.rs", "limit": 7 }),
        json!({ "path": "docs/b", "list": ["a"], "on": true }),
        json!({ "command": "rm x > src/y" }),
        json!([1, 2]),
    ]);
    let who = (select(vec!["acme", "other"]), select(vec!["alice", ""]), select(vec!["agent", "operator"]));
    let (place, mode) = (select(vec!["", "s1"]), select(vec![Mode::Default, Mode::Plan]));
    let known = select(vec![Certainty::No, Certainty::Unknown, Certainty::Yes]);
    let sure = select(vec![None, Some(0.5), Some(0.95)]);
    (any::<bool>(), input, who, place, mode, known, sure, any::<bool>()).prop_map(
        |(runs, input, (tenant, actor, role), session, mode, read_only, sure, tainted)| {
            let mut facts = if runs { running("rm x") } else { reading(json!({})) };
            facts.input = JsonPayload::of(&input);
            facts.caller = CallerFacts {
                tenant: tenant.to_owned(),
                actor: actor.to_owned(),
                roles: vec![role.to_owned()],
                session: session.to_owned(),
                mode,
                ..CallerFacts::default()
            };
            facts.safety.read_only = read_only;
            facts.signals.assurance = sure.map(|sure| CallAssurance {
                confidence: Confidence::new(sure),
                taints: if tainted { vec!["web".to_owned()] } else { Vec::new() },
                ..CallAssurance::default()
            });
            facts
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_no_policy_looks_at_changes_no_answer(chosen in subsequence(POLICIES.to_vec(), 1..6), call in any_call()) {
        let policies = load(&chosen.concat());
        let mut whole = load(&chosen.concat());
        whole.wanted = Wanted::Everything;
        prop_assert_eq!(policies.decide(&call), whole.decide(&call));
    }
}

#[test]
fn a_policy_that_compares_the_whole_context_is_shown_all_of_it() {
    let wanted = |text: &str| load(text).wanted;
    let named = wanted("permit (principal, action, resource) when { context.session == \"s\" };");
    assert!(named.has("session") && !named.has("mode"), "{named:?}");
    let escaped = wanted(r#"permit (principal, action, resource) when { context["\u{73}urface"] == "s" };"#);
    assert!(escaped.has("surface"), "{escaped:?}");
    let whole = wanted("permit (principal, action, resource) when { [context].contains(context) };");
    assert_eq!(whole, Wanted::Everything);
}

#[test]
fn policies_say_which_facts_of_calls_they_look_at() {
    let looks =
        |condition: &str| load(&format!("permit (principal, action, resource) when {{ {condition} }};")).looks_at();
    let nothing = LookedAt::NOTHING;
    assert_eq!(looks("resource.trusted && principal in Role::\"agent\" && context.mode == \"plan\""), nothing);
    assert_eq!(looks("context.session == \"s\""), LookedAt { session: true, ..nothing });
    assert_eq!(looks("context.surface == \"s\""), LookedAt { surface: true, ..nothing });
    let policies = looks("context.surface_policies.contains(\"strict\")");
    assert_eq!(policies, LookedAt { surface: true, ..nothing });
    assert_eq!(looks("context.arguments.complete"), LookedAt { input: true, ..nothing });
    assert_eq!(looks("context has urls && context.urls.non_public"), LookedAt { input: true, ..nothing });
    assert_eq!(looks("[context].contains(context)"), LookedAt { time: false, ..LookedAt::EVERYTHING });
}
