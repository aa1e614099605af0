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

    assert!(shell.complains(2, &["get", "invocation", "inv_none"]).contains("inv_none"));
    assert!(shell.complains(2, &["get", "something_else"]).contains("something_else"));
    assert!(shell.complains(2, &["invoke", "native.echo", "-i", "{'a':1}"]).contains("--input is not valid JSON"));
    assert!(shell.complains(2, &["no-such-command"]).contains("no-such-command"));
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
