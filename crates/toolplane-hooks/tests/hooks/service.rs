//! A service in Python, called over gRPC.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use toolplane_hooks::fold::Keeping;
use toolplane_hooks::{Folded, HookInput};
use toolplane_records::vocabulary::{Behavior, ClassifierAuthority, HookEvent};
use toolplane_testkit::polyglot;

use crate::support::{after, call, failure, open, root, text};

const PRE: HookEvent = HookEvent::PreToolUse;

/// The Python service; killed when dropped.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(token: &str) -> Self {
        let mut command = Command::new(polyglot::python().unwrap());
        command.arg(root().join("tests/polyglot/hook_service.py")).arg(root().join("proto")).arg(token);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").expect("the service listens").to_owned();
        Self { child, url: format!("http://{address}") }
    }

    /// What the hook `id` says; `more` are further keys.
    async fn ask(&self, id: &str, more: &str, event: HookEvent, input: &HookInput) -> Folded {
        let config = format!(
            "[[hooks]]\nid = {id:?}\nevents = [\"{event}\"]\ngrpc = {:?}\ntimeout_ms = 20000\n{more}\n",
            self.url
        );
        open(&config).await.unwrap().hooks.run(event, input).await
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_service_in_python_says_all_a_hook_may_say() {
    let served = Served::start("");
    let input = call(r#"{"command":"curl x","n":123456789012345678901234567890}"#);
    let denied = served.ask("denies", "", PRE, &input).await;
    assert_eq!(denied.behavior(), Behavior::Deny);
    assert_eq!(denied.verdicts[0].message, "no shell.exec for ann in plan");
    let rewritten = served.ask("rewrites", "", PRE, &input).await;
    let new = rewritten.updated_input().unwrap().input.to_value();
    assert_eq!((new["seen_by"].as_str(), new["command"].as_str()), (Some("rewrites"), Some("curl x")));
    let context: Vec<_> = rewritten.additional_context.iter().map(|said| said.text.as_str()).collect();
    assert_eq!((context, rewritten.progress[0].text.as_str()), (vec!["a text", "an object"], "looked"));
    let check = served.ask("classifies", "classifier_authority = \"deny\"", PRE, &input).await.classifier.unwrap();
    assert_eq!((check.behavior, check.authority), (Some(Behavior::Deny), ClassifierAuthority::Deny));
    assert_eq!((check.classifier_ref.as_str(), check.confidence.unwrap().get()), ("commands-v1", 0.97));
    let kept = served.ask("shortens", "", HookEvent::ResultPersistence, &after("{}", "loud")).await;
    assert_eq!((kept.updated_output.unwrap().content, kept.keeping), (vec![text("LOUD")], Keeping::NeverPersist));
    assert_eq!(kept.blocks[0].text, "shortened");
    assert!(served.ask("silent", "", PRE, &input).await.failed.is_none());
}

#[tokio::test]
async fn a_service_that_breaks_is_late_or_is_away_has_failed() {
    let served = Served::start("s3cret");
    let input = call("{}");
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "s3cret\n").unwrap();
    let shown = format!("token_file = {:?}", token.path());
    assert_eq!(failure(&served.ask("denies", "", PRE, &input).await), "hooks.status");
    assert_eq!(served.ask("denies", &shown, PRE, &input).await.behavior(), Behavior::Deny);
    let broken = served.ask("breaks", &shown, PRE, &input).await;
    assert_eq!((failure(&broken), broken.behavior()), ("hooks.bad_answer", Behavior::Deny));
    let config = format!(
        "[[hooks]]\nid=\"sleeps\"\nevents=[\"pre_tool_use\"]\ngrpc={:?}\ntimeout_ms=1000\n{shown}\n",
        served.url
    );
    let late = open(&config).await.unwrap().hooks.run(PRE, &input).await;
    assert_eq!((failure(&late), late.behavior()), ("hooks.timeout", Behavior::Deny));
    let url = served.url.clone();
    drop(served);
    let away = Served { child: Command::new("true").spawn().unwrap(), url };
    let gone = away.ask("denies", &shown, PRE, &input).await;
    assert_eq!((failure(&gone), gone.behavior()), ("hooks.status", Behavior::Deny));
}
