//! Configuration: what is accepted, what is refused and how the refusal names the field.

use super::*;
use crate::rules::RuleSet;

fn read(text: &str) -> PolicyConfig {
    toml::from_str(text).unwrap()
}

fn check_refused(text: &str, field: &str, rule: &str) {
    let found = read(text).rules().unwrap_err();
    let fits = |violation: &FieldViolation| violation.field == field && violation.description.contains(rule);
    assert!(found.iter().any(fits), "{text}\nwanted {field}: {rule}\nfound {found:?}");
}

#[test]
fn a_rule_reads_as_people_write_it() {
    let config = read(
        r#"
        rules = [
          { behavior = "allow", tool = "files.*", facts = ["read_only", "!open_world"], reason = "reading is fine" },
          { id = "no-secrets", behavior = "deny", tool = "namespace:secrets", source = "policy_settings" },
          { behavior = "ask", tool = "*" },
        ]
        "#,
    );
    let rules = config.rules().unwrap();
    let shown: Vec<String> =
        rules.iter().map(|rule| format!("{} {} {} {}", rule.id, rule.source, rule.behavior, rule.matcher)).collect();
    assert_eq!(
        shown,
        [
            "project_settings/0 project_settings allow files.* read_only !open_world",
            "no-secrets policy_settings deny namespace:secrets",
            "project_settings/2 project_settings ask *",
        ]
    );
}

#[test]
fn a_misspelt_key_is_refused() {
    for text in [
        r#"rules = [{ behavior = "allow", tool = "*", fact = ["read_only"] }]"#,
        r#"rules = [{ behavior = "allow", toool = "*" }]"#,
        r#"rules = [{ behavior = "allow" }]"#,
        r#"rules = [{ behavior = "permit", tool = "*" }]"#,
        r#"rules = [{ behavior = "allow", tool = "*", source = "somewhere" }]"#,
        r#"rule = []"#,
    ] {
        assert!(toml::from_str::<PolicyConfig>(text).is_err(), "{text}");
    }
}

#[test]
fn wrong_rules_are_named_by_field() {
    let rule = |body: &str| format!("rules = [{{ behavior = \"ask\", tool = \"*\" }}, {{ {body} }}]");
    let check = |body: &str, field: &str, text: &str| check_refused(&rule(body), field, text);
    check(r#"behavior = "deny", tool = """#, "rules[1].tool", "must not be empty");
    check(r#"behavior = "deny", tool = "a*b""#, "rules[1].tool", "only at the end");
    check(r#"behavior = "deny", tool = "*.read""#, "rules[1].tool", "only at the end");
    check(r#"behavior = "deny", tool = "rm file""#, "rules[1].tool", "only letters");
    check(r#"behavior = "deny", tool = "namespace:""#, "rules[1].tool", "must not be empty");
    check(r#"behavior = "passthrough", tool = "*""#, "rules[1].behavior", "must be `allow`, `ask` or `deny`");
    check(r#"behavior = "deny", tool = "*", facts = ["readonly"]"#, "rules[1].facts[0]", "not one of: read_only");
    check(
        r#"behavior = "deny", tool = "*", facts = ["read_only", "!read_only"]"#,
        "rules[1].facts[1]",
        "asked for twice",
    );
    check(r#"behavior = "deny", tool = "*", id = "project_settings/0""#, "rules[1].id", "given twice");
    check(r#"behavior = "deny", tool = "*", id = "a b""#, "rules[1].id", "only letters");
}

#[test]
fn one_wrong_rule_refuses_the_whole_set() {
    let config = read(r#"rules = [{ behavior = "deny", tool = "[" }, { behavior = "allow", tool = "*" }]"#);
    assert_eq!(RuleSet::from_config(&config).unwrap_err().len(), 1);
}

#[test]
fn the_digest_changes_with_what_the_rules_say() {
    let digest = |text: &str| RuleSet::from_config(&read(text)).unwrap().digest();
    let base = digest(r#"rules = [{ id = "r", behavior = "allow", tool = "a" }]"#);
    assert_eq!(base, digest("[[rules]]\nid = \"r\"\ntool = \"a\"\nbehavior = \"allow\"\n"));
    for other in [
        r#"rules = []"#,
        r#"rules = [{ id = "r", behavior = "ask", tool = "a" }]"#,
        r#"rules = [{ id = "r", behavior = "allow", tool = "a*" }]"#,
        r#"rules = [{ id = "r", behavior = "allow", tool = "a", facts = ["read_only"] }]"#,
        r#"rules = [{ id = "r", behavior = "allow", tool = "a", source = "session" }]"#,
        r#"rules = [{ id = "r", behavior = "allow", tool = "a", reason = "b" }]"#,
    ] {
        assert_ne!(base, digest(other), "{other}");
    }
}

#[test]
fn the_json_schema_knows_every_key() {
    let schema = schemars::schema_for!(PolicyConfig).to_value().to_string();
    for key in ["rules", "behavior", "tool", "facts", "source", "reason", "additionalProperties"] {
        assert!(schema.contains(key), "{key}");
    }
}
