//! CloudEvents 1.0: events of a call, as JSON and as protobuf, and back.
//!
//! The source names the call, so `source` and `id` together are unique, and `sequence` orders the events of one source. The data are
//! the standard's event, whole.

mod protobuf;

use serde::Deserialize;
use toolplane_records::event::ToolEvent;
use toolplane_records::payload::JsonPayload;

use crate::object::Object;

pub(crate) use protobuf::{batch as protobuf_batch, write as write_protobuf};
pub use protobuf::{read as read_protobuf, read_batch as read_protobuf_batch};

/// What types of events begin with; the class of the standard follows.
const TYPE: &str = "dev.toolplane.";
/// Version of the specification.
const VERSION: &str = "1.0";
/// What the data are.
const DATA: &str = "application/json";

/// An event as the specification has it, before it is written in one of its formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloudEvent {
    /// Unique together with the source.
    pub id: String,
    /// What emitted it.
    pub source: String,
    /// Its type.
    pub kind: String,
    /// What it is about.
    pub subject: String,
    /// When it happened.
    pub time: String,
    /// Extensions and other attributes, in order.
    pub attributes: Vec<(&'static str, String)>,
    /// The standard's event.
    pub data: JsonPayload,
}

/// Why bytes are no event of ours.
#[derive(Debug, thiserror::Error)]
pub enum BadCloudEvent {
    /// They are not of the format.
    #[error("is no CloudEvent: {0}")]
    Form(String),
    /// The version is another one.
    #[error("has the version `{0}`; only {VERSION} is known")]
    Version(String),
    /// It holds no event of a call.
    #[error("holds no event of the standard: {0}")]
    Data(String),
}

impl CloudEvent {
    /// An event of a call.
    pub fn of(event: &ToolEvent) -> Self {
        let mut attributes = vec![("sequence", format!("{:020}", event.sequence))];
        attributes.extend(event.invocation_id.as_ref().map(|call| ("partitionkey", call.to_string())));
        if let Some(trace) = event.trace_refs.first().filter(|trace| !trace.span_id.is_empty()) {
            attributes.push(("traceparent", format!("00-{}-{}-01", trace.trace_id, trace.span_id)));
        }
        Self {
            id: event.event_id.clone(),
            source: event.source.clone(),
            kind: format!("{TYPE}{}", event.event_type),
            subject: event.subject.clone(),
            time: event.time.to_string(),
            attributes,
            data: JsonPayload::of(event),
        }
    }

    /// In the JSON format, structured.
    pub fn json(&self) -> Object {
        let event = Object::new()
            .with("specversion", VERSION)
            .with("id", &self.id)
            .with("source", &self.source)
            .with("type", &self.kind)
            .text("subject", &self.subject)
            .with("time", &self.time)
            .with("datacontenttype", DATA);
        let event = self.attributes.iter().fold(event, |event, (name, value)| event.with(name, value));
        event.with("data", &self.data)
    }
}

/// Reads an event in the JSON format. Fails with [`BadCloudEvent`] when it is none, or none of ours.
pub fn read_json(json: &str) -> Result<ToolEvent, BadCloudEvent> {
    #[derive(Deserialize)]
    struct Given {
        specversion: String,
        #[serde(rename = "id")]
        _id: String,
        #[serde(rename = "source")]
        _source: String,
        #[serde(rename = "type")]
        _kind: String,
        data: Option<JsonPayload>,
    }
    let given: Given = serde_json::from_str(json).map_err(|error| BadCloudEvent::Form(error.to_string()))?;
    if given.specversion != VERSION {
        return Err(BadCloudEvent::Version(given.specversion.chars().take(64).collect()));
    }
    let data = given.data.ok_or_else(|| BadCloudEvent::Data("`data` is missing".to_owned()))?;
    event_of(data.text())
}

fn event_of(data: &str) -> Result<ToolEvent, BadCloudEvent> {
    serde_json::from_str(data).map_err(|error| BadCloudEvent::Data(error.to_string()))
}
