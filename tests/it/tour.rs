//! The steps of the README under the configuration it names, and under none.

use toolplane_testkit::{Cluster, Options, tools};

use crate::shell::Shell;

async fn start(config: &str) -> (Cluster, Shell) {
    let cluster = Cluster::start(Options::new(config)).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    let files: Vec<String> = tools::example_files().unwrap().iter().map(|file| file.display().to_string()).collect();
    let mut arguments = vec!["tools", "register"];
    arguments.extend(files.iter().map(String::as_str));
    shell.says(0, &arguments);
    std::fs::write(cluster.workspace().join("words.txt"), "one two three\n").unwrap();
    (cluster, shell)
}

fn detached(shell: &Shell, tool: &str, input: &str, more: &[&str]) -> String {
    let call = shell.json(0, &[&["invoke", tool, "--detach", "--input", input], more].concat());
    call["invocation_id"].as_str().unwrap().to_owned()
}

/// The one question that waits.
fn question(shell: &Shell) -> String {
    shell.json(0, &["approvals", "ls"])["approval_id"].as_str().unwrap().to_owned()
}

const WORDS: &str = r#"{"path": "words.txt"}"#;

#[tokio::test]
async fn every_step_is_true_under_the_example_configuration() {
    let (cluster, shell) = start(include_str!("../../deploy/toolplane.toml")).await;
    assert!(shell.says(0, &["invoke", "text.word_count", "--input", WORDS]).contains('3'));
    for number in 0..27 {
        let note = cluster.workspace().join(format!("notes/{number:02}.txt"));
        std::fs::create_dir_all(note.parent().unwrap()).unwrap();
        std::fs::write(note, "note\n").unwrap();
    }
    let batch = toolplane_testkit::binary::root().join("deploy/examples/batches/notes.json");
    let said = shell.run(&["batch", batch.to_str().unwrap()]);
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("26") || String::from_utf8_lossy(&said.stdout).contains("26")
    );

    // The locks: reading runs, the command waits for a yes.
    let shared = ["--lock", "file:words.txt:shared"];
    assert!(shell.says(0, &[&["invoke", "text.word_count", "--input", WORDS], &shared[..]].concat()).contains('3'));
    let sort = r#"{"command": "sort -o words.txt words.txt"}"#;
    let sorted = detached(&shell, "shell.exec", sort, &["--lock", "file:words.txt"]);
    shell.says(0, &["approvals", "approve", &question(&shell)]);
    shell.says(0, &["watch", &sorted]);

    // A yes for always is a rule, and it holds.
    let count = r#"{"command": "wc -l words.txt"}"#;
    let counted = detached(&shell, "shell.exec", count, &[]);
    shell.complains(0, &["approvals", "approve", &question(&shell), "--always"]);
    shell.says(0, &["watch", &counted]);
    assert!(shell.says(0, &["invoke", "shell.exec", "--input", count]).contains("words.txt"));

    // Rules that are added say what they do not do.
    let added = shell.complains(0, &["rules", "add", "Bash(wc:*)", "--allow"]);
    assert!(!added.contains("outranks") && !added.contains("no registered tool"), "{added}");
    let ask = ["rules", "add", "shell.exec", "--ask", "--id", "commands"];
    shell.says(0, &ask);
    let added = shell.complains(0, &["rules", "add", "shell.exec", "--allow"]);
    assert!(added.contains("commands") && added.contains("an ask outranks every allow"), "{added}");
    let added = shell.complains(0, &["rules", "add", "shell.run", "--deny"]);
    assert!(added.contains("no registered tool is called `shell.run`"), "{added}");
}

#[tokio::test]
async fn no_rule_means_ask_also_where_there_are_none() {
    let (_cluster, shell) = start("").await;
    let asked = detached(&shell, "text.word_count", WORDS, &[]);
    assert_eq!(shell.json(0, &["get", "invocation", &asked])["status"], "awaiting_approval");
    assert!(shell.complains(0, &["rules", "ls"]).contains("every call is asked about"));
    // A rule about something else changes nothing of that.
    shell.says(0, &["rules", "add", "http.fetch", "--deny"]);
    let again = detached(&shell, "text.word_count", WORDS, &[]);
    assert_eq!(shell.json(0, &["get", "invocation", &again])["status"], "awaiting_approval");
    // The name people call the tool by allows it.
    shell.says(0, &["rules", "add", "shell.exec", "--allow"]);
    assert_eq!(shell.says(0, &["invoke", "shell.exec", "--input", r#"{"command": "echo hello"}"#]), "hello\n");
}
