//! A directory that is held open, and what is in it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

/// A directory that is held open: it stays the same one, whatever is renamed. What is in it is opened by one name, never through
/// a link.
#[derive(Debug)]
pub(crate) struct Dir(OwnedFd);

/// Something in a directory, as it was when it was listed.
#[derive(Debug)]
pub(crate) struct DirEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

impl Dir {
    /// The directory at a path of this machine; links on the way are followed.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// An open directory.
    pub(super) fn from_fd(directory: OwnedFd) -> Self {
        Self(directory)
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    /// What is in it, in no order. An entry that is gone before its kind is known is left out.
    pub(crate) fn entries(&self) -> io::Result<impl Iterator<Item = DirEntry> + '_> {
        // A listing of its own: another one of the same directory does not move it.
        let listing = rustix::fs::Dir::read_from(&self.0)?;
        Ok(listing.flatten().filter_map(|entry| {
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            let kind = match entry.file_type() {
                _ if name == "." || name == ".." => return None,
                // Some file systems do not say.
                FileType::Unknown => FileType::from_raw_mode(self.stat(&name).ok()?.st_mode),
                kind => kind,
            };
            Some(DirEntry { name, kind })
        }))
    }

    /// What is known of the entry itself, also when it is a link.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<rustix::fs::Stat> {
        Ok(rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// The directory of this name.
    pub(crate) fn dir(&self, name: &OsStr) -> io::Result<Self> {
        self.open(name, OFlags::DIRECTORY).map(Self)
    }

    /// What has this name, opened for reading without ever waiting for it.
    pub(crate) fn file(&self, name: &OsStr) -> io::Result<File> {
        self.open(name, OFlags::NONBLOCK).map(File::from)
    }

    fn open(&self, name: &OsStr, how: OFlags) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | how;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::empty())?)
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_opened_by_their_name_and_never_through_a_link() {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("inside"), root.path().join("outside"));
        std::fs::create_dir_all(inside.join("below")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("secret"), "secret").unwrap();
        std::fs::write(inside.join("file"), "text").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("way")).unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), inside.join("link")).unwrap();
        let dir = Dir::at(&inside).unwrap();
        let mut found: Vec<_> = dir.entries().unwrap().map(|entry| (entry.name, entry.kind)).collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let kind = |name: &str, kind| (OsString::from(name), kind);
        assert_eq!(
            found,
            [
                kind("below", FileType::Directory),
                kind("file", FileType::RegularFile),
                kind("link", FileType::Symlink),
                kind("way", FileType::Symlink)
            ]
        );
        assert!(dir.dir(OsStr::new("below")).is_ok() && dir.file(OsStr::new("file")).is_ok());
        assert!(dir.dir(OsStr::new("way")).is_err() && dir.file(OsStr::new("link")).is_err());
        std::fs::rename(&inside, root.path().join("moved")).unwrap();
        assert!(dir.file(OsStr::new("file")).is_ok(), "a directory that is held stays the same one");
    }
}
