//! What is suggested for which call.

use std::sync::Arc;

use serde_json::json;
use toolplane_records::ids::{ProfileId, ToolId};
use toolplane_records::profile::PermissionProfile;
use toolplane_records::vocabulary::ToolKind;

use super::*;
use crate::evaluate;
use toolplane_matching::ToolFacts;
use toolplane_records::mode::Mode;

fn call(matcher: &str, field: &str, text: &str) -> CallFacts {
    let (name, namespace) = match matcher {
        "shell_pattern" => ("local.shell.exec", "local.shell"),
        "url_pattern" => ("http.fetch", "http"),
        "path_pattern" => ("files.write_file", "files"),
        _ => ("notes.add", "notes"),
    };
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool_x"), name, namespace);
    tool.permission_matcher = matcher.to_owned();
    tool.kind = Some(ToolKind::Function);
    let mut call = CallFacts::new(tool, JsonPayload::of(&json!({ field: text })));
    call.caller.tenant = "acme".to_owned();
    call.caller.session = "s1".to_owned();
    call.caller.actor = "ann".to_owned();
    call
}

fn suggested(call: &CallFacts) -> Vec<SuggestedUpdate> {
    let settings = crate::PolicySettings { trust_repositories: true, ..Default::default() };
    let policy = Policy { settings: settings.into(), ..Policy::default() };
    let now = Timestamp::from_millis(0);
    suggestions(&policy, call, &evaluate(&policy, call, now), now)
}

fn check(call: &CallFacts, expected: &[(RuleSource, &[&str])]) {
    let found = suggested(call);
    let shown: Vec<(RuleSource, Vec<&str>)> = found
        .iter()
        .map(|update| (update.destination, update.rules.iter().map(|rule| rule.matcher.as_str()).collect()))
        .collect();
    let expected: Vec<(RuleSource, Vec<&str>)> =
        expected.iter().map(|(place, rules)| (*place, rules.to_vec())).collect();
    assert_eq!(shown, expected, "{}", call.input.text());
}

const SESSION: RuleSource = RuleSource::Session;
const PROJECT: RuleSource = RuleSource::ProjectSettings;
const USER: RuleSource = RuleSource::UserSettings;

#[test]
fn commands_from_the_exact_one_to_a_prefix() {
    let shell = |text: &str| call("shell_pattern", "command", text);
    check(
        &shell("git diff --stat"),
        &[
            (SESSION, &["local.shell.exec(git diff --stat)"]),
            (PROJECT, &["local.shell.exec(git diff --stat)"]),
            (PROJECT, &["local.shell.exec(git diff:*)"]),
            (USER, &["local.shell.exec(git diff:*)"]),
        ],
    );
    check(
        &shell("npm run test:unit && ls -l"),
        &[
            (SESSION, &["local.shell.exec(npm run test:unit)", "local.shell.exec(ls -l)"]),
            (PROJECT, &["local.shell.exec(npm run test:unit)", "local.shell.exec(ls -l)"]),
            (PROJECT, &["local.shell.exec(npm run test:unit:*)", "local.shell.exec(ls:*)"]),
            (USER, &["local.shell.exec(npm run test:unit:*)", "local.shell.exec(ls:*)"]),
        ],
    );
}

#[test]
fn without_a_session_the_exact_call_is_still_offered_first() {
    let mut call = call("shell_pattern", "command", "git diff --stat");
    call.caller.session = String::new();
    let exact: &[&str] = &["local.shell.exec(git diff --stat)"];
    let wider: &[&str] = &["local.shell.exec(git diff:*)"];
    check(&call, &[(USER, exact), (PROJECT, exact), (PROJECT, wider), (USER, wider)]);
    call.caller.actor = String::new();
    check(&call, &[(PROJECT, exact), (PROJECT, wider)]);
}

#[test]
fn no_prefix_of_what_runs_anything() {
    for text in ["python3 setup.py build", "make all", "docker ps", "cargo run"] {
        let exact = format!("local.shell.exec({text})");
        let rules: &[&str] = &[&exact];
        check(&call("shell_pattern", "command", text), &[(SESSION, rules), (PROJECT, rules), (USER, rules)]);
    }
    for text in [
        "bash x.sh",
        "sudo ls",
        "env ls",
        "xargs ls",
        "python3.12 x.py",
        "/usr/bin/python3 x.py",
        "git",
        "npx x",
        "npm exec x",
    ] {
        for update in suggested(&call("shell_pattern", "command", text)) {
            assert!(update.rules.iter().all(|rule| !rule.matcher.contains(":*")), "{text}: {update:?}");
        }
    }
}

#[test]
fn nothing_for_what_no_pattern_can_allow() {
    for text in ["ls $HOME", "for f in a; do ls; done", "$(pick)", "echo 'open"] {
        check(&call("shell_pattern", "command", text), &[]);
    }
    check(&call("path_pattern", "path", "/etc/hosts"), &[]);
    check(&call("path_pattern", "path", ".git/config"), &[]);
}

#[test]
fn paths_from_the_file_to_its_directory() {
    check(
        &call("path_pattern", "path", "src/deep/b.rs"),
        &[
            (SESSION, &["files.write_file(/src/deep/b.rs)"]),
            (PROJECT, &["files.write_file(/src/deep/b.rs)"]),
            (PROJECT, &["files.write_file(/src/deep/**)"]),
            (USER, &["files.write_file(/src/deep/**)"]),
        ],
    );
    // Next to the root there is no directory but all of the workspace.
    let rules: &[&str] = &["files.write_file(/a.rs)"];
    check(&call("path_pattern", "path", "a.rs"), &[(SESSION, rules), (PROJECT, rules), (USER, rules)]);
}

#[test]
fn urls_by_domain_and_other_tools_by_name() {
    let rules: &[&str] = &["http.fetch(domain:example.com)"];
    check(&call("url_pattern", "url", "https://example.com/x"), &[(SESSION, rules), (PROJECT, rules), (USER, rules)]);
    let rules: &[&str] = &["http.fetch(domain:example.com:8443)"];
    check(
        &call("url_pattern", "url", "https://example.com:8443/x"),
        &[(SESSION, rules), (PROJECT, rules), (USER, rules)],
    );
    let rules: &[&str] = &["notes.add"];
    check(&call("", "text", "x"), &[(SESSION, rules), (SESSION, rules), (USER, rules), (PROJECT, rules)]);
}

#[test]
fn who_has_no_session_or_name_gets_no_rule_for_it() {
    let mut anonymous = call("", "text", "x");
    anonymous.caller.session = String::new();
    anonymous.caller.actor = String::new();
    check(&anonymous, &[(PROJECT, &["notes.add"]), (PROJECT, &["notes.add"])]);
}

#[test]
fn the_narrowest_is_exactly_this_call_as_the_tool_is_now() {
    let mut asked = call("", "text", "x");
    asked.caller.session = String::new();
    asked.caller.actor = String::new();
    asked.declaration = Some(Digest::of(b"as it is"));
    let found = suggested(&asked);
    assert_eq!(
        found[0].preview.description,
        "notes.add with exactly the arguments {\"text\":\"x\"}, for every caller of the tenant `acme`, as long as the tool stays \
         declared as it is now"
    );
    let rules: Vec<Rule> = found[0].rules.iter().map(|rule| Rule::from_record(rule).unwrap()).collect();
    let policy = Policy { rules: RuleSet::of(rules).into(), ..Policy::default() };
    let now = Timestamp::from_millis(0);
    let decided = |call: &CallFacts| evaluate(&policy, call, now);
    assert_eq!(decided(&asked).behavior, Behavior::Allow);

    let mut other = asked.clone();
    other.input = JsonPayload::of(&json!({ "text": "y" }));
    assert_eq!(decided(&other).behavior, Behavior::Ask);
    other.input = JsonPayload::of(&json!({ "text": "x", "more": 1 }));
    assert_eq!(decided(&other).behavior, Behavior::Ask, "not one argument more");
    other.input = JsonPayload::from_checked("{ \"text\" : \"\\u0078\" }");
    assert_eq!(decided(&other).behavior, Behavior::Allow, "the same value in another spelling");

    asked.declaration = Some(Digest::of(b"made into something else"));
    let again = decided(&asked);
    assert_eq!((again.behavior, again.outdated.len()), (Behavior::Ask, 1));
    assert!(again.reason.message.contains("as it was declared before"), "{}", again.reason.message);
    asked.declaration = None;
    assert_eq!(decided(&asked).behavior, Behavior::Ask, "what is not known never helps");
    assert!(found[0].rejecting().rules.iter().all(|rule| rule.pin.is_none()), "a no holds whatever the tool becomes");
}

#[test]
fn nothing_for_critical_tools_floors_rules_and_denials() {
    let mut critical = call("", "text", "x");
    Arc::make_mut(&mut critical.tool).profile =
        Some(PermissionProfile::new(ProfileId::from_trusted("p"), RiskLevel::Critical));
    check(&critical, &[]);
    let mut destructive = call("", "text", "x");
    destructive.safety.destructive = toolplane_matching::fit::Certainty::Yes;
    check(&destructive, &[]);
    let mut silent = call("", "text", "x");
    silent.caller.mode = Mode::DontAsk;
    check(&silent, &[]);
}

#[test]
fn a_suggestion_is_scoped_shown_and_named_the_same_again() {
    let call = call("shell_pattern", "command", "git diff --stat");
    let found = suggested(&call);
    assert_eq!(found, suggested(&call));
    let session = &found[0];
    assert_eq!((session.rules[0].scope.tenant.as_str(), session.rules[0].scope.session.as_str()), ("acme", "s1"));
    let project = &found[2];
    assert_eq!(project.preview.matches, ["git diff --stat", "git diff"]);
    assert_eq!(project.preview.does_not_match, ["git status", "git log"]);
    assert_eq!(project.rules[0].scope.session, "");
    let shown = project.payload().to_value();
    assert_eq!(shown["type"], "add_rules");
    assert_eq!(shown["destination"], "project_settings");
    assert_eq!(shown["rules"][0]["match"], json!(["git diff --stat", "git diff"]));
    assert_eq!(project.rejecting().rules[0].behavior, Behavior::Deny);
}
