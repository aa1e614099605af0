//! The examples operators copy: each is read and run.

use toolplane_hooks::Hooks;
use toolplane_hooks::fold::Keeping;
use toolplane_matching::ToolFacts;
use toolplane_records::ids::ToolId;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{Behavior, HookEvent};

use crate::support::{Bed, after, call, config, open, root, text};

/// The examples in a place of their own: the sandbox lays out `/tmp` itself, and the repository may be there.
struct Examples(tempfile::TempDir);

impl Examples {
    fn copied() -> Self {
        let place = tempfile::tempdir_in("/var/tmp").unwrap();
        for file in std::fs::read_dir(root().join("deploy/examples/hooks")).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), place.path().join(file.file_name())).unwrap();
        }
        Self(place)
    }

    /// The example configuration, with the place of the examples, and time for a busy machine.
    fn config(&self) -> String {
        let read = std::fs::read_to_string(self.0.path().join("hooks.toml")).unwrap();
        let here = self.0.path().display().to_string();
        read.replace("/opt/toolplane/hooks", &here).replace("[[hooks]]", "[[hooks]]\nmemory_bytes = 268435456")
    }
}

async fn opened() -> (Bed, Examples) {
    let examples = Examples::copied();
    (open(&examples.config()).await.unwrap(), examples)
}

#[test]
fn the_example_configuration_is_right_and_names_every_example() {
    let dir = tempfile::tempdir().unwrap();
    let examples = Examples::copied();
    let config = config(dir.path(), &examples.config());
    Hooks::check(&config).unwrap();
    let mut named: Vec<String> = config.hooks.iter().filter_map(|hook| hook.command.clone()?.last().cloned()).collect();
    let files = std::fs::read_dir(examples.0.path()).unwrap();
    let mut there: Vec<String> =
        files.map(|file| file.unwrap().path().display().to_string()).filter(|path| !path.ends_with(".toml")).collect();
    named.sort();
    there.sort();
    assert_eq!(named, there);
}

#[tokio::test]
async fn no_secrets_refuses_and_cleans() {
    let (bed, _examples) = opened().await;
    let denied = bed.hooks.run(HookEvent::PreToolUse, &call(r#"{"command":"x --key AKIAABCDEFGHIJKLMNOP"}"#)).await;
    assert_eq!(denied.behavior(), Behavior::Deny, "{denied:?}");
    assert!(denied.verdicts[0].message.contains("refer to it by name"));
    let fine = bed.hooks.run(HookEvent::PreToolUse, &call(r#"{"command":"ls"}"#)).await;
    assert_eq!(fine.behavior(), Behavior::Passthrough, "{fine:?}");
    let mut input = after("{}", "user=ann\npassword = hunter22 end");
    let log = ContentBlock::Log { text: "api_key=abcdef12345".to_owned(), stream: "stderr".to_owned() };
    input.outcome.as_mut().unwrap().content.push(log);
    for event in [HookEvent::PostToolUse, HookEvent::PostToolUseFailure] {
        let cleaned = bed.hooks.run(event, &input).await;
        let log = ContentBlock::Log { text: "[redacted]".to_owned(), stream: "stderr".to_owned() };
        let content = cleaned.updated_output.expect("is cleaned").content;
        assert_eq!(content, [text("user=ann\n[redacted] end"), log], "{event}");
    }
    let plain = bed.hooks.run(HookEvent::PostToolUse, &after("{}", "nothing here")).await;
    assert!(plain.updated_output.is_none() && plain.failed.is_none(), "{plain:?}");
}

#[tokio::test]
async fn bounded_commands_rewrites_once() {
    let (bed, _examples) = opened().await;
    let folded = bed.hooks.run(HookEvent::PreToolUse, &call(r#"{"command":"echo 'a b'","n":1}"#)).await;
    let new = folded.updated_input().expect("is rewritten").input.clone();
    assert_eq!(new.to_value()["command"], r#"timeout 60 bash -c 'echo '"'"'a b'"'"''"#);
    let again = bed.hooks.run(HookEvent::PreToolUse, &call(new.text())).await;
    assert!(again.updated_input().is_none() && again.failed.is_none(), "{again:?}");
}

#[tokio::test]
async fn log_calls_and_large_results_by_reference() {
    let (bed, _examples) = opened().await;
    let mut input = after(r#"{"tool_name":"evil","command":"\"tool_name\":\"x\""}"#, "out");
    let logged = bed.hooks.run(HookEvent::PostToolUse, &input).await;
    assert_eq!(logged.messages[0].text, "shell.exec by ann", "{logged:?}");
    input.outcome.as_mut().unwrap().duration_ms = 30_001;
    let slow = bed.hooks.run(HookEvent::PostToolUse, &input).await;
    assert_eq!(slow.messages[0].text, "shell.exec took 30001 ms", "{slow:?}");
    assert!(slow.additional_context[0].text.starts_with("shell.exec is slow"));
    let mut fetched = after("{}", "page");
    let tool = ToolFacts::named(ToolId::from_trusted("tool:http"), "http.fetch", "http");
    fetched.tool = ToolFacts { permission_matcher: "url_pattern".to_owned(), ..tool }.into();
    let kept = bed.hooks.run(HookEvent::ResultPersistence, &fetched).await;
    assert_eq!(kept.keeping, Keeping::RefOnly, "{kept:?}");
    assert!(bed.hooks.run(HookEvent::ResultPersistence, &input).await.is_empty());
}
