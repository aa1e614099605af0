//! Programs that do what they must not: they are confined, and what they break counts as a refusal.

use toolplane_records::vocabulary::{Behavior, HookEvent};

use crate::support::{ask, call, failure, hook, open};

const PRE: HookEvent = HookEvent::PreToolUse;

/// What a script in Python says, one line each.
async fn says(script: &str) -> Vec<String> {
    let folded = ask("python3", script, PRE, &call("{}")).await;
    assert!(folded.failed.is_none(), "{folded:?}");
    folded.additional_context.iter().flat_map(|said| said.text.lines().map(str::to_owned)).collect()
}

#[tokio::test]
async fn there_is_no_network() {
    let script = r#"
import socket
for address in (("127.0.0.1", 1), ("192.0.2.1", 80)):
    try:
        socket.create_connection(address, 2)
        print("connected")
    except OSError as error:
        print("refused")
"#;
    assert_eq!(says(script).await, ["refused", "refused"]);
}

#[tokio::test]
async fn nothing_of_the_host_can_be_read_or_written() {
    let bed = open(&hook(
        "h",
        PRE,
        "python3",
        r#"
import json, os
seen = []
for path in ("/etc/passwd", "/root", "/home", "/proc/1/environ", "/run", "/var/lib"):
    try:
        seen.append(len(os.listdir(path)) if os.path.isdir(path) else len(open(path).read()))
    except OSError:
        seen.append(0)
for path in ("/workspace/note.txt", "/workspace/new", "/usr/x", "/etc/x"):
    try:
        open(path, "a").write("x")
        seen.append("wrote " + path)
    except OSError:
        pass
secrets = [name for name in os.environ if "CARGO" in name or "TOKEN" in name]
print(json.dumps({"message": [json.dumps(seen), json.dumps(secrets), str(os.getuid() == 0)]}))
"#,
        "",
    ))
    .await
    .unwrap();
    let folded = bed.hooks.run(PRE, &call("{}")).await;
    let said: Vec<_> = folded.messages.iter().map(|said| said.text.as_str()).collect();
    assert_eq!(said, ["[0, 0, 0, 0, 0, 0]", "[]", "False"], "{folded:?}");
    assert_eq!(std::fs::read_to_string(bed.dir.path().join("workspace-tenants/t1/note.txt")).unwrap(), "a note");
}

#[tokio::test]
async fn a_fork_bomb_is_bounded_and_ends_with_its_hook() {
    let bomb = "import os, time\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(77.125)\n\
                except OSError: print('no more')";
    let bed = open(&hook("bomb", PRE, "python3", bomb, "pids = 16")).await.unwrap();
    let folded = bed.hooks.run(PRE, &call("{}")).await;
    // Bounded: it was told that there is no more, and whatever it left behind is gone.
    assert!(folded.failed.is_some() || folded.additional_context[0].text == "no more", "{folded:?}");
    let next = ask("bash", "echo fine", PRE, &call("{}")).await;
    assert_eq!(next.additional_context[0].text, "fine");
}

#[tokio::test]
async fn floods_and_gluttons_have_failed() {
    for (script, codes) in [
        ("import sys\nwhile True: sys.stdout.write('x'*65536)", &["hooks.answer_too_large"][..]),
        ("import sys\nwhile True: sys.stderr.write('x'*65536)", &["hooks.answer_too_large"]),
        ("x=[]\nwhile True: x.append(bytearray(16<<20))", &["hooks.exit_code", "hooks.signal"]),
    ] {
        let bed = open(&hook("h", PRE, "python3", script, "memory_bytes = 67108864")).await.unwrap();
        let folded = bed.hooks.run(PRE, &call("{}")).await;
        assert!(codes.contains(&failure(&folded)), "{script}: {folded:?}");
        assert_eq!(folded.behavior(), Behavior::Deny);
    }
}

#[tokio::test]
async fn modules_in_the_workspace_are_not_run() {
    let bed = open(&hook("h", PRE, "python3", "import json\nprint(json.dumps({'message':'mine'}))", "")).await.unwrap();
    std::fs::write(bed.dir.path().join("workspace-tenants/t1/json.py"), "dumps = lambda _: '{\"message\":\"theirs\"}'")
        .unwrap();
    let folded = bed.hooks.run(PRE, &call("{}")).await;
    assert_eq!(folded.messages[0].text, "mine");
}
