//! Hooks after a call, asked by a real worker.

use std::time::Duration;

use toolplane_executor::{Executor, Handle, Options};
use toolplane_hooks::Hooks;
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{
    CancelExecution, ExecutionOutcome, HookEvent as Event, LeaseRef, PersistenceStrategy, RedactionState, StartGranted,
};
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::HookEvent;
use toolplane_runtime::Shutdown;

use crate::calls::texts;
use crate::fake::{Connection, Fake};
use crate::worker::{Call, HOOKS_FILE, config, schedulers, there, toolbox};

const SECRET: &str = "s3cret";

/// One hook that is a line of shell, with a last argument by which its process is known.
fn hook(id: &str, event: &str, script: &str) -> String {
    format!(
        "[[hooks]]\nid = {id:?}\nevents = [{event:?}]\nmatcher = \"Bash\"\ncommand = [\"bash\", \"-c\", {script:?}, \
         \"hook-{id}\"]\ntimeout_ms = 20000\n"
    )
}

/// A worker with hooks, and its stream.
struct Bed {
    fake: Fake,
    connection: Connection,
    shutdown: Shutdown,
    /// Calls that were run.
    runs: usize,
    _handle: Handle,
    _dir: tempfile::TempDir,
}

impl Bed {
    async fn start(hooks: &[String]) -> Self {
        let mut fake = Fake::start().await;
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(HOOKS_FILE), hooks.concat()).unwrap();
        let config = config(dir.path());
        let mut options = Options::from_config(&config).unwrap();
        options.hooks = Hooks::open(&config, HookEvent::ALL).await.unwrap();
        let shutdown = Shutdown::new();
        let handle = Executor::start(options, toolbox().await, schedulers(&[&fake.url]), shutdown.clone()).unwrap();
        let connection = fake.connection().await;
        Self { fake, connection, shutdown, runs: 0, _handle: handle, _dir: dir }
    }

    async fn run(&mut self, command: &str) -> ExecutionOutcome {
        self.run_call(Call::shell(command)).await
    }

    async fn run_call(&mut self, call: Call) -> ExecutionOutcome {
        self.runs += 1;
        let (lease, offer) = call
            .change(|dispatch| dispatch.tool_kind = "shell_command".to_owned())
            .offer(&format!("hooked-{}", self.runs));
        self.connection.send(offer);
        self.connection.done(&lease).await
    }

    /// Offers a call that must not run twice, and lets it start.
    async fn begin(&mut self, lease: &LeaseRef, offer: Command) {
        self.connection.send(offer);
        let asks = |report: &Report| matches!(report, Report::StartRequested(_)).then_some(());
        self.connection.until("a request to start", asks).await;
        self.connection.send(Command::StartGranted(StartGranted { lease: Some(lease.clone()) }));
    }

    /// Nothing of the secret left the worker, neither in the report nor beside it.
    #[track_caller]
    fn kept_secret(&self, outcome: &ExecutionOutcome) {
        let bytes = prost::Message::encode_to_vec(outcome);
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{outcome:?}");
        let kept = self.fake.uploads.kept.lock().unwrap();
        assert!(kept.values().all(|bytes| !bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes())));
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.shutdown.force();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_replaces_the_output_and_adds_context() {
    let answer = r#"{"hookSpecificOutput":{"updatedToolOutput":"clean","additionalContext":"more is in the manual"},
        "decision":"block","reason":"look again","systemMessage":"seen"}"#;
    let mut bed = Bed::start(&[hook("h", "post_tool_use", &format!("printf '%s' '{answer}'"))]).await;
    let outcome = bed.run(&format!("echo {SECRET}")).await;
    bed.kept_secret(&outcome);
    assert_eq!((outcome.status.as_str(), outcome.structured_content.is_none()), ("succeeded", true));
    assert_eq!(texts(&outcome.content), ["clean"]);
    assert_eq!(texts(&outcome.model_facing_content), ["clean", "hook `h`: look again", "more is in the manual"]);
    assert_eq!(outcome.redaction_state(), RedactionState::Redacted);
    let [record] = &outcome.hooks[..] else { panic!("{:?}", outcome.hooks) };
    assert_eq!((record.hook_id.as_str(), record.hook_event()), ("h", Event::PostToolUse));
    assert!(record.ended_at.is_some() && !record.additional_context.is_empty());
    // A failure is another point, and other tools are none of its business.
    let failed = bed.run("echo out; exit 3").await;
    assert_eq!((texts(&failed.content), failed.hooks.len()), (vec!["out\n"], 0));
    let (lease, offer) = Call::native("native.echo", "{}").offer("other");
    bed.connection.send(offer);
    assert!(bed.connection.done(&lease).await.hooks.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_fails_withholds_the_output() {
    for (id, script) in [("exits", "exit 1"), ("babbles", "echo '{'"), ("floods", "yes")] {
        let mut bed = Bed::start(&[hook(id, "post_tool_use", script)]).await;
        // Large: it would be uploaded.
        let outcome = bed.run(&format!("for i in $(seq 1 2000); do echo {SECRET}; done")).await;
        bed.kept_secret(&outcome);
        let error = outcome.error.as_ref().expect("it says so");
        assert_eq!((outcome.status.as_str(), outcome.is_error), ("failed", true), "{id}");
        assert_eq!((error.error_code.as_str(), error.error_class.as_str()), ("hooks.failed", "hook_blocked"));
        assert_eq!(error.side_effects.as_deref(), Some("completed"));
        assert!(error.message.contains(&format!("hook `{id}`")), "{}", error.message);
        let [withheld] = &outcome.persisted[..] else { panic!("{:?}", outcome.persisted) };
        assert_eq!((withheld.strategy(), withheld.original_size_bytes), (PersistenceStrategy::DropWithReason, 14_000));
        assert_eq!(outcome.hooks.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_a_point_of_their_own() {
    let sees = r#"call=$(cat); case "$call" in *'"error":"'*'"is_interrupt":false'*) echo '{"updated_output":"hidden"}';; esac"#;
    let mut bed = Bed::start(&[hook("h", "post_tool_use_failure", sees)]).await;
    let failed = bed.run(&format!("echo {SECRET}; exit 3")).await;
    bed.kept_secret(&failed);
    let error = failed.error.as_ref().unwrap();
    assert_eq!((texts(&failed.content), error.error_class.as_str()), (vec!["hidden"], "execution_failed"));
    assert_eq!(failed.hooks[0].hook_event(), Event::PostToolUseFailure);
    assert!(bed.run("echo fine").await.hooks.is_empty());
    let mut bed = Bed::start(&[hook("h", "post_tool_use_failure", "exit 1")]).await;
    let failed = bed.run(&format!("echo {SECRET}; exit 3")).await;
    bed.kept_secret(&failed);
    assert_eq!(failed.error.as_ref().unwrap().error_class, "execution_failed", "it is the failure it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn ways_of_keeping_only_get_stricter() {
    let keeps = |how: &str| hook("k", "result_persistence", &format!("echo '{{\"persistence\":\"{how}\"}}'"));
    let mut bed = Bed::start(&[keeps("ref_only")]).await;
    let outcome = bed.run("echo small").await;
    assert!(!prost::Message::encode_to_vec(&outcome).windows(5).any(|window| window == b"small"), "{outcome:?}");
    assert_eq!(bed.fake.uploads.kept.lock().unwrap()["result"], "small\n");
    assert_eq!((outcome.status.as_str(), outcome.persisted[0].reason.as_str()), ("succeeded", "kept_less_by_hook"));
    let mut bed = Bed::start(&[keeps("never_persist")]).await;
    let outcome = bed.run("seq 1 40000").await;
    assert!(bed.fake.uploads.kept.lock().unwrap().is_empty());
    assert_eq!(outcome.persisted[0].strategy(), PersistenceStrategy::NeverPersist);
    assert!(texts(&outcome.content).concat().starts_with("1\n2\n"));
    // Asking for more than there is changes nothing.
    let mut bed = Bed::start(&[keeps("inline")]).await;
    let outcome = bed.run("seq 1 40000").await;
    assert_eq!(outcome.persisted[0].strategy(), PersistenceStrategy::PreviewAndPersist);
    for (how, strategy) in
        [("redact", PersistenceStrategy::Redact), ("drop_with_reason", PersistenceStrategy::DropWithReason)]
    {
        let mut bed = Bed::start(&[keeps(how)]).await;
        let outcome = bed.run(&format!("echo {SECRET}")).await;
        bed.kept_secret(&outcome);
        assert_eq!((outcome.status.as_str(), outcome.is_error), ("redacted", false), "{how}");
        assert_eq!(outcome.persisted[0].strategy(), strategy);
        assert_eq!(texts(&outcome.content).concat().contains("[redacted]"), how == "redact");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_point_sees_what_the_one_before_left() {
    let first = hook("first", "post_tool_use", "echo '{\"updated_output\":\"one\"}'");
    let second = hook(
        "second",
        "result_persistence",
        r#"case "$(cat)" in *'"tool_response":"one"'*) echo '{"updated_output":"two"}';; esac"#,
    );
    let mut bed = Bed::start(&[first, second]).await;
    let outcome = bed.run(&format!("echo {SECRET}")).await;
    bed.kept_secret(&outcome);
    assert_eq!((texts(&outcome.content), outcome.hooks.len()), (vec!["two"], 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_are_told_the_observable_input() {
    let tells = r#"call=$(cat); printf '%s' "${call##*tool_input}" | head -c 60 >&2; exit 2"#;
    let mut bed = Bed::start(&[hook("h", "post_tool_use", tells)]).await;
    let call = Call::shell(&format!("true {SECRET}")).change(|dispatch| {
        let shown = JsonPayload::from_checked(r#"{"command":"[redacted]"}"#);
        dispatch.observable_input = Some((&shown).into());
        dispatch.session_ref = "s1".to_owned();
    });
    let outcome = bed.run_call(call).await;
    bed.kept_secret(&outcome);
    let said = texts(&outcome.model_facing_content).concat();
    assert!(said.contains(r#"{"command":"[redacted]"}"#), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lease_lives_while_hooks_are_asked() {
    let slow = hook("slow", "post_tool_use", "sleep 2.5; echo '{\"message\":\"at last\"}'");
    let mut bed = Bed::start(&[slow]).await;
    let call = Call::shell("true").change(|dispatch| dispatch.tool_kind = "shell_command".to_owned()).needs_grant();
    let (lease, offer) = call.offer("slow");
    bed.begin(&lease, offer).await;
    there("hook-slow").await;
    bed.fake.beats.renews(&lease).await;
    let outcome = bed.connection.done(&lease).await;
    assert_eq!((outcome.status.as_str(), outcome.hooks.len()), ("succeeded", 1));
    assert!(outcome.duration_ms < 2_000, "the tool's time is the tool's: {} ms", outcome.duration_ms);
}

/// A cancel that comes when the effect is done changes nothing, and a worker that ends withholds what hooks have not seen.
#[tokio::test(flavor = "multi_thread")]
async fn hooks_that_cannot_be_asked_to_the_end_withhold_the_output() {
    let mut bed = Bed::start(&[hook("stuck", "post_tool_use", "sleep 19; true")]).await;
    let call = Call::shell(&format!("echo {SECRET}"))
        .change(|dispatch| dispatch.tool_kind = "shell_command".to_owned())
        .needs_grant();
    let (lease, offer) = call.offer("stuck");
    bed.begin(&lease, offer).await;
    there("hook-stuck").await;
    bed.connection.send(Command::Cancel(CancelExecution { lease: Some(lease.clone()), ..CancelExecution::default() }));
    tokio::time::sleep(Duration::from_millis(100)).await;
    bed.shutdown.force();
    let outcome = bed.connection.done(&lease).await;
    bed.kept_secret(&outcome);
    let error = outcome.error.as_ref().unwrap();
    assert_eq!((outcome.status.as_str(), error.error_code.as_str()), ("failed", "hooks.failed"));
    assert_eq!(error.side_effects.as_deref(), Some("completed"));
}
