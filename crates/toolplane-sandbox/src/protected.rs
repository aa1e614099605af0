//! Paths of a workspace that decide what other programs run there later: hooks, editor tasks, shell start-up files.
//!
//! A tool with a writable workspace still sees them read-only. Mounts cannot cover what does not exist yet, so the
//! workspace is looked through before and after a run (see [`crate::workspace`]), and what is new or was replaced is reported.
//!
//! Files that share their bytes with another name (hard links) are shown read-only too where that name is outside the
//! workspace or protected.

use rustix::fs::FileType;
use toolplane_records::workspace::{Protection, protection_of_name};

use crate::workspace::walk::{WalkEntry, shown};

/// Names that are protected directly beneath a `.git` directory.
const GIT_NAMES: &[&str] = &["hooks", "config", "config.worktree"];

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
pub struct ProtectedSnapshot {
    /// Paths with protected names, a directory before what is in it.
    pub paths: Vec<ProtectedPath>,
    /// Names of files that have a protected name as well, or one outside the workspace.
    pub linked: Vec<ProtectedPath>,
    /// `.git` directories, which are made mount points so that they cannot be renamed away.
    pub repositories: Vec<String>,
    /// The first path that had to be protected and is no text, so that it cannot be named in a message.
    unnamed: Option<String>,
}
/// Whether this name is one that no tool writes.
fn is_closed(name: &[u8]) -> bool {
    // Protected names are text.
    std::str::from_utf8(name).is_ok_and(|name| protection_of_name(name) == Some(Protection::Closed))
}

impl ProtectedSnapshot {
    /// Notes the entry if it is protected.
    pub(crate) fn visit(&mut self, found: &WalkEntry<'_>) {
        let name = found.name.to_bytes().to_ascii_lowercase();
        let git = name == b".git";
        let (above, parent) = parents(found.path);
        let in_git = parent.eq_ignore_ascii_case(b".git");
        let named = |names: &[&str]| names.iter().any(|known| known.as_bytes() == name);
        if !(git || is_closed(&name) || in_git && named(GIT_NAMES)) {
            return;
        }
        // What is below something protected is covered by it, and the inside of a repository is the repository's own.
        if above.split(|byte| *byte == b'/').any(is_closed)
            || (!in_git && is_closed(parent))
            || (in_git && !named(GIT_NAMES))
        {
            return;
        }
        let Ok(path) = std::str::from_utf8(found.path) else { return self.unnamed(found.path) };
        if git && found.kind() == FileType::Directory {
            return self.repositories.push(path.to_owned());
        }
        let (dev, ino) = found.id();
        let symlink = found.kind() == FileType::Symlink;
        self.paths.push(ProtectedPath { path: path.to_owned(), dev, ino, symlink });
    }

    /// Notes that `path` had to be protected and cannot be named.
    pub(crate) fn unnamed(&mut self, path: &[u8]) {
        self.unnamed.get_or_insert_with(|| shown(path));
    }

    /// All that tools are shown read-only.
    pub(crate) fn read_only(&self) -> impl Iterator<Item = &ProtectedPath> {
        self.paths.iter().chain(&self.linked)
    }

    /// Why this workspace cannot be given to a tool for writing, if it cannot.
    pub fn unprotectable(&self) -> Option<String> {
        if let Some(path) = &self.unnamed {
            return Some(format!("has the path `{path}`, which is no text and would have to be protected"));
        }
        if self.paths.len() + self.repositories.len() > MAX_PROTECTED {
            return Some(format!("has more than {MAX_PROTECTED} protected paths"));
        }
        if let Some(linked) = self.linked.first().filter(|_| self.linked.len() > MAX_PROTECTED) {
            return Some(format!(
                "has more than {MAX_PROTECTED} files that others share by a second name (hard links), `{}` among them; give \
                 it copies of its own",
                linked.path
            ));
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

/// The path of the directory above the one an entry is in, and the name of that one.
fn parents(path: &[u8]) -> (&[u8], &[u8]) {
    let split = |path: &[u8]| path.iter().rposition(|byte| *byte == b'/');
    let directory = split(path).map_or(&[][..], |at| &path[..at]);
    match split(directory) {
        Some(at) => (&directory[..at], &directory[at + 1..]),
        None => (&[], directory),
    }
}

#[cfg(test)]
mod tests;
