//! Policies and schemas that are refused, and where.

use super::*;

#[test]
fn every_fault_is_named_with_its_place() {
    let check = |text: &str, places: &[(&str, &str)]| {
        let found = faults(text);
        assert_eq!(found.len(), places.len(), "{text}\n{found:#?}");
        for (fault, (place, words)) in found.iter().zip(places) {
            assert!(fault.starts_with(place) && fault.contains(words), "{fault} is not {place} .. {words}");
        }
    };
    check("permit (principal, action, resource)", &[("org.cedar:1: ", "unexpected end")]);
    check(
        "permit (principal, action, resource);\n\nforbid (nobody, action, resource);",
        &[("org.cedar:3: ", "nobody")],
    );
    check(
        "permit (principal, action, resource);\npermit (principal, action, resource)\nwhen { resource.read_only };",
        &[("org.cedar:3: ", "read_only")],
    );
    check(
        "forbid (principal, action, resource)\nwhen { context.input.amount > 5 };\n\
         forbid (principal, action, resource)\nwhen { resource.colour == \"red\" };",
        &[("org.cedar:2: ", "input"), ("org.cedar:4: ", "colour")],
    );
    check("\nforbid (principal is Tool, action, resource);", &[("org.cedar:2: ", "")]);
    check("forbid (principal, action == Action::\"cal\", resource);", &[("org.cedar:1: ", "cal")]);
    check("forbid (principal, action, resource) when { 1 + \"a\" == 2 };", &[("org.cedar:1: ", "")]);
    check("forbid (principal, action, resource) when { false };", &[("org.cedar:1: ", "impossible")]);
    check("permit (principal == ?principal, action, resource);", &[("org.cedar:1: ", "template")]);
    check(
        "@id(\"a\") permit (principal, action, resource);\n@id(\"a\") forbid (principal, action, resource);",
        &[("org.cedar:2: ", "given twice")],
    );
    check("@aks(\"?\") permit (principal, action, resource);", &[("org.cedar:1: ", "`@aks` is not one of")]);
    check("@id(\"a b\") permit (principal, action, resource);", &[("org.cedar:1: ", "the id")]);
    let long = "x".repeat(401);
    check(&format!("@ask(\"{long}\") permit (principal, action, resource);"), &[("org.cedar:1: ", "400")]);
}

#[test]
fn faults_of_all_texts_are_reported_at_once_and_nothing_is_loaded() {
    let sources = [
        PolicyText::new("a.cedar", "permit (principal, action, resource);"),
        PolicyText::new("b.cedar", "nonsense"),
        PolicyText::new("c.cedar", "\n\nforbid (principal, action, resource) when { resource.colour };"),
    ];
    let faults = CedarPolicies::load(&sources, None, &PolicySettings::default()).unwrap_err();
    let places: Vec<_> = faults.iter().map(|fault| (fault.source.as_str(), fault.line)).collect();
    assert_eq!(places, [("b.cedar", Some(1)), ("c.cedar", Some(3))]);
}

#[test]
fn equal_policies_have_places_of_their_own() {
    let twice = "@id(\"x\") permit (principal, action, resource);\n";
    assert_eq!(faults(&twice.repeat(3)).len(), 2);
    assert!(faults(&twice.repeat(3))[1].starts_with("org.cedar:3: "));
    let many = load(&"permit (principal, action, resource);\n".repeat(12));
    assert_eq!(many.len(), 12);
    assert!(decide_ids(&many).contains(&"org.cedar#12".to_owned()));
}

fn decide_ids(policies: &CedarPolicies) -> Vec<String> {
    policies.decide(&reading(json!({}))).policy_ids
}

#[test]
fn a_schema_must_be_readable_and_describe_calls() {
    let load = |schema: &str| {
        let schema = PolicyText::new("own.cedarschema", schema);
        CedarPolicies::load(&[], Some(&schema), &PolicySettings::default()).unwrap_err()[0].to_string()
    };
    assert!(load("entity Tool\nentity;").starts_with("own.cedarschema:2: "));
    assert!(load("entity Tool;").contains("no action `call`"));
    let without = crate::SCHEMA.replace("  trusted: Bool,\n", "");
    assert!(load(&without).contains("cannot describe a call"), "{}", load(&without));
    let more = crate::SCHEMA.replace("  trusted: Bool,\n", "  trusted: Bool,\n  colour: String,\n");
    assert!(load(&more).contains("colour"), "{}", load(&more));
    let long = format!("{}// {}", crate::SCHEMA, "x".repeat(1024 * 1024));
    assert!(load(&long).contains("longer than"));
}

#[test]
fn strange_but_possible_policies_are_warned_of() {
    let policies = load("permit (principal, action, resource) when { context.session == \"say_һello\" };");
    assert_eq!(policies.warnings().len(), 1);
    assert!(policies.warnings()[0].to_string().starts_with("org.cedar:1: "), "{}", policies.warnings()[0]);
}
