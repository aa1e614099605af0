//! Questions of running tools, on their way to the scheduler until somebody answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::Instant;
use toolplane_execution::{Answer, Asker, Question};
use toolplane_proto::convert::field;
use toolplane_proto::convert::payload::ingest;
use toolplane_proto::v1::{InputProvided, InputRequested};
use toolplane_records::json::JsonLimits;
use uuid::Uuid;

use crate::executor::Core;
use crate::seat::Seat;

/// The open question of one call. A call has one at a time; others wait for it.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Mutex<Option<Open>>,
    turn: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Open {
    request: InputRequested,
    answer: oneshot::Sender<Answer>,
    said: Instant,
}

impl Questions {
    /// The question nobody has answered, to be said on a new stream.
    pub(crate) fn unanswered(&self) -> Option<InputRequested> {
        self.said_before(Duration::ZERO)
    }

    /// The same, when it was last said at least `patience` ago; it counts as said now.
    pub(crate) fn said_before(&self, patience: Duration) -> Option<InputRequested> {
        let mut open = self.open.lock();
        let open = open.as_mut().filter(|open| open.said.elapsed() >= patience)?;
        open.said = Instant::now();
        Some(open.request.clone())
    }

    /// Answers the question; an answer to another one, or a second one, changes nothing.
    pub(crate) fn answer(&self, provided: InputProvided, max_bytes: usize) {
        let mut open = self.open.lock();
        let Some(asked) = open.take_if(|open| open.request.input_id == provided.input_id) else { return };
        drop(open);
        let _ = asked.answer.send(read(provided, max_bytes));
    }

    fn put(&self, request: InputRequested) -> oneshot::Receiver<Answer> {
        let (answer, answered) = oneshot::channel();
        *self.open.lock() = Some(Open { request, answer, said: Instant::now() });
        answered
    }
}

/// The answer, as a tool gets it. Its bytes have travelled, so they are checked again.
fn read(provided: InputProvided, max_bytes: usize) -> Answer {
    if provided.expired {
        return Answer::Expired;
    }
    let Some(input) = provided.input.filter(|_| !provided.declined) else { return Answer::Declined };
    let limits = JsonLimits { max_bytes, max_nodes: usize::MAX, ..JsonLimits::default() };
    match ingest(input, &limits) {
        Ok(input) => Answer::Provided(input),
        Err(error) => {
            tracing::warn!(input_id = provided.input_id, %error, "an answer cannot be read; it counts as declined");
            Answer::Declined
        }
    }
}

/// Takes the questions of one execution.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) core: Arc<Core>,
    pub(crate) seat: Arc<Seat>,
}

/// Ends a wait, however it ends.
struct Waiting<'a>(&'a Seat);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        *self.0.questions.open.lock() = None;
        self.0.clock.go_on();
    }
}

impl Asker for Asking {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        async move {
            let _turn = self.seat.questions.turn.lock().await;
            let ttl_ms = question.ttl.map_or(0, |ttl| u32::try_from(ttl.as_millis()).unwrap_or(u32::MAX).max(1));
            let request = InputRequested {
                lease: Some(self.seat.lease.clone()),
                input_id: format!("input_{}", Uuid::new_v4().simple()),
                prompt: question.prompt,
                schema: field::out(&question.schema),
                ttl_ms,
            };
            let answered = self.seat.questions.put(request.clone());
            self.seat.clock.pause();
            let _waiting = Waiting(&self.seat);
            self.core.outbox.input_requested(request);
            answered.await.unwrap_or(Answer::Declined)
        }
        .boxed()
    }
}
