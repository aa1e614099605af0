//! What of the standard's words real calls of these tests have shown: each test that saw one is noted, and `cargo xtask test` makes the
//! table of all of them (`target/coverage/standard.json`) and fails for a word nobody saw.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_testkit::clients::Clients;

/// What this process has noted already.
static NOTED: Mutex<BTreeSet<(&'static str, String)>> = Mutex::new(BTreeSet::new());

/// Notes that a real call showed `word` of `set`. Does nothing for a word that is not said.
pub(crate) fn note(set: &'static str, word: &str) {
    if word.is_empty() || !NOTED.lock().unwrap().insert((set, word.to_owned())) {
        return;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("unknown");
    let parts = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("coverage/parts");
    std::fs::create_dir_all(&parts).unwrap();
    let mut part = OpenOptions::new().create(true).append(true).open(parts.join(test.replace("::", "."))).unwrap();
    writeln!(part, "{set} {word} {test}").unwrap();
}

/// Notes what an ended call shows: its events, its result, and what only its record and its decisions say.
pub(crate) async fn ended(clients: &Clients, events: &[v1::Event], result: &v1::ToolResult) {
    events.iter().for_each(event);
    self::result(result);
    let invocation_id = result.invocation_id.clone();
    let request = v1::GetInvocationRequest { invocation_id: invocation_id.clone(), ..Default::default() };
    // A test may have taken the cluster away; what it saw before counts.
    if let Ok(answer) = clients.invocations().get_invocation(request).await {
        answer.into_inner().invocation.iter().for_each(call);
    }
    let request = v1::GetPersistenceRequest { invocation_id, ..Default::default() };
    if let Ok(answer) = clients.invocations().get_persistence(request).await {
        for decision in answer.into_inner().decisions {
            note("persistence_strategies", &word(decision.strategy().as_str_name(), "PERSISTENCE_STRATEGY_"));
        }
    }
}

/// Notes an event.
pub(crate) fn event(event: &v1::Event) {
    note("events", &event.event_type);
    if event.event_type == "tool.invocation.progress"
        && let Some(v1::json_payload::Body::Inline(data)) = event.data.as_ref().and_then(|data| data.body.as_ref())
        && let Ok(progress) = serde_json::from_slice::<serde_json::Value>(data)
    {
        note("progress_statuses", progress["status"].as_str().unwrap_or_default());
    }
}

/// Notes the states a call was in. `yielded` is a place in its queue: a result that was released.
pub(crate) fn call(call: &v1::Invocation) {
    call.status_transitions.iter().for_each(|step| note("states", &step.to));
    let queue_state = word(call.queue_state().as_str_name(), "QUEUE_STATE_");
    if queue_state == "yielded" {
        note("states", &queue_state);
    }
    note("queue_states", &queue_state);
    if let Some(cancel) = &call.cancel {
        note("abort_reasons", &cancel.abort_reason);
    }
}

/// Notes what a result says.
pub(crate) fn result(result: &v1::ToolResult) {
    note("result_statuses", &result.status);
    result.content.iter().for_each(|block| note("content_classes", class(block)));
    if result.structured_content.is_some() {
        note("content_classes", "structured_content");
    }
    if let Some(error) = &result.error {
        note("error_classes", &error.error_class);
        note("recoverabilities", &error.recoverability);
        note("abort_reasons", &error.abort_reason);
    }
    let redaction = word(result.redaction_state().as_str_name(), "REDACTION_STATE_");
    note("redaction_states", &redaction);
}

/// Notes why tools of a surface may not be used.
pub(crate) fn surface(surface: &v1::ToolSurface) {
    for hidden in surface.blocked_tools.iter().chain(&surface.excluded_tools) {
        note("reasons", &hidden.reason);
    }
}

fn class(block: &v1::ContentBlock) -> &'static str {
    match &block.block {
        Some(Block::Text(_)) => "text",
        Some(Block::Log(_)) => "log",
        Some(Block::Diff(_)) => "diff",
        Some(Block::Image(_)) => "image",
        Some(Block::Audio(_)) => "audio",
        Some(Block::Video(_)) => "video",
        Some(Block::File(_)) => "file",
        Some(Block::ResourceLink(_)) => "resource_link",
        Some(Block::EmbeddedResource(_)) => "embedded_resource",
        Some(Block::ArtifactRef(_)) => "artifact_ref",
        Some(Block::PersistedOutputRef(_)) => "persisted_output_ref",
        Some(Block::HandoffRef(_)) => "handoff_ref",
        Some(Block::Empty(_)) | None => "",
    }
}

/// `RESULT_STATUS_TOO_LARGE` as the standard's `too_large`; nothing for what is not said.
fn word(name: &str, prefix: &str) -> String {
    let word = name.strip_prefix(prefix).unwrap_or(name).to_lowercase();
    if word == "unspecified" { String::new() } else { word }
}
