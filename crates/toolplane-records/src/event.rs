//! Lifecycle events: the standard's envelope, and the compact form the log keeps.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{InvocationId, TenantId, ToolId};
use crate::payload::JsonPayload;
use crate::refs::TelemetryRef;
use crate::time::Timestamp;
use crate::vocabulary::EventClass;

/// One entry of an invocation's log, as the store keeps it. Its place in the stream is its sequence, from 1, gapless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogEvent {
    /// Sequence in its stream.
    pub seq: u64,
    /// Class of the event.
    pub class: EventClass,
    /// When it happened, by the store's clock.
    pub at: Timestamp,
    /// Facts of the event; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub data: Option<JsonPayload>,
}

/// The standard's event envelope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolEvent {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Unique together with `source`.
    pub event_id: String,
    /// Class of the event; open vocabulary.
    pub event_type: String,
    /// What emitted it, as a URI reference.
    pub source: String,
    /// What it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// When it happened.
    pub time: Timestamp,
    /// The call, when it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation_id: Option<InvocationId>,
    /// The tool, when it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_id: Option<ToolId>,
    /// Facts; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub data: Option<JsonPayload>,
    /// Where to find the trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace_refs: Vec<TelemetryRef>,
    /// Position in the stream of this source, from 1, gapless (ours).
    pub sequence: u64,
}

impl LogEvent {
    /// The standard's envelope of this entry of `invocation_id`'s log. The id is derived, so replays agree.
    pub fn envelope(
        &self,
        tenant: &TenantId,
        invocation_id: &InvocationId,
        tool_id: &ToolId,
        trace_refs: &[TelemetryRef],
    ) -> ToolEvent {
        ToolEvent {
            schema_version: crate::schema_version(),
            event_id: format!("{invocation_id}:{}", self.seq),
            event_type: self.class.as_str().to_owned(),
            source: format!("/tenants/{tenant}/invocations/{invocation_id}"),
            subject: invocation_id.to_string(),
            time: self.at,
            invocation_id: Some(invocation_id.clone()),
            tool_id: Some(tool_id.clone()),
            data: self.data.clone(),
            trace_refs: trace_refs.to_vec(),
            sequence: self.seq,
        }
    }
}
