//! Sessions that are shared, kept, lost and begun anew.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolplane_execution::{Call, CredentialSource, McpOptions, Outcome, PoolLimits, ProgressSink, ProgressUpdate};
use toolplane_records::credential::{CredentialPlacement, CredentialUse};
use toolplane_records::mcp::{McpServer, McpSharing};
use toolplane_records::profile::ExecutionBinding;
use toolplane_wait::eventually;

use super::bed::{Bed, call_of, effects, evidence, pairs, program};
use crate::credentials::{broker, configured, secret};
use crate::support::{context, failure, structured, text};

fn who(sharing: McpSharing, tenant: &str, session: Option<&str>) -> Call {
    let mut call = call_of(McpServer::Stdio(program()), "who", json!({}));
    if let ExecutionBinding::Mcp(binding) = &mut call.binding {
        binding.sharing = sharing;
    }
    call.origin.tenant = tenant.to_owned();
    call.place.session_ref = session.map(str::to_owned);
    call
}

/// The home of a server is new for each one, so its first call is told by the count.
async fn calls(bed: &Bed, call: Call) -> Value {
    structured(&bed.run(call).await)["calls"].clone()
}

#[tokio::test]
async fn sessions_are_shared_as_the_binding_says() {
    use McpSharing::{Call, Session, Tenant};
    let bed = Bed::new().await;
    for (sharing, tenant, session, count) in [
        (Tenant, "a", None, 1),
        (Tenant, "a", Some("s"), 2),
        (Tenant, "b", None, 1),
        (Session, "a", Some("s"), 1),
        (Session, "a", Some("s"), 2),
        (Session, "a", Some("t"), 1),
        (Session, "b", Some("s"), 1),
        (Session, "a", None, 1),
        (Call, "a", Some("s"), 1),
        (Call, "a", Some("s"), 1),
    ] {
        assert_eq!(calls(&bed, who(sharing, tenant, session)).await, count, "{sharing:?} {tenant} {session:?}");
    }
}

#[tokio::test]
async fn a_lost_server_may_have_run_and_is_started_anew() {
    let bed = Bed::new().await;
    assert!(bed.call("who", json!({})).await.is_success());
    let outcome = bed.call("die", json!({})).await;
    assert_eq!((failure(&outcome).1, effects(&outcome)), ("mcp.no_answer", "unknown"));
    assert!(outcome.error.as_ref().unwrap().message.contains("exit code 3"), "{outcome:?}");
    assert_eq!(evidence(&outcome)["ended"], "it ended with exit code 3");
    assert_eq!(structured(&bed.call("who", json!({})).await)["calls"], 1);
}

#[tokio::test]
async fn a_server_that_does_not_begin_is_told_with_its_last_words_and_then_left_alone() {
    let pool = PoolLimits { failures: 1, first_wait: Duration::from_secs(60), ..PoolLimits::default() };
    let bed = Bed::with(McpOptions { pool, ..McpOptions::default() }).await;
    let broken = || {
        let mut server = program();
        server.argv = ["/usr/bin/python3", "-c", "import nothing_like_it"].map(str::to_owned).to_vec();
        call_of(McpServer::Stdio(server), "echo", json!({}))
    };
    let outcome = bed.run(broken()).await;
    assert_eq!((failure(&outcome), effects(&outcome)), (("dependency_unavailable", "mcp.not_started"), "none"));
    assert!(outcome.error.as_ref().unwrap().message.contains("No module named"), "{outcome:?}");
    let outcome = bed.run(broken()).await;
    assert!(outcome.error.as_ref().unwrap().retry_after_ms.is_some(), "{outcome:?}");
}

/// Whether a program with this argument runs anywhere on this machine.
pub(crate) fn runs(argument: &str) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let of = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
    processes.flatten().map(of).any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}

pub(crate) async fn gone(what: &str, argument: &str) {
    eventually(what, Duration::from_secs(20), async || (!runs(argument)).then_some(())).await;
}

async fn forked(bed: &Bed, sharing: McpSharing, seconds: &str) -> Outcome {
    let mut call = call_of(McpServer::Stdio(program()), "fork", json!({"seconds": seconds}));
    if let ExecutionBinding::Mcp(binding) = &mut call.binding {
        binding.sharing = sharing;
    }
    bed.run(call).await
}

#[tokio::test]
async fn the_whole_tree_goes_with_its_session() {
    let own = |name: &str| format!("98{}.{name}", std::process::id());
    let (alone, kept) = (own("1"), own("2"));
    let bed = Bed::new().await;
    assert_eq!(text(&forked(&bed, McpSharing::Call, &alone).await), "forked");
    gone("the tree of a call goes with it", &alone).await;
    assert_eq!(text(&forked(&bed, McpSharing::Tenant, &kept).await), "forked");
    // A program that was just begun may not have its arguments yet.
    eventually("it runs", Duration::from_secs(20), async || runs(&kept).then_some(())).await;
    drop(bed);
    gone("all trees go with the adapter", &kept).await;
}

struct Begun(Notify);

impl ProgressSink for Begun {
    fn report(&self, update: ProgressUpdate) {
        if update.status == toolplane_records::vocabulary::ProgressStatus::Running {
            self.0.notify_one();
        }
    }
}

#[tokio::test]
async fn the_kill_switch_of_a_running_call_kills_the_server_and_that_of_an_ended_one_nothing() {
    let bed = Bed::new().await;
    let (ended, _) = context();
    let who = call_of(McpServer::Stdio(program()), "who", json!({}));
    assert!(bed.toolbox.execute(&who, &ended).await.is_success());
    ended.kill.throw();
    assert_eq!(structured(&bed.call("who", json!({})).await)["calls"], 2);

    let (mut context, _) = context();
    let begun = std::sync::Arc::new(Begun(Notify::new()));
    context.progress = std::sync::Arc::clone(&begun) as _;
    let waits = call_of(McpServer::Stdio(program()), "wait", json!({}));
    let kill = async {
        begun.0.notified().await;
        context.kill.throw();
    };
    let (outcome, ()) = tokio::join!(bed.toolbox.execute(&waits, &context), kill);
    assert_eq!((failure(&outcome).1, effects(&outcome)), ("mcp.no_answer", "unknown"));
    assert_eq!(structured(&bed.call("who", json!({})).await)["calls"], 1);
}

#[tokio::test]
async fn a_credential_is_where_its_binding_says_and_a_new_one_begins_a_new_session() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let small = json!({"name": "small-token", "kind": "raw", "source": {"file": file}, "tenants": ["default"]});
    let broker = Arc::new(broker(vec![configured(small)]));
    let bed = Bed::with_credentials(McpOptions::default(), Arc::new(CredentialSource::new(Arc::clone(&broker)))).await;
    let with = |tool: &str| {
        let mut server = program();
        server.credentials = pairs([("TOKEN", "small-token")]);
        call_of(McpServer::Stdio(server), tool, json!({"name": "TOKEN"}))
    };
    let outcome = bed.run(with("env")).await;
    assert_eq!((failure(&outcome).0, effects(&outcome)), ("credential_missing", "none"));
    for (token, count) in [("the-first-secret", 2), ("the-first-secret", 4), ("the-second-secret", 2)] {
        secret(folder.path(), "token", token);
        broker.load().await;
        // The server says what it has; nobody else is told.
        assert_eq!(text(&bed.run(with("env")).await), "[credential small-token]");
        assert_eq!(calls(&bed, with("who")).await, count, "{token}");
    }
    // Whom the credential is not for gets nothing.
    let mut other = with("env");
    other.origin.tenant = "other".to_owned();
    assert_eq!(failure(&bed.run(other).await).1, "credential.out_of_scope");
}

#[tokio::test]
async fn a_credential_in_a_file_is_there_for_its_server_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let small = json!({"name": "small-token", "kind": "raw", "source": {"file": file}, "tenants": ["default"]});
    let broker = Arc::new(broker(vec![configured(small)]));
    let bed = Bed::with_credentials(McpOptions::default(), Arc::new(CredentialSource::new(Arc::clone(&broker)))).await;
    let with = |tool: &str, path: &str| {
        let mut server = program();
        let placement = CredentialPlacement::File { name: "token".to_owned() };
        server.placed_credentials = vec![CredentialUse::whole("small-token", placement)];
        call_of(McpServer::Stdio(server), tool, json!({"path": path, "name": "CREDENTIALS_DIRECTORY"}))
    };
    let outcome = bed.run(with("read", "/run/credentials/token")).await;
    assert_eq!((failure(&outcome).0, effects(&outcome)), ("credential_missing", "none"));
    for (token, count) in [("the-first-secret", 3), ("the-first-secret", 6), ("the-second-secret", 3)] {
        secret(folder.path(), "token", token);
        broker.load().await;
        assert_eq!(text(&bed.run(with("read", "/run/credentials/token")).await), "[credential small-token]");
        assert_eq!(text(&bed.run(with("env", "")).await), "/run/credentials");
        assert_eq!(calls(&bed, with("who", "")).await, count, "{token}");
    }
    // It cannot be changed, and another server has no such directory.
    assert_eq!(text(&bed.run(with("write", "/run/credentials/token")).await), "Read-only file system");
    assert_eq!(text(&bed.call("read", json!({"path": "/run/credentials/token"})).await), "No such file or directory");
    let mut other = with("read", "/run/credentials/token");
    other.origin.tenant = "other".to_owned();
    assert_eq!(failure(&bed.run(other).await).1, "credential.out_of_scope");
}

/// However often a server goes, every call ends, and each that has no answer says whether it may have run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_of_a_server_that_keeps_dying_all_end() {
    let pool = PoolLimits {
        failures: u32::MAX,
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(5),
        ..PoolLimits::default()
    };
    let bed = Bed::with(McpOptions { pool, ..McpOptions::default() }).await;
    let one = async |number: usize| {
        let tool = if number % 20 == 10 { "die" } else { "echo" };
        (tool, bed.call(tool, json!({"text": number.to_string()})).await)
    };
    let ended = futures_util::future::join_all((0..100).map(one)).await;
    let mut lost = 0;
    for (number, (tool, outcome)) in ended.iter().enumerate() {
        match (*tool, &outcome.error) {
            ("echo", None) => assert_eq!(text(outcome), number.to_string()),
            (_, Some(_)) => {
                assert_eq!((failure(outcome).1, effects(outcome)), ("mcp.no_answer", "unknown"), "{outcome:?}");
                lost += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    // No more than share a session go with it.
    assert!((5..=40).contains(&lost), "{lost} of 100 had no answer");
    assert!(bed.call("echo", json!({"text": "after"})).await.is_success());
}
