//! A yes is about what the person saw: the tool as it was declared, the arguments, and values an answer helps with.

use serde_json::{Value, json};
use toolplane_testkit::{Cluster, Options, tools};

use crate::bed::RULES;
use crate::shell::Shell;

async fn start() -> (Cluster, Shell) {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let files: Vec<String> = tools::example_files().unwrap().iter().map(|file| file.display().to_string()).collect();
    let mut arguments = vec!["tools", "register"];
    arguments.extend(files.iter().map(String::as_str));
    shell.says(0, &arguments);
    (cluster, shell)
}

/// A tool whose calls are asked about, and whose input has no command, path or URL.
fn note_tool(description: &str, most: u32) -> Value {
    json!({
        "declaration": {
            "schema_version": "0.2.0", "tool_id": "tool_note", "namespace": "notes", "name": "notes.add", "title": "Add a note",
            "description": description, "lifecycle": "available", "tool_kind": "native_tool",
            "input_contract": { "model_input_schema": {
                "type": "object", "properties": { "text": { "type": "string", "maxLength": most } }, "required": ["text"]
            } },
            "interface_ref": "iface_note", "execution_profile_ref": "exec_note"
        },
        "interface": {
            "schema_version": "0.2.0", "interface_id": "iface_note", "tool_id": "tool_note", "is_read_only": false,
            "is_idempotent": true, "execution_profile_ref": "exec_note"
        },
        "execution_profile": {
            "schema_version": "0.2.0", "execution_profile_id": "exec_note", "execution_kind": "embedded_runtime",
            "binding": { "type": "native", "name": "native.echo" }
        }
    })
}

fn register(cluster: &Cluster, shell: &Shell, tool: &Value) {
    let file = cluster.folder().join("note.json");
    std::fs::write(&file, tool.to_string()).unwrap();
    shell.says(0, &["tools", "register", file.to_str().unwrap()]);
}

/// Makes a call and gives its state: its id, and whether it waits for a person.
fn call(shell: &Shell, text: &str) -> (String, bool) {
    let input = json!({ "text": text }).to_string();
    let submitted = shell.json(0, &["invoke", "notes.add", "--detach", "-i", &input]);
    (submitted["invocation_id"].as_str().unwrap().to_owned(), submitted["status"] == "awaiting_approval")
}

fn open_approval(shell: &Shell, call: &str) -> String {
    let listed = shell.says(0, &["-o", "json", "approvals", "ls"]);
    let approvals = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut of_call = approvals.filter(|approval| approval["invocation_id"] == call);
    of_call.next().expect("it waits for a person")["approval_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn always_means_the_tool_as_it_was_seen() {
    let (cluster, shell) = start().await;
    register(&cluster, &shell, &note_tool("Keeps a note.", 100));
    let (first, asked) = call(&shell, "one");
    assert!(asked);
    let approval = open_approval(&shell, &first);
    let shown = shell.says(0, &["approvals", "show", &approval]);
    assert!(shown.contains("│ Keeps a note.") && shown.contains("exactly the arguments"), "{shown}");
    assert!(shown.contains("as long as the tool is declared as now"), "{shown}");
    shell.says(0, &["approvals", "approve", &approval, "--always"]);

    assert!(!call(&shell, "one").1, "the same call needs no further answer");
    let (other, asked) = call(&shell, "two");
    assert!(asked, "other arguments were not seen");
    let wide = open_approval(&shell, &other);
    let stored = shell.json(0, &["approvals", "show", &wide]);
    let updates = stored["request"]["suggested_updates"].as_array().unwrap();
    let every = updates.iter().find(|update| update["rules"][0].get("arguments").is_none()).unwrap();
    let every = every["suggestion_id"].as_str().unwrap();
    shell.says(0, &["approvals", "approve", &wide, "--always", "--suggestion", every]);
    assert!(!call(&shell, "three").1, "every call was said yes to");

    register(&cluster, &shell, &note_tool("Keeps a note, and mails it to everybody.", 10_000));
    let (changed, asked) = call(&shell, "three");
    assert!(asked, "nobody has said yes to what the tool is now");
    let again = open_approval(&shell, &changed);
    let shown = shell.says(0, &["approvals", "show", &again]);
    assert!(shown.contains("declared anew") && shown.contains("declaration/description"), "{shown}");
    assert!(
        shown.contains("│ - Keeps a note.\n") && shown.contains("│ + Keeps a note, and mails it to everybody."),
        "{shown}"
    );
    assert!(shown.contains("maxLength") && shown.contains("│ + 10000"), "{shown}");
    let rules = shell.says(0, &["rules", "ls"]);
    assert!(rules.contains("while declared as sha256:"), "{rules}");

    shell.says(0, &["approvals", "approve", &again, "--always"]);
    assert!(!call(&shell, "three").1);
    // A rule typed by hand is bound only when asked to be.
    shell.says(0, &["rules", "add", "notes.add", "--allow", "--pin", "notes.add"]);
    assert!(!call(&shell, "four").1);
    register(&cluster, &shell, &note_tool("Keeps a note again.", 100));
    assert!(call(&shell, "four").1, "a pinned rule goes with its declaration");
    shell.says(0, &["rules", "add", "notes.add", "--allow"]);
    register(&cluster, &shell, &note_tool("Keeps a note once more.", 100));
    assert!(!call(&shell, "five").1, "one that is not pinned stays");
    assert!(
        shell
            .complains(2, &["rules", "add", "notes.add", "--deny", "--pin", "notes.add"])
            .contains("goes only with `allow`")
    );
}

#[tokio::test]
async fn nobody_is_asked_about_what_no_answer_helps() {
    let (cluster, shell) = start().await;
    for (tool, input, code, class) in [
        ("files.read_file", json!({ "path": "/etc/passwd" }), "path.outside_workspace", "sandbox_violation"),
        ("files.list_dir", json!({ "path": "../.." }), "path.outside_workspace", "sandbox_violation"),
        (
            "files.write_file",
            json!({ "path": ".git/config", "content": "x" }),
            "path.protected_path",
            "permission_denied",
        ),
        (
            "files.edit_file",
            json!({ "path": "a/.bashrc", "old_string": "a", "new_string": "b" }),
            "path.protected_path",
            "permission_denied",
        ),
        ("http.fetch", json!({ "url": "http://example.org/" }), "http.egress_denied", "sandbox_violation"),
        ("shell.exec", json!({ "command": "  " }), "input.invalid", "invalid_arguments"),
    ] {
        let result = shell.json(1, &["invoke", tool, "-i", &input.to_string()]);
        let error = &result["error"];
        assert_eq!((&error["error_code"], &error["error_class"]), (&code.into(), &class.into()), "{tool} {result}");
        assert!(error["field_violations"][0]["field"].is_string(), "it names the field: {error}");
        let call = shell.json(0, &["get", "invocation", result["invocation_id"].as_str().unwrap()]);
        assert_eq!(call["status"], "validation_failed", "{tool}");
        let explained = shell.run(&["rules", "explain", tool, "-i", &input.to_string()]);
        assert!(String::from_utf8_lossy(&explained.stdout).contains(code), "{tool}");
    }
    assert_eq!(shell.says(0, &["approvals", "ls", "--all"]), "", "nobody was asked");

    // Where an answer helps, it is asked for, and the tool keeps the word.
    let input = json!({ "path": ".github/workflows/ci.yml", "content": "on: push\n", "create_parents": true });
    let call = shell.json(0, &["invoke", "files.write_file", "--detach", "-i", &input.to_string()]);
    let call = call["invocation_id"].as_str().unwrap();
    let approval = open_approval(&shell, call);
    shell.says(0, &["approvals", "approve", &approval]);
    shell.says(0, &["watch", call]);
    assert!(cluster.workspace().join(".github/workflows/ci.yml").exists());
}

#[tokio::test]
async fn an_edit_that_cannot_run_leaves_the_question_open() {
    let (cluster, shell) = start().await;
    shell.says(0, &["rules", "add", "Edit(./locked/**)", "--deny"]);
    let input = json!({ "path": "a.txt", "content": "x" }).to_string();
    let call = shell.json(0, &["invoke", "files.write_file", "--detach", "-i", &input]);
    let call = call["invocation_id"].as_str().unwrap();
    let approval = open_approval(&shell, call);
    for (edited, named) in [
        (json!({ "path": "../b.txt", "content": "x" }), "updated_input/path"),
        (json!({ "path": ".git/config", "content": "x" }), "updated_input/path"),
        (json!({ "path": "b.txt", "content": 5 }), "updated_input/content"),
        (json!({ "path": "b.txt" }), "updated_input"),
        (json!({ "path": "locked/b.txt", "content": "x" }), "says deny"),
    ] {
        let edited = edited.to_string();
        let refused = shell.complains(2, &["approvals", "approve", &approval, "-i", &edited]);
        assert!(refused.contains(named), "{edited}: {refused}");
        assert_eq!(open_approval(&shell, call), approval, "it is still open");
    }
    let edited = json!({ "path": "b.txt", "content": "x" }).to_string();
    shell.says(0, &["approvals", "approve", &approval, "-i", &edited]);
    shell.says(0, &["watch", call]);
    assert!(cluster.workspace().join("b.txt").exists());
}
