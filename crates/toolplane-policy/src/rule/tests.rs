//! Rules as people write them: what is accepted, what is refused, and how a refusal names the place.

use serde_json::json;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::{ArgumentCondition, RulePin};

use super::*;
use crate::call::CallFacts;
use crate::condition::FactTest;
use toolplane_records::rule::RuleScope;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, RuleSource};

fn record(behavior: Behavior, matcher: &str) -> PermissionRule {
    PermissionRule::new("r".to_owned(), RuleSource::ProjectSettings, behavior, matcher.to_owned())
}

fn allow(matcher: &str) -> PermissionRule {
    record(Behavior::Allow, matcher)
}

fn deny(matcher: &str) -> PermissionRule {
    record(Behavior::Deny, matcher)
}

fn check_refused(record: &PermissionRule, field: &str, wrong: &str) {
    let found = Rule::from_record(record).unwrap_err();
    let fits = |fault: &FieldViolation| fault.field == field && fault.description.contains(wrong);
    assert!(found.iter().any(fits), "wanted {field}: {wrong}\nfound {found:?}");
}

#[test]
fn rules_read_as_people_write_them() {
    for text in [
        "*",
        "files.*",
        "Bash",
        "Bash(git diff:*)",
        "Read(./secrets/**)",
        "Edit(//etc/**)",
        "WebFetch(domain:example.com)",
        "mcp__github__search",
        "http.fetch(domain:*.example.com)",
        "local.shell.exec(npm run test:*)",
        "files.write_file(src/**)",
    ] {
        let rule = Rule::from_record(&allow(text)).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
        assert_eq!(rule.matcher().to_string(), text);
    }
}

#[test]
fn wrong_matchers_are_refused() {
    for (text, wrong) in [
        ("Bash(", "without a `)`"),
        ("Bash(git", "without a `)`"),
        ("Bash()", "nothing in its brackets"),
        ("*(git:*)", "no pattern"),
        ("Agent(x)", "no pattern"),
        ("WebFetch(example.com)", "domain:"),
        ("Read(../x)", ".."),
        ("mcp__*", "server"),
        ("(a{1,1000}){1,1000}", "without a `)`"),
        ("", "must not be empty"),
    ] {
        let found = Rule::from_record(&allow(text)).err().unwrap_or_else(|| panic!("{text} was accepted"));
        assert!(found.iter().any(|fault| fault.field == "matcher"), "{text}: {found:?}");
        assert!(found.iter().any(|fault| fault.description.contains(wrong)), "{text}: {found:?}");
    }
    check_refused(&allow("Bash(regex:^git)"), "matcher", "may only deny or ask");
    for bad in ["Bash(regex:(a{1,1000}){1,1000})", "Bash(regex:(?<=x)y)", "Bash(regex:[)"] {
        assert!(Rule::from_record(&deny(bad)).is_err(), "{bad}");
    }
    check_refused(&allow(&format!("Bash({})", "x".repeat(5000))), "matcher", "longer than");
}

#[test]
fn every_fault_is_named_by_its_field() {
    check_refused(&PermissionRule { rule_id: "a b".to_owned(), ..allow("*") }, "rule_id", "only letters");
    check_refused(&record(Behavior::Passthrough, "*"), "behavior", "must be `allow`");
    check_refused(&PermissionRule { facts: vec!["readonly".to_owned()], ..allow("*") }, "facts[0]", "not one of");
    let twice = vec!["read_only".to_owned(), "!read_only".to_owned()];
    check_refused(&PermissionRule { facts: twice, ..allow("*") }, "facts[1]", "asked for twice");
    let condition = ArgumentCondition { pointer: "/a".to_owned(), op: "like".to_owned(), value: None };
    check_refused(&PermissionRule { arguments: vec![condition], ..allow("*") }, "arguments[0]", "not one of");
    let role = RuleScope { role: "root".to_owned(), ..RuleScope::default() };
    check_refused(&PermissionRule { scope: role, ..allow("*") }, "scope.role", "must be one of");
    let tenant = RuleScope { tenant: "acme*".to_owned(), ..RuleScope::default() };
    check_refused(&PermissionRule { scope: tenant, ..allow("*") }, "scope.tenant", "must not contain");
    let pin = RulePin { declaration_digest: Digest::of(b"{}"), registration: None };
    let other = RulePin { registration: Some(JsonPayload::from_checked("[]")), ..pin };
    check_refused(&PermissionRule { pin: Some(pin), ..deny("*") }, "pin", "goes only with `allow`");
    check_refused(&PermissionRule { pin: Some(other), ..allow("*") }, "pin.registration", "is not what");
    check_refused(&PermissionRule { reason: "x".repeat(401), ..allow("*") }, "reason", "more than 400");
    let (created_at, expires_at) = (Some(Timestamp::from_millis(5)), Some(Timestamp::from_millis(5)));
    check_refused(&PermissionRule { created_at, expires_at, ..allow("*") }, "expires_at", "after");
}

#[test]
fn all_faults_are_named_at_once() {
    let bad = PermissionRule { facts: vec!["x".to_owned(), "y".to_owned()], ..allow("Bash(") };
    assert_eq!(Rule::from_record(&bad).unwrap_err().len(), 3);
}

#[test]
fn facts_are_written_in_one_way() {
    for text in [
        "read_only",
        "!open_world",
        "untrusted",
        "risk:high",
        "risk>=medium",
        "!risk<low",
        "access:file_write",
        "effect:irreversible",
        "network:none",
        "taint:web page",
        "surface_policy:strict",
        "kind:shell_command",
    ] {
        let fact: FactTest = text.parse().unwrap();
        assert_eq!(fact.to_string(), text);
    }
    for text in ["is_read_only", "risk", "risk:huge", "access:files", "taint:", "surface_policy:", "kind:bash", "!", ""]
    {
        assert!(text.parse::<FactTest>().is_err(), "{text}");
    }
}

// --- examples ---

fn with_examples(rule: PermissionRule, matches: serde_json::Value, not_matches: serde_json::Value) -> PermissionRule {
    let list = |value: serde_json::Value| value.as_array().unwrap().iter().map(JsonPayload::of).collect();
    PermissionRule { matches: list(matches), not_matches: list(not_matches), ..rule }
}

fn check_examples(rule: PermissionRule, matches: serde_json::Value, not_matches: serde_json::Value) {
    let rule = with_examples(rule, matches, not_matches);
    Rule::from_record(&rule).unwrap_or_else(|faults| panic!("{}: {faults:?}", rule.matcher));
}

#[test]
fn examples_that_hold() {
    check_examples(
        allow("Bash(git diff:*)"),
        json!(["git diff", "git diff --stat"]),
        json!(["git push", "git diff; rm x"]),
    );
    check_examples(
        deny("Bash(rm:*)"),
        json!(["rm x", "ls && sudo rm -rf x", "bash -c 'rm x'"]),
        json!(["ls 'rm -rf x'"]),
    );
    check_examples(allow("Read(./docs/**)"), json!(["docs/a.md"]), json!(["secrets/a", "../docs/a.md"]));
    check_examples(
        allow("WebFetch(domain:example.com)"),
        json!(["example.com", "https://example.com/x"]),
        json!(["https://evil.test"]),
    );
    check_examples(allow("files.*"), json!(["files.read_file"]), json!(["http.fetch"]));
    check_examples(deny("mcp__github"), json!(["mcp__github__search"]), json!(["mcp__gitlab__search"]));
    check_examples(allow("local.shell.exec(ls:*)"), json!(["ls -l"]), json!(["lsof"]));
}

#[test]
fn examples_may_be_whole_calls() {
    let rule = PermissionRule {
        facts: vec!["read_only".to_owned(), "risk<=medium".to_owned()],
        arguments: vec![ArgumentCondition {
            pointer: "/limit".to_owned(),
            op: "le".to_owned(),
            value: Some(JsonPayload::of(&10)),
        }],
        ..allow("files.*")
    };
    check_examples(
        rule,
        json!([{ "tool": "files.read_file", "input": { "limit": 10 }, "facts": { "read_only": true, "risk": "low" } }]),
        json!([
            { "tool": "files.read_file", "input": { "limit": 11 }, "facts": { "read_only": true, "risk": "low" } },
            { "tool": "files.read_file", "input": { "limit": 10 }, "facts": { "risk": "low" } },
            { "tool": "files.read_file", "input": { "limit": 10 }, "facts": { "read_only": true } },
            { "tool": "http.fetch", "input": { "limit": 1 }, "facts": { "read_only": true, "risk": "low" } },
        ]),
    );
}

#[test]
fn examples_that_do_not_hold_refuse_the_rule() {
    let refused = |rule, matches, not_matches, field: &str, wrong: &str| {
        check_refused(&with_examples(rule, matches, not_matches), field, wrong);
    };
    refused(allow("Bash(git diff:*)"), json!(["git diff", "git push"]), json!([]), "match[1]", "does not surely match");
    refused(allow("Bash(git:*)"), json!([]), json!(["git push"]), "not_match[0]", "or may match");
    // A deny that may be about an example has not ruled it out.
    refused(deny("Bash(rm:*)"), json!([]), json!(["$X -rf y"]), "not_match[0]", "or may match");
    refused(allow("files.*"), json!([7]), json!([]), "match[0]", "must be a text, or an object");
    refused(allow("files.*"), json!([{ "tol": "x" }]), json!([]), "match[0]", "unknown field");
}

#[test]
fn scopes_are_exact_and_silence_is_outside() {
    let scope = RuleScope { session: "s1".to_owned(), role: "agent".to_owned(), ..RuleScope::default() };
    let rule = Rule::from_record(&PermissionRule { scope, ..allow("*") }).unwrap();
    let tool = toolplane_matching::ToolFacts::named(toolplane_records::ids::ToolId::from_trusted("t"), "a.t", "a");
    let mut call = CallFacts::new(tool, JsonPayload::of(&json!({})));
    assert!(!rule.is_in_scope(&call));
    call.caller.session = "s1".to_owned();
    assert!(!rule.is_in_scope(&call));
    call.caller.roles = vec!["operator".to_owned(), "agent".to_owned()];
    assert!(rule.is_in_scope(&call));
}

#[test]
fn expired_and_revoked_rules_are_not_in_force() {
    let end = Timestamp::from_millis(10);
    let rule = Rule::from_record(&PermissionRule { expires_at: Some(end), ..allow("*") }).unwrap();
    assert!(rule.is_in_force(Timestamp::from_millis(9)));
    assert!(!rule.is_in_force(end));
    let rule = Rule::from_record(&PermissionRule { revoked_at: Some(end), ..allow("*") }).unwrap();
    assert!(!rule.is_in_force(Timestamp::from_millis(1)));
}
