//! Going through a directory tree that others write to: no link is followed, and everything is bounded.

use std::ffi::CStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Deepest directory that is looked into. Each level holds one descriptor.
pub(crate) const MAX_DEPTH: usize = 64;
/// Most entries of one look.
pub(crate) const MAX_ENTRIES: u64 = 2_000_000;

/// One entry.
pub(crate) struct WalkEntry<'a> {
    /// The directory it is in, open.
    pub(crate) directory: BorrowedFd<'a>,
    /// Its name there.
    pub(crate) name: &'a CStr,
    /// Its path beneath the root. Not always UTF-8.
    pub(crate) path: &'a [u8],
    /// What it is; of a link, the link itself.
    pub(crate) stat: &'a Stat,
}

impl WalkEntry<'_> {
    pub(crate) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    /// Device and inode.
    pub(crate) fn id(&self) -> (u64, u64) {
        (self.stat.st_dev, self.stat.st_ino)
    }
}

/// How a walk goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkOptions {
    /// Most entries looked at.
    pub(crate) most: u64,
    /// A directory its owner has locked is still opened where this user is the owner: nothing can be hidden in it.
    pub(crate) unlock: bool,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self { most: MAX_ENTRIES, unlock: false }
    }
}

struct Level {
    dir: Dir,
    /// Length of the path of this directory.
    path: usize,
}

impl WalkOptions {
    /// Shows every entry beneath `root` to `visit`, a directory before what is in it. Returns what could not be looked at, for
    /// people: more entries than allowed, more levels, or a directory that cannot be read. Entries that go away meanwhile are
    /// passed over.
    ///
    /// Fails only when `root` itself cannot be read.
    pub(crate) fn run(self, root: &Path, mut visit: impl FnMut(&WalkEntry<'_>)) -> io::Result<Option<String>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
        let mut levels = vec![Level { dir: Dir::new(root)?, path: 0 }];
        let (mut path, mut entries, mut unseen) = (Vec::new(), 0, None);
        loop {
            let depth = levels.len();
            let Some(level) = levels.last_mut() else { return Ok(unseen) };
            let entry = match level.dir.next() {
                Some(Ok(entry)) => entry,
                Some(Err(_)) | None => {
                    levels.pop();
                    continue;
                }
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            entries += 1;
            if entries > self.most {
                return Ok(Some(format!("it has more than {} entries", self.most)));
            }
            path.truncate(level.path);
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name.to_bytes());
            let directory = level.dir.fd()?;
            let Ok(stat) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let found = WalkEntry { directory, name, path: &path, stat: &stat };
            visit(&found);
            if found.kind() != FileType::Directory {
                continue;
            }
            if depth >= MAX_DEPTH {
                unseen.get_or_insert_with(|| format!("`{}` is too deep", shown(&path)));
                continue;
            }
            match self.enter(&found) {
                Ok(dir) => levels.push(Level { dir: Dir::new(dir)?, path: path.len() }),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                Err(error) => {
                    unseen.get_or_insert_with(|| format!("`{}` cannot be read: {error}", shown(&path)));
                }
            }
        }
    }

    fn enter(self, found: &WalkEntry<'_>) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let open = || rustix::fs::openat(found.directory, found.name, flags, Mode::empty());
        match open() {
            Err(Errno::ACCESS) if self.unlock && found.stat.st_uid == rustix::process::geteuid().as_raw() => {
                let held = hold(found.directory, found.name, found.id())?;
                super::mode::change_mode(&held, found.stat.st_mode | 0o700)?;
                open()
            }
            opened => opened,
        }
    }
}

/// Holds the entry `name` open without reading it, if it is still the one with this identity. Links are not followed.
pub(crate) fn hold(directory: BorrowedFd<'_>, name: &CStr, id: (u64, u64)) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = rustix::fs::openat(directory, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&held)?;
    if (stat.st_dev, stat.st_ino) == id { Ok(held) } else { Err(Errno::NOENT) }
}

/// A path for people.
pub(crate) fn shown(path: &[u8]) -> String {
    crate::excerpt::excerpt(&String::from_utf8_lossy(path))
}
