//! Files that a tool opens itself, checked against what rules deny.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::OnceLock;

use toolplane_records::decision::DeniedPaths;
use toolplane_records::error::ToolError;

use super::{Linked, linked, refused};
use crate::failure::{excerpt, path_of};

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// Refuses files that have a denied name too.
///
/// Permission was decided about the name that was given. A file with one name is the file that was decided about; only for
/// one with more names the workspace is looked through, once.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    denied: DeniedPaths,
    workspace: PathBuf,
    linked: OnceLock<Result<Linked, ToolError>>,
}

impl Guard {
    pub(crate) fn new(denied: DeniedPaths, workspace: PathBuf) -> Self {
        Self { denied, workspace, linked: OnceLock::new() }
    }

    /// Refuses the open file that was found at `given` when it has a name that is denied. Fails also when that cannot be told.
    pub(crate) fn admit(&self, file: impl AsFd, access: Access, given: &str) -> Result<(), ToolError> {
        let Some(place) = self.denied_name(file, access)? else { return Ok(()) };
        let why = format!("`{}` is the same file as `{}` (a hard link)", excerpt(given), excerpt(&place));
        Err(ToolError { blocked_path: Some(path_of(&place)), ..refused(&why) })
    }

    /// The denied name of an open file that has further names.
    pub(crate) fn denied_name(&self, file: impl AsFd, access: Access) -> Result<Option<String>, ToolError> {
        if self.denied.is_empty() {
            return Ok(None);
        }
        let stat = rustix::fs::fstat(file).map_err(|error| refused(&format!("a file cannot be looked at: {error}")))?;
        if stat.st_nlink < 2 {
            return Ok(None);
        }
        let linked = self.linked.get_or_init(|| linked(&self.denied, &self.workspace));
        let linked = linked.as_ref().map_err(ToolError::clone)?;
        let id = (stat.st_dev, stat.st_ino);
        let read_only = linked.read_only.get(&id).filter(|_| access == Access::Write);
        Ok(linked.hidden.get(&id).or(read_only).cloned())
    }
}
