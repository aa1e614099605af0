//! Files of a backup: found, copied, proved.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::super::Failure;

/// What the list of a backup is called.
pub(super) const MANIFEST: &str = "manifest.json";
/// The form of backups this version writes and reads.
pub(super) const FORMAT: u32 = 1;

const BUFFER: usize = 256 * 1024;

/// What a backup holds.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// [`FORMAT`].
    pub(super) format: u32,
    /// Version of the program that made it.
    pub(super) version: String,
    /// When it was made, RFC 3339.
    pub(super) made_at: String,
    /// What is kept in Redis and so not in here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) not_included: Vec<String>,
    /// Every file.
    pub(super) files: Vec<Entry>,
}

/// One file of a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Below the backup: `stores/<role>/<name>`, or `objects/<path>`.
    pub(super) path: String,
    /// Bytes.
    pub(super) size: u64,
    /// SHA-256 of them, hexadecimal.
    pub(super) sha256: String,
}

/// All files below a directory, relative to it, in order. Nothing when it is not there.
pub(super) fn below(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (mut open, mut found) = (vec![PathBuf::new()], Vec::new());
    while let Some(folder) = open.pop() {
        let path = directory.join(&folder);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && folder.as_os_str().is_empty() => break,
            Err(error) => return Err(Failure::file(&path, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Failure::file(&path, &error))?;
            let kind = entry.file_type().map_err(|error| Failure::file(&path, &error))?;
            let name = folder.join(entry.file_name());
            match (kind.is_dir(), kind.is_file()) {
                (true, _) => open.push(name),
                (_, true) => found.push(name),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies a file to a place where none is, durably, and says what was copied.
pub(super) fn copy(from: &Path, to: &Path, path: String) -> Result<Entry, Failure> {
    if let Some(folder) = to.parent() {
        make(folder)?;
    }
    let new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    let mut target = new.map_err(|error| Failure::file(to, &error))?;
    let mut size = 0;
    let sha256 = read(from, |bytes| {
        size += bytes.len() as u64;
        target.write_all(bytes).map_err(|error| Failure::file(to, &error))
    })?;
    target.sync_all().map_err(|error| Failure::file(to, &error))?;
    Ok(Entry { path, size, sha256 })
}

/// The SHA-256 of a file, shown to `each` part by part.
pub(super) fn read(path: &Path, mut each: impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<String, Failure> {
    let mut file = File::open(path).map_err(|error| Failure::file(path, &error))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; BUFFER]);
    loop {
        let count = file.read(&mut buffer).map_err(|error| Failure::file(path, &error))?;
        if count == 0 {
            return Ok(hex::encode(hash.finalize()));
        }
        hash.update(&buffer[..count]);
        each(&buffer[..count])?;
    }
}

/// Makes a directory and those above it, for this user only.
pub(super) fn make(path: &Path) -> Result<(), Failure> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| Failure::file(path, &error))
}

/// Makes the names in a directory durable.
pub(super) fn flush(path: &Path) -> Result<(), Failure> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| Failure::file(path, &error))
}
