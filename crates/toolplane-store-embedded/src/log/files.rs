//! The files a log is kept in: what the log asks of them, and the real ones.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The segments of a log, each named by the number of its first record.
pub(crate) trait LogDirectory: Send {
    /// The segments there are, in no particular order.
    fn list(&self) -> io::Result<Vec<u64>>;
    /// Opens a segment, creating an empty one when missing.
    fn open(&self, first_lsn: u64) -> io::Result<Box<dyn LogFile>>;
    /// Gives a segment another name.
    fn rename(&self, from: u64, to: u64) -> io::Result<()>;
    /// Takes a segment away.
    fn remove(&self, first_lsn: u64) -> io::Result<()>;
    /// Makes names that were created, changed or removed durable.
    fn flush(&self) -> io::Result<()>;
}

/// One segment.
pub(crate) trait LogFile: Send {
    /// How long it is, in bytes.
    fn len(&self) -> io::Result<u64>;
    /// All of it.
    fn read(&self) -> io::Result<Vec<u8>>;
    /// Writes at `offset`; a file that was shorter becomes as long as needed.
    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Makes everything written durable.
    fn flush(&self) -> io::Result<()>;
}

const PREFIX: &str = "log-";

/// A directory of the system's. Holds other files too.
pub(crate) struct RealDirectory(pub(crate) PathBuf);

impl RealDirectory {
    fn path(&self, first_lsn: u64) -> PathBuf {
        self.0.join(format!("{PREFIX}{first_lsn:016x}"))
    }
}

impl LogDirectory for RealDirectory {
    fn list(&self) -> io::Result<Vec<u64>> {
        let names: io::Result<Vec<_>> = fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect();
        Ok(names?.iter().filter_map(|name| name.to_str().and_then(first_lsn)).collect())
    }

    fn open(&self, first_lsn: u64) -> io::Result<Box<dyn LogFile>> {
        let path = self.path(first_lsn);
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        Ok(Box::new(RealFile(opened.map_err(|error| named(&path, error))?)))
    }

    fn rename(&self, from: u64, to: u64) -> io::Result<()> {
        let from = self.path(from);
        fs::rename(&from, self.path(to)).map_err(|error| named(&from, error))
    }

    fn remove(&self, first_lsn: u64) -> io::Result<()> {
        let path = self.path(first_lsn);
        fs::remove_file(&path).map_err(|error| named(&path, error))
    }

    fn flush(&self) -> io::Result<()> {
        File::open(&self.0).and_then(|directory| directory.sync_all()).map_err(|error| named(&self.0, error))
    }
}

/// Whether a file of this name is a segment.
pub(crate) fn is_segment(name: &str) -> bool {
    first_lsn(name).is_some()
}

fn first_lsn(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX).filter(|digits| digits.len() == 16)?;
    u64::from_str_radix(digits, 16).ok()
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

struct RealFile(File);

impl LogFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.0.metadata()?.len()).unwrap_or(usize::MAX)];
        self.0.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn flush(&self) -> io::Result<()> {
        self.0.sync_data()?;
        // What is flushed into a file that has no name any more is lost with this process.
        match self.0.metadata()?.nlink() {
            0 => Err(io::Error::new(io::ErrorKind::NotFound, "the log's file was removed while it was in use")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::first_lsn;

    #[test]
    fn only_segments_have_names_of_segments() {
        for (name, expected) in [
            ("log-0000000000000001", Some(1)),
            ("log-00000000000000ff", Some(255)),
            ("log-ff", None),
            ("log-000000000000000g", None),
            ("log.redb", None),
            ("state.redb", None),
        ] {
            assert_eq!(first_lsn(name), expected, "{name}");
        }
    }
}
