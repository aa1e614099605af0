//! What can go wrong below the store, and on opening it.

use std::io;
use std::path::{Path, PathBuf};
use toolplane_records::codes;

use toolplane_store::{Damage, DamageLocation, StoreError};

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process, or another handle of this one, has the directory open.
    #[error("store directory `{}` is locked by another process", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// The directory or a file in it could not be created, opened or flushed.
    #[error("cannot {action} `{}`: {source}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The files were written by a version of this store that keeps its data differently.
    #[error("the store's data has format {found}, this version reads format {known}")]
    Format {
        /// The format found.
        found: u64,
        /// The format this version writes.
        known: u64,
    },
    /// The files do not hold what a store leaves behind.
    #[error(
        "the store's data is corrupt: {reason}; `toolplane store check` says more, and `toolplane store restore` brings a \
         backup back"
    )]
    Corrupt {
        /// What was found, and where.
        reason: String,
    },
    /// Reading or writing the files failed.
    #[error("the store's files cannot be used: {reason}")]
    Storage {
        /// What failed.
        reason: String,
    },
}

impl OpenError {
    /// The same error, of the store in this directory.
    pub(crate) fn below(self, path: &Path) -> Self {
        match self {
            Self::Corrupt { reason } => Self::Corrupt { reason: format!("`{}`: {reason}", path.display()) },
            Self::Storage { reason } => Self::Storage { reason: format!("`{}`: {reason}", path.display()) },
            other => other,
        }
    }

    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Locked { .. } => codes::STORE_LOCKED.as_str(),
            Self::File { .. } => codes::STORE_FILE.as_str(),
            Self::Format { .. } => codes::STORE_FORMAT.as_str(),
            Self::Corrupt { .. } => codes::STORE_CORRUPT.as_str(),
            Self::Storage { .. } => codes::STORE_STORAGE.as_str(),
        }
    }
}

/// A failure below the store's own logic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Reading or writing failed.
    Storage(String),
    /// What was read is not what was written.
    Corrupt(String),
    /// The same of one thing, which has a name.
    Damaged(Damage),
}

impl Fault {
    pub(crate) fn corrupt(reason: impl Into<String>) -> Self {
        Self::Corrupt(reason.into())
    }

    /// What went wrong, and where that is known.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Storage(reason) | Self::Corrupt(reason) => reason.clone(),
            Self::Damaged(damage) => damage.to_string(),
        }
    }

    /// The same fault, of the thing at `place`, when it is about what was read.
    pub(crate) fn at(self, place: impl FnOnce() -> DamageLocation) -> Self {
        match self {
            Self::Corrupt(reason) => Self::Damaged(Damage::new(place(), reason)),
            other => other,
        }
    }
}

impl From<Fault> for OpenError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Storage(reason) => Self::Storage { reason },
            Fault::Corrupt(reason) => Self::Corrupt { reason },
            Fault::Damaged(damage) => Self::Corrupt { reason: damage.to_string() },
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Storage(reason) => Self::Poisoned { reason },
            Fault::Corrupt(reason) => Self::Corrupt { reason },
            Fault::Damaged(damage) => Self::Damaged(damage),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Storage(error.to_string())
    }
}

impl From<redb::Error> for Fault {
    fn from(error: redb::Error) -> Self {
        match error {
            redb::Error::Corrupted(reason) => Self::Corrupt(reason),
            // What the header says of the file is not so.
            redb::Error::Io(error)
                if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
            {
                Self::Corrupt(error.to_string())
            }
            redb::Error::UpgradeRequired(version) => {
                Self::Corrupt(format!("the file says that its version is {version}"))
            }
            // A read of damaged pages has failed in there before.
            redb::Error::LockPoisoned(_) => Self::Corrupt("an earlier read met damaged pages".to_owned()),
            redb::Error::TableDoesNotExist(table) => Self::Corrupt(format!("the table `{table}` is missing")),
            redb::Error::TableTypeMismatch { table, .. } => {
                Self::Corrupt(format!("the table `{table}` is another one"))
            }
            other => Self::Storage(other.to_string()),
        }
    }
}

/// Runs `read` on tables that may be damaged: what panics in there over a damaged page is a fault like any other.
pub(crate) fn contained<T>(read: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    // What a panic leaves half done belongs to the reading of a snapshot, and is dropped with it.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)) {
        Ok(answer) => answer,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            let first = text.and_then(|text| text.lines().next()).unwrap_or("no more is known");
            Err(Fault::corrupt(format!("its page cannot be read ({first})")))
        }
    }
}

macro_rules! fault_from {
    ($($error:ty),+) => {$(
        impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                redb::Error::from(error).into()
            }
        }
    )+};
}

fault_from!(redb::CommitError, redb::DatabaseError, redb::StorageError, redb::TableError, redb::TransactionError);

#[cfg(test)]
mod tests {
    use super::OpenError;

    #[test]
    fn what_the_system_said_is_told() {
        let source = std::io::Error::from_raw_os_error(2);
        let error = OpenError::File { action: "create", path: "/nowhere/store".into(), source };
        assert_eq!(error.to_string(), "cannot create `/nowhere/store`: No such file or directory (os error 2)");
    }
}
