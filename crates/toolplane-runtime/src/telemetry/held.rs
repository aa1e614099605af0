//! Spans of a trace that the sampler leaves out, held back in this process until it shows that the trace is worth keeping.
//!
//! A call shows it at its end: a part of it failed, or took long. What ended before comes along then, and what ends later follows.
//! Otherwise everything goes with the last span of the trace that is open here. Each process decides for its own part, by the
//! same facts.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

use super::export::FinishedSpans;

/// Most bytes of spans that are held of one trace: a stream that goes on for days has any number of parts.
const MOST_BYTES: usize = 64 * 1024;

/// Which traces are kept that the sampler leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Keep {
    /// Those with a fault.
    pub(super) errors: bool,
    /// Those of calls, or parts of them, that took at least so long.
    pub(super) slow: Option<Duration>,
}

impl Keep {
    /// Whether any are.
    pub(super) fn any(self) -> bool {
        self.errors || self.slow.is_some()
    }
}

/// The part of one trace that this process has. Cheap to clone; code within its spans finds it in its context.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldTrace(Arc<Mutex<Part>>);

#[derive(Debug)]
enum Part {
    /// Nothing is known yet.
    Held { spans: Vec<Bytes>, bytes: usize },
    /// It is worth keeping.
    Kept,
}

impl Default for Part {
    fn default() -> Self {
        Self::Held { spans: Vec::new(), bytes: 0 }
    }
}

impl HeldTrace {
    /// A span has ended, and says that its trace is to be kept, or says nothing.
    pub(super) fn ended(&self, span: Bytes, keep: bool, finished: &FinishedSpans) {
        let mut part = self.0.lock();
        if keep && let Part::Held { spans, .. } = std::mem::replace(&mut *part, Part::Kept) {
            spans.into_iter().for_each(|earlier| finished.push(earlier));
        }
        match &mut *part {
            Part::Kept => finished.push(span),
            Part::Held { spans, bytes } if *bytes + span.len() <= MOST_BYTES => {
                *bytes += span.len();
                spans.push(span);
            }
            Part::Held { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_comes_along_when_its_trace_is_kept_and_is_bounded() {
        let (finished, trace) = (FinishedSpans::default(), HeldTrace::default());
        trace.ended(Bytes::from_static(b"one"), false, &finished);
        trace.ended(Bytes::from(vec![0; MOST_BYTES]), false, &finished);
        assert!(finished.waiting().is_empty());
        trace.ended(Bytes::from_static(b"two"), true, &finished);
        trace.ended(Bytes::from_static(b"three"), false, &finished);
        assert_eq!(finished.waiting(), ["one", "two", "three"].map(Bytes::from));
    }
}
