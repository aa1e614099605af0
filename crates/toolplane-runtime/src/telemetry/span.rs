//! One span of the tree: written as it is recorded, and carried as the context of the code that runs within it.
//!
//! A span that was begun for the sampler to leave out has a position, which is passed on. It records nothing, or is held back until it
//! is known whether its trace is worth keeping (`held`).

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use opentelemetry::context::{FutureExt as _, WithContext};
use opentelemetry::trace::{SpanContext, SpanKind, TraceContextExt as _, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, Value};
use opentelemetry_sdk::trace::{IdGenerator as _, RandomIdGenerator, Sampler, SamplingDecision, ShouldSample as _};
use parking_lot::Mutex;

use super::export::FinishedSpans;
use super::held::{HeldTrace, Keep};
use super::otlp::SpanBytes;

/// What makes the spans of this process; absent when nothing is exported.
static TRACER: OnceLock<Tracer> = OnceLock::new();

/// Spans are made by `tracer` from now on. Once per process.
pub(super) fn set_tracer(tracer: Tracer) {
    let _ = TRACER.set(tracer);
}

#[cfg(test)]
thread_local! {
    /// What makes the spans of one test.
    pub(super) static TEST_TRACER: std::cell::RefCell<Option<Tracer>> = const { std::cell::RefCell::new(None) };
}

fn with_tracer<T>(work: impl FnOnce(&Tracer) -> T) -> Option<T> {
    #[cfg(test)]
    if let Some(tracer) = TEST_TRACER.with(|tracer| tracer.borrow().clone()) {
        return Some(work(&tracer));
    }
    TRACER.get().map(work)
}

/// What makes spans: which traces are recorded, and where finished spans go.
#[derive(Clone, Debug)]
pub(super) struct Tracer {
    sampler: Sampler,
    keep: Keep,
    finished: FinishedSpans,
}

impl Tracer {
    /// Traces that begin here are recorded in this proportion, those that come with a caller as the caller says; of the others,
    /// those that show that they are to be kept.
    pub(super) fn new(ratio: f64, keep: Keep, finished: FinishedSpans) -> Self {
        Self { sampler: Sampler::TraceIdRatioBased(ratio), keep, finished }
    }

    /// Where spans of a trace are held back that is not recorded; nowhere when no such trace is ever kept.
    fn held(&self, position: &SpanContext, parent: &Context) -> Option<HeldTrace> {
        (!position.is_sampled() && self.keep.any()).then(|| parent.get::<HeldTrace>().cloned().unwrap_or_default())
    }

    /// The position of a new span below `parent`.
    fn position(&self, parent: &SpanContext) -> SpanContext {
        let span_id = RandomIdGenerator::default().new_span_id();
        if parent.is_valid() {
            let flags = TraceFlags::new(parent.trace_flags().to_u8() & TraceFlags::SAMPLED.to_u8());
            return SpanContext::new(parent.trace_id(), span_id, flags, false, parent.trace_state().clone());
        }
        let trace_id = RandomIdGenerator::default().new_trace_id();
        let flags = if self.records(trace_id) { TraceFlags::SAMPLED } else { TraceFlags::NOT_SAMPLED };
        SpanContext::new(trace_id, span_id, flags, false, TraceState::NONE)
    }

    fn records(&self, trace_id: TraceId) -> bool {
        let asked = self.sampler.should_sample(None, trace_id, "", &SpanKind::Internal, &[], &[]);
        asked.decision == SamplingDecision::RecordAndSample
    }
}

/// A span, or nothing where none is recorded or passed on. Cheap to clone; the span ends when whoever made it says so, else with
/// its last clone.
#[derive(Clone, Debug, Default)]
pub struct Span(Option<Arc<LiveSpan>>);

/// A span that has a position.
#[derive(Debug)]
struct LiveSpan {
    /// The context of code within the span.
    context: Context,
    /// What was recorded so far; nothing for a span that is left out, or has ended.
    recorded: Mutex<Option<Recorded>>,
    /// Where it goes when it ends, if not straight to the receiver.
    held: Option<HeldTrace>,
}

/// What is recorded of a span.
#[derive(Debug)]
struct Recorded {
    span: SpanBytes,
    /// When it began, of one that may be too slow.
    timed: Option<Instant>,
    failed: bool,
}

impl Recorded {
    /// Whether its trace is to be kept for it.
    fn is_worth(&self, keep: Keep) -> bool {
        let slow = self.timed.zip(keep.slow).is_some_and(|(began, slow)| began.elapsed() >= slow);
        slow || (self.failed && keep.errors)
    }
}

impl Drop for LiveSpan {
    fn drop(&mut self) {
        self.end();
    }
}

impl LiveSpan {
    fn end(&self) {
        let recorded = self.recorded.lock().take();
        let Some(recorded) = recorded else { return };
        with_tracer(|tracer| match &self.held {
            None => tracer.finished.push(recorded.span.end()),
            Some(held) => {
                let keep = recorded.is_worth(tracer.keep);
                held.ended(recorded.span.end(), keep, &tracer.finished);
            }
        });
    }
}

/// The attributes of a new span.
pub(super) struct Attributes<'a>(&'a mut SpanBytes);

impl Attributes<'_> {
    pub(super) fn text(&mut self, key: &'static str, value: &str) -> &mut Self {
        self.0.text(key, value);
        self
    }

    /// The text, unless it is empty.
    pub(super) fn present(&mut self, key: &'static str, value: &str) -> &mut Self {
        if value.is_empty() { self } else { self.text(key, value) }
    }

    pub(super) fn number(&mut self, key: &'static str, value: i64) -> &mut Self {
        self.0.number(key, value);
        self
    }
}

impl Span {
    /// No span.
    pub const fn none() -> Self {
        Self(None)
    }

    /// A new span below `parent`; the first of a trace where there is no parent. Its name is given in parts; its attributes are asked
    /// for only when they are recorded.
    pub(super) fn start(
        kind: &SpanKind,
        parent: &Context,
        name: &[&str],
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) -> Self {
        Self::begin(kind, parent, name, false, attributes)
    }

    /// The same for a span of a call, whose trace may be kept because it took long.
    pub(super) fn start_timed(
        kind: &SpanKind,
        parent: &Context,
        name: &[&str],
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) -> Self {
        Self::begin(kind, parent, name, true, attributes)
    }

    fn begin(
        kind: &SpanKind,
        parent: &Context,
        name: &[&str],
        timed: bool,
        attributes: impl FnOnce(&mut Attributes<'_>),
    ) -> Self {
        if parent.is_telemetry_suppressed() {
            return Self::none();
        }
        let live = with_tracer(|tracer| {
            let above = parent.span();
            let above = above.span_context();
            let position = tracer.position(above);
            let held = tracer.held(&position, parent);
            let recorded = (position.is_sampled() || held.is_some()).then(|| {
                let mut span = SpanBytes::begin(&position, above, kind, name);
                attributes(&mut Attributes(&mut span));
                let timed = (timed && held.is_some()).then(Instant::now);
                Recorded { span, timed, failed: false }
            });
            let context = Context::new().with_remote_span_context(position);
            let context = match &held {
                Some(held) => context.with_value(held.clone()),
                None => context,
            };
            Arc::new(LiveSpan { context, recorded: Mutex::new(recorded), held })
        });
        Self(live)
    }

    /// Whether there is no span.
    pub fn is_disabled(&self) -> bool {
        self.0.is_none()
    }

    /// The context of code within the span.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.0.as_deref().map(|live| &live.context)
    }

    /// Does `work` within the span.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        let _within = self.context().cloned().map(Context::attach);
        work()
    }

    /// Ends the span now, whoever still holds it.
    pub(crate) fn end(&self) {
        if let Some(live) = &self.0 {
            live.end();
        }
    }

    /// Records more of the span, if it is recorded and has not ended.
    fn record(&self, record: impl FnOnce(&mut SpanBytes)) {
        self.with_recorded(|recorded| record(&mut recorded.span));
    }

    fn with_recorded(&self, work: impl FnOnce(&mut Recorded)) {
        if let Some(live) = self.0.as_deref()
            && let Some(recorded) = live.recorded.lock().as_mut()
        {
            work(recorded);
        }
    }

    pub(super) fn set(&self, key: &'static str, text: &str) {
        self.record(|span| span.text(key, text));
    }

    pub(super) fn set_value(&self, key: &'static str, value: &Value) {
        self.record(|span| span.value(key, value));
    }

    pub(super) fn set_error(&self) {
        self.with_recorded(|recorded| {
            recorded.failed = true;
            recorded.span.error();
        });
    }

    pub(super) fn link(&self, other: &SpanContext) {
        self.record(|span| span.link(other));
    }

    pub(super) fn event(&self, name: &'static str, attributes: &[(&'static str, &str)]) {
        self.record(|span| span.event(name, attributes));
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
