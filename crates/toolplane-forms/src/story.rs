//! What forms are made from: one call, as far as it is known.

use std::collections::HashMap;

use bytes::Bytes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::ToolEvent;
use toolplane_records::hook::ToolHook;
use toolplane_records::invocation::Invocation;
use toolplane_records::mutation::InputMutation;
use toolplane_records::partial::PartialResult;
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::vocabulary::{EventClass, ToolKind};

/// One call. A form takes what it needs of it, and nothing is made up for what is not there.
#[derive(Clone, Copy, Debug)]
pub struct Story<'a> {
    /// The call.
    pub call: &'a Invocation,
    /// The arguments as the reader may see them.
    pub input: Option<&'a JsonPayload>,
    /// What is known of the tool.
    pub tool: Tool<'a>,
    /// How it ended, once it has.
    pub result: Option<&'a ToolResult>,
    /// How its output is kept.
    pub persistence: Option<&'a ResultPersistence>,
    /// What was decided about it, oldest first.
    pub decisions: &'a [PermissionDecision],
    /// What changed its input, oldest first.
    pub mutations: &'a [InputMutation],
    /// What hooks did, oldest first.
    pub hooks: &'a [ToolHook],
    /// What happened, oldest first.
    pub events: &'a [ToolEvent],
    /// What it has shown before the event that is told: its partial results so far.
    pub shown: &'a [ContentBlock],
    /// The bytes of what it keeps, as far as they are at hand.
    pub kept: &'a Kept,
    /// How the reader calls things.
    pub reader: Reader<'a>,
}

/// What is known of the tool of a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tool<'a> {
    /// What kind of tool it is.
    pub kind: Option<ToolKind>,
    /// The provider it comes from.
    pub provider: Option<&'a str>,
    /// The version of its registration.
    pub declaration: Option<Digest>,
}

/// How the reader of a form calls things that have other names here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader<'a> {
    /// Its session; that of the call where it says none.
    pub session: Option<&'a str>,
    /// Where the workspace is on its own machine: paths of files begin there. `/workspace` where it says none.
    pub root: Option<&'a str>,
    /// The call; the id its model gave it where it says none.
    pub call: Option<&'a str>,
}

/// Where a workspace lies for the programs of tools.
const WORKSPACE: &str = "/workspace";

impl<'a> Story<'a> {
    /// A call of which nothing else is known.
    pub fn of(call: &'a Invocation, kept: &'a Kept) -> Self {
        Self {
            call,
            input: None,
            tool: Tool::default(),
            result: None,
            persistence: None,
            decisions: &[],
            mutations: &[],
            hooks: &[],
            events: &[],
            shown: &[],
            kept,
            reader: Reader::default(),
        }
    }

    /// What the caller calls this call: the id its model gave it, else ours.
    pub(crate) fn call_id(&self) -> &'a str {
        let native = self.reader.call.or(self.call.native_call_id.as_deref());
        native.filter(|id| !id.is_empty()).unwrap_or(self.call.invocation_id.as_str())
    }

    /// The session it belongs to; a call without one is a session of its own.
    pub(crate) fn session(&self) -> &'a str {
        let given = self.reader.session.or(self.call.session_ref.as_deref());
        given.unwrap_or(self.call.invocation_id.as_str())
    }

    /// The whole path of a file of the workspace.
    pub(crate) fn absolute(&self, path: &str) -> String {
        let path = path.strip_prefix("./").unwrap_or(path);
        if path.starts_with('/') {
            return path.to_owned();
        }
        let root = self.reader.root.unwrap_or(WORKSPACE).trim_end_matches('/');
        format!("{root}/{path}")
    }
}

/// The partial result an event tells of.
pub(crate) fn partial(event: &ToolEvent) -> Option<PartialResult> {
    let is_partial = event.event_type == EventClass::PartialResult.as_str();
    event.data.as_ref().filter(|_| is_partial)?.parse().ok()
}

/// What a call has shown once `event` is told: a partial result goes on where the one before it ended, or takes its place.
pub fn shown_after(shown: &mut Vec<ContentBlock>, event: &ToolEvent) {
    let Some(partial) = partial(event) else { return };
    if !partial.append {
        shown.clear();
    }
    shown.extend(partial.content);
}

/// Bytes of payloads that calls keep, by digest.
#[derive(Clone, Debug, Default)]
pub struct Kept(HashMap<Digest, Bytes>);

impl Kept {
    /// Adds the bytes of a payload.
    pub fn add(&mut self, payload: &PayloadRef, bytes: Bytes) {
        self.0.insert(payload.digest, bytes);
    }

    /// The bytes, where they are at hand.
    pub fn get(&self, payload: &PayloadRef) -> Option<&Bytes> {
        self.0.get(&payload.digest)
    }
}
