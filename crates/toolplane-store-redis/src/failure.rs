//! What an error of Redis says about the command that failed with it: the one table of that.

use redis::{ErrorKind, RedisError, ServerErrorKind};
use toolplane_store::StoreError;

use crate::trouble::Trouble;

/// What happened to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// It did nothing.
    NoOp,
    /// It did nothing, because another server is the one to ask: find it, and ask again.
    Elsewhere,
    /// It did nothing, because its slot is on the way to another server, with some keys here and some there: ask again soon.
    Moving,
    /// It did nothing, because the server does not have the script: send its text.
    NoScript,
    /// It may have done all of it, or will still do it.
    Ambiguous,
    /// It ended in the middle, and what it had written stays.
    Torn,
    /// It was not sent: the server is not fit for it.
    Unfit,
}

/// An error with its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) class: Class,
    pub(crate) reason: String,
}

impl Failure {
    /// An error in place of the answer to a command that was sent.
    pub(crate) fn after(error: &RedisError) -> Self {
        let reason = error.to_string();
        // How Redis ends the message of a command that failed inside a script.
        let broke_off = reason.contains("@user_script") || reason.contains("script: ");
        let class = match error.code() {
            // What else fails inside a script fails before its first write: full memory, a full disk, a new role.
            Some("ERR" | "NOPERM") if broke_off => Class::Torn,
            Some(code) => of_code(code),
            None if error.is_connection_refusal() => Class::NoOp,
            None => of_kind(error.kind()),
        };
        Self { class, reason }
    }

    /// Nothing was done, for this reason.
    pub(crate) fn no_op(reason: impl Into<String>) -> Self {
        Self { class: Class::NoOp, reason: reason.into() }
    }

    /// Nothing was sent, because of this.
    pub(crate) fn unfit(trouble: &Trouble) -> Self {
        Self { class: Class::Unfit, reason: trouble.to_string() }
    }

    /// An answer that cannot be understood.
    pub(crate) fn strange(reason: impl Into<String>) -> Self {
        Self { class: Class::Ambiguous, reason: reason.into() }
    }

    /// True when the same question may be answered in a moment: by another server, on another connection, or here.
    pub(crate) fn passes(&self) -> bool {
        self.class == Class::Moving || self.is_of_connection()
    }

    /// True when the connection that failed with it should not be used again.
    pub(crate) fn is_of_connection(&self) -> bool {
        matches!(self.class, Class::Ambiguous | Class::Elsewhere)
    }
}

impl From<Failure> for StoreError {
    /// The error of a call that was sent once; for reads, where a lost answer does no harm.
    fn from(failure: Failure) -> Self {
        match failure.class {
            Class::Torn => Self::Corrupt { reason: failure.reason },
            Class::Unfit => Self::Unsafe { reason: failure.reason },
            _ => Self::Unavailable { reason: failure.reason },
        }
    }
}

fn of_code(code: &str) -> Class {
    match code {
        "LOADING" | "MASTERDOWN" | "NOREPLICAS" | "MISCONF" | "OOM" | "BUSY" | "CLUSTERDOWN" => Class::NoOp,
        "TRYAGAIN" | "ASK" => Class::Moving,
        "MOVED" | "READONLY" => Class::Elsewhere,
        "NOSCRIPT" => Class::NoScript,
        // Refused for what it is.
        "ERR" | "NOPERM" | "NOAUTH" | "WRONGPASS" | "CROSSSLOT" | "EXECABORT" | "NOTBUSY" | "NOSUB" | "DENIED" => {
            Class::NoOp
        }
        // A command inside the script found a key of another type: the script ended there.
        "WRONGTYPE" => Class::Torn,
        _ => Class::Ambiguous,
    }
}

fn of_kind(kind: ErrorKind) -> Class {
    match kind {
        // Found before anything was sent.
        ErrorKind::AuthenticationFailed
        | ErrorKind::InvalidClientConfig
        | ErrorKind::Client
        | ErrorKind::MasterNameNotFoundBySentinel
        | ErrorKind::NoValidReplicasFoundBySentinel
        | ErrorKind::EmptySentinelList
        | ErrorKind::ClusterConnectionNotFound
        | ErrorKind::RESP3NotSupported => Class::NoOp,
        // Timeouts, resets, ends of connections, and answers that are cut or garbled.
        ErrorKind::Io | ErrorKind::Parse | ErrorKind::UnexpectedReturnType | ErrorKind::Extension => Class::Ambiguous,
        ErrorKind::Server(kind) => of_server(kind),
        // Kinds of later versions: the safe guess.
        _ => Class::Ambiguous,
    }
}

fn of_server(kind: ServerErrorKind) -> Class {
    match kind {
        ServerErrorKind::BusyLoading
        | ServerErrorKind::ClusterDown
        | ServerErrorKind::MasterDown
        | ServerErrorKind::ResponseError
        | ServerErrorKind::ExecAbort
        | ServerErrorKind::CrossSlot
        | ServerErrorKind::NotBusy
        | ServerErrorKind::NoSub
        | ServerErrorKind::NoPerm => Class::NoOp,
        ServerErrorKind::TryAgain | ServerErrorKind::Ask => Class::Moving,
        ServerErrorKind::Moved | ServerErrorKind::ReadOnly => Class::Elsewhere,
        ServerErrorKind::NoScript => Class::NoScript,
        _ => Class::Ambiguous,
    }
}

#[cfg(test)]
mod tests;
