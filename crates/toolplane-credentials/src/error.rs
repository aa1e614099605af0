//! Why there is no credential, in words that hold no secret, no path and nothing that a server or a program said.

use std::time::Duration;

use toolplane_records::codes::{self, Code};
use toolplane_records::error::ToolError;
use toolplane_records::vocabulary::HiddenReason;

use crate::placement::Unfit;
use crate::scope::OutOfScope;
use crate::secret::{MAX_SECRET_BYTES, MIN_SECRET_BYTES};

/// Why a credential is not given. The name in it is that of the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The worker has no credential of that name.
    #[error("this worker has no credential `{name}`")]
    Unknown {
        /// The name that was asked for, shortened.
        name: String,
    },
    /// Its source has nothing.
    #[error("this worker has no credential `{name}`: {reason}")]
    Missing {
        /// Its name.
        name: String,
        /// Why.
        reason: SourceFault,
    },
    /// It is not for this call.
    #[error("the credential `{name}` is not for this {}", what.as_str())]
    OutOfScope {
        /// Its name.
        name: String,
        /// What of the call it is not for.
        what: OutOfScope,
    },
    /// What its source gives cannot be used.
    #[error("the credential `{name}` cannot be used: {reason}")]
    Unreadable {
        /// Its name.
        name: String,
        /// Why.
        reason: SourceFault,
    },
    /// The token server does not take the client, or the provider none of its tokens.
    #[error("the credential `{name}` is refused: {reason}")]
    Refused {
        /// Its name.
        name: String,
        /// Why.
        reason: SourceFault,
    },
    /// It cannot be had now.
    #[error("the credential `{name}` cannot be had now: {reason}")]
    Unavailable {
        /// Its name.
        name: String,
        /// Why.
        reason: SourceFault,
        /// When to ask again.
        retry_after: Duration,
    },
    /// It does not fit where it is to be put.
    #[error("the credential `{name}` cannot be put there: {rule}")]
    Unfit {
        /// Its name.
        name: String,
        /// The rule that is broken.
        rule: Unfit,
    },
}

/// What went wrong with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceFault {
    /// There is no such file.
    #[error("its file is not there")]
    NoFile,
    /// There is no such variable.
    #[error("its variable is not set")]
    NotSet,
    /// The file cannot be opened.
    #[error("the worker may not read its file")]
    NoAccess,
    /// Others can read the file.
    #[error("others than its owner can read its file (mode {0:03o}); take that away, e.g. by `chmod 600`")]
    Exposed(u32),
    /// The file belongs to somebody else, who could change it.
    #[error("its file belongs to another user than the worker's or root")]
    Foreign,
    /// It is a directory, a pipe or the like.
    #[error("its file is not a regular file")]
    NotAFile,
    /// Reading failed.
    #[error("its file cannot be read")]
    Io,
    /// Too little.
    #[error(
        "it has fewer than {MIN_SECRET_BYTES} bytes, and what is so short cannot be masked in outputs; use a longer secret"
    )]
    TooShort,
    /// Too much.
    #[error("it has more than {MAX_SECRET_BYTES} bytes")]
    TooLong,
    /// It is not text of one line.
    #[error("it holds something else than visible ASCII characters in one line")]
    NotVisible,
    /// It is not `user:password`.
    #[error("it is not `user:password`")]
    NoPassword,
    /// It is not JSON.
    #[error("it is not a JSON object that has each field once")]
    NotAnObject,
    /// A field of the configuration is not in it.
    #[error("it has no text in a field that `secret_fields` names, or no text at all")]
    NoField,
    /// A field is too short.
    #[error("one of its texts has fewer than {MIN_SECRET_BYTES} bytes; name those that are secret in `secret_fields`")]
    ShortField,
    /// The program cannot be started.
    #[error("its command cannot be started")]
    NotStarted,
    /// The program failed.
    #[error("its command ended with exit code {0}")]
    ExitCode(i32),
    /// The program was killed.
    #[error("its command was ended by a signal")]
    Signal,
    /// The program was late.
    #[error("its command was not done in time")]
    CommandLate,
    /// The token server did not answer.
    #[error("the token server cannot be reached")]
    ServerAway,
    /// The token server was late.
    #[error("the token server did not answer in time")]
    ServerLate,
    /// The address of the token server is not allowed.
    #[error("the worker may not connect to the token server")]
    ServerDenied,
    /// The token server failed.
    #[error("the token server answers with status {0}")]
    ServerStatus(u16),
    /// The token server refuses, with this error of RFC 6749.
    #[error("the token server answers `{0}`")]
    TokenError(&'static str),
    /// The answer cannot be used.
    #[error("the answer of the token server is not one of RFC 6749 with a bearer token")]
    BadAnswer,
    /// The answer is too large.
    #[error("the answer of the token server is too large")]
    LargeAnswer,
    /// Tokens are given, and the provider takes none of them.
    #[error("the provider refuses every token that is given for it")]
    TokensRefused,
}

/// What a fault means for who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Missing,
    Unreadable,
    Refused,
    Unavailable,
}

impl SourceFault {
    pub(crate) fn meaning(self) -> Meaning {
        match self {
            Self::NoFile | Self::NotSet => Meaning::Missing,
            Self::TokenError(_) | Self::TokensRefused => Meaning::Refused,
            Self::CommandLate | Self::ServerAway | Self::ServerLate | Self::Io => Meaning::Unavailable,
            Self::ServerStatus(status) if status == 429 || status >= 500 => Meaning::Unavailable,
            Self::ServerStatus(_) => Meaning::Refused,
            _ => Meaning::Unreadable,
        }
    }

    /// Whether an earlier value must not be used any more: it was taken away, or may be known to others.
    pub(crate) fn ends_at_once(self) -> bool {
        matches!(self, Self::NoFile | Self::NotSet | Self::Exposed(_) | Self::Foreign | Self::NotAFile)
    }

    /// The code that an error of it has.
    pub(crate) fn code(self) -> Code {
        match self.meaning() {
            Meaning::Missing => codes::CREDENTIAL_MISSING,
            Meaning::Unreadable => codes::CREDENTIAL_UNREADABLE,
            Meaning::Refused => codes::CREDENTIAL_REFUSED,
            Meaning::Unavailable => codes::CREDENTIAL_UNAVAILABLE,
        }
    }
}

impl CredentialError {
    /// The error of a source; `retry_after` where asking again helps.
    pub(crate) fn of_source(name: &str, reason: SourceFault, retry_after: Duration) -> Self {
        let name = name.to_owned();
        match reason.meaning() {
            Meaning::Missing => Self::Missing { name, reason },
            Meaning::Unreadable => Self::Unreadable { name, reason },
            Meaning::Refused => Self::Refused { name, reason },
            Meaning::Unavailable => Self::Unavailable { name, reason, retry_after },
        }
    }

    /// Stable machine-readable code; the registry has its class and advice.
    pub fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } | Self::Missing { .. } => codes::CREDENTIAL_MISSING,
            Self::OutOfScope { .. } => codes::CREDENTIAL_OUT_OF_SCOPE,
            Self::Unreadable { .. } => codes::CREDENTIAL_UNREADABLE,
            Self::Refused { .. } => codes::CREDENTIAL_REFUSED,
            Self::Unavailable { .. } => codes::CREDENTIAL_UNAVAILABLE,
            Self::Unfit { rule, .. } => rule.code(),
        }
    }

    /// Why a surface hides a tool that requires the credential: the word that the class of its calls would have. Nothing where
    /// it may be there in a moment, because tools must not come and go with a token server.
    pub fn hidden_reason(&self) -> Option<HiddenReason> {
        match self {
            Self::Unknown { .. } | Self::Missing { .. } | Self::Unreadable { .. } | Self::Refused { .. } => {
                Some(HiddenReason::CredentialMissing)
            }
            Self::OutOfScope { .. } => Some(HiddenReason::PolicyBlocked),
            Self::Unfit { .. } => Some(HiddenReason::SetupRequired),
            Self::Unavailable { .. } => None,
        }
    }

    /// The error of a call that needs the credential. The tool did not run, so nothing can have happened.
    pub fn to_tool_error(&self) -> ToolError {
        let retry_after_ms = match self {
            Self::Unavailable { retry_after, .. } => u64::try_from(retry_after.as_millis()).ok(),
            _ => None,
        };
        let error = ToolError::of(self.code(), self.to_string());
        ToolError { retry_after_ms, side_effects: Some("none".to_owned()), ..error }
    }
}
