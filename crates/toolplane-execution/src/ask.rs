//! Questions a running tool puts to its caller.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use toolplane_records::payload::JsonPayload;

/// What a tool wants to know before it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputQuestion {
    /// For people.
    pub prompt: String,
    /// JSON Schema the answer has to fit, when there is one.
    pub schema: Option<JsonPayload>,
    /// How long to wait for an answer; as long as the platform allows when absent.
    pub ttl: Option<Duration>,
}

/// The final answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What was answered; it fits the schema of the question.
    Provided(JsonPayload),
    /// The person asked chose not to answer.
    Declined,
    /// There was no answer in time.
    Expired,
}

/// Takes questions of one call.
pub trait Asker: Send + Sync {
    /// Puts a question and waits for the final answer to it. While this waits, the call's time is paused. Dropping the
    /// future takes no question back: an answer that comes later is not heard.
    fn ask(&self, question: InputQuestion) -> BoxFuture<'_, Answer>;

    /// Whether there may be a person to answer. Tools that can do without an answer are told so before they ask.
    fn answers(&self) -> bool {
        true
    }
}

/// Declines every question at once: there is no person to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyToAsk;

impl Asker for NobodyToAsk {
    fn ask(&self, _question: InputQuestion) -> BoxFuture<'_, Answer> {
        std::future::ready(Answer::Declined).boxed()
    }

    fn answers(&self) -> bool {
        false
    }
}
