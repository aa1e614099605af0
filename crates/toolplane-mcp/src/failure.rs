//! How things end that do not end with an answer.

use toolplane_records::codes::{self, Code};
use toolplane_records::payload::JsonPayload;
use toolplane_records::visible;

/// Longest text of a server that is told in an error, in characters.
const TOLD: usize = 500;

/// Why a session is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloseReason {
    /// The server ended the stream, or its process did.
    #[error("the server closed the stream")]
    Ended,
    /// Reading or writing failed.
    #[error("the stream broke: {0}")]
    Broken(String),
    /// A message longer than allowed.
    #[error("the server sent a message of more than {0} bytes")]
    MessageTooLong(usize),
    /// More bytes in the life of the session than allowed.
    #[error("the server sent more than {0} bytes in one session")]
    TooMuch(u64),
    /// More on the stream that is not a message than allowed.
    #[error("the server writes what is not a message to its standard output, first: `{0}`")]
    Garbage(String),
    /// More notifications and requests than allowed.
    #[error("the server floods its client with notifications or requests")]
    Flood,
    /// The server asks and does not read what is answered.
    #[error("the server asks its client and does not read the answers")]
    NotReading,
    /// Answers to what was never asked.
    #[error("the server answers requests that were never made")]
    StrayAnswers,
    /// The id of the session is not of visible ASCII characters, or longer than allowed.
    #[error("the server gives its session an id that is none")]
    SessionId,
    /// The client is done with it.
    #[error("the session was closed by its client")]
    Closed,
}

/// An error a server answered with (JSON-RPC).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// The code, e.g. -32602 for a tool that does not exist.
    pub code: i64,
    /// What the server says, as it said it, cut after 4 KiB.
    pub message: String,
    /// What the server adds, as it was written.
    pub data: Option<JsonPayload>,
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "error {}: {}", self.code, shown(&self.message))
    }
}

/// Why a request has no answer, and what that says about whether it ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Nothing of the request has left: it did not run, and may be sent to another session.
    #[error("not sent: {0}")]
    NotSent(String),
    /// It was sent, or part of it was, and no answer came: it may have run.
    #[error("sent, and no answer came: {0}")]
    Lost(CloseReason),
    /// The server answered with an error: an unknown tool, arguments it does not take, or a tool that ended so.
    #[error("the server refused: {0}")]
    Refused(RpcError),
    /// An HTTP server answered with a status instead of a message. Below 500 the request was not taken.
    #[error("the server answered with status {status}: {text}")]
    Status {
        /// The status.
        status: u16,
        /// The header `WWW-Authenticate`, for statuses 401 and 403.
        challenge: Option<String>,
        /// The beginning of the body.
        text: String,
    },
    /// The caller canceled.
    #[error("canceled{}", may(*sent))]
    Canceled {
        /// Whether the server may have begun.
        sent: bool,
    },
    /// The time was over.
    #[error("no answer in time{}", may(*sent))]
    TimedOut {
        /// Whether the server may have begun.
        sent: bool,
    },
    /// The server answered, so it ran, and the answer is not what the protocol says.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
    /// The server asks its client for something that it is not given: sampling, roots, too many rounds of questions.
    #[error("the server wants what it is not given: {0}")]
    NotGiven(String),
}

fn may(sent: bool) -> &'static str {
    if sent { "; it may have run" } else { "; it was not sent" }
}

impl Failure {
    /// The code of a call that ends so.
    pub fn code(&self) -> Code {
        match self {
            Self::NotSent(_) => codes::MCP_NOT_STARTED,
            Self::Lost(_) => codes::MCP_NO_ANSWER,
            Self::Refused(_) => codes::MCP_REFUSED,
            Self::Status { .. } => codes::HTTP_STATUS,
            Self::Canceled { .. } => codes::EXEC_CANCELED,
            Self::TimedOut { .. } => codes::EXEC_TIMEOUT,
            Self::Unreadable(_) => codes::MCP_ANSWER,
            Self::NotGiven(_) => codes::MCP_NOT_GIVEN,
        }
    }

    /// Whether the server may have done something. What may not have run may be asked again.
    pub fn may_have_run(&self) -> bool {
        match self {
            Self::NotSent(_) => false,
            Self::Status { status, .. } => *status >= 500,
            Self::Canceled { sent } | Self::TimedOut { sent } => *sent,
            // These come before a tool is run. Others come from tools as well, e.g. of the Python SDK.
            Self::Refused(error) => !matches!(error.code, -32_700 | -32_601 | -32_022..=-32_020),
            Self::Lost(_) | Self::Unreadable(_) | Self::NotGiven(_) => true,
        }
    }
}

/// Why a session could not begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The server did not say in time what it speaks.
    #[error("the server did not answer its first request in time")]
    TimedOut,
    /// The session ended before it began; what the server wrote instead of messages is told where there is some.
    #[error("{reason}{}", instead(garbage))]
    Closed {
        /// Why.
        reason: CloseReason,
        /// The first line that was not a message.
        garbage: Option<String>,
    },
    /// Server and client have no version of the protocol in common.
    #[error("the server speaks {0:?}, and this client 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05")]
    NoCommonVersion(Vec<String>),
    /// The first request failed otherwise.
    #[error("{0}")]
    Failed(Failure),
}

fn instead(garbage: &Option<String>) -> String {
    garbage.as_ref().map_or_else(String::new, |line| format!("; it wrote `{line}`"))
}

/// Text of a server as it may be told.
pub(crate) fn shown(text: &str) -> String {
    visible::excerpt(text, TOLD)
}
