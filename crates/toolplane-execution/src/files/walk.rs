//! The way to a file or directory, one component at a time.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use toolplane_records::codes;
use toolplane_records::error::ToolError;

use super::dir::Dir;
use super::place::{linked, outside, refused};
use super::target::{FileTarget, refuse_protected, unwritable};
use crate::failure::{excerpt, execution_failed, invalid_input, nothing_done};

/// Most links on one way.
const MAX_LINKS: u32 = 40;
/// How often a component is looked at again that was replaced between two looks.
const MAX_LOOKS: u32 = 64;

/// Every directory on the way is held open, and no component is ever opened through a link: the link is read, and its
/// components are walked like the others. `..` goes back to the directory that is held. So whatever is renamed meanwhile,
/// the way stays beneath the workspace, and each name on it was checked.
///
/// A way that links turn aside is walked to its end only to say where that is: permission was decided about the path as it is
/// written, so nothing else is opened.
pub(super) struct PathWalk<'a> {
    /// The workspace, and the directories passed since, by name.
    passed: Vec<(OwnedFd, String)>,
    /// Components that are left, the next one last.
    waiting: Vec<String>,
    links: u32,
    given: &'a str,
    wanted: &'a str,
    purpose: Purpose,
}

/// What the way is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Something is read.
    Read,
    /// Something is written: nothing protected may be on the way.
    Write {
        /// Directories that are missing are made.
        make: bool,
    },
}

impl<'a> PathWalk<'a> {
    /// At the workspace, with all of `wanted` before it: the path `given`, as [`relative`](super::place::relative) reads it.
    pub(super) fn new(workspace: &Dir, wanted: &'a str, given: &'a str, purpose: Purpose) -> Result<Self, ToolError> {
        let root = open(workspace.as_fd(), ".").map_err(|error| refused(given, &error.into()))?;
        let waiting = wanted.split('/').rev().map(str::to_owned).collect();
        Ok(Self { passed: vec![(root, String::new())], waiting, links: 0, given, wanted, purpose })
    }

    /// To the end: the directory, and the name of something in it that was no link when it was looked at.
    pub(super) fn run(mut self) -> Result<FileTarget, ToolError> {
        while let Some(name) = self.waiting.pop() {
            match name.as_str() {
                "" | "." => {}
                ".." => self.back()?,
                _ => {
                    if self.purpose != Purpose::Read {
                        refuse_protected(&self.path_to(&name))?;
                    }
                    match self.link(&name)? {
                        Some(target) => self.follow(&target)?,
                        None if self.waiting.is_empty() => {
                            let found = self.path_to(&name);
                            if found != self.wanted {
                                return Err(linked(self.given, &found));
                            }
                            // The list is never empty: the workspace is not left.
                            let Some((directory, _)) = self.passed.pop() else { break };
                            return Ok(FileTarget { directory, name });
                        }
                        None => self.enter(name)?,
                    }
                }
            }
        }
        Err(invalid_input("path", "is a directory, not a file"))
    }

    fn here(&self) -> Result<BorrowedFd<'_>, ToolError> {
        self.passed.last().map(|(directory, _)| directory.as_fd()).ok_or_else(|| outside(self.given))
    }

    fn path_to(&self, name: &str) -> String {
        let passed = self.passed.iter().skip(1).map(|(_, name)| name.as_str());
        passed.chain(std::iter::once(name)).collect::<Vec<_>>().join("/")
    }

    fn back(&mut self) -> Result<(), ToolError> {
        if self.passed.len() < 2 {
            return Err(outside(self.given));
        }
        self.passed.pop();
        Ok(())
    }

    /// Where the link of this name leads; `None` for anything that is no link, or not there.
    fn link(&self, name: &str) -> Result<Option<String>, ToolError> {
        match rustix::fs::readlinkat(self.here()?, name, Vec::new()) {
            Ok(target) => {
                let target = target.into_string();
                target.map(Some).map_err(|_| invalid_input("path", "leads to a name that is not UTF-8"))
            }
            Err(Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(error) => Err(refused(self.given, &error.into())),
        }
    }

    fn follow(&mut self, target: &str) -> Result<(), ToolError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            let message = format!("`{}` goes through too many links", excerpt(self.given));
            return Err(nothing_done(execution_failed(codes::PATH_UNWRITABLE, message)));
        }
        if target.starts_with('/') {
            return Err(outside(self.given));
        }
        // It will be refused, so nothing is made on its way.
        if self.purpose != Purpose::Read {
            self.purpose = Purpose::Write { make: false };
        }
        self.waiting.extend(target.split('/').rev().map(str::to_owned));
        Ok(())
    }

    /// Goes into the directory of this name, or through the link that took its place meanwhile.
    fn enter(&mut self, name: String) -> Result<(), ToolError> {
        for _ in 0..MAX_LOOKS {
            match open(self.here()?, &name) {
                Ok(directory) => {
                    self.passed.push((directory, name));
                    return Ok(());
                }
                Err(Errno::NOENT) if self.purpose == (Purpose::Write { make: true }) => self.make(&name)?,
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    if let Some(target) = self.link(&name)? {
                        return self.follow(&target);
                    }
                    if self.blocks(&name)? {
                        return Err(refused(self.given, &Errno::NOTDIR.into()));
                    }
                }
                Err(error) => return Err(refused(self.given, &error.into())),
            }
        }
        let message = format!("another program keeps changing `{}`", excerpt(self.given));
        Err(nothing_done(execution_failed(codes::PATH_CHANGED, message)))
    }

    fn make(&self, name: &str) -> Result<(), ToolError> {
        match rustix::fs::mkdirat(self.here()?, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(unwritable(self.given, error)),
        }
    }

    /// Whether something is there that leads nowhere. A directory or a link took the place of the other: look again.
    fn blocks(&self, name: &str) -> Result<bool, ToolError> {
        let stat = rustix::fs::statat(self.here()?, name, AtFlags::SYMLINK_NOFOLLOW);
        let leads = |kind| matches!(kind, FileType::Directory | FileType::Symlink);
        Ok(stat.is_ok_and(|stat| !leads(FileType::from_raw_mode(stat.st_mode))))
    }
}

fn open(at: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}
