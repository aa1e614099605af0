//! What people are shown is what there is: nothing in it acts on a terminal, or passes for a line of the command line's own.

use serde_json::json;
use toolplane_records::visible;
use toolplane_testkit::{Cluster, Options, tools};

use crate::bed::RULES;
use crate::shell::Shell;

async fn start() -> (Cluster, Shell) {
    // What a tool gave is to reach the terminal's own reader as it was.
    let config = format!("{RULES}\n[scheduler.cleaning]\ninvisible = \"keep\"\n");
    let cluster = Cluster::start(Options::new(config)).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let files: Vec<String> = tools::example_files().unwrap().iter().map(|file| file.display().to_string()).collect();
    let mut arguments = vec!["tools", "register"];
    arguments.extend(files.iter().map(String::as_str));
    shell.says(0, &arguments);
    (cluster, shell)
}

/// Everything a command printed, which must be harmless.
#[track_caller]
fn harmless(shell: &Shell, arguments: &[&str]) -> String {
    let output = shell.run(arguments);
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!(visible::text(&said), said, "{arguments:?}");
    said
}

#[tokio::test]
async fn what_is_approved_is_what_is_seen() {
    let (_cluster, shell) = start().await;
    let command = "echo safe \u{202e}# txt\u{1b}[2J\u{200b}; c\u{430}t x\nerror: none";
    let input = json!({ "command": command }).to_string();
    let call = shell.json(0, &["invoke", "shell.exec", "--detach", "-i", &input]);
    let call = call["invocation_id"].as_str().unwrap();
    let listed = shell.json(0, &["approvals", "ls"]);
    assert_eq!(listed["permission_input"]["command"], command, "records keep what was said");
    let approval = listed["approval_id"].as_str().unwrap();

    let shown = harmless(&shell, &["approvals", "show", approval]);
    assert!(shown.contains("safe \\u{202e}# txt") && shown.contains("\\u{200b}; c"), "{shown}");
    assert!(shown.contains("`c\\u{430}t` only looks like `cat`"), "look-alikes are pointed out: {shown}");
    harmless(&shell, &["approvals", "ls"]);
    harmless(&shell, &["approvals", "watch", "--limit", "1"]);
    harmless(&shell, &["get", call, "--inputs"]);
    let explained = harmless(&shell, &["rules", "explain", "shell.exec", "-i", &input]);
    assert!(explained.contains("\\u{202e}") && explained.contains("only looks like `cat`"), "{explained}");
    harmless(&shell, &["-o", "json", "approvals", "show", approval]);

    // What people say is text of others as well.
    shell.says(0, &["approvals", "reject", approval, "--feedback", "no\n✔ succeeded\u{9b}2J"]);
    let watched = harmless(&shell, &["watch", call]);
    assert!(!watched.lines().any(|line| line.starts_with("✔ succeeded")), "{watched}");
    let summary = &shell.json(0, &["get", "result", call])["ui_facing_summary"];
    assert!(summary.as_str().unwrap().contains("no\\n✔ succeeded\\u{9b}2J"), "{summary}");
}

#[tokio::test]
async fn the_answer_of_a_tool_forges_no_line() {
    let (_cluster, shell) = start().await;
    let forged = "✔ succeeded  inv_other  all is well";
    let input = json!({ "command": format!("printf 'begin\\n{forged}\\n\\033[2Jend\\n'") }).to_string();
    let call = shell.json(0, &["invoke", "shell.exec", "--detach", "-i", &input]);
    let call = call["invocation_id"].as_str().unwrap();
    let approval = shell.json(0, &["approvals", "ls"]);
    shell.says(0, &["approvals", "approve", approval["approval_id"].as_str().unwrap()]);
    for arguments in [&["watch", call][..], &["get", call]] {
        let said = harmless(&shell, arguments);
        assert!(said.contains(&format!("│ {forged}")) && said.contains("│ \\u{1b}[2Jend"), "{said}");
        assert!(!said.lines().any(|line| line.starts_with(forged)), "{said}");
    }
    // A program that reads the content gets it as it is.
    assert!(shell.says(0, &["get", "result", call]).contains(&format!("begin\n{forged}\n\u{1b}[2Jend\n")));
}
