//! What programs may say, and what follows from it.

use toolplane_hooks::HookInput;
use toolplane_hooks::fold::Keeping;
use toolplane_matching::ToolFacts;
use toolplane_records::ids::ToolId;
use toolplane_records::vocabulary::{Behavior, HookEvent, ToolKind};

use crate::support::{after, ask, call, failure, hook, open, text};

const PRE: HookEvent = HookEvent::PreToolUse;
const POST: HookEvent = HookEvent::PostToolUse;

#[tokio::test]
async fn a_program_reads_the_call_and_the_workspace() {
    let script = r#"
import json, sys, os
call = json.load(sys.stdin)
seen = [call[key] for key in ("hook_event_name", "tool_name", "permission_mode", "cwd", "session_id", "tool_use_id")]
seen += [call["tool_input"]["command"], open(call["cwd"] + "/note.txt").read(), os.getcwd()]
print(json.dumps({"systemMessage": " ".join(seen)}))
"#;
    let folded = ask("python3", script, PRE, &call(r#"{"command":"ls"}"#)).await;
    assert!(folded.failed.is_none(), "{folded:?}");
    assert_eq!(folded.messages[0].text, "PreToolUse shell.exec plan /workspace s1 inv_1 ls a note /tmp");
    let record = &folded.records[0];
    assert!(record.started_at <= record.ended_at && record.matcher.as_ref().unwrap().text().contains('*'));
}

#[tokio::test]
async fn exit_codes_mean_what_users_know() {
    let input = call("{}");
    let denied = ask("bash", "echo 'not today' >&2; echo '{\"decision\":\"approve\"}'; exit 2", PRE, &input).await;
    assert_eq!((denied.behavior(), denied.verdicts[0].message.as_str()), (Behavior::Deny, "not today"));
    assert!(denied.failed.is_none());
    for (script, code) in [
        ("exit 1", "hooks.exit_code"),
        ("exit 127", "hooks.exit_code"),
        ("kill -9 $$", "hooks.signal"),
        ("echo '{broken'", "hooks.bad_answer"),
        ("printf '\\377'", "hooks.bad_answer"),
    ] {
        let folded = ask("bash", script, PRE, &input).await;
        assert_eq!((failure(&folded), folded.behavior()), (code, Behavior::Deny), "{script}");
    }
    let plain = ask("bash", "echo remember this", PRE, &input).await;
    assert_eq!((plain.additional_context[0].text.as_str(), plain.behavior()), ("remember this", Behavior::Passthrough));
}

#[tokio::test]
async fn a_late_program_has_failed_and_is_dead() {
    let more = "order = 1";
    let late = hook("late", PRE, "bash", "sleep 61.7531; echo '{}'", more).replace("20000", "1000");
    let bed = open(&late).await.unwrap();
    let folded = bed.hooks.run(PRE, &call("{}")).await;
    assert_eq!((failure(&folded), folded.behavior()), ("hooks.timeout", Behavior::Deny));
    for _ in 0..200 {
        let lines = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
            std::fs::read(entry.ok()?.path().join("cmdline")).ok().filter(|line| line.ends_with(b"61.7531\0"))
        });
        if lines.count() == 0 {
            return;
        }
        toolplane_wait::look_again().await;
    }
    panic!("the program outlives its time");
}

#[tokio::test]
async fn hooks_are_asked_in_order_and_see_what_earlier_ones_left() {
    let add = |word: &str| {
        format!(
            "import json,sys\ncall=json.load(sys.stdin)['tool_input']\ncall['steps']=call.get('steps',[])+['{word}']\n\
             print(json.dumps({{'hookSpecificOutput':{{'updatedInput':call}}}}))"
        )
    };
    let config = [
        hook("last", PRE, "python3", &add("last"), "order = 5"),
        hook("first", PRE, "python3", &add("first"), "order = -1"),
        hook("middle", PRE, "python3", &add("middle"), ""),
        hook("elsewhere", PRE, "python3", &add("elsewhere"), "matcher = \"Write|Edit\""),
        hook("later", POST, "python3", &add("later"), ""),
        hook("off", PRE, "python3", &add("off"), "enabled = false"),
    ]
    .concat();
    let bed = open(&config).await.unwrap();
    let folded = bed.hooks.run(PRE, &call(r#"{"n":123456789}"#)).await;
    let asked: Vec<_> = folded.records.iter().map(|record| record.hook_id.as_str()).collect();
    assert_eq!(asked, ["first", "middle", "last"]);
    let last = folded.updated_input().unwrap();
    assert_eq!(
        (last.hook_id.as_str(), last.input.to_value()["steps"].to_string().as_str()),
        ("last", r#"["first","middle","last"]"#)
    );
    assert_eq!(last.input.to_value()["n"], 123_456_789);
    assert_eq!(folded.updates.len(), 3);
}

#[tokio::test]
async fn nobody_is_asked_after_a_stop_or_a_failure() {
    for (script, failed) in [("echo '{\"continue\":false,\"stopReason\":\"enough\"}'", false), ("exit 9", true)] {
        let config =
            [hook("a", PRE, "bash", script, ""), hook("b", PRE, "bash", "echo '{\"message\":\"here\"}'", "")].concat();
        let folded = open(&config).await.unwrap().hooks.run(PRE, &call("{}")).await;
        assert_eq!((folded.records.len(), folded.failed.is_some(), folded.stop.is_some()), (1, failed, !failed));
    }
}

#[tokio::test]
async fn outputs_are_replaced_in_turn() {
    let shout = "import json,sys\ncall=json.load(sys.stdin)\n\
                 print(json.dumps({'hookSpecificOutput':{'updatedToolOutput':call['tool_response'].upper()}}))";
    let mark = "import json,sys\ncall=json.load(sys.stdin)\n\
                print(json.dumps({'updated_output':call['tool_response']+'!','block':'look'}))";
    let config = [hook("shout", POST, "python3", shout, ""), hook("mark", POST, "python3", mark, "")].concat();
    let bed = open(&config).await.unwrap();
    let folded = bed.hooks.run(POST, &after("{}", "quiet")).await;
    assert_eq!(folded.updated_output.unwrap().content, [text("QUIET!")]);
    assert_eq!((folded.blocks[0].text.as_str(), folded.keeping), ("look", Keeping::AsUsual));
    let broken = ask("bash", "exit 1", POST, &after("{}", "s3cret")).await;
    assert_eq!(broken.keeping, Keeping::Drop);
    assert!(!format!("{broken:?}").contains("s3cret"));
}

#[tokio::test]
async fn only_variables_that_were_named_are_seen() {
    let script =
        "import json,os\nprint(json.dumps({'message':[os.environ.get(n,'-') for n in ('CARGO_PKG_NAME','CARGO')]}))";
    let bed = open(&hook("h", PRE, "python3", script, "env = [\"CARGO_PKG_NAME\", \"NOT_THERE\"]")).await.unwrap();
    let folded = bed.hooks.run(PRE, &call("{}")).await;
    let said: Vec<_> = folded.messages.iter().map(|said| said.text.as_str()).collect();
    assert_eq!(said, [std::env::var("CARGO_PKG_NAME").as_deref().unwrap_or("-"), "-"]);
}

/// The hole that two lists of families left: a hook for `LS` was asked about nothing, one for `Glob` about the same tool.
#[tokio::test]
async fn a_hook_is_asked_by_every_name_of_a_family_and_by_patterns_in_brackets() {
    let deny = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'"#;
    let denied = async |matcher: &str, input: &HookInput| {
        let bed = open(&hook("h", PRE, "sh", deny, &format!("matcher = {matcher:?}"))).await.unwrap();
        bed.hooks.run(PRE, input).await.behavior() == Behavior::Deny
    };
    let mut list = call(r#"{"path":"src"}"#);
    let tool = ToolFacts::named(ToolId::from_trusted("tool:list"), "files.list_dir", "files");
    list.tool = ToolFacts { kind: Some(ToolKind::FileOperation), ..tool }.into();
    for matcher in ["LS", "Glob", "Read(src/**)"] {
        assert!(denied(matcher, &list).await, "{matcher}");
    }
    assert!(!denied("Read(docs/**)", &list).await);
    assert!(denied("Bash(git push:*)", &call(r#"{"command":"ls; git push"}"#)).await);
    assert!(!denied("Bash(git push:*)", &call(r#"{"command":"ls"}"#)).await);
}
