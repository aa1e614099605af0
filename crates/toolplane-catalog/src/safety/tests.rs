//! Safety facts: defaults fail closed, and the command classifier never says more than it knows.

use serde_json::json;

use super::command::{is_destructive, is_read_only};
use super::*;
use crate::fixtures::{payload, registration, shell_json, tool, tool_with};

fn check(commands: &[&str], expected: Option<bool>) {
    for command in commands {
        assert_eq!(is_read_only(command), expected, "{command:?}");
    }
}

#[test]
fn plain_readers_are_read_only() {
    check(
        &[
            "ls",
            "ls -la /workspace",
            "  cat a.txt\n",
            "cat a | grep -n x | head -5",
            "wc -l a && echo done; pwd",
            "ls\npwd\n",
            "test -f a || echo no",
            "sort -k2,3 -n a | uniq -c",
            "date +%F",
            "stat a.txt;",
            "du -sh .",
            "true",
            "printf %s a",
            "ls 'rm -rf x'",
            "grep \"rm; dd\"'$(x)' a | 'cat'",
        ],
        Some(true),
    );
    assert_eq!(is_destructive("cat rm"), Some(false));
    assert_eq!(is_destructive("ls 'rm -rf x'"), Some(false));
}

#[test]
fn comments_are_no_commands() {
    check(
        &["ls # rm -rf x", "# rm\nls", "cat a # dd of=b\nwc -l a # shred", "ls;# rm", "cat 'a # rm' # it's"],
        Some(true),
    );
    check(&["git status # rm -rf x", "make # kill -9 1", "git log \\\" # rm"], None);
    // What is no comment still counts, and so does everything behind what is not read surely.
    check(
        &[
            "ls # a\nrm -rf x",
            "ls a#; rm b",
            "make \\# ; rm b",
            "make 'a # b'; rm c",
            "make \"a # b\"; rm c",
            "make $'a\\' # '; rm c",
            "make ${#a} ; rm b",
            "cat <<E\n# E; rm a\nE\nmake # rm",
            "make `# a` # rm",
        ],
        Some(false),
    );
}

#[test]
fn what_the_grammar_does_not_cover_gets_no_answer() {
    check(
        &[
            "",
            "   ",
            "make",
            "git status",
            "./ls",
            "/bin/ls",
            "ls > a",
            "ls >> a",
            "cat < a",
            "cat <(ls)",
            "ls &",
            "ls & pwd",
            "ls |",
            "| ls",
            "ls ;; pwd",
            "&& ls",
            "ls || ",
            "ls |& cat",
            "echo $HOME",
            "echo $(ls)",
            "echo `ls`",
            "echo *",
            "echo a?",
            "echo 'a",
            "echo \"$a\"",
            "echo \"`ls`\"",
            "echo 'a\" \"`ls`",
            "echo $'a'",
            "echo ~",
            "ls \\",
            "A=b ls",
            "BASH_ENV=/workspace/e ls",
            "echo {a,b}",
            "ls !$",
            "(ls)",
            "{ ls; }",
            "if true",
            "ls\r\npwd",
            "git\u{a0}status",
            "ls \u{202e}",
            "ls\u{0}",
            "sort -o a b",
            "sort --output=a b",
            "sort -T /tmp a",
            "uniq a b",
            "date 010203042026",
            "date -s now",
            "date --set=now",
            "file -C -m a",
            "printf -v x a",
            "find . -name x",
            "tee a",
            "env",
            "xargs ls",
            "bash -c ls",
            "sed -n p a",
            "awk 1 a",
            "tar tf a",
            "python3 a.py",
        ],
        None,
    );
    check(&[&"ls;".repeat(65), &format!("echo {}", "a".repeat(5000)), &"(".repeat(50_000)], None);
}

#[test]
fn destroyers_are_named_wherever_they_stand() {
    check(
        &[
            "rm -rf x",
            "ls; rm x",
            "ls | xargs rm",
            "bash -c 'rm -rf x'",
            "ls\r\nrm -rf x",
            "find . -delete",
            "git push --force",
            "git reset --hard",
            "mkfs.ext4 /dev/sda",
            "x=$(shred y)",
            "/bin/rm x",
            "dd if=a of=b",
        ],
        Some(false),
    );
    assert_eq!(is_destructive("rm x"), Some(true));
    assert_eq!(is_destructive("'r'm x"), None, "nothing is known of it, so it is asked about");
    assert_eq!(is_destructive("perform drm firmware"), None);
}

#[test]
fn facts_of_the_shell_tool_follow_the_command() {
    let shell = registration(&shell_json());
    let reading = evaluate_safety(&shell, &payload(r#"{"command":"ls -l"}"#));
    assert_eq!(reading.unknown, []);
    let expected = InputSafety {
        is_read_only: true,
        is_concurrency_safe: true,
        is_destructive: false,
        is_open_world: true,
        is_idempotent: true,
        requires_exclusive_context: false,
    };
    assert_eq!(reading.safety, expected);
    let destroying = evaluate_safety(&shell, &payload(r#"{"command":"rm a"}"#));
    assert!(destroying.safety.is_destructive && !destroying.safety.is_read_only && !destroying.safety.is_idempotent);
    assert_eq!(destroying.unknown, [SafetyFactName::Idempotent]);
    for untold in [r#"{"command":"make"}"#, r#"{}"#, r#"{"command":7}"#, "[]"] {
        let untold = evaluate_safety(&shell, &payload(untold));
        assert_eq!(
            untold.safety,
            InputSafety { is_open_world: true, requires_exclusive_context: true, ..InputSafety::default() }
        );
        assert_eq!(
            untold.unknown,
            [
                SafetyFactName::ReadOnly,
                SafetyFactName::ConcurrencySafe,
                SafetyFactName::Destructive,
                SafetyFactName::Idempotent
            ]
        );
    }
}

#[test]
fn absent_facts_fail_closed() {
    let bare = evaluate_safety(&tool("a", "b"), &payload("{}"));
    assert_eq!(
        bare.safety,
        InputSafety { is_open_world: true, requires_exclusive_context: true, ..InputSafety::default() }
    );
    assert_eq!(bare.unknown, SafetyFactName::ALL);
    let declared =
        tool_with("a", "b", json!({ "is_read_only": true, "is_open_world": false, "is_concurrency_safe": false }));
    let declared = evaluate_safety(&declared, &payload("{}"));
    assert!(declared.safety.is_read_only && declared.safety.is_idempotent && !declared.safety.is_open_world);
    assert_eq!(declared.unknown, [SafetyFactName::Destructive]);
}

#[test]
fn a_profile_without_network_is_not_open_world() {
    let mut json = crate::fixtures::tool_json("a", "b");
    json["permission_profile"] = json!({ "permission_profile_id": "p", "risk_level": "low", "network_scope": "none" });
    let scoped = evaluate_safety(&registration(&json), &payload("{}"));
    assert!(!scoped.safety.is_open_world && !scoped.unknown.contains(&SafetyFactName::OpenWorld));
}

#[test]
fn a_destructive_call_is_not_read_only_whatever_is_declared() {
    let tool = tool_with("a", "b", json!({ "is_read_only": true, "is_destructive": true }));
    let found = evaluate_safety(&tool, &payload("{}"));
    assert!(found.safety.is_destructive && !found.safety.is_read_only && !found.safety.is_idempotent);
}

#[test]
fn a_switch_of_the_tool_is_read_from_the_input() {
    let tool = tool_with("files", "write", json!({ "is_destructive": "input.overwrite", "is_open_world": false }));
    let check = |input: &str, expected: bool, known: bool| {
        let found = evaluate_safety(&tool, &payload(input));
        assert_eq!(found.safety.is_destructive, expected, "{input}");
        assert_eq!(!found.unknown.contains(&SafetyFactName::Destructive), known, "{input}");
    };
    check(r#"{"overwrite":true}"#, true, true);
    check(r#"{"overwrite":false}"#, false, true);
    check(r#"{"overwrite":"yes"}"#, false, false);
    check(r#"{}"#, false, false);
    check(r#"[true]"#, false, false);
}
