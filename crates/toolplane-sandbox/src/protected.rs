//! Paths of a workspace that decide what other programs run there later: hooks, editor tasks, shell start-up files.
//!
//! A tool with a writable workspace still sees them read-only. Mounts cannot cover what does not exist yet, so the
//! workspace is looked through before and after a run, and what is new or was replaced is reported.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

/// Names that are protected wherever they are.
const NAMES: &[&str] = &[
    ".gitmodules",
    ".mcp.json",
    ".envrc",
    ".vscode",
    ".idea",
    ".toolplane",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
    ".npmrc",
    ".pypirc",
];
/// Names that are protected directly beneath a `.git` directory.
const GIT_NAMES: &[&str] = &["hooks", "config", "config.worktree"];

/// The protected part of `path`, if it leads to one: a protected name, or `.git` and whatever is beneath it.
///
/// For tools that write files themselves. `path` is relative to the workspace and read as it stands: no `..`, no links. A
/// sandboxed program may still change most of `.git`, because `git` has to; a tool that writes single files never does.
pub fn protects(path: &str) -> Option<&str> {
    let mut end = 0;
    for component in path.split('/') {
        end += component.len();
        let name = component.to_ascii_lowercase();
        if name == ".git" || NAMES.contains(&name.as_str()) {
            return path.get(..end);
        }
        end += 1;
    }
    None
}

/// Bounds of one look through a workspace.
const MAX_ENTRIES: usize = 50_000;
const MAX_DEPTH: usize = 16;
/// Most protected paths of one workspace.
const MAX_PROTECTED: usize = 256;

/// One protected path, with its identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedPath {
    /// Relative to the workspace.
    pub path: String,
    /// Device of the file.
    pub dev: u64,
    /// Inode of the file.
    pub ino: u64,
    /// It is a symbolic link, which cannot be protected.
    pub symlink: bool,
}

/// The protected paths of a workspace at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Protected paths, breadth first.
    pub paths: Vec<ProtectedPath>,
    /// `.git` directories, which are made mount points so that they cannot be renamed away.
    pub repositories: Vec<String>,
    /// The workspace was larger than one look through it may take.
    pub partial: bool,
}

impl Snapshot {
    /// Looks through `workspace` without ever following a symbolic link. Stops after 50,000 entries or 16 levels.
    pub fn take(workspace: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::open(workspace, flags, Mode::empty())?;
        let mut snapshot = Self::default();
        let mut entries = 0;
        let mut waiting = VecDeque::from([(root, String::new(), 0)]);
        while let Some((directory, path, depth)) = waiting.pop_front() {
            for (child, name) in snapshot.visit(&directory, &path, &mut entries)? {
                if depth + 1 >= MAX_DEPTH {
                    snapshot.partial = true;
                } else {
                    waiting.push_back((child, name, depth + 1));
                }
            }
            if snapshot.partial && entries >= MAX_ENTRIES {
                break;
            }
        }
        Ok(snapshot)
    }

    /// Notes the protected entries of one directory and returns its plain subdirectories.
    fn visit(&mut self, directory: &OwnedFd, path: &str, entries: &mut usize) -> io::Result<Vec<(OwnedFd, String)>> {
        let in_git = path.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        let mut below = Vec::new();
        for entry in Dir::read_from(directory)? {
            let Ok(entry) = entry else { break };
            // A protected name is ASCII; anything else can only matter as a directory to look into.
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            *entries += 1;
            if *entries >= MAX_ENTRIES {
                self.partial = true;
                break;
            }
            let child = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let kind = self.classify(directory.as_fd(), name, &child, in_git, entry.file_type());
            if kind == FileType::Directory
                && let Some(open) = open_below(directory, name)
            {
                below.push((open, child));
            }
        }
        Ok(below)
    }

    /// Notes the entry if it is protected; returns its type if it is to be looked into, else some other type.
    fn classify(
        &mut self,
        directory: rustix::fd::BorrowedFd<'_>,
        name: &str,
        path: &str,
        in_git: bool,
        kind: FileType,
    ) -> FileType {
        let lower = name.to_ascii_lowercase();
        let git = lower == ".git";
        let protected = NAMES.contains(&lower.as_str()) || (in_git && GIT_NAMES.contains(&lower.as_str())) || git;
        if !protected && kind != FileType::Unknown {
            return if in_git { FileType::RegularFile } else { kind };
        }
        let Ok(stat) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return FileType::RegularFile;
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if git && kind == FileType::Directory {
            self.repositories.push(path.to_owned());
            return kind;
        }
        if !protected {
            return if in_git { FileType::RegularFile } else { kind };
        }
        let symlink = kind == FileType::Symlink;
        self.paths.push(ProtectedPath { path: path.to_owned(), dev: stat.st_dev, ino: stat.st_ino, symlink });
        FileType::RegularFile
    }

    /// Why this workspace cannot be given to a tool for writing, if it cannot.
    pub fn unprotectable(&self) -> Option<String> {
        if self.paths.len() + self.repositories.len() > MAX_PROTECTED {
            return Some(format!("has more than {MAX_PROTECTED} protected paths"));
        }
        let link = self.paths.iter().find(|path| path.symlink)?;
        Some(format!("has the protected path `{}` as a symbolic link, which cannot be protected", link.path))
    }

    /// Protected paths of `self` that `before` did not have, or had as another file. At most 100.
    pub fn new_since(&self, before: &Self) -> Vec<String> {
        let known = |path: &&ProtectedPath| !before.paths.contains(path);
        self.paths.iter().filter(known).map(|path| path.path.clone()).take(100).collect()
    }
}

fn open_below(directory: &OwnedFd, name: &str) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat(directory, name, flags, Mode::empty()).ok()
}

#[cfg(test)]
mod tests;
