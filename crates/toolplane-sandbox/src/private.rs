//! Files that one run finds in a directory of its own ([`CREDENTIALS`]): in memory, read-only, for its user alone, and gone with the run.
//!
//! They go to the launcher in its plan and from there into a file system in memory that only the run's mounts know. Nothing of them is
//! ever in a file of the host.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::SandboxError;
use crate::inside::CREDENTIALS;

/// The variable that says where the files are, to a run that has some.
pub const VARIABLE: &str = "CREDENTIALS_DIRECTORY";

/// Most files of one run, the longest name of one, and most bytes of all together.
const MAX_FILES: usize = 64;
const MAX_NAME: usize = 128;
const MAX_BYTES: usize = 512 * 1024;
/// What the file system needs beside the files, which take whole pages.
const PAGE: usize = 4096;
const ROOM: usize = 16 * PAGE;

/// Files of one run by their names. Printing them shows no content.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PrivateFiles(BTreeMap<String, Vec<u8>>);

impl PrivateFiles {
    /// Adds a file, in place of any of that name.
    pub fn insert(&mut self, name: impl Into<String>, content: impl Into<Vec<u8>>) {
        self.0.insert(name.into(), content.into());
    }

    /// Whether there is none. A run without one has no directory for them.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where each is inside the sandbox, and what is in it.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (String, &[u8])> {
        self.0.iter().map(|(name, content)| (format!("{CREDENTIALS}/{name}"), content.as_slice()))
    }

    /// How large the file system for them is.
    pub(crate) fn room(&self) -> usize {
        self.0.values().map(|content| content.len().next_multiple_of(PAGE)).sum::<usize>() + ROOM
    }

    pub(crate) fn check(&self) -> Result<(), SandboxError> {
        let refuse = |rule: String| Err(SandboxError::invalid("private_files", rule));
        if self.0.len() > MAX_FILES {
            return refuse(format!("has more than {MAX_FILES} files"));
        }
        if self.0.values().map(Vec::len).sum::<usize>() > MAX_BYTES {
            return refuse(format!("is larger than {MAX_BYTES} bytes"));
        }
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let usable =
            |name: &String| (1..=MAX_NAME).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain);
        match self.0.keys().all(usable) {
            true => Ok(()),
            false => refuse("has a name that is not 1 to 128 letters, digits and `-_.` without a dot in front".into()),
        }
    }
}

impl fmt::Debug for PrivateFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
