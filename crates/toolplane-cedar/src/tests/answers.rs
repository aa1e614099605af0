//! Forbid, permit and ask, and who determined the answer.

use super::*;

const ALL: &str = "permit (principal, action, resource);";

#[test]
fn a_forbid_denies_a_permit_allows_and_otherwise_there_is_no_opinion() {
    let call = reading(json!({}));
    check("", &call, Behavior::Passthrough, &[]);
    check(ALL, &call, Behavior::Allow, &["org.cedar#1"]);
    check("forbid (principal, action, resource);", &call, Behavior::Deny, &["org.cedar#1"]);
    check(r#"permit (principal, action, resource == Tool::"shell.exec");"#, &call, Behavior::Passthrough, &[]);
    check(r#"permit (principal, action == Action::"call", resource);"#, &call, Behavior::Allow, &["org.cedar#1"]);
}

#[test]
fn deny_wins_over_ask_and_ask_over_allow() {
    let call = reading(json!({}));
    let ask = r#"@id("ask") @ask("look first") permit (principal, action, resource);"#;
    let forbid = r#"@id("no") @reason("not here") forbid (principal, action, resource);"#;
    let gently = r#"@id("gently") @ask("are you sure?") forbid (principal, action, resource);"#;
    check(ask, &call, Behavior::Ask, &["ask"]);
    check(gently, &call, Behavior::Ask, &["gently"]);
    check(&format!("{ALL}{ask}"), &call, Behavior::Ask, &["ask"]);
    check(&format!("{ALL}{gently}"), &call, Behavior::Ask, &["gently"]);
    check(&format!("{ALL}{ask}{gently}{forbid}"), &call, Behavior::Deny, &["no"]);
    assert_eq!(decide(ask, &call).reason, "look first");
    assert_eq!(decide(gently, &call).reason, "are you sure?");
    assert_eq!(decide(forbid, &call).reason, "not here");
}

#[test]
fn every_determining_policy_is_named_whatever_slice_it_is_in() {
    let policies = r#"
        @id("a") forbid (principal, action, resource == Tool::"files.read_file");
        @id("b") forbid (principal, action, resource in Namespace::"files");
        @id("c") forbid (principal, action, resource in ToolKind::"file_operation");
        @id("d") forbid (principal, action, resource is Tool in Namespace::"files");
        @id("e") forbid (principal, action, resource is Tool);
        @id("f") forbid (principal, action, resource in Namespace::"web");
        @id("g") permit (principal, action, resource);
    "#;
    check(policies, &reading(json!({})), Behavior::Deny, &["a", "b", "c", "d", "e"]);
    check(policies, &running("ls"), Behavior::Deny, &["e"]);
}

#[test]
fn nested_namespaces_tenants_and_roles_are_groups() {
    let call = running("ls");
    check(r#"permit (principal, action, resource in Namespace::"local");"#, &call, Behavior::Allow, &["org.cedar#1"]);
    check(r#"permit (principal, action, resource in Namespace::"loc");"#, &call, Behavior::Passthrough, &[]);
    let call = reading(json!({}));
    for scope in [r#"in Role::"agent""#, r#"in Tenant::"acme""#, r#"== Actor::"alice""#, "is Actor"] {
        check(&format!("permit (principal {scope}, action, resource);"), &call, Behavior::Allow, &["org.cedar#1"]);
    }
    for scope in [r#"in Role::"operator""#, r#"in Tenant::"other""#, r#"== Actor::"bob""#] {
        check(&format!("permit (principal {scope}, action, resource);"), &call, Behavior::Passthrough, &[]);
    }
}

/// 64-bit arithmetic overflows at evaluation, which no validation can rule out.
#[test]
fn an_error_never_makes_the_answer_weaker() {
    let call = reading(json!({"n": i64::MAX}));
    let fails = r#"when { context.arguments.number.hasTag("/n") && context.arguments.number.getTag("/n") + 1 > 0 };"#;
    let check = |policies: &str, behavior: Behavior, ids: &[&str]| {
        let verdict = decide(policies, &call);
        assert_eq!((verdict.behavior, verdict.policy_ids), (behavior, as_strings(ids)), "{policies}");
        assert_eq!(verdict.errors.len(), 1, "{policies}");
        assert!(verdict.errors[0].contains("overflow"), "{:?}", verdict.errors);
    };
    let forbid = format!("@id(\"no\") forbid (principal, action, resource) {fails}");
    check(&forbid, Behavior::Ask, &["no"]);
    check(&format!("{ALL}{forbid}"), Behavior::Ask, &["no"]);
    check(&format!("@id(\"all\") forbid (principal, action, resource);{forbid}"), Behavior::Deny, &["all"]);
    check(&format!("@id(\"q\") @ask(\"\") permit (principal, action, resource) {fails}"), Behavior::Ask, &["q"]);
    check(&format!("@id(\"yes\") permit (principal, action, resource) {fails}"), Behavior::Passthrough, &[]);
    check(
        &format!("{ALL}@id(\"yes\") permit (principal, action, resource) {fails}"),
        Behavior::Allow,
        &["org.cedar#1"],
    );
}

#[test]
fn the_digest_covers_texts_names_schema_and_settings() {
    let settings = PolicySettings::default();
    let load = |name: &str, text: &str, schema: Option<&PolicyText>, settings: &PolicySettings| {
        CedarPolicies::load(&[PolicyText::new(name, text)], schema, settings).unwrap().digest()
    };
    let first = load("a", ALL, None, &settings);
    assert_eq!(first, load("a", ALL, None, &settings));
    let schema = PolicyText::new("own", format!("{}\nentity Mine;", crate::SCHEMA));
    let strict = PolicySettings { untrusted_namespaces: vec!["files".to_owned()], ..settings.clone() };
    let others = [
        load("b", ALL, None, &settings),
        load("a", &format!("{ALL} "), None, &settings),
        load("a", ALL, Some(&schema), &settings),
        load("a", ALL, None, &strict),
    ];
    assert!(!others.contains(&first));
}

#[test]
fn the_example_policies_are_loaded_and_mean_what_they_say() {
    let example = include_str!("../../../../deploy/examples/policies/base.cedar");
    assert!(load(example).warnings().is_empty());
    let mut call = reading(json!({}));
    check(example, &call, Behavior::Passthrough, &[]);
    call.safety.read_only = toolplane_matching::Certainty::Yes;
    check(example, &call, Behavior::Allow, &["readers"]);
    check(example, &running("cd infra && kubectl delete pod x"), Behavior::Deny, &["no-cluster-tools"]);
}
