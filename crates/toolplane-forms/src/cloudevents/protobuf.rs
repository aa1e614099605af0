//! The protobuf format (`io.cloudevents.v1`), and its batches.

use std::collections::BTreeMap;

use prost::Message;
use toolplane_records::event::ToolEvent;

use super::{BadCloudEvent, CloudEvent, DATA, VERSION, event_of};

/// An event.
#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    source: String,
    #[prost(string, tag = "3")]
    spec_version: String,
    #[prost(string, tag = "4")]
    kind: String,
    #[prost(btree_map = "string, message", tag = "5")]
    attributes: BTreeMap<String, Attribute>,
    #[prost(oneof = "Data", tags = "6, 7, 8")]
    data: Option<Data>,
}

/// What an event holds.
#[derive(Clone, PartialEq, prost::Oneof)]
enum Data {
    #[prost(bytes, tag = "6")]
    Binary(Vec<u8>),
    #[prost(string, tag = "7")]
    Text(String),
    #[prost(message, tag = "8")]
    Proto(Any),
}

/// `google.protobuf.Any`, which is never written here.
#[derive(Clone, PartialEq, Message)]
struct Any {
    #[prost(string, tag = "1")]
    type_url: String,
    #[prost(bytes, tag = "2")]
    value: Vec<u8>,
}

/// The value of an attribute.
#[derive(Clone, PartialEq, Message)]
struct Attribute {
    #[prost(oneof = "Value", tags = "1, 2, 3, 4, 5, 6, 7")]
    value: Option<Value>,
}

/// One of the types of attributes.
#[derive(Clone, PartialEq, prost::Oneof)]
enum Value {
    #[prost(bool, tag = "1")]
    Boolean(bool),
    #[prost(int32, tag = "2")]
    Integer(i32),
    #[prost(string, tag = "3")]
    Text(String),
    #[prost(bytes, tag = "4")]
    Bytes(Vec<u8>),
    #[prost(string, tag = "5")]
    Uri(String),
    #[prost(string, tag = "6")]
    UriRef(String),
    #[prost(message, tag = "7")]
    Timestamp(Instant),
}

/// `google.protobuf.Timestamp`.
#[derive(Clone, PartialEq, Message)]
struct Instant {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

/// Events together.
#[derive(Clone, PartialEq, Message)]
struct Batch {
    #[prost(message, repeated, tag = "1")]
    events: Vec<Event>,
}

fn event(event: &ToolEvent) -> Event {
    let told = CloudEvent::of(event);
    let mut attributes = BTreeMap::new();
    let mut put = |name: &str, value| attributes.insert(name.to_owned(), Attribute { value: Some(value) });
    let millis = event.time.as_millis();
    // The remainder is below a thousand.
    let nanos = i32::try_from(millis.rem_euclid(1000) * 1_000_000).unwrap_or(0);
    put("time", Value::Timestamp(Instant { seconds: millis.div_euclid(1000), nanos }));
    put("datacontenttype", Value::Text(DATA.to_owned()));
    if !told.subject.is_empty() {
        put("subject", Value::Text(told.subject));
    }
    for (name, value) in told.attributes {
        put(name, Value::Text(value));
    }
    Event {
        id: told.id,
        source: told.source,
        spec_version: VERSION.to_owned(),
        kind: told.kind,
        attributes,
        data: Some(Data::Text(told.data.text().to_owned())),
    }
}

/// An event in the protobuf format.
pub(crate) fn write(given: &ToolEvent) -> Vec<u8> {
    event(given).encode_to_vec()
}

/// Events in the protobuf format for batches.
pub(crate) fn batch(events: &[ToolEvent]) -> Vec<u8> {
    Batch { events: events.iter().map(event).collect() }.encode_to_vec()
}

/// Reads an event in the protobuf format. Fails with [`BadCloudEvent`] when it is none, or none of ours.
pub fn read(bytes: &[u8]) -> Result<ToolEvent, BadCloudEvent> {
    read_one(Event::decode(bytes).map_err(|error| BadCloudEvent::Form(error.to_string()))?)
}

/// Reads a batch, like [`read`].
pub fn read_batch(bytes: &[u8]) -> Result<Vec<ToolEvent>, BadCloudEvent> {
    let batch = Batch::decode(bytes).map_err(|error| BadCloudEvent::Form(error.to_string()))?;
    batch.events.into_iter().map(read_one).collect()
}

fn read_one(event: Event) -> Result<ToolEvent, BadCloudEvent> {
    if event.spec_version != VERSION {
        return Err(BadCloudEvent::Version(event.spec_version.chars().take(64).collect()));
    }
    match event.data {
        Some(Data::Text(text)) => event_of(&text),
        Some(Data::Binary(bytes)) => {
            event_of(std::str::from_utf8(&bytes).map_err(|error| BadCloudEvent::Data(error.to_string()))?)
        }
        Some(Data::Proto(any)) => Err(BadCloudEvent::Data(format!("`{}` is not read", any.type_url))),
        None => Err(BadCloudEvent::Data("it is missing".to_owned())),
    }
}
