//! Why the role does not start, and why a request fails before anything is accepted; after acceptance every ending is a result.

use toolplane_backend::BackendError;
use toolplane_hooks::HooksError;
use toolplane_proto::convert::ConvertError;
use toolplane_records::codes;
use toolplane_records::error::FieldViolation;
use toolplane_results::PayloadError;
use toolplane_runtime::page::BadPage;
use toolplane_runtime::process::RoleError;

use crate::storage::RecordError;

/// The role could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SchedulerError {
    /// The store cannot be opened.
    #[error("the scheduler store cannot be opened: {0}")]
    Open(#[from] BackendError),
    /// The object store cannot be opened.
    #[error("the object store cannot be opened: {0}")]
    Objects(PayloadError),
    /// A hook cannot be opened.
    #[error(transparent)]
    Hooks(#[from] HooksError),
    /// A rule of cleaning names its tools in a way that fits none.
    #[error("scheduler.{list}[{index}].tool: {slip}")]
    CleaningRule {
        /// Which list of rules.
        list: &'static str,
        /// Which rule.
        index: usize,
        /// What is wrong with it.
        slip: String,
    },
    /// The store does not answer, or a bound is malformed.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl SchedulerError {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Open(error) => error.code(),
            Self::Objects(error) => error.code(),
            Self::Hooks(error) => error.code(),
            Self::CleaningRule { .. } => codes::PATTERN_MALFORMED.as_str(),
            Self::Record(RecordError::Store(error) | RecordError::OutcomeUnknown(error)) => error.code(),
            Self::Record(RecordError::Objects(error)) => error.code(),
            Self::Record(RecordError::Pattern(_)) => codes::PATTERN_MALFORMED.as_str(),
            Self::Record(RecordError::Damaged(_)) => codes::RECORD_UNREADABLE.as_str(),
            Self::Record(_) => codes::SCHEDULER_INTERNAL.as_str(),
        }
    }
}

impl From<SchedulerError> for RoleError {
    fn from(error: SchedulerError) -> Self {
        Self::new(error.code(), error)
    }
}

/// A failed request.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The request is wrong in these fields.
    #[error("invalid request")]
    Invalid(Vec<FieldViolation>),
    /// Something named in the request does not exist.
    #[error("no {kind} `{id}`")]
    NotFound {
        /// What kind of thing.
        kind: &'static str,
        /// Its id.
        id: String,
    },
    /// The same id or key was used for another call.
    #[error("the invocation `{id}` was accepted for a different request")]
    Reused {
        /// The invocation.
        id: String,
    },
    /// A hold keeps it.
    #[error("a hold is on `{id}`")]
    Held {
        /// The invocation.
        id: String,
    },
    /// Another hold is on the same; since when, whose and why.
    #[error("another hold is on it: {0}")]
    HeldOtherwise(String),
    /// The original is for others.
    #[error("the original of `{id}` is for others to read")]
    NotAReader {
        /// The invocation.
        id: String,
    },
    /// The original cannot be opened.
    #[error("the original of `{id}` cannot be opened: {why}")]
    Sealed {
        /// The invocation.
        id: String,
        /// Why.
        why: String,
    },
    /// The state does not allow it.
    #[error("{0}")]
    Precondition(String),
    /// A worker of this id is connected under another credential.
    #[error("the worker `{worker_id}` is connected under another credential")]
    ForeignWorker {
        /// The worker.
        worker_id: String,
    },
    /// The operator lets nobody clear what taints sessions.
    #[error("what taints a session is not cleared here")]
    TaintsStay,
    /// Too many streams follow calls already; nothing was accepted.
    #[error("{most} streams follow calls already")]
    TooManyWatchers {
        /// Whose: `tenant/<id>`, or all of this scheduler.
        subject: String,
        /// How many there may be.
        most: usize,
    },
    /// A service this one depends on does not answer as it should.
    #[error("the {peer} service failed")]
    Peer {
        /// Which service.
        peer: &'static str,
        /// What it said.
        status: tonic::Status,
    },
    /// There can be no link to a payload.
    #[error("there is no link to it: {0}")]
    NoLink(String),
    /// An output could not be kept.
    #[error(transparent)]
    Upload(PayloadError),
    /// A stored call could not be read or changed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A bug or damage; the text is for logs only.
    #[error("internal error")]
    Internal(String),
}

impl From<BadPage> for CallError {
    fn from(bad: BadPage) -> Self {
        Self::invalid(bad.field, bad.rule)
    }
}

impl CallError {
    /// One wrong field.
    pub(crate) fn invalid(field: &str, rule: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldViolation { field: field.to_owned(), description: rule.into() }])
    }

    /// For `map_err`: a field of the request that breaks a rule.
    pub(crate) fn of_field(wrong: ConvertError) -> Self {
        Self::invalid(&wrong.field, wrong.rule)
    }

    /// For `map_err`: the failed answer of a peer.
    pub(crate) fn peer(peer: &'static str) -> impl Fn(tonic::Status) -> Self {
        move |status| Self::Peer { peer, status }
    }
}
