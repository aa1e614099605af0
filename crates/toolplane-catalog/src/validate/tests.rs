//! Registrations: each rule with the field it names.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::fixtures::{registration, shell_json, tool, tool_json};

fn found(value: &Value) -> Vec<FieldViolation> {
    validate(&registration(value), &CatalogLimits::default()).err().unwrap_or_default()
}

/// The shell tool with the value at `pointer` replaced is refused at `field` by `rule`.
fn check(pointer: &str, value: Value, field: &str, rule: &str) {
    let mut json = shell_json();
    put(&mut json, pointer, value);
    check_refused(&json, field, rule);
}

fn check_refused(json: &Value, field: &str, rule: &str) {
    let found = found(json);
    let fits = |violation: &FieldViolation| violation.field == field && violation.description.contains(rule);
    assert!(found.iter().any(fits), "wanted {field}: {rule}\nfound {found:#?}");
}

fn put(json: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    json.pointer_mut(parent).unwrap()[name] = value;
}

#[test]
fn the_standards_shell_tool_is_accepted() {
    let checked = validate(&registration(&shell_json()), &CatalogLimits::default()).unwrap();
    assert_eq!(checked.full_name(), "local.shell.exec");
    assert_eq!(checked.digest(), checked.registration().digest());
    let minimal = validate(&tool("a", "b"), &CatalogLimits::default()).unwrap();
    assert_ne!(minimal.digest(), checked.digest());
}

#[test]
fn names_follow_one_rule() {
    for (name, rule) in [
        ("", "1 to 128"),
        (&*"x".repeat(129), "1 to 128"),
        ("a b", "contains ' '"),
        ("é", "contains 'é'"),
        ("a/b", "contains '/'"),
        (".a", "dot"),
        ("a..b", "dot"),
    ] {
        check("/declaration/name", json!(name), "declaration.name", rule);
        check("/declaration/namespace", json!(name), "declaration.namespace", rule);
        check("/declaration/aliases", json!(["fine", name]), "declaration.aliases[1]", rule);
        check("/interface/aliases", json!([name]), "interface.aliases[0]", rule);
    }
    check("/declaration/aliases", json!(["a", "a"]), "declaration.aliases[1]", "given twice");
}

#[test]
fn versions_texts_and_lists_are_bounded() {
    for version in ["0.3.0", "0.2", "0.2.", "0.2.x", "1.0.0", ""] {
        check("/declaration/schema_version", json!(version), "declaration.schema_version", "0.2.x");
    }
    check("/interface/schema_version", json!("9"), "interface.schema_version", "0.2.x");
    check("/declaration/description", json!(" \n "), "declaration.description", "must tell the model");
    check("/declaration/description", json!("x".repeat(16_385)), "declaration.description", "at most 16384");
    check("/declaration/title", json!("x".repeat(401)), "declaration.title", "at most 400");
    let many: Vec<String> = (0..65).map(|i| format!("a{i}")).collect();
    check("/declaration/aliases", json!(many), "declaration.aliases", "65 entries");
    check("/declaration/capability_refs", json!(["a b"]), "declaration.capability_refs[0]", "only letters");
    check("/declaration/annotations", json!([1]), "declaration.annotations", "must be a JSON object");
    check(
        "/declaration/external_mappings",
        json!([{ "source": "mcp", "native_id": "" }]),
        "declaration.external_mappings[0].native_id",
        "must not be empty",
    );
}

#[test]
fn references_must_name_what_came_along() {
    check(
        "/declaration/interface_ref",
        json!("other"),
        "declaration.interface_ref",
        "the interface is `interface:shell.exec`",
    );
    check("/interface/permission_profile_ref", json!("x"), "interface.permission_profile_ref", "names `x`");
    check("/interface/tool_id", json!("other"), "interface.tool_id", "must be `tool_shell_exec`");
    check("/interface/name", json!("other"), "interface.name", "must be `shell.exec`");
    let mut missing = shell_json();
    missing.as_object_mut().unwrap().remove("execution_profile");
    check_refused(&missing, "declaration.execution_profile_ref", "the registration has no execution profile");
}

#[test]
fn schemas_are_checked_where_they_stand() {
    let place = "declaration.input_contract.model_input_schema";
    let pointer = "/declaration/input_contract/model_input_schema";
    check(pointer, json!({ "type": "array" }), place, "at its root");
    check(pointer, json!({ "properties": {} }), place, "at its root");
    check(
        &format!("{pointer}/properties/command"),
        json!({ "type": "texts" }),
        &format!("{place}/properties/command/type"),
        "not valid",
    );
    check(
        "/interface/output_schema",
        json!({ "$ref": "http://x" }),
        "interface.output_schema/$ref",
        "leaves the schema",
    );
    check(
        "/declaration/output_contract",
        json!({ "structured_schema": { "pattern": "(" } }),
        "declaration.output_contract.structured_schema/pattern",
        "",
    );
    check("/interface/model_input_schema", json!({ "type": "string" }), "interface.model_input_schema", "at its root");
}

#[test]
fn internal_and_sensitive_fields_must_make_sense() {
    let internal = "declaration.input_contract.internal_only_fields";
    check(
        "/declaration/input_contract/internal_only_fields",
        json!(["command"]),
        &format!("{internal}[0]"),
        "must not appear",
    );
    let hidden_in_all_of = json!({ "type": "object", "allOf": [{ "properties": { "secret": {} } }] });
    let mut json = tool_json("a", "b");
    json["declaration"]["input_contract"] =
        json!({ "model_input_schema": hidden_in_all_of, "internal_only_fields": ["secret"] });
    check_refused(&json, &format!("{internal}[0]"), "must not appear");
    let pointer = "/declaration/input_contract/sensitive_fields";
    for wrong in ["", "command", "/comm~2and"] {
        check(pointer, json!([wrong]), "declaration.input_contract.sensitive_fields[0]", "JSON pointer");
    }
    check(pointer, json!(["/passwort"]), "declaration.input_contract.sensitive_fields[0]", "no schema describes");
}

#[test]
fn defaults_and_examples_must_fit() {
    let defaults = "/declaration/input_contract/defaults";
    let mut fine = shell_json();
    put(&mut fine, defaults, json!({ "timeout_ms": 5000 }));
    assert_eq!(found(&fine), []);
    let place = "declaration.input_contract.defaults";
    check(defaults, json!({ "timeout_ms": 5 }), &format!("{place}/timeout_ms"), "does not fit");
    check(defaults, json!({ "other": 5 }), &format!("{place}/other"), "does not fit");
    check(defaults, json!([]), place, "must be a JSON object");
    check(defaults, json!({ "simulated_edit_ref": "x" }), &format!("{place}/simulated_edit_ref"), "is internal");
    let examples = "/declaration/input_contract/examples";
    check(examples, json!([{ "command": "ls" }, {}]), "declaration.input_contract.examples[1]/command", "does not fit");
    let internal = "declaration.input_contract.examples[0]/simulated_edit_ref";
    check(examples, json!([{ "command": "ls", "simulated_edit_ref": "x" }]), internal, "is internal");
}

#[test]
fn safety_rules_must_be_known_and_end() {
    check("/interface/is_read_only", json!("classifier:vibes"), "interface.is_read_only", "not a known rule");
    check("/interface/is_read_only", json!("same_as:is_fast"), "interface.is_read_only", "not a known rule");
    check("/interface/is_destructive", json!("input."), "interface.is_destructive", "not a known rule");
    check("/interface/is_destructive", json!("input.force"), "interface.is_destructive", "no schema describes");
    check("/interface/is_read_only", json!("same_as:is_concurrency_safe"), "interface.is_read_only", "back to itself");
    check("/interface/is_read_only", json!("same_as:is_read_only"), "interface.is_read_only", "back to itself");
    check(
        "/interface/is_read_only",
        json!("classifier:command_destructive"),
        "interface.is_read_only",
        "does not answer",
    );
    check("/interface/is_destructive", json!("same_as:is_read_only"), "interface.is_destructive", "does not answer");
    check("/interface/is_enabled", json!("maybe"), "interface.is_enabled", "feature:<gate>");
    check("/interface/classifier_input", json!("command"), "interface.classifier_input", "input.<field>");
    check("/interface/classifier_input", json!("input.cmd"), "interface.classifier_input", "no schema describes");
    let mut json = shell_json();
    put(&mut json, "/interface/is_read_only", json!(true));
    put(&mut json, "/interface/is_destructive", json!(true));
    check_refused(&json, "interface.is_destructive", "contradicts `is_read_only`");
    check_refused(&json, "permission_profile.write_effects", "contradicts `is_read_only`");
    let mut json = shell_json();
    put(&mut json, "/interface/always_load", json!(true));
    put(&mut json, "/interface/should_defer", json!(true));
    check_refused(&json, "interface.always_load", "contradicts `should_defer`");
}

#[test]
fn bindings_carry_out_their_execution_kind() {
    let binding = "/execution_profile/binding";
    let field = "execution_profile.binding";
    check(
        "/execution_profile/execution_kind",
        json!("browser"),
        field,
        "cannot carry out the execution kind `browser`",
    );
    check(binding, json!({ "type": "native", "name": "x" }), field, "`native` binding cannot carry out");
    check(binding, json!({ "type": "shell", "shell": "bash" }), "execution_profile.binding.shell", "absolute path");
    check("/execution_profile/timeout_ms", json!(0), "execution_profile.timeout_ms", "1 to");
    let process = |argv: Value| json!({ "type": "process", "argv": argv });
    check(binding, process(json!([])), "execution_profile.binding.argv[0]", "must name the program");
    check(binding, process(json!(["{command}"])), "execution_profile.binding.argv[0]", "must be fixed");
    check(binding, process(json!(["wc", "{path}"])), "execution_profile.binding.argv[1]", "no schema describes");
    check(binding, process(json!(["wc", "a\u{0}b"])), "execution_profile.binding.argv[1]", "NUL");
    let env = json!({ "type": "process", "argv": ["wc"], "env": { "A=B": "" } });
    check(binding, env, "execution_profile.binding.env.A=B", "not an environment variable");
    let http = |hosts: Value| json!({ "type": "http", "allowed_hosts": hosts });
    check(binding, http(json!([])), "execution_profile.binding.allowed_hosts", "at least one host");
    for wrong in ["http://a", "a/b", "*", "*.*.a", "a_b", "A.example", "a:80", ""] {
        check(
            binding,
            http(json!(["127.0.0.1", "::1", "*.example.org", wrong])),
            "execution_profile.binding.allowed_hosts[3]",
            "",
        );
    }
    let methods = json!({ "type": "http", "allowed_hosts": ["a"], "allowed_methods": ["GET", "get"] });
    check(binding, methods, "execution_profile.binding.allowed_methods[1]", "not one of");
    let mut no_command = shell_json();
    put(&mut no_command, "/declaration/input_contract/model_input_schema", json!({ "type": "object" }));
    check_refused(&no_command, "execution_profile.binding", "`command`, which no schema describes");
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let mut json = shell_json();
    put(&mut json, "/declaration/name", json!(""));
    put(&mut json, "/declaration/description", json!(""));
    put(&mut json, "/interface/tool_id", json!("other"));
    put(&mut json, "/execution_profile/timeout_ms", json!(0));
    assert!(found(&json).len() >= 4);
}

fn mcp(binding: &Value) -> Value {
    let mut json = shell_json();
    put(&mut json, "/execution_profile/execution_kind", json!("mcp_server"));
    put(&mut json, "/execution_profile/binding", binding.clone());
    json
}

#[test]
fn a_binding_to_a_server_says_what_a_worker_needs() {
    let stdio = json!({ "transport": "stdio", "argv": ["mcp-server-git"] });
    let of =
        |server: &Value, tool: &Value| json!({ "type": "mcp", "provider_id": "p", "server": server, "tool": tool });
    let placed = |placement: Value| {
        let used = json!({ "credential": "key", "placement": placement });
        let twice = json!({ "credential": "key", "placement": { "in": "file", "name": "twice" } });
        let sandbox = json!({ "allowed_hosts": ["h.example", "*.sub.example"] });
        json!({ "transport": "stdio", "argv": ["a"], "placed_credentials": [used, twice], "sandbox": sandbox })
    };
    let proxied = |hosts: Value| placed(json!({ "in": "proxy", "hosts": hosts, "name": "X-Key" }));
    for binding in [
        of(&stdio, &json!("git status")),
        // Without a tool it asks what there is.
        of(&stdio, &Value::Null),
        of(&proxied(json!(["h.example", "a.sub.example", "*.deep.sub.example"])), &json!("t")),
        of(
            &json!({ "transport": "http", "url": "https://h.example/mcp", "allowed_hosts": ["*.example"] }),
            &json!("t"),
        ),
    ] {
        assert_eq!(found(&mcp(&binding)), [], "{binding}");
    }
    for tool in [json!(""), json!("a\u{0}"), json!("x".repeat(513))] {
        check_refused(&mcp(&of(&stdio, &tool)), "execution_profile.binding.tool", "1 to 512 bytes");
    }
    for (server, field, rule) in [
        (json!({ "transport": "stdio", "argv": [] }), "server.argv[0]", "must name the program"),
        (json!({ "transport": "stdio", "argv": ["a"], "env_names": ["A B"] }), "server", "environment variable"),
        (
            json!({ "transport": "stdio", "argv": ["a"], "sandbox": { "read_paths": ["/opt/../etc"] } }),
            "server.sandbox.read_paths[0]",
            "absolute",
        ),
        (
            placed(json!({ "in": "header", "name": "X-Key" })),
            "server.placed_credentials[0].placement",
            "`file` or `proxy`",
        ),
        (placed(json!({ "in": "file", "name": "../key" })), "server.placed_credentials[0].placement", "no name"),
        (
            placed(json!({ "in": "file", "name": "twice" })),
            "server.placed_credentials[1].placement",
            "another credential",
        ),
        (
            json!({ "transport": "http", "url": "https://h/", "credentials": { "Host": "key" } }),
            "server.credentials.Host",
            "header of the connection",
        ),
        (
            placed(json!({ "in": "proxy", "hosts": ["h.example"], "name": "content-length" })),
            "server.placed_credentials[0].placement",
            "header of the connection",
        ),
        (proxied(json!([])), "server.placed_credentials[0].placement.hosts", "1 to 32"),
        (proxied(json!(["*"])), "server.placed_credentials[0].placement.hosts[0]", "not a host name"),
        (
            proxied(json!(["h.example", "other.example"])),
            "server.placed_credentials[0].placement.hosts[1]",
            "not among",
        ),
        (proxied(json!(["*.h.example"])), "server.placed_credentials[0].placement.hosts[0]", "not among"),
        (json!({ "transport": "http", "url": "file:///etc/passwd" }), "server.url", "`http` or `https`"),
        (json!({ "transport": "http", "url": "https://u:p@h/" }), "server.url", "without user"),
        (json!({ "transport": "http", "url": "https://h/", "headers": { "a b": "" } }), "server.headers.a b", "header"),
    ] {
        let field = format!("execution_profile.binding.{field}");
        check_refused(&mcp(&of(&server, &json!("t"))), &field, rule);
    }
}

/// Rules that came later refuse new registrations, and leave what was taken before as it is.
#[test]
fn words_of_outputs_are_refused_anew_and_kept_where_they_were_taken() {
    for (pointer, value, field) in [
        (
            "/declaration/output_contract/content_types",
            json!(["text/plain"]),
            "declaration.output_contract.content_types[0]",
        ),
        (
            "/declaration/output_contract/artifact_expectations",
            json!([""]),
            "declaration.output_contract.artifact_expectations[0]",
        ),
        ("/interface/persistence_policy_ref", json!("policy_1"), "interface.persistence_policy_ref"),
        ("/permission_profile/retention_hint", json!("session"), "permission_profile.retention_hint"),
        (
            "/declaration/output_contract/redaction_rules",
            json!(["email", "/a/b", "secrets"]),
            "declaration.output_contract.redaction_rules[2]",
        ),
        (
            "/declaration/output_contract",
            json!({ "artifact_expectations": ["a"] }),
            "declaration.output_contract.artifact_expectations",
        ),
        ("/execution_profile/sandbox_profile", json!("workspace_read_only"), "execution_profile.sandbox_profile"),
        ("/execution_profile/supports_resume", json!(true), "execution_profile.supports_resume"),
    ] {
        let mut tool = shell_json();
        if tool["declaration"].get("output_contract").is_none() {
            tool["declaration"]["output_contract"] = json!({});
        }
        put(&mut tool, pointer, value);
        if field == "execution_profile.sandbox_profile" {
            put(&mut tool, "/declaration/output_contract/artifact_expectations", json!(["a"]));
            put(&mut tool, "/execution_profile/supports_artifacts", json!(true));
        }
        assert!(found(&tool).iter().any(|fault| fault.field == field), "{field}: {:?}", found(&tool));
        validate_stored(Arc::new(registration(&tool)), None, &CatalogLimits::default()).unwrap();
    }
}

#[test]
fn findings_stand_for_the_checks_of_that_registration_alone() {
    let limits = CatalogLimits::default();
    let checked = validate(&registration(&shell_json()), &limits).unwrap();
    let kept = serde_json::to_string(&checked.findings()).unwrap();
    let findings: Findings = serde_json::from_str(&kept).unwrap();
    let again = validate_stored(Arc::new(registration(&shell_json())), Some(&findings), &limits).unwrap();
    let said = |tool: &Checked| (tool.digest(), tool.full_name().to_owned(), tool.parameters().to_vec());
    assert_eq!(said(&again), said(&checked));
    assert!(!again.parameters().is_empty());
    let mut other = shell_json();
    put(&mut other, "/declaration/input_contract/model_input_schema/type", json!("nothing of that kind"));
    assert!(validate_stored(Arc::new(registration(&other)), Some(&findings), &limits).is_err());
    assert!(validate_stored(Arc::new(registration(&other)), None, &limits).is_err());
}
