//! What can go wrong below the store, and on opening it.

use std::path::PathBuf;

use toolplane_store::StoreError;

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
        source: std::io::Error,
    },
    /// The files were written by a version of this store that keeps its data differently.
    #[error("the store's data has format {found}, this version reads format {known}")]
    Format {
        /// The format met.
        found: u64,
        /// The format this version writes.
        known: u64,
    },
    /// The files do not hold what a store leaves behind.
    #[error("the store's data is corrupt: {reason}")]
    Corrupt {
        /// What was met, and where.
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
    /// The error's stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Locked { .. } => "store.locked",
            Self::File { .. } => "store.file",
            Self::Format { .. } => "store.format",
            Self::Corrupt { .. } => "store.corrupt",
            Self::Storage { .. } => "store.storage",
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
}

impl Fault {
    pub(crate) fn corrupt(reason: impl Into<String>) -> Self {
        Self::Corrupt(reason.into())
    }

    pub(crate) fn reason(&self) -> &str {
        match self {
            Self::Storage(reason) | Self::Corrupt(reason) => reason,
        }
    }
}

impl From<Fault> for OpenError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Storage(reason) => Self::Storage { reason },
            Fault::Corrupt(reason) => Self::Corrupt { reason },
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Storage(reason) => Self::Poisoned { reason },
            Fault::Corrupt(reason) => Self::Corrupt { reason },
        }
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Storage(error.to_string())
    }
}

impl From<redb::Error> for Fault {
    fn from(error: redb::Error) -> Self {
        match error {
            redb::Error::Corrupted(reason) => Self::Corrupt(reason),
            other => Self::Storage(other.to_string()),
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
