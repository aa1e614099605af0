use serde_json::{Value, json};
use toolplane_records::codes;
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::{ExecutionBinding, HttpBinding, ProcessBinding};

use super::check;

#[track_caller]
fn refused(binding: &ExecutionBinding, input: Value, code: &str, field: &str) {
    let error = check(binding, &JsonPayload::of(&input)).expect_err("it is taken");
    assert_eq!(error.error_code, code, "{input}");
    assert_eq!(error.field_violations[0].field, field, "{input}");
    assert_eq!(error.side_effects.as_deref(), Some("none"), "{input}");
}

#[track_caller]
fn taken(binding: &ExecutionBinding, input: Value) {
    assert_eq!(check(binding, &JsonPayload::of(&input)), Ok(()), "{input}");
}

fn native(name: &str) -> ExecutionBinding {
    ExecutionBinding::Native { name: name.to_owned() }
}

#[test]
fn paths_no_file_tool_opens_are_refused() {
    for name in ["files.read_file", "files.list_dir", "files.search_text", "files.write_file", "files.edit_file"] {
        for path in ["/etc/passwd", "../up", "a/../../up", "/workspaces/x"] {
            refused(&native(name), json!({ "path": path }), codes::PATH_OUTSIDE.as_str(), "path");
        }
        refused(&native(name), json!({ "path": "a\0b" }), codes::INPUT_INVALID.as_str(), "path");
        taken(&native(name), json!({ "path": "/workspace/src/main.rs" }));
    }
    for name in ["files.write_file", "files.edit_file"] {
        for path in [".git/config", "a/.BASHRC", "/workspace/.vscode/tasks.json"] {
            refused(&native(name), json!({ "path": path }), codes::PATH_PROTECTED.as_str(), "path");
        }
        refused(&native(name), json!({ "path": "src/" }), codes::INPUT_INVALID.as_str(), "path");
        // Here an answer helps.
        taken(&native(name), json!({ "path": ".github/workflows/ci.yml" }));
    }
    taken(&native("files.read_file"), json!({ "path": ".git/config" }));
    taken(&native("files.search_text"), json!({ "pattern": "x" }));
    taken(&native("notes.add"), json!({ "path": "/etc/passwd" }));
}

#[test]
fn requests_that_are_never_sent_are_refused() {
    let binding = HttpBinding { allowed_hosts: vec!["api.example.org".to_owned()], ..HttpBinding::default() };
    let http = ExecutionBinding::Http(binding);
    for url in [
        "https://other.example.org/",
        "https://api.example.org:8443/",
        "ftp://api.example.org/",
        "https://me@api.example.org/",
    ] {
        refused(&http, json!({ "url": url }), codes::EGRESS_DENIED.as_str(), "url");
    }
    refused(&http, json!({ "url": "no url" }), codes::INPUT_INVALID.as_str(), "url");
    for (method, code) in [
        ("POST", codes::EGRESS_DENIED.as_str()),
        ("connect", codes::EGRESS_DENIED.as_str()),
        ("G T", codes::INPUT_INVALID.as_str()),
    ] {
        refused(&http, json!({ "url": "https://api.example.org/", "method": method }), code, "method");
    }
    taken(&http, json!({ "url": "https://API.example.org./x?q=1", "method": "head" }));
}

#[test]
fn commands_that_cannot_be_made_are_refused() {
    let shell = ExecutionBinding::Shell { shell: None };
    for command in [" \n", "a\0b", &"x".repeat(super::MAX_COMMAND_BYTES + 1)] {
        refused(&shell, json!({ "command": command }), codes::INPUT_INVALID.as_str(), "command");
    }
    taken(&shell, json!({ "command": "ls" }));
    let argv = ["wc", "{path}"].map(str::to_owned).to_vec();
    let process = ExecutionBinding::Process(ProcessBinding { argv, ..ProcessBinding::default() });
    refused(&process, json!({}), codes::INPUT_INVALID.as_str(), "path");
    refused(&process, json!({ "path": ["a"] }), codes::INPUT_INVALID.as_str(), "path");
    taken(&process, json!({ "path": "a" }));
}
