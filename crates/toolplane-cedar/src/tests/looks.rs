//! What policies can look at, and that the unknown is absent.

use std::sync::Arc;

use toolplane_matching::Certainty;
use toolplane_policy::FactName;
use toolplane_records::assurance::{CallAssurance, Confidence};

use super::*;

/// Whether a permit with this condition applies.
fn holds(condition: &str, facts: &CallFacts) -> bool {
    let verdict = decide(&format!("permit (principal, action, resource) when {{ {condition} }};"), facts);
    assert!(verdict.errors.is_empty(), "{condition}: {:?}", verdict.errors);
    verdict.behavior == Behavior::Allow
}

#[test]
fn unknown_facts_are_absent_and_known_ones_are_what_they_are() {
    let mut facts = reading(json!({}));
    for name in FactName::ALL {
        assert!(!holds(&format!("resource has {name}"), &facts), "{name}");
    }
    facts.safety.read_only = Certainty::Yes;
    facts.safety.destructive = Certainty::No;
    assert!(holds("resource has read_only && resource.read_only", &facts));
    assert!(holds("resource has destructive && !resource.destructive", &facts));
    assert!(!holds("resource has open_world", &facts));
    for absent in ["kind", "risk_level", "access_kinds"] {
        let mut bare = facts.clone();
        Arc::make_mut(&mut bare.tool).kind = None;
        assert!(!holds(&format!("resource has {absent}"), &bare), "{absent}");
    }
}

#[test]
fn claims_of_authors_who_are_not_trusted_count_only_against_the_call() {
    let mut facts = reading(json!({}));
    Arc::make_mut(&mut facts.tool).namespace = "mcp.files".to_owned();
    facts.safety.read_only = Certainty::Yes;
    facts.safety.destructive = Certainty::Yes;
    assert!(holds("!resource.trusted", &facts));
    assert!(!holds("resource has read_only", &facts));
    assert!(holds("resource has destructive && resource.destructive", &facts));
    facts.safety.trusted = vec![FactName::ReadOnly];
    assert!(holds("resource has read_only && resource.read_only", &facts));
}

#[test]
fn arguments_are_found_by_pointer_and_type() {
    let facts = reading(json!({
        "path": "src/a.rs", "limit": 7, "deep": {"a/b": {"~": true}}, "list": ["x", 2, false], "mixed": ["x", {}],
        "price": 1.5, "huge": 18_446_744_073_709_551_615_u64, "nothing": null
    }));
    for condition in [
        r#"context.arguments.text.hasTag("/path") && context.arguments.text.getTag("/path") like "src/*""#,
        r#"context.arguments.number.hasTag("/limit") && context.arguments.number.getTag("/limit") < 8"#,
        r#"context.arguments.switch.hasTag("/deep/a~1b/~0") && context.arguments.switch.getTag("/deep/a~1b/~0")"#,
        r#"context.arguments.list.hasTag("/list") && context.arguments.list.getTag("/list").containsAll(["x", "2", "false"])"#,
        r#"!context.arguments.list.hasTag("/mixed") && context.arguments.text.hasTag("/mixed/0")"#,
        r#"context.arguments.text.hasTag("/price") && context.arguments.text.getTag("/price") == "1.5""#,
        r#"context.arguments.text.hasTag("/huge") && context.arguments.text.getTag("/huge") == "18446744073709551615""#,
        r#"!context.arguments.text.hasTag("/nothing") && !context.arguments.text.hasTag("/limit")"#,
        "context.arguments.complete",
    ] {
        assert!(holds(condition, &facts), "{condition}");
    }
}

#[test]
fn redacted_values_and_what_is_too_much_are_missing() {
    let mut facts = reading(json!({"token": "[redacted]", "path": "a", "keys": ["[redacted]", "b"]}));
    facts.redacted = vec!["/token".to_owned(), "/keys/0".to_owned()];
    assert!(holds(r#"!context.arguments.text.hasTag("/token") && context.arguments.text.hasTag("/path")"#, &facts));
    assert!(holds(r#"!context.arguments.list.hasTag("/keys") && context.arguments.text.hasTag("/keys/1")"#, &facts));
    assert!(holds("!context.arguments.complete", &facts));
    let many: Vec<usize> = (0..2000).collect();
    let mut deep = json!("x");
    for _ in 0..20 {
        deep = json!([deep]);
    }
    for input in [json!({ "many": many }), json!({ "deep": deep }), json!({ "long": "x".repeat(70_000) })] {
        assert!(holds("!context.arguments.complete", &reading(input)));
    }
}

#[test]
fn what_the_agent_says_of_itself_is_there() {
    let mut facts = reading(json!({}));
    assert!(holds("!(context has confidence) && context.taints.isEmpty()", &facts));
    facts.signals.assurance = Some(CallAssurance {
        confidence: Confidence::new(0.29),
        taints: vec!["web".to_owned()],
        ..CallAssurance::default()
    });
    assert!(holds("context has confidence && context.confidence == 29", &facts));
    facts.caller.surface_policies = vec!["strict".to_owned()];
    assert!(holds(r#"context.surface_policies.contains("strict") && !context.surface_policies.contains("x")"#, &facts));
    assert!(holds(r#"context.taints.contains("web") && context.mode == "default" && context.can_ask"#, &facts));
}

#[test]
fn commands_are_seen_through_their_wrappers() {
    let facts = running("timeout 5 /usr/bin/git -C /tmp push origin && ls -l");
    for condition in [
        r#"context has commands && context.commands.programs.containsAll(["git", "ls"])"#,
        r#"context has commands && context.commands.beginnings.contains("git push")"#,
        "!(context has urls)",
    ] {
        assert!(holds(condition, &facts), "{condition}");
    }
    let plain = "context has commands && context.commands.plain";
    assert!(holds(plain, &running("ls -l")));
    assert!(!holds(plain, &running("ls $(cat x)")));
    assert!(!holds(plain, &running("$X")));
    assert!(!holds("context has commands", &reading(json!({}))));
}

#[test]
fn paths_and_urls_are_sets() {
    let mut facts = reading(json!({"path": "./src/../secrets/keys/a.pem"}));
    Arc::make_mut(&mut facts.tool).permission_matcher = "path_pattern".to_owned();
    for condition in [
        r#"context has paths && context.paths.beneath.containsAll(["secrets", "secrets/keys"])"#,
        r#"context has paths && context.paths.complete && !context.paths.outside"#,
    ] {
        assert!(holds(condition, &facts), "{condition}");
    }
    let mut outside = reading(json!({"path": "../../etc/passwd"}));
    Arc::make_mut(&mut outside.tool).permission_matcher = "path_pattern".to_owned();
    assert!(holds("context has paths && context.paths.outside", &outside));
    let mut facts = reading(json!({"url": "https://API.Example.org:8443/x"}));
    Arc::make_mut(&mut facts.tool).kind = Some(ToolKind::Function);
    Arc::make_mut(&mut facts.tool).permission_matcher = "url_pattern".to_owned();
    for condition in [
        r#"context has urls && context.urls.hosts.contains("api.example.org") && context.urls.schemes.contains("https")"#,
        r#"context has urls && context.urls.domains.containsAll(["api.example.org", "example.org", "org"])"#,
        "context has urls && context.urls.complete && !context.urls.non_public",
    ] {
        assert!(holds(condition, &facts), "{condition}");
    }
}

/// An operator's own schema: the input as a record with the fields its policies look at, and an action of one tool.
#[test]
fn an_own_schema_can_type_the_input_and_single_tools() {
    let own = crate::SCHEMA.replace(
        "    arguments: Arguments,\n",
        "    arguments: Arguments,\n    input?: { path?: String, limit?: Long },\n",
    );
    let own = format!(
        "{own}\naction \"pay.transfer\" in [call] appliesTo {{ principal: [Actor], resource: [Tool],
            context: {{ mode: String, input: {{ cents: Long, to: {{ iban: String }} }} }} }};"
    );
    let schema = PolicyText::new("own.cedarschema", own);
    let policies = r#"
        @id("read") permit (principal, action == Action::"call", resource)
        when { context has input && context.input has path && context.input.path like "docs/*" };
        @id("small") permit (principal, action == Action::"pay.transfer", resource)
        when { context.input.cents < 1000 && context.input.to.iban like "DE*" };
        @id("stop") forbid (principal, action == Action::"pay.transfer", resource)
        when { context.input.cents > 100000 };
        @id("any") @ask("") permit (principal, action in Action::"call", resource);
    "#;
    let loaded =
        CedarPolicies::load(&[PolicyText::new("p", policies)], Some(&schema), &PolicySettings::default()).unwrap();
    let paying = |input: Value| {
        let tool = ToolFacts::named(ToolId::from_trusted("tool_pay"), "pay.transfer", "pay");
        loaded.decide(&CallFacts::new(tool, JsonPayload::of(&input)))
    };
    let reads = loaded.decide(&reading(json!({"path": "docs/a"})));
    assert_eq!((reads.behavior, reads.policy_ids), (Behavior::Ask, as_strings(&["any"])));
    let small = paying(json!({"cents": 5, "to": {"iban": "DE1"}}));
    assert_eq!((small.behavior, small.errors.len()), (Behavior::Ask, 0), "`call` is above the tool's own action");
    assert_eq!(paying(json!({"cents": 500_000, "to": {"iban": "DE1"}})).behavior, Behavior::Deny);
    // The input is not what the schema promised: the forbid cannot be evaluated, and that is not taken for a no.
    let strange = paying(json!({"cents": "many", "to": 1}));
    assert_eq!(strange.behavior, Behavior::Ask);
    assert!(strange.policy_ids.contains(&"stop".to_owned()), "{strange:?}");
}
