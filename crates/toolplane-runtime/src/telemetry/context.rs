//! W3C trace context, in and out: gRPC metadata, HTTP headers, plain strings.
//!
//! Context passes through also when nothing is recorded. Baggage is not passed on.

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator};
use opentelemetry::trace::{SpanContext, TraceContextExt};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tonic::metadata::MetadataMap;
use toolplane_records::refs::TelemetryRef;

use super::span::Span;

/// Key of the context's position.
pub const TRACEPARENT: &str = "traceparent";
/// Key of the vendors' part of the context.
pub const TRACESTATE: &str = "tracestate";

/// A trace context as it is stored and sent: both empty when there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarriedContext {
    /// `00-<trace id>-<span id>-<flags>`, or empty.
    pub traceparent: String,
    /// Vendors' part, often empty.
    pub tracestate: String,
}

impl CarriedContext {
    /// The context a span of this process is in now, as strings.
    pub fn current() -> Self {
        Context::map_current(Self::of)
    }

    /// The context of a span.
    pub fn of_span(span: &Span) -> Self {
        span.context().map(Self::of).unwrap_or_default()
    }

    /// As a parent for new spans; `None` when there is none or it is malformed.
    pub fn parent(&self) -> Option<Context> {
        if self.traceparent.is_empty() {
            return None;
        }
        valid(TraceContextPropagator::new().extract_with_context(&Context::new(), self))
    }

    /// The position alone, for links.
    pub fn span_context(&self) -> Option<SpanContext> {
        self.parent().map(|context| context.span().span_context().clone())
    }

    fn of(context: &Context) -> Self {
        let mut carried = Self::default();
        if context.span().span_context().is_valid() {
            TraceContextPropagator::new().inject_context(context, &mut carried);
        }
        carried
    }
}

/// The current position in the trace, for `telemetry_refs` of records.
pub fn telemetry_ref() -> Option<TelemetryRef> {
    Context::map_current(|context| {
        let span = context.span();
        let position = span.span_context();
        position.is_valid().then(|| TelemetryRef {
            trace_id: position.trace_id().to_string().into(),
            span_id: position.span_id().to_string().into(),
        })
    })
}

/// The caller's context from gRPC metadata; `None` when there is none or it is malformed.
pub fn parent_from_metadata(metadata: &MetadataMap) -> Option<Context> {
    parent_from_headers(metadata.as_ref())
}

/// The caller's context from HTTP headers; `None` when there is none or it is malformed.
pub fn parent_from_headers(headers: &http::HeaderMap) -> Option<Context> {
    headers.get(TRACEPARENT)?;
    valid(TraceContextPropagator::new().extract_with_context(&Context::new(), &Headers(headers)))
}

/// Puts the current context into gRPC metadata.
pub fn inject_into_metadata(metadata: &mut MetadataMap) {
    Context::map_current(|context| inject_into_headers(context, metadata.as_mut()));
}

/// Puts a context into HTTP headers, replacing what is there.
pub fn inject_into_headers(context: &Context, headers: &mut http::HeaderMap) {
    if context.span().span_context().is_valid() {
        TraceContextPropagator::new().inject_context(context, &mut HeadersMut(headers));
    }
}

fn valid(context: Context) -> Option<Context> {
    context.span().span_context().is_valid().then_some(context)
}

impl Extractor for CarriedContext {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            TRACEPARENT => Some(&self.traceparent),
            TRACESTATE => Some(&self.tracestate),
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT, TRACESTATE]
    }
}

impl Injector for CarriedContext {
    fn set(&mut self, key: &str, value: String) {
        match key {
            TRACEPARENT => self.traceparent = value,
            TRACESTATE => self.tracestate = value,
            _ => {}
        }
    }
}

struct Headers<'a>(&'a http::HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}

struct HeadersMut<'a>(&'a mut http::HeaderMap);

impl Injector for HeadersMut<'_> {
    fn set(&mut self, key: &str, value: String) {
        let name = http::HeaderName::from_bytes(key.as_bytes());
        if let (Ok(name), Ok(value)) = (name, http::HeaderValue::try_from(value))
            && !value.is_empty()
        {
            self.0.insert(name, value);
        }
    }
}
