//! Whether a store was made before: one that is lost is not taken for one that never was.
//!
//! Beside the directory of a store lies a file that says it was made. A role that began anew in an empty directory would work
//! without its rules, open questions or calls, and nobody would see it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use toolplane_store_embedded::EmbeddedStore;

use crate::BackendError;

const TEXT: &str =
    "A store was made in the directory of this name. While this file is here, a process refuses to start without it.\n";

/// Refuses a directory whose store is gone.
pub(crate) fn refuse_lost(directory: &Path) -> Result<(), BackendError> {
    let note = note_of(directory);
    match note.exists() && !EmbeddedStore::exists(directory) {
        true => Err(BackendError::Missing { path: directory.to_owned(), note }),
        false => Ok(()),
    }
}

/// Notes that there is a store in `directory`.
pub(crate) fn note(directory: &Path) -> Result<(), BackendError> {
    let note = note_of(directory);
    if note.exists() {
        return Ok(());
    }
    write(&note).map_err(|error| BackendError::Embedded { path: note, reason: error.to_string() })
}

fn write(note: &Path) -> io::Result<()> {
    let mut file = File::create(note)?;
    file.write_all(TEXT.as_bytes())?;
    file.sync_all()?;
    let parent = note.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(parent)?.sync_all()
}

fn note_of(directory: &Path) -> PathBuf {
    directory.with_extension("made")
}
