//! A file that is read again when it changes. A broken one changes nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::credential_file::CredentialFileError;
use crate::server::error::{self, ServerError};

/// A file that changed this recently may change again without its time showing it.
const FRESH: Duration = Duration::from_secs(3);

/// What a file says, as of its last good state.
pub(super) struct Watched<T> {
    key: &'static str,
    file: PathBuf,
    read: fn(&str) -> Result<T, CredentialFileError>,
    current: ArcSwap<T>,
    seen: Mutex<FileStamp>,
}

/// The state of a file that was looked at last.
#[derive(PartialEq, Eq)]
struct FileStamp {
    written: Option<SystemTime>,
    bytes: u64,
    digest: [u8; 32],
    /// It was told that the file cannot be read.
    away: bool,
}

impl<T> Watched<T> {
    /// Reads `file`, which the configuration names as `key`.
    pub(super) fn open(
        key: &'static str,
        file: PathBuf,
        read: fn(&str) -> Result<T, CredentialFileError>,
    ) -> Result<Self, ServerError> {
        let content = error::read(key, &file)?;
        let refuse =
            |error: CredentialFileError| ServerError::File { key, file: file.clone(), reason: error.to_string() };
        let value = text(&content).and_then(read).map_err(refuse)?;
        let (written, bytes) = state(&file).unwrap_or((None, 0));
        let seen = FileStamp { written, bytes, digest: crate::keys::digest(&content), away: false };
        Ok(Self { key, file, read, current: ArcSwap::from_pointee(value), seen: Mutex::new(seen) })
    }

    /// What it says.
    pub(super) fn current(&self) -> arc_swap::Guard<Arc<T>> {
        self.current.load()
    }

    /// Reads the file again if it changed. Blocks on the disk.
    pub(super) fn look(&self) {
        let mut seen = self.seen.lock();
        let Ok((written, bytes)) = state(&self.file) else { return self.cannot_read(&mut seen) };
        let fresh = written.and_then(|at| at.elapsed().ok()).is_none_or(|age| age < FRESH);
        if !fresh && !seen.away && (seen.written, seen.bytes) == (written, bytes) {
            return;
        }
        let Ok(content) = std::fs::read(&self.file) else { return self.cannot_read(&mut seen) };
        let digest = crate::keys::digest(&content);
        let changed = seen.digest != digest;
        *seen = FileStamp { written, bytes, digest, away: false };
        if !changed {
            return;
        }
        match text(&content).and_then(self.read) {
            Ok(value) => {
                self.current.store(Arc::new(value));
                tracing::info!(key = self.key, file = %self.file.display(), "read again");
            }
            // Never with what is in the file.
            Err(reason) => {
                tracing::error!(
                    key = self.key, file = %self.file.display(), %reason,
                    "the changed file cannot be used; its previous content stays in force"
                );
            }
        }
    }

    fn cannot_read(&self, seen: &mut FileStamp) {
        if !std::mem::replace(&mut seen.away, true) {
            tracing::error!(key = self.key, file = %self.file.display(), "the file cannot be read; its previous content stays in force");
        }
    }
}

fn text(content: &[u8]) -> Result<&str, CredentialFileError> {
    std::str::from_utf8(content).map_err(|_| CredentialFileError::NotText)
}

fn state(file: &std::path::Path) -> std::io::Result<(Option<SystemTime>, u64)> {
    let state = std::fs::metadata(file)?;
    Ok((state.modified().ok(), state.len()))
}
