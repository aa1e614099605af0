use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use toolplane_execution::{
    Call, CallAttempt, CallLimits, CallOrigin, CallPlace, Context, Lookup, Outcome, ProgressSink, ProgressUpdate,
    SystemLookup, Toolbox, ToolboxOptions,
};
use toolplane_records::ids::{InvocationId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::result::ContentBlock;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_sandbox::bubblewrap::{self, Bubblewrap};
use toolplane_sandbox::{Posture, SandboxBackend};

/// The sandbox of all tests of this process, probed once.
pub(crate) async fn sandbox() -> (Arc<dyn SandboxBackend>, Posture) {
    static SANDBOX: OnceCell<(Arc<Bubblewrap>, Posture)> = OnceCell::const_new();
    let (sandbox, posture) = SANDBOX
        .get_or_init(|| async {
            let sandbox = Arc::new(Bubblewrap::new(&bubblewrap::BubblewrapOptions::default()));
            let posture = sandbox.probe().await;
            (sandbox, posture)
        })
        .await;
    assert!(posture.available, "these tests need the sandbox: {:?}", posture.missing_reason);
    (Arc::clone(sandbox) as _, posture.clone())
}

pub(crate) async fn toolbox(workspace: &Path) -> Toolbox {
    toolbox_with(ToolboxOptions::new(workspace), Arc::new(SystemLookup)).await
}

pub(crate) async fn toolbox_with(options: ToolboxOptions, lookup: Arc<dyn Lookup>) -> Toolbox {
    let (sandbox, posture) = sandbox().await;
    Toolbox::with_sandbox(options, sandbox, posture, lookup)
}

pub(crate) fn call(binding: ExecutionBinding, input: Value) -> Call {
    Call {
        invocation_id: InvocationId::parse("inv-1").unwrap(),
        tool_name: "test.tool".into(),
        binding,
        input: JsonPayload::of(&input),
        context_modifiers: false,
        partial_results: false,
        expected_files: Vec::new(),
        limits: CallLimits { timeout: Some(Duration::from_secs(60)), ..CallLimits::default() },
        place: CallPlace::default(),
        attempt: CallAttempt { number: 1, idempotency_key: "key-1".into(), fence: 7, lock_fence: 9 },
        origin: origin("tool:test", "test.tool"),
    }
}

/// A tool of the tenant `default`, called by `ann`.
pub(crate) fn origin(tool_id: &str, full_name: &str) -> CallOrigin {
    let namespace = full_name.rsplit_once('.').map_or("", |(namespace, _)| namespace);
    let tool = ToolFacts::named(ToolId::parse(tool_id).unwrap(), full_name, namespace);
    CallOrigin { tenant: "default".into(), actor: Some("ann".into()), tool }
}

pub(crate) fn shell_call(command: &str) -> Call {
    call(ExecutionBinding::Shell { shell: None }, json!({ "command": command }))
}

pub(crate) fn native(name: &str) -> ExecutionBinding {
    ExecutionBinding::Native { name: name.into() }
}

/// Keeps every update.
#[derive(Default)]
pub(crate) struct Seen(pub(crate) Mutex<Vec<ProgressUpdate>>);

impl ProgressSink for Seen {
    fn report(&self, update: ProgressUpdate) {
        self.0.lock().unwrap().push(update);
    }
}

pub(crate) fn context() -> (Context, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    (Context::new(Arc::clone(&seen) as _, CancellationToken::new()), seen)
}

pub(crate) async fn execute(toolbox: &Toolbox, call: &Call) -> Outcome {
    toolbox.execute(call, &context().0).await
}

/// The answer: the first text of the content.
pub(crate) fn text(outcome: &Outcome) -> &str {
    for block in &outcome.content {
        if let ContentBlock::Text { text } = block {
            return text;
        }
    }
    ""
}

pub(crate) fn structured(outcome: &Outcome) -> Value {
    outcome.structured_content.as_ref().map_or(Value::Null, JsonPayload::to_value)
}

/// (class, code) of the failure.
pub(crate) fn failure(outcome: &Outcome) -> (&str, &str) {
    let error = outcome.error.as_ref().unwrap_or_else(|| panic!("must fail: {outcome:?}"));
    (error.error_class.as_str(), &error.error_code)
}
