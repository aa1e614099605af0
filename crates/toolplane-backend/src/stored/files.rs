//! Files of a backup: found, copied, proved.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::error::StoredError;
use super::report::Named;

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

impl Manifest {
    /// Writes it to a file, durably.
    pub(super) fn write(&self, path: &Path) -> Result<(), StoredError> {
        let written = serde_json::to_vec_pretty(self).map_err(std::io::Error::from).and_then(|text| {
            let mut file = File::create(path)?;
            file.write_all(&text)?;
            file.sync_all()
        });
        written.map_err(StoredError::file(path))
    }
}

/// What was copied, in one direction or the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// When the backup was made, RFC 3339.
    pub made_at: String,
    /// Its files.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The roles whose state is in Redis and so not among them.
    pub not_included: Vec<String>,
    /// Payloads that records name and that were not there to be copied.
    pub missing: Vec<Named>,
}

impl Copied {
    pub(super) fn of(manifest: &Manifest) -> Self {
        Self {
            made_at: manifest.made_at.clone(),
            files: manifest.files.len(),
            bytes: manifest.files.iter().map(|file| file.size).sum(),
            not_included: manifest.not_included.clone(),
            missing: Vec::new(),
        }
    }
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
pub(super) fn below(directory: &Path) -> Result<Vec<PathBuf>, StoredError> {
    let (mut open, mut found) = (vec![PathBuf::new()], Vec::new());
    while let Some(folder) = open.pop() {
        let path = directory.join(&folder);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && folder.as_os_str().is_empty() => break,
            Err(error) => return Err(StoredError::file(&path)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(StoredError::file(&path))?;
            let kind = entry.file_type().map_err(StoredError::file(&path))?;
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
pub(super) fn copy(from: &Path, to: &Path, path: String) -> Result<Entry, StoredError> {
    if let Some(folder) = to.parent() {
        make(folder)?;
    }
    let new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    let mut target = new.map_err(StoredError::file(to))?;
    let mut size = 0;
    let sha256 = read(from, |bytes| {
        size += bytes.len() as u64;
        target.write_all(bytes).map_err(StoredError::file(to))
    })?;
    target.sync_all().map_err(StoredError::file(to))?;
    Ok(Entry { path, size, sha256 })
}

/// The SHA-256 of a file, shown to `each` part by part.
pub(super) fn read(path: &Path, mut each: impl FnMut(&[u8]) -> Result<(), StoredError>) -> Result<String, StoredError> {
    let mut file = File::open(path).map_err(StoredError::file(path))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; BUFFER]);
    loop {
        let count = file.read(&mut buffer).map_err(StoredError::file(path))?;
        if count == 0 {
            return Ok(hex::encode(hash.finalize()));
        }
        hash.update(&buffer[..count]);
        each(&buffer[..count])?;
    }
}

/// Makes a directory and those above it, for this user only.
pub(super) fn make(path: &Path) -> Result<(), StoredError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(StoredError::file(path))
}

/// The directories that would be made for something at `path`, the innermost first.
pub(super) fn missing_above(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    above.take_while(|folder| !folder.exists()).map(Path::to_owned).collect()
}

/// Removes those of these directories that were made and hold nothing. One that holds something is used by another
/// process too.
pub(super) fn remove_empty(made: &[PathBuf]) {
    let mut made: Vec<&PathBuf> = made.iter().collect();
    made.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in made {
        drop(fs::remove_dir(folder));
    }
}

/// Makes the names in a directory and in those below it durable.
pub(super) fn flush_tree(path: &Path) -> Result<(), StoredError> {
    for entry in fs::read_dir(path).map_err(StoredError::file(path))? {
        let entry = entry.map_err(StoredError::file(path))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            flush_tree(&entry.path())?;
        }
    }
    flush(path)
}

/// Makes what `path` is called now durable.
pub(super) fn flush_names(path: &Path) -> Result<(), StoredError> {
    flush(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

fn flush(path: &Path) -> Result<(), StoredError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(StoredError::file(path))
}

/// The same path with `ending` behind its name: what something is called until it is whole.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
