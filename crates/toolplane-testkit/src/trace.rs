//! Received spans as a tree.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span as WireSpan};

mod context;

pub use context::AgentTrace;

/// One finished span.
#[derive(Clone, Debug)]
pub struct Span {
    /// 32 lower-case hex digits.
    pub trace_id: String,
    /// 16 lower-case hex digits.
    pub span_id: String,
    /// The parent, wherever it was recorded; empty at the root.
    pub parent_span_id: String,
    /// The name.
    pub name: String,
    /// Server, client, producer, consumer or internal.
    pub kind: SpanKind,
    /// `service.name` of the process part that recorded it.
    pub service: String,
    /// Nanoseconds since the epoch.
    pub start_ns: u64,
    /// Nanoseconds since the epoch.
    pub end_ns: u64,
    /// Attributes as text.
    pub attributes: BTreeMap<String, String>,
    /// Linked spans: trace and span id.
    pub links: Vec<(String, String)>,
    /// Its status is an error.
    pub error: bool,
}

impl Span {
    /// Every span of one resource.
    pub(crate) fn read(resource: ResourceSpans) -> Vec<Self> {
        let attributes = resource.resource.map(|resource| texts(resource.attributes)).unwrap_or_default();
        let service = attributes.get("service.name").cloned().unwrap_or_default();
        let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
        spans.map(|span| Self::of(span, &service)).collect()
    }

    fn of(span: WireSpan, service: &str) -> Self {
        let kind = span.kind();
        let error = span.status.is_some_and(|status| status.code() == StatusCode::Error);
        Self {
            trace_id: hex::encode(span.trace_id),
            span_id: hex::encode(span.span_id),
            parent_span_id: hex::encode(span.parent_span_id),
            name: span.name,
            kind,
            service: service.to_owned(),
            start_ns: span.start_time_unix_nano,
            end_ns: span.end_time_unix_nano,
            attributes: texts(span.attributes),
            links: span.links.into_iter().map(|link| (hex::encode(link.trace_id), hex::encode(link.span_id))).collect(),
            error,
        }
    }

    /// An attribute; empty when absent.
    pub fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    /// How long it took, in microseconds.
    pub fn micros(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns) / 1000
    }
}

fn texts(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    attributes.into_iter().map(|pair| (pair.key, text(pair.value))).collect()
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::BoolValue(flag)) => flag.to_string(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    }
}

/// The spans of one trace.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    spans: Vec<Span>,
}

impl Trace {
    /// A trace of these spans, oldest first.
    pub fn new(mut spans: Vec<Span>) -> Self {
        spans.sort_by_key(|span| (span.start_ns, span.end_ns));
        Self { spans }
    }

    /// The same trace with a span more, e.g. the agent's own.
    #[must_use]
    pub fn with(mut self, span: Span) -> Self {
        self.spans.push(span);
        Self::new(self.spans)
    }

    /// Its spans, oldest first.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The spans whose name starts with `prefix`.
    pub fn named(&self, prefix: &str) -> Vec<&Span> {
        self.spans.iter().filter(|span| span.name.starts_with(prefix)).collect()
    }

    /// A span by id.
    pub fn span(&self, span_id: &str) -> Option<&Span> {
        self.spans.iter().find(|span| span.span_id == span_id)
    }

    /// The names from a span up to the root, nearest first; ends early where a parent was not received.
    pub fn ancestors(&self, span: &Span) -> Vec<String> {
        let mut names = Vec::new();
        let mut current = span;
        // A trace with a cycle would never end otherwise.
        while let Some(parent) = self.span(&current.parent_span_id).filter(|_| names.len() < self.spans.len()) {
            names.push(parent.name.clone());
            current = parent;
        }
        names
    }

    /// The spans without a parent among the received ones.
    pub fn roots(&self) -> Vec<&Span> {
        self.spans.iter().filter(|span| self.span(&span.parent_span_id).is_none()).collect()
    }

    /// The tree for people: name, duration, kind, service.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for root in self.roots() {
            self.render_below(root, 0, &mut text);
        }
        text
    }

    fn render_below(&self, span: &Span, depth: usize, text: &mut String) {
        let indent = "  ".repeat(depth);
        let label = format!("{indent}{}", span.name);
        let mark = if span.error { "  error" } else { "" };
        let kind = format!("{:?}", span.kind).to_lowercase();
        let millis = f64::from(u32::try_from(span.micros()).unwrap_or(u32::MAX)) / 1000.0;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{label:<60} {millis:>9.2} ms  {kind:<9} {}{mark}", span.service);
        if depth < self.spans.len() {
            let children = self.spans.iter().filter(|child| child.parent_span_id == span.span_id);
            children.for_each(|child| self.render_below(child, depth + 1, text));
        }
    }
}

#[cfg(test)]
mod tests;
