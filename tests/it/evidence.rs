//! What is known of a call is told on one screen, taken away as proof, kept where it must be, and deleted where it may be.

use std::path::Path;

use toolplane_testkit::{Cluster, Options, tools};

use crate::bed::RULES;
use crate::shell::Shell;

async fn start() -> (Cluster, Shell) {
    // Whoever makes the calls here exports them after their ends: no commit is on its way, and nothing has to settle.
    let options = Options::new(RULES).env("TOOLPLANE__SCHEDULER__EXPORT_SETTLE_MS", "0");
    let cluster = Cluster::start(options).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let files: Vec<String> = tools::example_files().unwrap().iter().map(|file| file.display().to_string()).collect();
    let mut arguments = vec!["tools", "register"];
    arguments.extend(files.iter().map(String::as_str));
    assert!(shell.says(0, &arguments).contains("created"));
    (cluster, shell)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[tokio::test]
async fn a_call_is_explained_exported_proved_held_and_deleted() {
    let (cluster, shell) = start().await;
    let input = r#"{"n":"a word nobody else says"}"#;
    let call = shell.json(0, &["invoke", "native.echo", "--session", "s1", "-i", input]);
    let id = call["invocation_id"].as_str().unwrap();
    let submitted = shell.json(0, &["invoke", "shell.exec", "--detach", "-i", r#"{"command":"seq 1 3"}"#]);
    let run = submitted["invocation_id"].as_str().unwrap();
    let approval = shell.json(0, &["approvals", "ls"]);
    let approval = approval["approval_id"].as_str().unwrap();
    let waits = shell.says(0, &["explain", run]);
    assert!(waits.contains(&format!("toolplane approvals show {approval}")), "{waits}");
    shell.says(0, &["approvals", "approve", approval, "--as", "alice", "--feedback", "go on"]);
    shell.says(0, &["watch", run]);

    // One screen: who decided, where it ran in which sandbox, how long each step took.
    let story = shell.says(0, &["explain", run]);
    for part in
        ["seq 1 3", "ask", "approved by alice", "go on", "bubblewrap", "layers hold", "wait for a person", "run "]
    {
        assert!(story.contains(part), "{part}: {story}");
    }
    assert!(story.lines().count() <= 45, "{story}");
    let told = shell.json(0, &["explain", id]);
    let ran = told["chapters"].as_array().unwrap().iter().find(|chapter| chapter["name"] == "ran").unwrap();
    let ran = ran["lines"].to_string();
    assert!(ran.contains("sha256:") && ran.contains(env!("CARGO_PKG_VERSION")), "{ran}");

    // Taken away as proof, by two exports that go on from one another.
    let folder = cluster.folder();
    let at = |name: &str| folder.join(name);
    let (key, public) = (at("audit.key"), at("audit.key.pub"));
    shell.says(0, &["keys", "signing", "--file", text(&key)]);
    let (first, second, later) = (at("first.jsonl"), at("second.jsonl"), "2100-01-01T00:00:00Z");
    shell.complains(0, &["export", "--key", text(&key), "--file", text(&first), "--to", later]);
    // What proves something is not written over, and a chain is of one thing.
    let again = ["export", "--key", text(&key), "--file", text(&first)];
    assert!(shell.complains(2, &again).contains("is there already"));
    let narrowed = ["export", "--key", text(&key), "--after", text(&first), "--session", "s1"];
    assert!(shell.complains(2, &narrowed).contains("only the session s1"));
    let nowhere = Shell::at("http://127.0.0.1:1");
    let proved = nowhere.says(0, &["verify", text(&first), "--key", text(&public)]);
    assert!(proved.contains("2 calls"), "{proved}");
    let lines = std::fs::read_to_string(&first).unwrap();
    for kind in ["invocation", "decision", "execution", "persistence", "result", "event"] {
        assert!(lines.contains(&format!(r#""kind":"{kind}""#)), "{kind}: {lines}");
    }

    // Held: not deleted. Then deleted, and the next export says so.
    shell.says(0, &["hold", "set", "--session", "s1", "--reason", "case 17", "--as", "bob"]);
    assert!(shell.complains(2, &["delete", id, "--reason", "erasure request 4"]).contains("HELD"));
    // Another reason is not lost in silence, and what is not there cannot be kept.
    let other = shell.complains(2, &["hold", "set", "--session", "s1", "--reason", "case 18"]);
    assert!(other.contains("HELD") && other.contains("by bob: case 17"), "{other}");
    assert!(shell.complains(2, &["hold", "set", "inv_misspelled", "--reason", "case 18"]).contains("NOT_FOUND"));
    assert!(shell.says(0, &["hold", "list"]).contains("case 17"));
    assert!(shell.says(1, &["delete", "--session", "s1", "--reason", "erasure request 4"]).contains("1 kept"));
    shell.complains(0, &["hold", "clear", "--session", "s1"]);
    assert!(shell.says(0, &["delete", "--session", "s1", "--reason", "erasure request 4"]).contains("1 deleted"));
    assert!(shell.complains(2, &["get", "invocation", id]).contains(id));
    assert!(shell.complains(2, &["hold", "set", id, "--reason", "case 18"]).contains("it was deleted at"));
    let mut more = vec!["export", "--key", text(&key), "--file", text(&second), "--to", later];
    more.extend(["--after", text(&first)]);
    shell.complains(0, &more);
    let proved = nowhere.says(0, &["verify", text(&first), text(&second), "--key", text(&public)]);
    assert!(proved.contains("0 calls, 1 deletions"), "{proved}");
    let left = std::fs::read_to_string(&second).unwrap();
    assert!(left.contains("erasure request 4") && !left.contains("a word nobody else says"), "{left}");

    // One byte is another one: the line is named.
    std::fs::write(&first, lines.replacen("succeeded", "sUcceeded", 1)).unwrap();
    let place = lines.lines().position(|line| line.contains("succeeded")).unwrap() + 1;
    let wrong = nowhere.says(1, &["verify", text(&first), "--key", text(&public)]);
    assert!(wrong.contains(&format!("line {place}: changed")), "{wrong}");
}
