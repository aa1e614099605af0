use std::path::PathBuf;

use toolplane_records::vocabulary::{Behavior, RuleSource};

use super::read;

fn file(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn our_own_files_are_toml_or_json() {
    let toml = r#"
        [[rules]]
        id = "diffs"
        behavior = "allow"
        tool = "Bash(git diff:*)"
        expires_at = "2030-01-01T00:00:00Z"
        match = ["git diff HEAD"]
        arguments = [{ pointer = "/limit", op = "le", value = 10 }]
        scope = { tenant = "acme" }
        [[rules]]
        behavior = "deny"
        matcher = "secrets.*"
    "#;
    let (_folder, path) = file("rules.toml", toml);
    let found = read(&path).unwrap();
    let (place, rule) = &found.rules[0];
    assert!(place.ends_with("rules.toml: rules[0]"), "{place}");
    assert_eq!((rule.rule_id.as_str(), rule.behavior, rule.scope.tenant.as_str()), ("diffs", Behavior::Allow, "acme"));
    assert_eq!(rule.arguments[0].value.as_ref().unwrap().text(), "10");
    assert!(rule.expires_at.is_some() && rule.origin.starts_with("file:"));
    assert!(found.rules[1].1.rule_id.starts_with("rules.toml@"), "{}", found.rules[1].1.rule_id);

    let (_folder, path) = file("rules.json", r#"{"rules":[{"behavior":"ask","tool":"*","shadow":true}]}"#);
    assert!(read(&path).unwrap().rules[0].1.shadow);
}

#[test]
fn a_coding_agents_settings_are_rules_too() {
    let text = r#"{
        "model": "x",
        "permissions": {
            "allow": ["Bash(git diff:*)", "Read(./src/**)"],
            "ask": ["Bash(git push:*)"],
            "deny": ["Read(./.env)"],
            "defaultMode": "acceptEdits",
            "disableBypassPermissionsMode": "disable",
            "additionalDirectories": ["/data"]
        }
    }"#;
    let (_folder, path) = file("settings.json", text);
    let found = read(&path).unwrap();
    let said: Vec<_> = found.rules.iter().map(|(_, rule)| (rule.behavior, rule.matcher.as_str())).collect();
    let expected = [
        (Behavior::Allow, "Bash(git diff:*)"),
        (Behavior::Allow, "Read(./src/**)"),
        (Behavior::Ask, "Bash(git push:*)"),
        (Behavior::Deny, "Read(./.env)"),
    ];
    assert_eq!(said, expected);
    assert!(found.rules.iter().all(|(_, rule)| rule.source == RuleSource::ProjectSettings));
    assert_eq!(found.default_mode.as_deref(), Some("acceptEdits"));
    assert!(found.forbids_bypass);
    assert_eq!(found.working_dirs, ["/data"]);
    for (name, source) in
        [("settings.local.json", RuleSource::LocalSettings), ("managed-settings.json", RuleSource::PolicySettings)]
    {
        let (_folder, path) = file(name, r#"{"permissions":{"deny":["Bash"]}}"#);
        assert_eq!(read(&path).unwrap().rules[0].1.source, source, "{name}");
    }
}

#[test]
fn every_fault_of_a_file_has_its_place() {
    let cases = [
        ("a.toml", "x = ", "a.toml"),
        ("a.toml", "rule = []", "unknown field"),
        ("a.json", "{", "a.json"),
        ("a.json", r#"{"other":1}"#, "either `rules` or `permissions`"),
        ("a.json", r#"{"permissions":{"allow":"Bash"}}"#, "permissions"),
        ("a.json", r#"{"rules":[{"behavior":"allow","tool":"*"},{"behavior":"alow","tool":"*"}]}"#, "rules[1]"),
        ("a.json", r#"{"rules":[{"behavior":"allow","tool":"*","fact":["x"]}]}"#, "unknown field `fact`"),
    ];
    for (name, text, expected) in cases {
        let (_folder, path) = file(name, text);
        let faults = read(&path).unwrap_err().to_string();
        assert!(faults.contains(expected), "{text}: {faults}");
    }
    assert!(read("/nonexistent/rules.toml".as_ref()).unwrap_err().to_string().contains("cannot be read"));
    let (_folder, path) = file("b.json", r#"{"rules":[{"tool":"*"},{"behavior":"deny"}]}"#);
    assert_eq!(read(&path).unwrap_err().0.len(), 2, "both are named");
}
