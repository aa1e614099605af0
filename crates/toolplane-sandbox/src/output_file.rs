//! An output on disk: all of a stream that is longer than what is held in memory.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::io::AsyncWriteExt as _;

/// How the names of such files end.
pub const ENDING: &str = "output";

/// A file with the beginning of an output, or all of it. It goes with the last one who holds it, unless it is left.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    size_bytes: u64,
    left: AtomicBool,
}

impl OutputFile {
    /// Takes over a file that an earlier process has left.
    pub fn adopt(path: PathBuf, size_bytes: u64) -> Self {
        Self { path, size_bytes, left: AtomicBool::new(false) }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes it has.
    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// From now on it stays: the next process that looks for it will find it.
    pub fn leave(&self) {
        self.left.store(true, Ordering::Relaxed);
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if !self.left.load(Ordering::Relaxed)
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::debug!(path = %self.path.display(), %error, "an output on disk was not removed");
        }
    }
}

impl PartialEq for OutputFile {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for OutputFile {}

/// Writes such a file. Dropping it before its end removes what was written.
#[derive(Debug)]
pub struct OutputWriter {
    file: tokio::fs::File,
    written: OutputFile,
}

impl OutputWriter {
    /// A new file in `dir`, which nobody but this user can read; the directory is made when it does not exist.
    ///
    /// # Errors
    ///
    /// What the system says where neither can be made.
    pub async fn create(dir: &Path) -> io::Result<Self> {
        let dir = dir.to_owned();
        let made = tokio::task::spawn_blocking(move || create(&dir)).await.map_err(io::Error::other)?;
        let (file, path) = made?;
        Ok(Self { file: tokio::fs::File::from_std(file), written: OutputFile::adopt(path, 0) })
    }

    /// Adds bytes to its end.
    ///
    /// # Errors
    ///
    /// What the system says when they cannot be written. The file is of no use then.
    pub async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes).await?;
        self.written.size_bytes += bytes.len() as u64;
        Ok(())
    }

    /// The file, with everything in it that was written.
    ///
    /// # Errors
    ///
    /// What the system says when something was not written after all.
    pub async fn finish(mut self) -> io::Result<OutputFile> {
        self.file.flush().await?;
        Ok(self.written)
    }
}

/// The next name that is free. Files of an earlier process may still be there.
fn create(dir: &Path) -> io::Result<(std::fs::File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{number:08}.{ENDING}"));
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_goes_with_its_last_holder_unless_it_is_left() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let dir = folder.path().join("outputs");
        let mut writer = OutputWriter::create(&dir).await.expect("create");
        writer.write(b"one ").await.expect("write");
        writer.write(b"two").await.expect("write");
        let file = writer.finish().await.expect("finish");
        assert_eq!((std::fs::read(file.path()).expect("read"), file.size_bytes()), (b"one two".to_vec(), 7));
        let path = file.path().to_owned();
        drop(file);
        assert!(!path.exists());

        let unfinished = OutputWriter::create(&dir).await.expect("create");
        drop(unfinished);
        assert_eq!(std::fs::read_dir(&dir).expect("list").count(), 0);

        let left = OutputWriter::create(&dir).await.expect("create").finish().await.expect("finish");
        let path = left.path().to_owned();
        left.leave();
        drop(left);
        assert!(path.exists());
        let later = OutputFile::adopt(path.clone(), 0);
        drop(later);
        assert!(!path.exists());
    }
}
