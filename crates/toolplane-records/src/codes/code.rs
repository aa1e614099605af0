//! A code, and what the registry knows of each: the shape of its rows.

use std::fmt;

use crate::vocabulary::{ErrorClass, Recoverability};

/// A code with everything that is the same wherever it comes up. Printed as its text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Code(pub(super) &'static CodeEntry);

/// One row of the registry.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeEntry {
    /// The code. One that ends with `.*` stands for a family: what follows the dot is said by the source that knows it.
    pub text: &'static str,
    /// What has this code.
    pub kind: Kind,
    /// The shape of its message.
    pub says: &'static str,
    /// What has happened.
    pub cause: &'static str,
    /// What to do about it.
    pub cure: &'static str,
}

/// What has a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The error of a call that was accepted: its class, and the advice it usually has. What is known of effects may change the
    /// advice, and some codes have a further class; the record says which.
    Call(ErrorClass, Recoverability),
    /// A request that was refused before anything was accepted: the gRPC status, and what a caller can do.
    Refusal(Status, Retry),
    /// What a process says in its log, and when it does not start.
    Fault,
}

/// The gRPC status of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// `INVALID_ARGUMENT`
    InvalidArgument,
    /// `UNAUTHENTICATED`
    Unauthenticated,
    /// `PERMISSION_DENIED`
    PermissionDenied,
    /// `NOT_FOUND`
    NotFound,
    /// `ALREADY_EXISTS`
    AlreadyExists,
    /// `FAILED_PRECONDITION`
    FailedPrecondition,
    /// `ABORTED`
    Aborted,
    /// `RESOURCE_EXHAUSTED`
    ResourceExhausted,
    /// `UNAVAILABLE`
    Unavailable,
    /// `DATA_LOSS`
    DataLoss,
    /// `INTERNAL`
    Internal,
}

/// What a caller can do about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same request will be refused again.
    Never,
    /// Something in the request or around it must change first.
    AfterChange,
    /// The state moved: read it again, then decide anew.
    AfterReread,
    /// The same request may pass later.
    Later,
}

// === impl Code ===

impl Code {
    /// The code as it is sent and stored.
    pub const fn as_str(self) -> &'static str {
        self.0.text
    }

    /// What is known of it.
    pub const fn entry(self) -> &'static CodeEntry {
        self.0
    }

    /// The class and the advice of a call that ended with it. A code that no call has is taken for the failure of which nothing is
    /// known: it is verified before the call is repeated.
    pub fn of_call(self) -> (ErrorClass, Recoverability) {
        match self.entry().kind {
            Kind::Call(class, advice) => (class, advice),
            Kind::Refusal(..) | Kind::Fault => (ErrorClass::ExecutionFailed, Recoverability::VerifyBeforeRetry),
        }
    }

    /// What the codes of a family begin with; none when it is a single code.
    pub(super) fn prefix(self) -> Option<&'static str> {
        self.as_str().strip_suffix('*')
    }

    /// One code of a family.
    pub fn of(self, rest: &str) -> String {
        format!("{}{rest}", self.prefix().unwrap_or(self.as_str()))
    }

    /// Where `docs/errors.md` tells of it.
    pub fn anchor(self) -> &'static str {
        self.as_str().strip_suffix(".*").unwrap_or(self.as_str())
    }

    /// Where its cause and its cure are told.
    pub fn page(self) -> String {
        format!("docs/errors.md#{}", self.anchor())
    }

    /// The same, as people are told.
    pub fn place(self) -> String {
        format!("see {}", self.page())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl PartialEq<Code> for String {
    fn eq(&self, code: &Code) -> bool {
        self == code.as_str()
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.as_str().to_owned()
    }
}

// === impl Status, Retry ===

impl Status {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::Unavailable => "UNAVAILABLE",
            Self::DataLoss => "DATA_LOSS",
            Self::Internal => "INTERNAL",
        }
    }
}

impl Retry {
    /// The word sent as `retry` in the metadata of `ErrorInfo`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::AfterChange => "after_change",
            Self::AfterReread => "after_reread",
            Self::Later => "later",
        }
    }
}

/// Writes rows as constants, and the list of them.
macro_rules! codes {
    ($(#[$about:meta])* $list:ident: $($name:ident = $text:literal, $kind:expr, $says:literal, $cause:literal, $cure:literal;)+) => {
        $(
            #[doc = concat!("`", $text, "`: ", $cause)]
            pub const $name: Code =
                Code(&CodeEntry { text: $text, kind: $kind, says: $says, cause: $cause, cure: $cure });
        )+
        $(#[$about])*
        pub(super) const $list: &[Code] = &[$($name),+];
    };
}
pub(super) use codes;
