//! What is taken out of an input.

use serde_json::{Value, json};

use super::*;
use crate::command::Why;
use crate::path::PathFact;
use toolplane_records::payload::REDACTED;

fn workspace() -> Workspace {
    Workspace { root: "/workspace".into(), working_dirs: vec!["/data".into()], trust_repositories: true }
}

fn subjects(matcher: &str, fields: &[&str], input: &Value) -> Subjects {
    let mut spec = SubjectSpec::of_matcher(matcher, PathAccess::Write).unwrap();
    spec.fields = fields.iter().map(|field| (*field).to_owned()).collect();
    extract(&spec, input, &workspace())
}

fn paths(matcher: &str, input: &Value) -> Vec<(String, PathFact, PathAccess)> {
    let subjects = subjects(matcher, &[], input);
    subjects.paths().iter().map(|path| (path.given.clone(), path.fact.clone(), path.access)).collect()
}

#[test]
fn fields_are_found_by_their_usual_names_or_those_given() {
    let command = |fields: &[&str], input: Value| {
        let subjects = subjects("shell_pattern", fields, &input);
        let shown: Vec<String> =
            subjects.commands().iter().flat_map(Shell::parts).map(|part| part.text.clone()).collect();
        (shown, subjects.complete())
    };
    assert_eq!(command(&[], json!({ "command": "ls -l" })), (vec!["ls -l".to_owned()], true));
    assert_eq!(command(&[], json!({ "cmd": ["ls", "-l"] })), (vec!["ls -l".to_owned()], true));
    assert_eq!(command(&["run"], json!({ "run": "ls", "command": "rm" })), (vec!["ls".to_owned()], true));
    for field in ["/a/b", "a.b", "input.a.b", "$.a.b"] {
        assert_eq!(command(&[field], json!({ "a": { "b": "ls" } })), (vec!["ls".to_owned()], true), "{field}");
    }
}

#[test]
fn what_cannot_be_read_leaves_the_subjects_incomplete() {
    for input in [
        json!({}),
        json!({ "command": 1 }),
        json!({ "command": REDACTED }),
        json!({ "command": null }),
        json!([]),
        json!({ "command": ["ls", 1] }),
        json!({ "command": [] }),
        json!({ "command": "ls", "cwd": REDACTED }),
        json!({ "command": "ls", "cwd": 7 }),
    ] {
        assert!(!subjects("shell_pattern", &[], &input).complete(), "{input}");
    }
    assert!(!subjects("url_pattern", &[], &json!({})).complete());
    assert!(!subjects("path_pattern", &[], &json!({ "path": REDACTED })).complete());
    assert!(!Subjects::unknown().complete());
    assert!(SubjectSpec::of_matcher("magic", PathAccess::Read).is_none());
}

#[test]
fn a_file_tool_without_a_path_works_on_the_whole_workspace() {
    let all = subjects("path_pattern", &[], &json!({ "limit": 3 }));
    assert!(all.complete());
    assert_eq!(all.paths().len(), 1);
    assert_eq!((&all.paths()[0].fact, all.paths()[0].tree), (&PathFact::Inside(String::new()), true));
    let search = subjects("path_pattern", &[], &json!({ "path": "src", "pattern": "x" }));
    assert!(search.paths()[0].tree);
    assert!(!subjects("path_pattern", &[], &json!({ "path": "src" })).paths()[0].tree);
}

#[test]
fn every_path_of_a_move_counts() {
    let found = paths("path_pattern", &json!({ "source": "a", "destination": "/etc/b" }));
    assert_eq!(found.len(), 2);
    assert_eq!(found[1].1, PathFact::Outside("/etc/b".into()));
    assert_eq!(paths("path_pattern", &json!({ "paths": ["a", "/data/b"] }))[1].1, PathFact::Inside("/data/b".into()));
}

#[test]
fn redirections_are_paths_of_a_command() {
    let of = |command: &str| paths("shell_pattern", &json!({ "command": command }));
    let inside = |path: &str| PathFact::Inside(path.to_owned());
    assert_eq!(of("ls > a 2>&1"), [("a".into(), inside("a"), PathAccess::Write)]);
    assert_eq!(of("ls < /etc/passwd")[0].1, PathFact::Outside("/etc/passwd".into()));
    // After a change of directory a path counts from every place it may be in.
    let both: Vec<PathFact> = of("cd sub && ls > a").into_iter().map(|path| path.1).collect();
    assert_eq!(both, [inside("a"), inside("sub/a")]);
    let unknown = subjects("shell_pattern", &[], &json!({ "command": "cd $x && ls > a" }));
    assert!(!unknown.paths()[0].known && !unknown.paths()[0].fact.is_inside());
    let unknown = subjects("shell_pattern", &[], &json!({ "command": "ls > $x" }));
    assert!(!unknown.paths()[0].known);
    let begin = paths("shell_pattern", &json!({ "command": "ls > a", "cwd": "/tmp" }));
    assert_eq!(begin[0].1, PathFact::Outside("/tmp".into()));
    assert_eq!(begin[1].1, PathFact::Outside("/tmp/a".into()));
}

#[test]
fn arguments_that_lead_out_of_the_workspace_are_marked() {
    let outside = |command: &str| {
        let subjects = subjects("shell_pattern", &[], &json!({ "command": command }));
        let shell = &subjects.commands()[0];
        let whys = shell.commands.iter().flat_map(|command| &command.why_not_plain);
        let risks = shell.commands.iter().flat_map(|command| &command.risks).map(|risk| &risk.why);
        whys.chain(risks).any(|why| *why == Why::OutsideWorkspace)
    };
    for command in [
        "cat /workspace/../etc/shadow",
        "cat ../x",
        "ls ..",
        "ls a/../..",
        "x --output=/etc/x",
        "x -o/etc/x",
        "x -I../y",
        "x @/etc/passwd",
        "x a:/etc/b",
        "cd sub && cat ../../x",
        "cd ..",
        "cd",
        "cd -",
        "cd && cat x",
        "cd /etc && cat passwd",
        "popd",
        "x f=../../y",
    ] {
        assert!(outside(command), "{command}");
    }
    for command in [
        "cat a/b",
        "cat /workspace/a",
        "cat /data/x",
        "git log a..b",
        "curl https://h/../x",
        "ls a/..",
        "cd sub && ls x",
        "ls 2> /dev/null",
        "cat /dev/null",
        "x 1/2",
    ] {
        assert!(!outside(command), "{command}");
    }
}

#[test]
fn git_in_an_untrusted_repository_is_plain_only_where_it_runs_nothing() {
    let spec = SubjectSpec::of_matcher("shell_pattern", PathAccess::Write).unwrap();
    let untrusted = Workspace { trust_repositories: false, ..workspace() };
    for (command, plain) in
        [("git status", false), ("/usr/bin/git status", false), ("timeout 5 git status", false), ("git log", true)]
    {
        let subjects = extract(&spec, &json!({ "command": command }), &untrusted);
        assert_eq!(subjects.commands()[0].is_plain(), plain, "{command}");
    }
}
