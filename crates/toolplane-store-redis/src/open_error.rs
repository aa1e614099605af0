//! Why a store cannot be opened. Each text says what a person does about it.

use std::path::PathBuf;
use toolplane_records::codes;

/// Why a [`RedisStore`](crate::RedisStore) cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// An option cannot be right.
    #[error("invalid option: {reason}")]
    InvalidOption {
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A certificate or key cannot be read.
    #[error("cannot read `{path}`: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// No server answered, or the primary cannot be found.
    #[error("Redis cannot be reached: {reason}")]
    Unreachable {
        /// What was tried and what came of it.
        reason: String,
    },
    /// The user or its rights are refused.
    #[error(
        "Redis refuses the user: {reason}; it needs all commands on keys `{{namespace}}:*` and the channel `{{namespace}}:h`, \
         and with more shards also on `{{namespace/1}}:*` and `{{namespace/1}}:h`, `{{namespace/2}}:*` and so on"
    )]
    Denied {
        /// What the server said.
        reason: String,
    },
    /// The server lacks what scripts need.
    #[error("Redis {version} is too old: version 7.0 or newer is needed")]
    TooOld {
        /// The server's version.
        version: String,
    },
    /// The server would drop records when its memory is full.
    #[error(
        "Redis would drop records when its memory is full: `maxmemory-policy` is `{policy}`; set `maxmemory-policy noeviction`"
    )]
    Evicts {
        /// The server's `maxmemory-policy`.
        policy: String,
    },
    /// The shards are not those the store was made with.
    #[error("the shards of the store do not fit: {reason}")]
    Shards {
        /// Which, and what would be right.
        reason: String,
    },
    /// The server only follows another one.
    #[error("the server is a replica: name the primary, or use sentinels or a cluster")]
    NotPrimary,
}

impl OpenError {
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidOption { .. } => codes::REDIS_INVALID_OPTION.as_str(),
            Self::File { .. } => codes::REDIS_FILE.as_str(),
            Self::Unreachable { .. } => codes::REDIS_UNREACHABLE.as_str(),
            Self::Denied { .. } => codes::REDIS_DENIED.as_str(),
            Self::TooOld { .. } => codes::REDIS_TOO_OLD.as_str(),
            Self::Evicts { .. } => codes::REDIS_EVICTS.as_str(),
            Self::Shards { .. } => codes::STORE_SHARDS.as_str(),
            Self::NotPrimary => codes::REDIS_NOT_PRIMARY.as_str(),
        }
    }

    /// The server's own refusal of a connection or command.
    pub(crate) fn of(error: &redis::RedisError) -> Self {
        let reason = error.to_string();
        match error.code() {
            Some("NOAUTH" | "WRONGPASS" | "NOPERM") => Self::Denied { reason },
            _ if error.kind() == redis::ErrorKind::AuthenticationFailed => Self::Denied { reason },
            _ => Self::Unreachable { reason },
        }
    }
}
