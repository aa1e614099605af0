//! What a caller is told and asked while its call runs.

use futures_util::future::BoxFuture;
use toolplane_records::payload::JsonPayload;

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Grows with every report.
    pub progress: f64,
    /// What it grows to, where the server knows.
    pub total: Option<f64>,
    /// What the server says, at most 1,000 characters as they may be shown.
    pub message: Option<String>,
}

/// A question of a server to the person who made the call (elicitation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What the server says, as it said it.
    pub message: String,
    /// What it wants.
    pub kind: QuestionKind,
}

/// What a question wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    /// Values: a flat JSON Schema of an object.
    Form {
        /// The schema, as it was written.
        schema: JsonPayload,
    },
    /// A visit to a page, where the person gives what this client must not see.
    Url {
        /// The page.
        url: String,
    },
}

/// What the person says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Yes; the values for a form, an object by its schema.
    Accept {
        /// The values; nothing for a page.
        content: Option<JsonPayload>,
    },
    /// No.
    Decline,
    /// Nobody answered, or nobody can.
    Cancel,
}

impl Reply {
    /// The reply as the protocol writes it.
    pub(crate) fn json(&self) -> String {
        match self {
            Self::Accept { content: Some(content) } => {
                format!(r#"{{"action":"accept","content":{}}}"#, content.text())
            }
            Self::Accept { content: None } => r#"{"action":"accept"}"#.to_owned(),
            Self::Decline => r#"{"action":"decline"}"#.to_owned(),
            Self::Cancel => r#"{"action":"cancel"}"#.to_owned(),
        }
    }
}

/// Follows one call. Every method has a default that does nothing.
pub trait Watch: Send + Sync {
    /// A request is about to be sent with this id. A call has several when the server asks questions in between.
    fn request(&self, _id: u64) {}

    /// The server says how far it is.
    fn progress(&self, _progress: Progress) {}

    /// So many reports were not told: the server sent them faster than they were taken, or they did not grow. Said at the end.
    fn progress_left_out(&self, _reports: u64) {}

    /// Whether [`Watch::ask`] can reach a person. A server is told so where the protocol has a place for it.
    fn answers(&self) -> bool {
        false
    }

    /// The server asks. The time of the call stands still until the reply. Dropped when the call ends or the server takes the
    /// question back.
    fn ask(&self, _question: Question) -> BoxFuture<'_, Reply> {
        Box::pin(std::future::ready(Reply::Cancel))
    }
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
