//! A hostile repository: everything in its configuration that is a program leaves a mark when it runs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::json;
use toolplane_matching::ToolFacts;
use toolplane_policy::{CallFacts, Policy, PolicySettings, RuleSet, evaluate};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ToolKind};

use crate::support::{execute, shell_call, structured, text, toolbox};

/// Commands that rules may allow in any repository.
const QUIET: &[&str] = &[
    "git log",
    "git log --oneline --stat --all",
    "git log -n 3 --format='%H%G?' --name-status",
    "git log --numstat -- note.txt",
    "git show -s HEAD",
    "git show --stat HEAD",
    "git show-ref",
    "git rev-parse HEAD",
    "git rev-list --all --alternate-refs",
    "git ls-files --cached --others --exclude-standard",
    "git ls-files -s",
    "git ls-tree -r HEAD",
    "git cat-file -p HEAD:note.txt",
    "git for-each-ref --format='%(signature) %(refname)'",
    "git branch -a",
    "git tag -l",
    "git tag made",
    "git branch made",
    "git shortlog HEAD",
    "git merge-base HEAD HEAD~1",
    "git name-rev HEAD",
    "git count-objects -v",
    "git check-attr -a note.txt",
    "git version",
];

/// Commands that do run what the repository names, and which mark each of them leaves.
const LOUD: &[(&str, &str)] = &[
    ("git status", "clean"),
    ("git diff", "driver"),
    ("git diff -- other.md", "external"),
    ("git diff --no-ext-diff", "textconv"),
    ("git diff --no-ext-diff --no-textconv", "clean"),
    ("git log -p", "textconv"),
    ("git log -S x", "textconv"),
    ("git show", "textconv"),
    ("git blame note.txt", "textconv"),
    ("git ls-files -m", "clean"),
    ("git add note.txt", "clean"),
    ("git cat-file --filters HEAD:note.txt", "smudge"),
    ("git checkout -f HEAD~1", "smudge"),
];

fn git(repository: &Path, words: &[&str]) {
    let output = Command::new("git")
        .current_dir(repository)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Two commits, and a changed file whose time tells git to look at its contents.
fn repository(at: &Path) {
    git(at, &["init", "-q", "-b", "main"]);
    fs::write(at.join(".gitattributes"), "*.txt diff=mark filter=mark merge=mark\n").unwrap();
    for content in ["one\n", "two\n"] {
        fs::write(at.join("note.txt"), content).unwrap();
        fs::write(at.join("other.md"), content).unwrap();
        git(at, &["add", "."]);
        git(at, &["commit", "-q", "-m", content]);
    }
    fs::write(at.join("note.txt"), "six\n").unwrap();
    fs::write(at.join("other.md"), "six\n").unwrap();
    let mark = |name: &str| format!("\"touch /workspace/ran/{name}; cat\"");
    let mut config = fs::read_to_string(at.join(".git/config")).unwrap();
    let sections = [
        ("core", vec![("fsmonitor", "fsmonitor"), ("pager", "pager"), ("editor", "editor"), ("sshCommand", "ssh")]),
        ("core", vec![("alternateRefsCommand", "alternate"), ("askPass", "askpass"), ("gitProxy", "proxy")]),
        ("diff \"mark\"", vec![("textconv", "textconv")]),
        ("filter \"mark\"", vec![("clean", "clean"), ("smudge", "smudge")]),
        ("merge \"mark\"", vec![("driver", "merge")]),
        ("gpg", vec![("program", "gpg")]),
        ("gpg \"ssh\"", vec![("program", "gpg-ssh")]),
    ];
    for (section, keys) in sections {
        config.push_str(&format!("[{section}]\n"));
        for (key, name) in keys {
            config.push_str(&format!("\t{key} = {}\n", mark(name)));
        }
    }
    // These are given the two versions as arguments, and print nothing here.
    for (section, key, name) in [("diff", "external", "external"), ("diff \"mark\"", "command", "driver")] {
        config.push_str(&format!("[{section}]\n\t{key} = \"touch /workspace/ran/{name}; true\"\n"));
    }
    config.push_str("[log]\n\tshowSignature = true\n[core]\n\thooksPath = /workspace/.git/hooks\n");
    fs::write(at.join(".git/config"), config).unwrap();
    for hook in ["post-index-change", "reference-transaction", "post-checkout", "pre-commit"] {
        let file = at.join(".git/hooks").join(hook);
        fs::write(&file, "#!/bin/sh\ntouch /workspace/ran/hook\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::create_dir(at.join("ran")).unwrap();
    fs::write(at.join(".git/info/exclude"), "ran\n").unwrap();
}

fn marks(workspace: &Path) -> Vec<String> {
    let found = fs::read_dir(workspace.join("ran")).unwrap();
    let mut marks: Vec<String> = found.map(|mark| mark.unwrap().file_name().into_string().unwrap()).collect();
    marks.sort();
    marks
}

/// What is decided about a command where a rule allows all of git.
fn decided(command: &str, trust_repositories: bool) -> Behavior {
    let rule = json!({ "rule_id": "git", "source": "user_settings", "behavior": "allow", "matcher": "Bash(git:*)" });
    let rules = RuleSet::build(&[serde_json::from_value(rule).unwrap()]).unwrap();
    let settings = Arc::new(PolicySettings { trust_repositories, ..PolicySettings::default() });
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool_shell"), "local.shell.exec", "local.shell");
    tool.kind = Some(ToolKind::ShellCommand);
    let call = CallFacts::new(tool, JsonPayload::of(&json!({ "command": command })));
    evaluate(&Policy { settings, ..Policy::of(rules) }, &call, Timestamp::from_millis(0)).behavior
}

#[tokio::test]
async fn what_rules_may_allow_runs_nothing_that_a_repository_names() {
    let workspace = tempfile::tempdir().unwrap();
    repository(workspace.path());
    let toolbox = toolbox(workspace.path()).await;
    for command in QUIET {
        assert_eq!(decided(command, false), Behavior::Allow, "{command}");
        let outcome = execute(&toolbox, &shell_call(command)).await;
        assert!(outcome.is_success(), "{command}: {}", structured(&outcome));
        assert_eq!(marks(workspace.path()), [] as [String; 0], "{command}: {}", text(&outcome));
    }
}

#[tokio::test]
async fn what_runs_programs_of_a_repository_is_asked_about_until_repositories_are_trusted() {
    for (command, mark) in LOUD {
        let workspace = tempfile::tempdir().unwrap();
        repository(workspace.path());
        let toolbox = toolbox(workspace.path()).await;
        let outcome = execute(&toolbox, &shell_call(command)).await;
        let ran = marks(workspace.path());
        assert!(ran.contains(&(*mark).to_owned()), "{command}: only {ran:?} ran: {}", structured(&outcome));
        // What can be turned off is, whatever the command.
        let quiet = ["fsmonitor", "hook", "pager", "editor", "gpg", "gpg-ssh", "ssh", "alternate", "askpass", "proxy"];
        assert!(!ran.iter().any(|mark| quiet.contains(&mark.as_str())), "{command}: {ran:?}");
        assert_eq!(decided(command, false), Behavior::Ask, "{command}");
    }
    for command in ["git status", "git diff --stat", "git log -p"] {
        assert_eq!(decided(command, true), Behavior::Allow, "{command}");
    }
}
