//! The Agent Client Protocol, version 1: a call as `session/update` notifications, and a question as `session/request_permission`.
//!
//! A reader passes the messages on as they are; updates say what has changed and nothing else.

mod facts;
mod permission;

pub use permission::{BadOutcome, Outcome, answer, request};

use toolplane_records::event::ToolEvent;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::vocabulary::EventClass;

use crate::mcp;
use crate::object::Object;
use crate::story::{Story, partial};
use crate::words;

/// Whether the client shows terminals that the agent fills (`_meta.terminal_output` among its capabilities).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminals {
    No,
    Yes,
}

/// The whole call as it is now.
pub(crate) fn call(story: &Story<'_>, terminals: Terminals) -> Object {
    let update = Object::new()
        .with("sessionUpdate", "tool_call")
        .with("toolCallId", story.call_id())
        .with("title", &facts::title(story))
        .with("kind", facts::kind(story))
        .with("status", facts::status(story.call.status))
        .list("locations", &facts::locations(story));
    let update = update.maybe("rawInput", story.input);
    let terminal = has_terminal(story, terminals);
    let update = match story.result {
        _ if terminal => update.list("content", &[terminal_content(story)]),
        Some(result) => update.list("content", &contents(story, result)),
        None => update,
    };
    let update = update.maybe("rawOutput", story.result.map(raw_output));
    let meta = meta(story);
    let meta = match terminal {
        true => meta.object("terminal_info", &terminal_info(story)),
        false => meta,
    };
    let meta = match story.result.filter(|_| terminal) {
        Some(result) => terminal_end(story, result, meta),
        None => meta,
    };
    notification(story, update.object("_meta", &meta))
}

/// What one event changes; nothing where a client would see no difference.
pub(crate) fn event(story: &Story<'_>, terminals: Terminals, event: &ToolEvent) -> Option<Object> {
    if event.sequence == 1 {
        // The call as it was then.
        let mut call = story.call.clone();
        call.status = toolplane_records::vocabulary::InvocationStatus::Planned;
        return Some(self::call(&Story { call: &call, result: None, ..*story }, terminals));
    }
    let status = |word: &str| update(story).with("status", word);
    let fact = |name: &str| Object::new().maybe(name, event.data.as_ref());
    let class: EventClass = event.event_type.parse().ok()?;
    let update = match class {
        EventClass::Started => status("in_progress"),
        EventClass::ExtRequeued => status("pending"),
        EventClass::ExtAwaitingApproval => status("pending").object("_meta", &fact("toolplane/approval")),
        EventClass::ExtNeedsInput => status("in_progress").object("_meta", &fact("toolplane/input")),
        EventClass::PartialResult => shown(story, terminals, event)?,
        EventClass::Progress => progress(story, terminals, event.data.as_ref()),
        _ => return None,
    };
    Some(notification(story, update))
}

/// How it ended.
pub(crate) fn ending(story: &Story<'_>, terminals: Terminals, result: &ToolResult) -> Object {
    let update = update(story).with("status", if result.is_error { "failed" } else { "completed" });
    let terminal = has_terminal(story, terminals);
    // What was shown before is not all of it, and is not shown twice: then the whole takes the place of the terminal.
    let was_shown = story.call.partial_seq > 0;
    let update = match terminal && !was_shown {
        true => update,
        false => update.list("content", &contents(story, result)),
    };
    let update = update.list("locations", &facts::locations(story)).with("rawOutput", &raw_output(result));
    let meta = meta(story);
    let meta = if terminal { terminal_end(story, result, meta) } else { meta };
    notification(story, update.object("_meta", &meta))
}

fn notification(story: &Story<'_>, update: Object) -> Object {
    let params = Object::new().with("sessionId", story.session()).object("update", &update);
    Object::new().with("jsonrpc", "2.0").with("method", "session/update").object("params", &params)
}

fn update(story: &Story<'_>) -> Object {
    Object::new().with("sessionUpdate", "tool_call_update").with("toolCallId", story.call_id())
}

fn meta(story: &Story<'_>) -> Object {
    let meta = Object::new()
        .with("toolplane/invocation_id", &story.call.invocation_id)
        .with("toolplane/status", &story.call.status);
    let meta = meta.maybe("toolplane/approval_id", story.call.approval_request_ref.as_ref());
    match story.call.telemetry_refs.first().filter(|trace| !trace.span_id.is_empty()) {
        Some(trace) => meta.with("traceparent", &format!("00-{}-{}-01", trace.trace_id, trace.span_id)),
        None => meta,
    }
}

/// What a report of progress says to people. It never holds output of the tool.
fn progress(story: &Story<'_>, terminals: Terminals, data: Option<&JsonPayload>) -> Object {
    #[derive(serde::Deserialize)]
    struct Said {
        #[serde(default)]
        message: String,
    }
    let message = data.and_then(|data| data.parse::<Said>().ok()).map(|said| said.message).unwrap_or_default();
    let update = update(story).with("status", "in_progress");
    // The content of a terminal stays its terminal.
    let update = match message.is_empty() || has_terminal(story, terminals) {
        true => update,
        false => update.list("content", &[content(&Object::typed("text").with("text", &message))]),
    };
    update.object("_meta", &Object::new().maybe("toolplane/progress", data))
}

/// What the call has so far. A terminal is given what is new, all else is the whole each time: a client replaces the content.
fn shown(story: &Story<'_>, terminals: Terminals, event: &ToolEvent) -> Option<Object> {
    let partial = partial(event)?;
    let update = update(story).with("status", "in_progress");
    if has_terminal(story, terminals) {
        let new: Vec<&str> = partial.content.iter().filter_map(ContentBlock::text).collect();
        let output = Object::new().with("terminal_id", story.call_id()).with("data", &new.concat());
        return Some(update.object("_meta", &Object::new().object("terminal_output", &output)));
    }
    let before = if partial.append { story.shown } else { &[] };
    let mut contents = Vec::new();
    for block in before.iter().chain(&partial.content) {
        contents.extend(told(story, block));
    }
    Some(update.list("content", &contents))
}

fn content(block: &Object) -> Object {
    Object::typed("content").object("content", block)
}

/// What the tool gave, with changes of files as such.
fn contents(story: &Story<'_>, result: &ToolResult) -> Vec<Object> {
    let mut contents = Vec::new();
    for block in &result.content {
        contents.extend(told(story, block));
    }
    if contents.is_empty() {
        let text = words::told(result);
        contents.extend((!text.is_empty()).then(|| content(&Object::typed("text").with("text", &text))));
    }
    contents
}

/// One block, a change of a file as such.
fn told(story: &Story<'_>, block: &ContentBlock) -> Option<Object> {
    let plain = || mcp::content(&story.call.invocation_id, block, story.kept).as_ref().map(content);
    diff(story, block).or_else(plain)
}

/// A change of one file whose text is known before and after.
fn diff(story: &Story<'_>, block: &ContentBlock) -> Option<Object> {
    let ContentBlock::Diff { text, path, old_text, new_text, .. } = block else { return None };
    // Without a text before, either the file is new, or it was too large to be told.
    let is_new = text.starts_with("--- /dev/null");
    let new_text = new_text.as_ref().filter(|_| !path.is_empty() && (old_text.is_some() || is_new))?;
    let diff = Object::typed("diff").with("path", &story.absolute(path));
    Some(diff.with("oldText", old_text).with("newText", new_text))
}

/// What the tool gave for programs; of a failure, what it is.
fn raw_output(result: &ToolResult) -> JsonPayload {
    match (&result.structured_content, &result.error) {
        (Some(value), _) => value.clone(),
        (None, Some(error)) => Object::new().with("status", &result.status).with("error", error).payload(),
        (None, None) => Object::new().with("status", &result.status).text("text", &words::content(result)).payload(),
    }
}

// === terminals ===

fn has_terminal(story: &Story<'_>, terminals: Terminals) -> bool {
    terminals == Terminals::Yes && facts::runs_in_terminal(story)
}

fn terminal_content(story: &Story<'_>) -> Object {
    Object::typed("terminal").with("terminalId", story.call_id())
}

fn terminal_info(story: &Story<'_>) -> Object {
    Object::new().with("terminal_id", story.call_id()).with("cwd", &story.absolute(""))
}

/// The output, and how the program ended.
fn terminal_end(story: &Story<'_>, result: &ToolResult, meta: Object) -> Object {
    #[derive(serde::Deserialize)]
    struct Exit {
        exit_code: Option<i64>,
        signal: Option<JsonPayload>,
    }
    let exit = result.structured_content.as_ref().and_then(|value| value.parse::<Exit>().ok());
    let (code, signal) = exit.map_or((None, None), |exit| (exit.exit_code, exit.signal));
    let was_shown = story.call.partial_seq > 0;
    let output: Vec<&str> = result.content.iter().filter_map(ContentBlock::text).collect();
    let output = if output.is_empty() { words::told(result) } else { output.concat() };
    let id = || Object::new().with("terminal_id", story.call_id());
    let meta = if was_shown { meta } else { meta.object("terminal_output", &id().with("data", &output)) };
    meta.object("terminal_exit", &id().with("exit_code", &code).with("signal", &signal))
}
