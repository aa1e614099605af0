use serde_json::{Value, json};
use toolplane_records::ids::ToolId;
use toolplane_records::vocabulary::{AccessKind, Behavior, RiskLevel, ToolKind};

use super::*;
use crate::Matchers;
use crate::subject::Workspace;

fn tool(name: &str, aliases: &[&str]) -> ToolFacts {
    let namespace = name.rsplit_once('.').map_or("", |(namespace, _)| namespace);
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool:1"), name, namespace);
    tool.aliases = aliases.iter().map(|name| (*name).to_owned()).collect();
    tool
}

fn of_kind(name: &str, kind: ToolKind, access: &[AccessKind]) -> ToolFacts {
    let id = toolplane_records::ids::ProfileId::from_trusted("p");
    let mut profile = toolplane_records::profile::PermissionProfile::new(id, RiskLevel::Low);
    profile.access_kinds = access.to_vec();
    ToolFacts { kind: Some(kind), profile: Some(profile), ..tool(name, &[]) }
}

#[track_caller]
fn check(matchers: &str, tool: &ToolFacts, input: &Value, fits: bool) {
    let parsed: Matchers = matchers.parse().unwrap_or_else(|fault| panic!("{matchers}: {fault}"));
    let subjects = tool.subjects(input, &Workspace { root: "/workspace".into(), ..Workspace::default() });
    let found = parsed.fit(&MatchTarget::new(tool, &subjects));
    assert_eq!(found, fits, "`{matchers}` and {} {input}", tool.full_name);
    assert!(!found || parsed.may_fit(tool), "`{matchers}` fits a call of {} that it may not", tool.full_name);
}

#[test]
fn names_beginnings_namespaces_and_alternatives() {
    let read = tool("files.read_file", &["cat", "mcp__files__read"]);
    let fitting =
        ["", "*", ".*", "files.read_file", "tool:1", "cat", "files.*", "namespace:files", "x|cat", " cat | y "];
    let servers = ["mcp__files", "mcp__files__*", "mcp__files__.*", "mcp__files__read", "mcp__*"];
    for fits in fitting.iter().chain(&servers) {
        check(fits, &read, &json!({}), true);
    }
    for not in ["files", "file", "files.read", "namespace:file", "mcp__file", "mcp__files__re", "Cat", "x|y", "Bash"] {
        check(not, &read, &json!({}), false);
    }
}

#[test]
fn every_name_of_a_family_is_the_same_family() {
    let list = of_kind("files.list_dir", ToolKind::FileOperation, &[AccessKind::FileRead]);
    let edit = of_kind("files.edit_file", ToolKind::FileOperation, &[AccessKind::FileWrite]);
    for name in ["LS", "Glob", "Read"] {
        check(name, &list, &json!({ "path": "src" }), true);
    }
    for name in ["Edit", "Write", "MultiEdit", "NotebookEdit"] {
        check(name, &edit, &json!({ "path": "a" }), true);
        check(name, &list, &json!({ "path": "a" }), false);
    }
    check("Agent", &of_kind("peer.ask", ToolKind::PeerAgentTool, &[]), &json!({}), true);
    check("Task", &of_kind("peer.ask", ToolKind::PeerAgentTool, &[]), &json!({}), true);
}

#[test]
fn what_stands_in_brackets_is_held_against_the_input() {
    let shell = of_kind("shell.exec", ToolKind::ShellCommand, &[]);
    let says = |command: &str| json!({ "command": command });
    check("Bash(git push:*)", &shell, &says("git push origin"), true);
    check("Bash(git push:*)", &shell, &says("ls && git push"), true);
    check("Bash(git push:*)", &shell, &says("git status"), false);
    // What cannot be seen may be what it is about.
    check("Bash(git push:*)", &shell, &says("eval \"$x\""), true);
    check("Bash(git push:*)", &shell, &json!({ "command": toolplane_records::payload::REDACTED }), true);
    check("Bash(ls) | Bash(echo a|b) | Bash(pwd)", &shell, &says("pwd"), true);
    let edit = of_kind("files.edit_file", ToolKind::FileOperation, &[AccessKind::FileWrite]);
    check("Edit(*.env)|Write(src/**)", &edit, &json!({ "path": "src/a.rs" }), true);
    check("Edit(*.env)|Write(src/**)", &edit, &json!({ "path": "docs/a.md" }), false);
    // A command that writes a file is an edit of it, as for rules.
    check("Edit(*.env)", &shell, &says("echo x > .env"), true);
    check("Edit(*.env)", &shell, &says("echo x"), false);
    check("Edit", &shell, &says("ls"), false);
}

#[test]
fn what_could_never_match_is_refused() {
    let bad =
        ["a*b", "**", "a||b", "|", "namespace:", "namespace:*", "two words", "Bash(", "Bash()", "Agent(x)", "*(x)"];
    for bad in bad {
        assert!(bad.parse::<Matchers>().is_err(), "{bad}");
    }
    assert!(vec!["a"; 65].join("|").parse::<Matchers>().is_err());
}

#[test]
fn a_slip_is_told_with_the_word_that_was_meant() {
    for (slip, meant) in [
        ("Bsh", "Bash"),
        ("Read|Wirte", "Write"),
        ("BASH", "Bash"),
        ("Bashh(ls)", "Bash"),
        ("WebFecth", "WebFetch"),
        ("TodoWrit", "TodoWrite"),
    ] {
        let said = slip.parse::<Matchers>().expect_err(slip).to_string();
        assert!(said.contains(&format!("was `{meant}` meant?")), "{slip}: {said}");
    }
    // Tools that may be registered later, or words of agents that have no family here.
    for known in
        ["bsh", "Bsh*", "build.Bsh", "mcp__bsh", "Deploy", "Weather", "TodoWrite", "KillShell", "Bash2", "get_bash"]
    {
        assert!(known.parse::<Matchers>().is_ok(), "{known}");
    }
}

/// The names one text finds, whichever behaviour of a rule and hook reads it.
#[test]
fn behaviours_differ_only_in_how_sure_they_must_be() {
    let shell = of_kind("shell.exec", ToolKind::ShellCommand, &[]);
    let subjects = shell.subjects(&json!({ "command": "ls src" }), &Workspace::default());
    let target = MatchTarget::new(&shell, &subjects);
    let matcher: Matcher = "Bash(ls:*)".parse().unwrap();
    for behavior in [Behavior::Allow, Behavior::Ask, Behavior::Deny] {
        assert_eq!(target.reach(&matcher, behavior).fit, Fit::Yes);
    }
}
