//! The Agent2Agent protocol, version 1.0: a call as a task, and its result as artifacts.

mod read;

pub use read::{GivenArtifact, GivenPart, GivenTask, read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolplane_records::event::ToolEvent;
use toolplane_records::ids::InvocationId;
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, InvocationStatus};

use crate::mcp;
use crate::object::Object;
use crate::story::{Story, partial};
use crate::words;

/// The task as it is now.
pub(crate) fn task(story: &Story<'_>) -> Object {
    let call = story.call;
    let at = call.status_transitions.last().map_or(call.created_at, |step| step.at);
    let said = story.result.filter(|result| result.is_error).map(words::told).or_else(|| question(story));
    let task = Object::new()
        .with("id", task_id(story))
        .with("contextId", context_id(story))
        .object("status", &status(story, state(call.status), at, said.as_deref()));
    let artifacts: Vec<Object> = story.result.into_iter().flat_map(|result| artifacts(story, result)).collect();
    task.list("artifacts", &artifacts).object("metadata", &metadata(story))
}

/// What the peer that called calls the task; the call where it was none of A2A.
fn task_id<'a>(story: &Story<'a>) -> &'a str {
    let native = story.call.native_ids.a2a_task_id.as_str();
    if native.is_empty() { story.call.invocation_id.as_str() } else { native }
}

/// What the reader, else the peer that called, calls the context.
fn context_id<'a>(story: &Story<'a>) -> &'a str {
    let native = Some(story.call.native_ids.a2a_context_id.as_str()).filter(|id| !id.is_empty());
    story.reader.session.or(native).unwrap_or_else(|| story.session())
}

/// What one event changes, as an item of a stream.
pub(crate) fn event(story: &Story<'_>, event: &ToolEvent) -> Option<Object> {
    let class: EventClass = event.event_type.parse().ok()?;
    if event.sequence == 1 {
        let mut call = story.call.clone();
        call.status = InvocationStatus::Planned;
        call.status_transitions.clear();
        return Some(Object::new().object("task", &task(&Story { call: &call, result: None, ..*story })));
    }
    let (status_now, said) = match class {
        EventClass::PartialResult => return partial_artifact(story, event),
        EventClass::Started => (InvocationStatus::Running, None),
        EventClass::ExtRequeued => (InvocationStatus::Queued, None),
        EventClass::ExtAwaitingApproval => (InvocationStatus::AwaitingApproval, None),
        EventClass::ExtNeedsInput => (InvocationStatus::NeedsInput, question(story)),
        EventClass::Progress => (InvocationStatus::Running, message_of(event)),
        _ => return None,
    };
    Some(status_update(story, state(status_now), event.time, said.as_deref()))
}

/// What the call has so far, as an artifact of its own: the result has another one.
fn partial_artifact(story: &Story<'_>, event: &ToolEvent) -> Option<Object> {
    let partial = partial(event)?;
    let call = &story.call.invocation_id;
    let parts: Vec<Object> = partial.content.iter().filter_map(|block| part(story, call, block)).collect();
    let artifact =
        Object::new().with("artifactId", &format!("{call}/partial")).with("name", "so far").list("parts", &parts);
    let update = Object::new()
        .with("taskId", task_id(story))
        .with("contextId", context_id(story))
        .object("artifact", &artifact)
        .with("append", &partial.append)
        .with("lastChunk", &false);
    Some(Object::new().object("artifactUpdate", &update))
}

/// How it ended, as items of a stream: artifacts, then the last status.
pub(crate) fn ending(story: &Story<'_>, result: &ToolResult) -> Vec<Object> {
    let artifact = |artifact: &Object| {
        let update = Object::new()
            .with("taskId", task_id(story))
            .with("contextId", context_id(story))
            .object("artifact", artifact)
            .with("append", &false)
            .with("lastChunk", &true);
        Object::new().object("artifactUpdate", &update)
    };
    let mut items: Vec<Object> = artifacts(story, result).iter().map(artifact).collect();
    let said = result.is_error.then(|| words::told(result));
    items.push(status_update(story, state(story.call.status), result.created_at, said.as_deref()));
    items
}

fn status_update(story: &Story<'_>, state: &str, at: Timestamp, said: Option<&str>) -> Object {
    let update = Object::new()
        .with("taskId", task_id(story))
        .with("contextId", context_id(story))
        .object("status", &status(story, state, at, said))
        .object("metadata", &metadata(story));
    Object::new().object("statusUpdate", &update)
}

fn status(story: &Story<'_>, state: &str, at: Timestamp, said: Option<&str>) -> Object {
    let status = Object::new().with("state", state);
    let status = match said.filter(|said| !said.is_empty()) {
        Some(said) => {
            let id = format!("{}:{}", story.call.invocation_id, at.as_millis());
            let message = Object::new()
                .with("messageId", &id)
                .with("contextId", context_id(story))
                .with("taskId", task_id(story))
                .with("role", "ROLE_AGENT")
                .list("parts", &[Object::new().with("text", said)]);
            status.object("message", &message)
        }
        None => status,
    };
    status.with("timestamp", &at)
}

/// The question a running tool asks.
fn question(story: &Story<'_>) -> Option<String> {
    let open = story.call.pending_input.as_ref().filter(|question| question.answer.is_none());
    open.map(|question| question.prompt.clone())
}

fn message_of(event: &ToolEvent) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Said {
        message: String,
    }
    event.data.as_ref()?.parse::<Said>().ok().map(|said| said.message)
}

/// State of a call, in the protocol's words.
const fn state(status: InvocationStatus) -> &'static str {
    match status {
        InvocationStatus::Planned
        | InvocationStatus::Selected
        | InvocationStatus::ArgumentsReady
        | InvocationStatus::PreHooksRunning
        | InvocationStatus::Approved
        | InvocationStatus::Queued => "TASK_STATE_SUBMITTED",
        InvocationStatus::Running
        | InvocationStatus::PartialResult
        | InvocationStatus::PostHooksRunning
        | InvocationStatus::Yielded => "TASK_STATE_WORKING",
        InvocationStatus::AwaitingApproval | InvocationStatus::NeedsInput => "TASK_STATE_INPUT_REQUIRED",
        InvocationStatus::Succeeded => "TASK_STATE_COMPLETED",
        InvocationStatus::Canceled => "TASK_STATE_CANCELED",
        InvocationStatus::Failed | InvocationStatus::TimedOut => "TASK_STATE_FAILED",
        InvocationStatus::SchemaParseFailed
        | InvocationStatus::ValidationFailed
        | InvocationStatus::Denied
        | InvocationStatus::Blocked => "TASK_STATE_REJECTED",
    }
}

fn metadata(story: &Story<'_>) -> Object {
    let call = story.call;
    let named = task_id(story) != call.invocation_id.as_str();
    Object::new()
        .maybe("toolplane/invocation_id", named.then_some(&call.invocation_id))
        .text("toolplane/message_id", &call.native_ids.a2a_message_id)
        .with("toolplane/tool", &call.tool_name)
        .with("toolplane/status", &call.status)
        .maybe("toolplane/approval_id", call.approval_request_ref.as_ref())
        .maybe("toolplane/result_status", story.result.map(|result| result.status))
}

/// What the tool gave: its content, and what it made.
fn artifacts(story: &Story<'_>, result: &ToolResult) -> Vec<Object> {
    let mut parts: Vec<Object> =
        result.content.iter().filter_map(|block| part(story, &result.invocation_id, block)).collect();
    if let Some(value) = &result.structured_content {
        parts.push(Object::new().with("data", value).with("mediaType", "application/json"));
    }
    let mut found = Vec::new();
    if !parts.is_empty() && !result.is_error {
        let artifact = Object::new().with("artifactId", &result.result_id).with("name", &story.call.tool_name);
        found.push(artifact.list("parts", &parts));
    }
    found.extend(result.artifact_refs.iter().map(|made| {
        let part = Object::new().with("url", &made.uri).text("mediaType", &made.media_type);
        Object::new().with("artifactId", &made.artifact_id).list("parts", &[part])
    }));
    found
}

fn part(story: &Story<'_>, call: &InvocationId, block: &ContentBlock) -> Option<Object> {
    if let Some((kept, bytes)) = mcp::enclosed(block).and_then(|kept| Some((kept, story.kept.get(kept)?))) {
        let part = Object::new().with("raw", &STANDARD.encode(bytes));
        return Some(part.text("mediaType", &kept.media_type));
    }
    if let Some(kept) = block.payload() {
        let part = Object::new().with("url", &mcp::address(call, &kept.digest));
        return Some(part.text("mediaType", &kept.media_type));
    }
    let url = |uri: &str, media_type: &str| Object::new().with("url", uri).text("mediaType", media_type);
    match block {
        ContentBlock::Log { text, stream } => {
            let stream = Object::new().with("toolplane/stream", stream);
            Some(Object::new().with("text", text).object("metadata", &stream))
        }
        ContentBlock::ResourceLink { resource } => Some(url(&resource.uri, &resource.media_type)),
        ContentBlock::EmbeddedResource { uri, media_type, text: None, .. } => Some(url(uri, media_type)),
        // Artifacts of their own.
        ContentBlock::ArtifactRef { .. } => None,
        ContentBlock::HandoffRef { handoff } => Some(url(&handoff.uri, "")),
        block => block.text().map(|text| Object::new().with("text", text)),
    }
}
