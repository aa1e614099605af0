//! The trace an agent starts: what it sends along, and its own span.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};

use super::Span;

/// A trace of one's own, as an instrumented agent would have it around its calls.
#[derive(Clone, Debug)]
pub struct AgentTrace {
    trace_id: String,
    span_id: String,
    start_ns: u64,
}

impl Default for AgentTrace {
    fn default() -> Self {
        Self::start()
    }
}

impl AgentTrace {
    /// Starts a trace with new ids.
    pub fn start() -> Self {
        let (trace, span) = (uuid::Uuid::new_v4().simple().to_string(), uuid::Uuid::new_v4().simple().to_string());
        Self { trace_id: trace, span_id: span[..16].to_owned(), start_ns: now_ns() }
    }

    /// 32 lower-case hex digits.
    pub fn trace_id(&self) -> &str {
        &self.trace_id
    }

    /// 16 lower-case hex digits: the parent of what the cluster records.
    pub fn span_id(&self) -> &str {
        &self.span_id
    }

    /// The W3C header, sampled.
    pub fn traceparent(&self) -> String {
        format!("00-{}-{}-01", self.trace_id, self.span_id)
    }

    /// A request that carries the trace.
    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Ok(value) = self.traceparent().parse::<MetadataValue<Ascii>>() {
            request.metadata_mut().insert("traceparent", value);
        }
        request
    }

    /// The agent's own span, ending now.
    pub fn span(&self, name: &str) -> Span {
        Span {
            trace_id: self.trace_id.clone(),
            span_id: self.span_id.clone(),
            parent_span_id: String::new(),
            name: name.to_owned(),
            kind: SpanKind::Internal,
            service: "agent".to_owned(),
            start_ns: self.start_ns,
            end_ns: now_ns(),
            attributes: BTreeMap::new(),
            links: Vec::new(),
            error: false,
        }
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
