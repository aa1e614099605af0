//! Why something could not be done with what is stored.

use std::io;
use std::path::{Path, PathBuf};

use toolplane_store_embedded::OpenError;

use crate::Keeper;

/// Why something could not be done with what is stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// A backup is never written over.
    #[error("`{}` is there already: name a new directory", .0.display())]
    Exists(PathBuf),
    /// The configuration leads to no store.
    #[error("there is no store below `{}`: name the configuration with --config", .0.display())]
    NoStore(PathBuf),
    /// A backup of another kind of configuration.
    #[error("`{0}` has no place in this configuration: is `store.backend` the same as when the backup was made?")]
    NoPlace(String),
    /// A role has its store open.
    #[error(
        "`{}` is in use: stop the cluster (SIGTERM) and try again; a snapshot of the whole disk or volume may be taken while it \
         runs, and opens like after a power cut", .0.display()
    )]
    InUse(PathBuf),
    /// What is damaged is not backed up.
    #[error(
        "`{}` is damaged, and a backup of it would take the place of a good one; see `toolplane store check`",
        .0.display()
    )]
    Damaged(PathBuf),
    /// The files of an embedded store cannot be used.
    #[error(transparent)]
    Files(#[from] OpenError),
    /// An embedded store cannot be used.
    #[error("`{}`: {reason}", path.display())]
    Store {
        /// Its directory.
        path: PathBuf,
        /// Why.
        reason: OpenError,
    },
    /// A store in Redis cannot be used.
    #[error("the store of the {} role: {reason}", keeper.as_str())]
    Redis {
        /// Whose it is.
        keeper: Keeper,
        /// Why.
        reason: String,
    },
    /// A file or directory cannot be used.
    #[error("cannot use `{}`: {reason}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// What should say what a backup holds does not.
    #[error("`{}` is not the list of a backup: {reason}", path.display())]
    NotABackup {
        /// The list.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A backup is brought back to where nothing is.
    #[error(
        "`{}` holds something: move it away first, a backup is only brought back to where nothing is", .0.display()
    )]
    NotEmpty(PathBuf),
    /// A file of a backup has changed since.
    #[error("`{}` is not what was backed up: nothing was restored", .0.display())]
    Altered(PathBuf),
    /// What is sound is not taken out.
    #[error("there is no damaged {kind} `{name}`: `toolplane store check` names what is damaged")]
    NotDamaged {
        /// The kind that was named.
        kind: String,
        /// And the name.
        name: String,
    },
    /// What is damaged must not be taken out.
    #[error("{place} stays: {instead}")]
    Stays {
        /// What it is.
        place: String,
        /// What to do.
        instead: &'static str,
    },
    /// It could not be taken out; the store is as it was, or still names it.
    #[error("nothing was taken out of the store of the {} role: {reason}", keeper.as_str())]
    NotForgotten {
        /// Whose store it is.
        keeper: Keeper,
        /// Why.
        reason: String,
    },
    /// A file of a backup changes now.
    #[error("`{0}` changed while it was copied")]
    Changing(String),
}

impl StoredError {
    /// Whether another way to ask would have helped: the caller named something that cannot be meant.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Exists(_) | Self::NoStore(_) | Self::NoPlace(_) | Self::NotDamaged { .. })
    }

    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |reason| Self::File { path: path.to_owned(), reason }
    }

    pub(super) fn store(path: &Path) -> impl FnOnce(OpenError) -> Self {
        move |reason| match reason {
            OpenError::Locked { .. } => Self::InUse(path.to_owned()),
            reason => Self::Store { path: path.to_owned(), reason },
        }
    }
}
