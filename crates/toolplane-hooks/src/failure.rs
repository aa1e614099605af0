//! How a hook fails. Nothing here quotes the hook: what it was shown may be what must not be seen.

use std::time::Duration;
use toolplane_records::codes;

/// A hook gave no answer that counts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HookFailure {
    /// No answer in time.
    #[error("gave no answer within {} ms", after.as_millis())]
    Timeout {
        /// The bound.
        after: Duration,
    },
    /// The program ended with a code that means neither an answer nor a refusal.
    #[error("ended with exit code {code}")]
    ExitCode {
        /// The code.
        code: i32,
    },
    /// A signal ended the program, its own or one for using too much.
    #[error("was ended by signal {signal}")]
    Signal {
        /// The signal.
        signal: i32,
    },
    /// The answer is larger than an answer may be.
    #[error("gave an answer larger than {bound} bytes")]
    TooLarge {
        /// The bound.
        bound: usize,
    },
    /// The answer cannot be read.
    #[error("gave an answer that cannot be read: {rule}")]
    BadAnswer {
        /// The rule it broke.
        rule: String,
    },
    /// The program could not be started, or its end was not seen.
    #[error("could not be run: {reason}")]
    NotRun {
        /// The stable reason of the sandbox.
        reason: String,
    },
    /// The service could not be reached or refused.
    #[error("answered with the status {code}")]
    Status {
        /// Name of the gRPC code.
        code: String,
    },
}

impl HookFailure {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Timeout { .. } => codes::HOOK_TIMEOUT.as_str(),
            Self::ExitCode { .. } => codes::HOOK_EXIT_CODE.as_str(),
            Self::Signal { .. } => codes::HOOK_SIGNAL.as_str(),
            Self::TooLarge { .. } => codes::HOOK_ANSWER_TOO_LARGE.as_str(),
            Self::BadAnswer { .. } => codes::HOOK_BAD_ANSWER.as_str(),
            Self::NotRun { .. } => codes::HOOK_NOT_RUN.as_str(),
            Self::Status { .. } => codes::HOOK_STATUS.as_str(),
        }
    }

    /// An answer that breaks `rule`.
    pub(crate) fn bad(rule: impl Into<String>) -> Self {
        Self::BadAnswer { rule: rule.into() }
    }
}
