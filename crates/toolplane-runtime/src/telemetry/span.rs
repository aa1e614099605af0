//! One span of the tree: made by the SDK itself, and carried as the context of the code that runs within it.
//!
//! A span that was begun for the sampler to leave out has a position, which is passed on, and records nothing.

use std::borrow::Cow;
use std::sync::OnceLock;

use opentelemetry::context::{FutureExt as _, WithContext};
use opentelemetry::trace::{SpanContext, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_sdk::trace::SdkTracer;

/// What makes the spans of this process; absent when nothing is exported.
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Spans are made by `tracer` from now on. Once per process.
pub(super) fn set_tracer(tracer: SdkTracer) {
    let _ = TRACER.set(tracer);
}

#[cfg(test)]
thread_local! {
    /// What makes the spans of one test.
    pub(super) static TEST_TRACER: std::cell::RefCell<Option<SdkTracer>> = const { std::cell::RefCell::new(None) };
}

fn with_tracer<T>(work: impl FnOnce(&SdkTracer) -> T) -> Option<T> {
    #[cfg(test)]
    if let Some(tracer) = TEST_TRACER.with(|tracer| tracer.borrow().clone()) {
        return Some(work(&tracer));
    }
    TRACER.get().map(work)
}

/// A span, or nothing where none is recorded or passed on. Cheap to clone; the span ends when whoever made it says so, else with
/// its last clone.
#[derive(Clone, Debug, Default)]
pub struct Span(Option<Context>);

/// The attributes of a new span.
pub(super) struct Attributes(Vec<KeyValue>);

impl Attributes {
    /// One of a few texts that programs know.
    pub(super) fn word(&mut self, key: &'static str, value: &'static str) -> &mut Self {
        self.0.push(KeyValue::new(key, value));
        self
    }

    pub(super) fn text(&mut self, key: &'static str, value: &str) -> &mut Self {
        self.0.push(KeyValue::new(key, value.to_owned()));
        self
    }

    /// The text, unless it is empty.
    pub(super) fn present(&mut self, key: &'static str, value: &str) -> &mut Self {
        if value.is_empty() { self } else { self.text(key, value) }
    }

    pub(super) fn number(&mut self, key: &'static str, value: i64) -> &mut Self {
        self.0.push(KeyValue::new(key, value));
        self
    }
}

impl Span {
    /// No span.
    pub const fn none() -> Self {
        Self(None)
    }

    /// A new span below `parent`; the first of a trace where there is no parent. Its name and attributes are asked for only when
    /// they may be recorded.
    pub(super) fn start<N: Into<Cow<'static, str>>>(
        kind: SpanKind,
        parent: &Context,
        name: impl FnOnce() -> N,
        attributes: impl FnOnce(&mut Attributes),
    ) -> Self {
        let started = with_tracer(|tracer| {
            let above = parent.span();
            let above = above.span_context();
            // The sampler follows the parent: nothing of what is below one that is left out is recorded.
            let left_out = above.is_valid() && !above.is_sampled();
            let builder = if left_out {
                tracer.span_builder("").with_kind(kind)
            } else {
                let mut all = Attributes(Vec::with_capacity(12));
                attributes(&mut all);
                tracer.span_builder(name()).with_kind(kind).with_attributes(all.0)
            };
            let span = tracer.build_with_context(builder, parent);
            Context::new().with_span(span)
        });
        Self(started.filter(|context| context.span().span_context().is_valid()))
    }

    /// Whether there is no span.
    pub fn is_disabled(&self) -> bool {
        self.0.is_none()
    }

    /// The context of code within the span.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.0.as_ref()
    }

    /// Does `work` within the span.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        let _within = self.0.clone().map(Context::attach);
        work()
    }

    /// Ends the span now, whoever still holds it.
    pub(crate) fn end(&self) {
        if let Some(context) = &self.0 {
            context.span().end();
        }
    }

    pub(super) fn set(&self, key: &'static str, value: impl Into<Value>) {
        if let Some(context) = &self.0 {
            context.span().set_attribute(KeyValue::new(key, value));
        }
    }

    pub(super) fn set_status(&self, status: Status) {
        if let Some(context) = &self.0 {
            context.span().set_status(status);
        }
    }

    pub(super) fn link(&self, other: SpanContext) {
        if let Some(context) = &self.0 {
            context.span().add_link(other, Vec::new());
        }
    }

    pub(super) fn event(&self, name: &'static str, attributes: Vec<KeyValue>) {
        if let Some(context) = &self.0 {
            context.span().add_event(name, attributes);
        }
    }
}

/// Futures that run within a span.
pub trait Instrument: Future + Sized {
    /// The future, within `span`; where there is none, within the context in which this is called.
    fn instrument(self, span: &Span) -> WithContext<Self> {
        self.with_context(span.context().cloned().unwrap_or_else(Context::current))
    }

    /// The future, which belongs to no trace: nothing that is done in it makes a span.
    fn untraced(self) -> WithContext<Self> {
        self.with_context(Context::new().with_telemetry_suppressed())
    }
}

impl<F: Future> Instrument for F {}
