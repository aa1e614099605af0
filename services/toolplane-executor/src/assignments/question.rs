//! The question of a running tool, until it is answered.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::Instant;
use toolplane_execution::Answer;

use crate::messages::InputRequest;

/// The open question of one call. A call has one at a time.
#[derive(Debug, Default)]
pub(crate) struct OpenQuestion(Mutex<Option<Asked>>);

#[derive(Debug)]
struct Asked {
    request: InputRequest,
    answer: oneshot::Sender<Answer>,
    said: Instant,
}

impl OpenQuestion {
    /// Opens a question; resolves with the answer to it, and fails when it is closed without one.
    pub(crate) fn open(&self, request: InputRequest) -> oneshot::Receiver<Answer> {
        let (answer, answered) = oneshot::channel();
        *self.0.lock() = Some(Asked { request, answer, said: Instant::now() });
        answered
    }

    /// The tool waits no longer.
    pub(crate) fn close(&self) {
        *self.0.lock() = None;
    }

    /// The question, when it was last said at least `patience` ago; it counts as said now.
    pub(crate) fn said_before(&self, patience: Duration) -> Option<InputRequest> {
        let mut open = self.0.lock();
        let asked = open.as_mut().filter(|asked| asked.said.elapsed() >= patience)?;
        asked.said = Instant::now();
        Some(asked.request.clone())
    }

    /// Answers the question; an answer to another one, or a second one, changes nothing.
    pub(crate) fn answer(&self, input_id: &str, answer: Answer) {
        let asked = self.0.lock().take_if(|asked| asked.request.input_id == input_id);
        if let Some(asked) = asked {
            let _ = asked.answer.send(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Answer, InputRequest, OpenQuestion};
    use crate::messages::Lease;

    #[tokio::test(start_paused = true)]
    async fn it_is_said_again_only_later_and_answered_once() {
        let question = OpenQuestion::default();
        let (lease, input_id) = (Lease::example("a"), "input_1".to_owned());
        let request = InputRequest { lease, input_id, prompt: "sure?".to_owned(), schema: None, ttl: None };
        let mut answered = question.open(request.clone());
        assert_eq!(question.said_before(Duration::from_secs(5)), None);
        toolplane_wait::pause(Duration::from_secs(5), "the clock of this test is paused").await;
        assert_eq!(question.said_before(Duration::from_secs(5)), Some(request));
        assert_eq!(question.said_before(Duration::from_secs(5)), None);
        question.answer("input_0", Answer::Declined);
        assert!(answered.try_recv().is_err(), "another question");
        question.answer("input_1", Answer::Expired);
        question.answer("input_1", Answer::Declined);
        assert_eq!(answered.await, Ok(Answer::Expired));
    }
}
