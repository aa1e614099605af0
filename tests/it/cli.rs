//! The command line, typed as people and scripts type it.

use std::path::Path;

use toolplane_testkit::{Cluster, Options, tools};

use crate::bed::RULES;
use crate::shell::Shell;

async fn start() -> (Cluster, Shell) {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let files: Vec<String> = tools::example_files().unwrap().iter().map(|file| file.display().to_string()).collect();
    let mut arguments = vec!["tools", "register"];
    arguments.extend(files.iter().map(String::as_str));
    assert!(shell.says(0, &arguments).contains("created"));
    assert!(shell.says(0, &arguments).contains("unchanged"));
    (cluster, shell)
}

#[tokio::test]
async fn exit_codes_and_records() {
    let (cluster, shell) = start().await;
    std::fs::write(cluster.workspace().join("a.txt"), "one two\n").unwrap();
    assert!(shell.says(0, &["tools", "ls"]).contains("files.read_file"));
    let shown = shell.json(0, &["tools", "show", "shell.exec"]);
    assert_eq!(shown["declaration"]["tool_id"], "tool_shell_exec");

    // A surface is made and the tool is loaded without being asked for; the content is all that standard output gets.
    let said = shell.says(0, &["invoke", "text.word_count", "-i", r#"{"path":"a.txt"}"#]);
    assert!(said.contains("1") && said.contains("a.txt"), "{said}");
    let result = shell.json(0, &["invoke", "native.echo", "-i", r#"{"n":18446744073709551615}"#]);
    assert_eq!((&result["status"], &result["is_error"]), (&"succeeded".into(), &false.into()));
    let failed = shell.json(1, &["invoke", "text.word_count", "-i", r#"{"path":"none.txt"}"#]);
    assert_eq!(failed["is_error"], true);
    let denied = shell.complains(1, &["invoke", "http.fetch", "-i", r#"{"url":"http://127.0.0.1:9/"}"#]);
    assert!(denied.contains("permission_denied") && denied.contains("what to do"), "{denied}");

    let listed = shell.json(0, &["ls", "--limit", "1"]);
    let id = listed["invocation_id"].as_str().unwrap();
    assert_eq!(shell.json(0, &["get", id])["invocation_id"], id);
    assert_eq!(shell.json(1, &["watch", id])["sequence"], 1);
    let decision = shell.json(0, &["get", "decision", id]);
    assert_eq!(decision["behavior"], "deny");
    let by_id = shell.json(0, &["get", decision["decision_id"].as_str().unwrap()]);
    assert_eq!(by_id, decision);
    assert_eq!(shell.json(0, &["workers"])["state"], "ready");

    let input = r#"{"n":1}"#;
    let shared = ["--session", "s1", "--lock", "notes:shared", "--priority", "interactive"];
    let call = shell.json(0, &[&["invoke", "native.echo", "--detach", "-i", input][..], &shared[..]].concat());
    let call = shell.json(0, &["get", "invocation", call["invocation_id"].as_str().unwrap()]);
    let listed = shell.json(0, &["ls", "--session", "s1"]);
    assert_eq!(listed["invocation_id"], call["invocation_id"]);
    assert!(shell.complains(2, &["input", call["invocation_id"].as_str().unwrap()]).contains("asks nothing"));
    assert!(shell.complains(2, &["invoke", "native.echo", "--priority", "soon"]).contains("spec.priority"));
    // Nobody follows it, and it was refused at once: the reason is said all the same.
    let refused = shell.complains(1, &["invoke", "native.echo", "--background"]);
    assert!(refused.contains("exec.background_unsupported"), "{refused}");

    assert!(shell.complains(2, &["get", "invocation", "inv_none"]).contains("inv_none"));
    assert!(shell.complains(2, &["get", "something_else"]).contains("something_else"));
    assert!(shell.complains(2, &["invoke", "native.echo", "-i", "{'a':1}"]).contains("--input is not valid JSON"));
    assert!(shell.complains(2, &["no-such-command"]).contains("no-such-command"));
    let surface = shell.json(0, &["surface", "create", "--tool", "native.echo"])["surface_id"].clone();
    let surface = surface.as_str().unwrap();
    shell.says(0, &["invoke", "native.echo", "--surface", surface, "-i", input]);
    let extended = shell.says(0, &["surface", "extend", surface, "--namespace", "text"]);
    assert!(extended.contains("loaded    native.echo") && extended.contains("deferred  text.word_count"), "{extended}");
    assert!(shell.says(1, &["unload", surface, "native.echo", "native.ecko"]).contains("native.echo  deferred"));
    assert!(shell.says(0, &["surface", "show", surface]).contains("deferred  native.echo"));
    let none = shell.json(0, &["surface", "create", "--tool-choice", "none"])["surface_id"].clone();
    assert!(
        shell
            .complains(1, &["invoke", "native.echo", "--surface", none.as_str().unwrap()])
            .contains("surface.no_calls")
    );
    let denied = shell.complains(2, &["surface", "create", "--deny", "Bsh", "--one-at-a-time", "--require-moment"]);
    assert!(denied.contains("selection_policy.denied_tools[0]"), "{denied}");
    let moment = shell.json(0, &["surface", "show", surface])["moment"].clone();
    let at = ["invoke", "text.word_count", "--surface", surface, "--moment", moment.as_str().unwrap()];
    assert!(shell.complains(1, &at).contains("surface.schema_not_loaded"));
    assert!(shell.complains(2, &[&at[..5], &["9.9"]].concat()).contains("spec.surface_moment"));
    let since = shell.says(0, &["surface", "watch", surface, "--from-revision", "1", "--limit", "1"]);
    assert!(since.contains("added    native.echo  deferred"), "{since}");
    assert!(shell.says(0, &["surface", "rm", surface]).contains("deleted, at revision 3"));
    bounds_a_surface(&shell);
    let within = ["surface", "create", "--tool", "native.echo", "--tool", "text.word_count", "--max-tools", "1"];
    let bounded = shell.json(0, &within)["surface_id"].clone();
    let bounded = bounded.as_str().unwrap();
    let loaded = shell.run(&["load", bounded, "text.word_count"]);
    let (said, noted) = (String::from_utf8_lossy(&loaded.stdout), String::from_utf8_lossy(&loaded.stderr));
    assert!(said.contains("loaded as text.word_count"), "{said}");
    assert!(noted.contains("unloaded for the budget, least used: native.echo"), "{noted}");
    let shown = shell.says(0, &["surface", "show", bounded]);
    assert!(shown.contains("budget: 1 of 1 tools,") && shown.contains("1 deferred for it  (native.echo)"), "{shown}");
    assert!(!shell.says(0, &["surface", "ls"]).contains(surface));
    let gone = shell.run(&["invoke", "native.echo", "--surface", surface, "-i", input]);
    assert!(!gone.status.success() && String::from_utf8_lossy(&gone.stderr).contains(surface), "{gone:?}");
    assert!(shell.complains(2, &["surface", "rm", surface]).contains(surface));
    let nobody = Shell::at("http://127.0.0.1:1");
    assert!(nobody.complains(2, &["ls"]).contains("toolplane serve"));
}

#[tokio::test]
async fn a_person_approves_and_fetches() {
    let (cluster, shell) = start().await;
    let input = r#"{"command":"seq 1 100000"}"#;
    let submitted = shell.json(0, &["invoke", "shell.exec", "--detach", "--key", "k1", "-i", input]);
    let again = shell.json(0, &["invoke", "shell.exec", "--detach", "--key", "k1", "-i", input]);
    let id = submitted["invocation_id"].as_str().unwrap();
    assert_eq!(again["invocation_id"], id);

    let approval = shell.json(0, &["approvals", "ls"]);
    let approval = approval["approval_id"].as_str().unwrap();
    let shown = shell.says(0, &["approvals", "show", approval]);
    assert!(shown.contains("seq 1 100000"), "people must see what they approve: {shown}");
    assert!(shell.says(0, &["approvals", "approve", approval, "--feedback", "fine"]).contains("approved"));
    shell.complains(2, &["approvals", "reject", approval]);
    shell.says(0, &["watch", id]);

    let file = cluster.folder().join("fetched.txt");
    let noted = shell.complains(0, &["fetch", id, "-O", file.to_str().unwrap()]);
    assert!(noted.contains("digest checked"), "{noted}");
    assert_eq!(lines(&file), 100_000);
    assert_eq!(shell.says(0, &["fetch", id, "--offset", "2", "--limit", "4"]), "2\n3\n");
}

#[tokio::test]
async fn bytes_come_back_as_the_tool_gave_them() {
    let (cluster, shell) = start().await;
    let made = cluster.workspace().join("random");
    let given: Vec<u8> = std::iter::repeat_with(|| uuid::Uuid::new_v4().into_bytes()).take(6250).flatten().collect();
    std::fs::write(&made, &given).unwrap();
    let submitted = shell.json(0, &["invoke", "shell.exec", "--detach", "-i", r#"{"command":"cat random"}"#]);
    let id = submitted["invocation_id"].as_str().unwrap();
    let approval = shell.json(0, &["approvals", "ls"]);
    shell.says(0, &["approvals", "approve", approval["approval_id"].as_str().unwrap()]);
    shell.says(0, &["watch", id]);

    let file = cluster.folder().join("fetched");
    let noted = shell.complains(0, &["fetch", id, "-O", file.to_str().unwrap()]);
    assert!(noted.contains("digest checked"), "{noted}");
    assert!(std::fs::read(&file).unwrap() == given, "100,000 bytes, each of them");
    let part = shell.run(&["fetch", id, "--offset", "50000", "--limit", "100"]).stdout;
    assert_eq!(part, given[50_000..50_100]);
    let result = shell.json(0, &["get", "result", id]);
    assert!(result.to_string().contains("application/octet-stream"), "{result}");
}

fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).unwrap().lines().count()
}

/// A tool registered after the first call can be called, and one registered with another schema is loaded as it is now.
#[tokio::test]
async fn tools_registered_later_can_be_called() {
    let (cluster, shell) = start().await;
    shell.says(0, &["invoke", "native.echo", "-i", r#"{"n":1}"#]);
    let declare = |schema: &str| {
        let file = cluster.folder().join("late.json");
        let echo = tools::example_files().unwrap().into_iter().find(|file| file.ends_with("native.echo.json")).unwrap();
        let mut tool: serde_json::Value = serde_json::from_slice(&std::fs::read(echo).unwrap()).unwrap();
        let text = tool.to_string().replace("tool_native_echo", "tool_late_echo");
        tool = serde_json::from_str(&text).unwrap();
        tool["declaration"]["namespace"] = "native.late".into();
        tool["declaration"]["name"] = "echo".into();
        tool["declaration"]["input_contract"]["examples"] = serde_json::json!([]);
        tool["declaration"]["input_contract"]["model_input_schema"] = serde_json::from_str(schema).unwrap();
        std::fs::write(&file, tool.to_string()).unwrap();
        shell.says(0, &["tools", "register", file.to_str().unwrap()]);
    };
    declare(r#"{"type":"object"}"#);
    shell.says(0, &["invoke", "native.late.echo", "-i", r#"{"n":2}"#]);
    declare(r#"{"type":"object","$schema":"http://json-schema.org/draft-07/schema#","required":["m"]}"#);
    let wrong = shell.complains(1, &["invoke", "native.late.echo", "-i", r#"{"n":2}"#]);
    assert!(wrong.contains("/m") && wrong.contains("is required"), "{wrong}");
    shell.says(0, &["invoke", "native.late.echo", "-i", r#"{"m":2}"#]);
    let unknown = shell.complains(1, &["invoke", "native.late.ecko", "-i", "{}"]);
    assert!(unknown.contains("similar: native.late.echo"), "{unknown}");

    // Two tools say the same; a search says why it found what was spelled wrongly.
    let expected = "count words=text.word_count";
    let lint = shell.says(1, &["tools", "lint", "--namespace", "native", "--expect", expected]);
    assert!(lint.contains("same_text") && lint.contains("native.late.echo") && !lint.contains("word_count"), "{lint}");
    shell.says(0, &["tools", "lint", "--namespace", "text", "--expect", expected]);
    let found = shell.says(0, &["search", "default", "--explain", "cuont wrods"]);
    assert!(found.contains("text.word_count") && found.contains("cuont: a slip of count"), "{found}");
    assert!(shell.complains(2, &["search", "default", "kind:nonsense"]).contains("shell_command"));
}

/// There is no person to answer: the command says so at once, waits no longer than it was told, and the call goes on
/// waiting.
#[tokio::test]
async fn nobody_is_waited_for_longer_than_said() {
    let (_cluster, shell) = start().await;
    let call = ["invoke", "shell.exec", "--wait", "1s", "-i", r#"{"command":"date > asked.txt"}"#];
    let output = shell.run(&call);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{out}\n{err}");
    for words in ["waits for a person", "approvals approve appr_", "--wait", "toolplane watch", "toolplane cancel"] {
        assert!(err.contains(words), "{words}: {err}");
    }
    let id = out.trim();
    assert_eq!(shell.json(0, &["get", id])["status"], "awaiting_approval");
    assert_eq!(shell.json(3, &call)["status"], "awaiting_approval");
    assert!(shell.complains(2, &["invoke", "native.echo", "--wait", "soon"]).contains("30s"));
}

/// What people and shells get beside answers: completions, manual pages, results a line each.
#[tokio::test]
async fn shells_and_readers_are_served() {
    let (cluster, shell) = start().await;
    let nobody = Shell::at("http://127.0.0.1:1");
    for name in ["bash", "zsh", "fish"] {
        assert!(nobody.says(0, &["completions", name]).contains("approvals"), "{name}");
    }
    assert!(nobody.says(0, &["man"]).contains(".TH toolplane"));
    let folder = cluster.folder().join("man1");
    std::fs::create_dir_all(&folder).unwrap();
    nobody.says(0, &["man", folder.to_str().unwrap()]);
    assert!(folder.join("toolplane-invoke.1").is_file());

    std::fs::create_dir_all(cluster.workspace().join("notes")).unwrap();
    for n in 0..27 {
        std::fs::write(cluster.workspace().join(format!("notes/{n:02}.txt")), format!("note {n}\n")).unwrap();
    }
    let file = toolplane_testkit::binary::root().join("deploy/examples/batches/notes.json");
    let said = shell.says(1, &["batch", file.to_str().unwrap()]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 27, "{said}");
    assert!(lines[0].starts_with("[0] ✔ files.read_file  succeeded  inv_") && lines[0].contains("note 0"), "{said}");
    assert_eq!(lines.iter().filter(|line| line.contains('✘')).count(), 1, "{said}");
}

/// A surface within another one shows what that one does, and nothing without it.
fn bounds_a_surface(shell: &Shell) {
    let parent = shell.json(0, &["surface", "create", "--tool", "native.echo"])["surface_id"].clone();
    let parent = parent.as_str().unwrap();
    let child = shell.json(0, &["surface", "create", "--parent", parent])["surface_id"].clone();
    let child = child.as_str().unwrap();
    let shown = shell.says(0, &["surface", "show", child]);
    let is_tool = |line: &&str| ["loaded", "deferred", "blocked", "excluded"].iter().any(|list| line.starts_with(list));
    let tools: Vec<&str> = shown.lines().map(str::trim).filter(is_tool).collect();
    assert_eq!(tools, ["loaded    native.echo"], "{shown}");
    assert!(shown.lines().next().unwrap().ends_with(&format!("  within {parent}")), "{shown}");
    let refused = shell.complains(1, &["invoke", "text.word_count", "--surface", child, "-i", r#"{"text":"a"}"#]);
    assert!(refused.contains("surface.not_selected") && refused.contains(parent), "{refused}");
    assert!(shell.complains(2, &["surface", "create", "--parent", ""]).contains("--parent"));
    assert!(shell.complains(2, &["surface", "create", "--parent", "surf_none"]).contains("`surf_none`"));
    shell.says(0, &["surface", "rm", parent]);
    assert!(shell.complains(2, &["surface", "show", child]).contains("docs/errors.md#PARENT_GONE"));
    shell.says(0, &["surface", "rm", child]);
}

/// Why a process does not start is a line of its log like all others, where it is known how they look.
#[tokio::test]
async fn why_a_process_does_not_start_is_told_as_its_log_looks() {
    let running = Cluster::start(Options::new("")).await.unwrap();
    let taken = running.endpoint().trim_start_matches("http://").to_owned();
    for (wrong, code, status) in [
        ("[server]\nlisten = \"0.0.0.0:1\"\n", "CONFIG_VALUE_INVALID", 2),
        ("[server]\nno_key = 1\n", "CONFIG_FILE_INVALID", 2),
        ("[executor]\npools = [\"shel\"]\n", "", 2),
        (&format!("[server]\nlisten = \"{taken}\"\n"), "", 1),
    ] {
        let told = |format: &str, more: &[&str]| {
            let cluster = Cluster::prepare(Options::new(format!("{wrong}[log]\nformat = {format:?}\n"))).unwrap();
            let mut command = cluster.command().unwrap();
            command.env_remove("TOOLPLANE__SERVER__LISTEN").args(more);
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(status), "{wrong}");
            String::from_utf8(output.stderr).unwrap()
        };
        let lines: Vec<serde_json::Value> = told("json", &[])
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
            .collect();
        let last = lines.last().unwrap();
        assert!(last["timestamp"].is_string() && last["target"].is_string() && last["level"] == "ERROR", "{last}");
        let told_code = last["error_code"].as_str().unwrap();
        assert!(code.is_empty() || told_code == code, "{last}");
        let text = told("text", &[]);
        let message = last["message"].as_str().unwrap();
        // The folders differ.
        let same = message.split_once("toolplane.toml").map_or(message, |(_, rest)| rest);
        assert!(text.contains("error: ") && text.contains(same), "{message}: {text}");
        assert!(text.contains(&format!("see {}", last["see"].as_str().unwrap())), "{last}: {text}");
        if status == 2 {
            assert!(told("json", &["--check-config"]).starts_with("error: "), "who checks reads it");
        }
    }
}
