//! Events.

use toolplane_records::event as records;
use toolplane_records::vocabulary::EventClass;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<records::ToolEvent> for v1::Event {
    fn from(record: records::ToolEvent) -> Self {
        Self {
            event_class: word::optional_number(record.event_type.parse::<EventClass>().ok()),
            schema_version: record.schema_version.to_string(),
            event_id: record.event_id,
            event_type: record.event_type,
            source: record.source,
            subject: record.subject,
            time: field::instant(record.time),
            invocation_id: field::text(&record.invocation_id),
            tool_id: field::text(&record.tool_id),
            data: field::out(&record.data),
            trace_refs: field::outs(&record.trace_refs),
            sequence: record.sequence,
        }
    }
}

impl From<&records::ToolEvent> for v1::Event {
    fn from(record: &records::ToolEvent) -> Self {
        record.clone().into()
    }
}

impl TryFrom<v1::Event> for records::ToolEvent {
    type Error = ConvertError;

    fn try_from(message: v1::Event) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            event_id: message.event_id,
            event_type: event_type(message.event_type, message.event_class)?,
            source: message.source,
            subject: message.subject,
            time: field::time("time", message.time)?,
            invocation_id: field::optional_id("invocation_id", &message.invocation_id)?,
            tool_id: field::optional_id("tool_id", &message.tool_id)?,
            data: field::optional("data", message.data)?,
            trace_refs: field::list("trace_refs", message.trace_refs)?,
            sequence: message.sequence,
        })
    }
}

/// An event type is free text; when it is one this program knows, the enum beside it must agree.
fn event_type(text: String, number: i32) -> Result<String, ConvertError> {
    match EventClass::from_number(number) {
        _ if text.is_empty() => word::closed::<EventClass>("event_type", number).map(|class| class.as_str().to_owned()),
        Some(class) if class.as_str() != text => {
            Err(ConvertError::new("event_type", format!("differs from the enum beside it, which says `{class}`")))
        }
        _ => Ok(text),
    }
}
