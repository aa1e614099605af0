//! Spans as OTLP says them: each is written once, as the bytes of its protobuf message, while it is recorded.
//!
//! The messages around a span are those of `opentelemetry/proto/collector/trace/v1`, as far as they are used here. A span within them
//! is `bytes`, which looks the same on the wire as the message it is.

use bytes::Bytes;
use opentelemetry::Value;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind};
use prost::{encode_length_delimiter, length_delimiter_len};

use crate::clock;

/// One request of the exporter.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    pub(super) resource_spans: Vec<ResourceSpans>,
}

/// The spans of one process.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    pub(super) resource: Option<ResourceAttributes>,
    #[prost(message, repeated, tag = "2")]
    pub(super) scope_spans: Vec<ScopeSpans>,
}

/// The spans of one library; we are one.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    pub(super) scope: Option<Instrumentation>,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    pub(super) spans: Vec<Bytes>,
}

/// The name of a library.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Instrumentation {
    #[prost(string, tag = "1")]
    pub(super) name: String,
}

/// A resource: nothing but attributes, each as bytes.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ResourceAttributes {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(super) attributes: Vec<Bytes>,
}

/// What the receiver says.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) partial_success: Option<PartialSuccess>,
}

/// Spans that the receiver did not want.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub(super) rejected_spans: i64,
    #[prost(string, tag = "2")]
    pub(super) error_message: String,
}

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const BYTES: u8 = 2;
const FIXED32: u8 = 5;

/// Fields of `Span`.
mod span {
    pub(super) const TRACE_ID: u8 = 1;
    pub(super) const SPAN_ID: u8 = 2;
    pub(super) const TRACE_STATE: u8 = 3;
    pub(super) const PARENT: u8 = 4;
    pub(super) const NAME: u8 = 5;
    pub(super) const KIND: u8 = 6;
    pub(super) const START: u8 = 7;
    pub(super) const END: u8 = 8;
    pub(super) const ATTRIBUTE: u8 = 9;
    pub(super) const EVENT: u8 = 11;
    pub(super) const LINK: u8 = 13;
    pub(super) const STATUS: u8 = 15;
    pub(super) const FLAGS: u8 = 16;
}

/// The flag that says whether a parent is of another process is told.
const HAS_IS_REMOTE: u32 = 0x100;
const IS_REMOTE: u32 = 0x200;
/// `Status { code: ERROR }`.
const ERROR: [u8; 2] = [3 << 3, 2];
/// What most spans of a call take, in bytes.
const USUAL_BYTES: usize = 448;

/// One span, while it is recorded: the fields that are known so far.
#[derive(Debug)]
pub(super) struct SpanBytes(Vec<u8>);

impl SpanBytes {
    /// A span at `position` that begins now. Its name is given in parts.
    pub(super) fn begin(position: &SpanContext, parent: &SpanContext, kind: &SpanKind, name: &[&str]) -> Self {
        let mut out = Vec::with_capacity(USUAL_BYTES);
        bytes(&mut out, span::TRACE_ID, &position.trace_id().to_bytes());
        bytes(&mut out, span::SPAN_ID, &position.span_id().to_bytes());
        present(&mut out, span::TRACE_STATE, position);
        if parent.span_id() != SpanId::INVALID {
            bytes(&mut out, span::PARENT, &parent.span_id().to_bytes());
        }
        begin(&mut out, span::NAME, BYTES);
        length(&mut out, name.iter().map(|part| part.len()).sum());
        name.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        begin(&mut out, span::KIND, VARINT);
        out.push(match kind {
            SpanKind::Internal => 1,
            SpanKind::Server => 2,
            SpanKind::Client => 3,
            SpanKind::Producer => 4,
            SpanKind::Consumer => 5,
        });
        instant(&mut out, span::START);
        flags(&mut out, span::FLAGS, position, parent.is_valid() && parent.is_remote());
        Self(out)
    }

    /// An attribute with a text.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        tagged(&mut self.0, span::ATTRIBUTE, key, &AttributeValue::Text(text));
    }

    /// An attribute with a number.
    pub(super) fn number(&mut self, key: &str, number: i64) {
        tagged(&mut self.0, span::ATTRIBUTE, key, &AttributeValue::Number(number));
    }

    /// An attribute with any value.
    pub(super) fn value(&mut self, key: &str, value: &Value) {
        with_value(value, |said| tagged(&mut self.0, span::ATTRIBUTE, key, said));
    }

    /// Something that happens now.
    pub(super) fn event(&mut self, name: &str, attributes: &[(&'static str, &str)]) {
        let mut event = Vec::with_capacity(128);
        instant(&mut event, 1);
        bytes(&mut event, 2, name.as_bytes());
        attributes.iter().for_each(|(key, value)| tagged(&mut event, 3, key, &AttributeValue::Text(value)));
        bytes(&mut self.0, span::EVENT, &event);
    }

    /// A span this one belongs to beside its parent.
    pub(super) fn link(&mut self, other: &SpanContext) {
        let mut link = Vec::with_capacity(48);
        bytes(&mut link, 1, &other.trace_id().to_bytes());
        bytes(&mut link, 2, &other.span_id().to_bytes());
        present(&mut link, 3, other);
        flags(&mut link, 6, other, other.is_remote());
        bytes(&mut self.0, span::LINK, &link);
    }

    /// What the span is about failed.
    pub(super) fn error(&mut self) {
        bytes(&mut self.0, span::STATUS, &ERROR);
    }

    /// The whole span, which ends now.
    pub(super) fn end(mut self) -> Bytes {
        instant(&mut self.0, span::END);
        self.0.into()
    }
}

/// One attribute by itself: the message `KeyValue`.
pub(super) fn attribute(key: &str, value: &Value) -> Bytes {
    let mut out = Vec::new();
    with_value(value, |said| key_value(&mut out, key, said));
    out.into()
}

/// What an attribute says.
enum AttributeValue<'a> {
    Text(&'a str),
    Number(i64),
    Truth(bool),
    Fraction(f64),
}

/// Values of other kinds are said as text.
fn with_value<T>(value: &Value, then: impl FnOnce(&AttributeValue<'_>) -> T) -> T {
    match value {
        Value::Bool(truth) => then(&AttributeValue::Truth(*truth)),
        Value::I64(number) => then(&AttributeValue::Number(*number)),
        Value::F64(fraction) => then(&AttributeValue::Fraction(*fraction)),
        Value::String(text) => then(&AttributeValue::Text(text.as_str())),
        _ => then(&AttributeValue::Text(&value.as_str())),
    }
}

impl AttributeValue<'_> {
    /// The size of the message `AnyValue` that says it.
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => 1 + length_delimiter_len(text.len()) + text.len(),
            Self::Number(number) => 1 + varint_len(number.cast_unsigned()),
            Self::Truth(_) => 2,
            Self::Fraction(_) => 9,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => bytes(out, 1, text.as_bytes()),
            Self::Truth(truth) => out.extend_from_slice(&[2 << 3 | VARINT, u8::from(*truth)]),
            Self::Number(number) => {
                begin(out, 3, VARINT);
                varint(out, number.cast_unsigned());
            }
            Self::Fraction(fraction) => {
                begin(out, 4, FIXED64);
                out.extend_from_slice(&fraction.to_le_bytes());
            }
        }
    }
}

/// A `KeyValue` as the field `field`.
fn tagged(out: &mut Vec<u8>, field: u8, key: &str, said: &AttributeValue<'_>) {
    begin(out, field, BYTES);
    let (key_len, value_len) = (key.len(), said.len());
    length(out, 2 + length_delimiter_len(key_len) + key_len + length_delimiter_len(value_len) + value_len);
    key_value(out, key, said);
}

fn key_value(out: &mut Vec<u8>, key: &str, said: &AttributeValue<'_>) {
    bytes(out, 1, key.as_bytes());
    begin(out, 2, BYTES);
    length(out, said.len());
    said.write(out);
}

fn present(out: &mut Vec<u8>, field: u8, position: &SpanContext) {
    let state = position.trace_state().header();
    if !state.is_empty() {
        bytes(out, field, state.as_bytes());
    }
}

fn flags(out: &mut Vec<u8>, field: u8, position: &SpanContext, remote: bool) {
    let remote = if remote { IS_REMOTE } else { 0 };
    let flags = u32::from(position.trace_flags().to_u8()) | HAS_IS_REMOTE | remote;
    begin(out, field, FIXED32);
    out.extend_from_slice(&flags.to_le_bytes());
}

/// The time now.
fn instant(out: &mut Vec<u8>, field: u8) {
    let nanos = u64::try_from(clock::since_epoch().as_nanos()).unwrap_or(u64::MAX);
    begin(out, field, FIXED64);
    out.extend_from_slice(&nanos.to_le_bytes());
}

fn bytes(out: &mut Vec<u8>, field: u8, bytes: &[u8]) {
    begin(out, field, BYTES);
    length(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn begin(out: &mut Vec<u8>, field: u8, wire: u8) {
    varint(out, u64::from(field) << 3 | u64::from(wire));
}

fn length(out: &mut Vec<u8>, length: usize) {
    // A vector takes what it is given.
    let _ = encode_length_delimiter(length, out);
}

fn varint(out: &mut Vec<u8>, mut rest: u64) {
    while rest >= 0x80 {
        out.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn varint_len(number: u64) -> usize {
    (70 - (number | 1).leading_zeros() as usize) / 7
}
