//! Questions of a running tool, on their way to the scheduler until a person answers.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use toolplane_execution::{Answer, Asker, InputQuestion};
use uuid::Uuid;

use crate::assignments::Assignment;
use crate::messages::InputRequest;
use crate::outbox::Outbox;

/// Takes the questions of one execution, one at a time.
#[derive(Debug)]
pub(super) struct Questions {
    outbox: Arc<Outbox>,
    assignment: Arc<Assignment>,
    turn: tokio::sync::Mutex<()>,
}

impl Questions {
    pub(super) fn new(outbox: Arc<Outbox>, assignment: Arc<Assignment>) -> Self {
        Self { outbox, assignment, turn: tokio::sync::Mutex::default() }
    }
}

/// Ends a wait, however it ends.
struct Waiting<'a>(&'a Assignment);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.question.close();
        self.0.clock.go_on();
    }
}

impl Asker for Questions {
    fn ask(&self, question: InputQuestion) -> BoxFuture<'_, Answer> {
        async move {
            let _turn = self.turn.lock().await;
            let request = InputRequest {
                lease: self.assignment.lease.clone(),
                input_id: format!("input_{}", Uuid::new_v4().simple()),
                prompt: question.prompt,
                schema: question.schema,
                ttl: question.ttl,
            };
            let answered = self.assignment.question.open(request.clone());
            self.assignment.clock.pause();
            let _waiting = Waiting(&self.assignment);
            self.outbox.input_requested(request);
            answered.await.unwrap_or(Answer::Declined)
        }
        .boxed()
    }
}
