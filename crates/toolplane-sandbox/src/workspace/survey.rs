//! One look through a workspace: what it holds, what is protected in it, and what must not stay.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

use rustix::fs::FileType;

use super::walk::{WalkEntry, WalkOptions};
use crate::protected::{ProtectedPath, ProtectedSnapshot};
use crate::quota::Usage;

/// Device and inode of a file.
pub(crate) type Id = (u64, u64);

/// Set-user-id and set-group-id.
pub(super) const LENDING: u32 = 0o6000;
/// Most entries of one kind that are remembered: what is beyond is found by the next look.
const MAX_REMEMBERED: usize = 10_000;
/// The kernel counts blocks in these units, whatever the file system does.
const BLOCK: u64 = 512;

/// A way a file lends rights to the process that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lends {
    /// By its mode.
    Mode,
    /// By capabilities in its attributes.
    Capabilities,
}

/// Something that was found and may have to go.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) path: Vec<u8>,
    pub(super) id: Id,
}

/// A file with several names.
#[derive(Debug)]
struct Links {
    /// Names it has anywhere.
    all: u64,
    /// Names that were found here.
    here: Vec<Vec<u8>>,
}

/// What one look found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) usage: Usage,
    pub(crate) protected: ProtectedSnapshot,
    /// What could not be looked at, for people.
    pub(crate) unseen: Option<String>,
    pub(super) lending: Vec<(Item, Lends)>,
    /// FIFOs, sockets and devices.
    pub(super) special: Vec<(Item, FileType)>,
    links: HashMap<Id, Links>,
}

impl Survey {
    /// Looks through `workspace`.
    pub(crate) fn take(workspace: &Path) -> io::Result<Self> {
        let mut survey = Self::default();
        let walk = WalkOptions { unlock: true, ..WalkOptions::default() };
        survey.unseen = walk.run(workspace, |found| survey.visit(found))?;
        survey.protect_linked();
        Ok(survey)
    }

    fn visit(&mut self, found: &WalkEntry<'_>) {
        let first = self.note_links(found);
        if first {
            count(&mut self.usage, found);
        }
        self.protected.visit(found);
        match found.kind() {
            FileType::RegularFile => self.note_lending(found),
            FileType::Directory | FileType::Symlink => {}
            kind if self.special.len() < MAX_REMEMBERED => self.special.push((item(found), kind)),
            _ => {}
        }
    }

    /// Whether this is the first name of the file that was found.
    fn note_links(&mut self, found: &WalkEntry<'_>) -> bool {
        if found.stat.st_nlink < 2 || found.kind() == FileType::Directory {
            return true;
        }
        let links = self.links.entry(found.id()).or_insert_with(|| Links { all: 0, here: Vec::new() });
        links.all = found.stat.st_nlink;
        links.here.push(found.path.to_vec());
        links.here.len() == 1
    }

    fn note_lending(&mut self, found: &WalkEntry<'_>) {
        if self.lending.len() >= MAX_REMEMBERED {
            return;
        }
        if found.stat.st_mode & LENDING != 0 {
            self.lending.push((item(found), Lends::Mode));
        }
        if found.stat.st_mode & 0o111 != 0 && has_capabilities(found) {
            self.lending.push((item(found), Lends::Capabilities));
        }
    }

    /// Whether the file also has a name that was not found here.
    pub(super) fn is_shared(&self, id: Id) -> bool {
        self.links.get(&id).is_some_and(|links| links.all > links.here.len() as u64)
    }

    /// Protects by every name a file that has a name outside (others rely on it) or a protected one (it would be changed by
    /// the other).
    fn protect_linked(&mut self) {
        let by_id: BTreeMap<Id, Vec<u8>> =
            self.protected.paths.iter().map(|path| ((path.dev, path.ino), path.path.clone().into_bytes())).collect();
        let mut shared = Vec::new();
        for (id, links) in &self.links {
            if !by_id.contains_key(id) && links.all <= links.here.len() as u64 {
                continue;
            }
            let others = links.here.iter().filter(|path| by_id.get(id) != Some(path));
            shared.extend(others.map(|path| (*id, path.clone())));
        }
        shared.sort_by(|(_, left), (_, right)| left.cmp(right));
        for ((dev, ino), path) in shared {
            match String::from_utf8(path) {
                Ok(path) => self.protected.linked.push(ProtectedPath { path, dev, ino, symlink: false }),
                Err(path) => self.protected.unnamed(path.as_bytes()),
            }
        }
    }
}

/// How much `directory` holds. Looks at no more than `most` entries: where there are more, they count as so many files, also
/// if some of them are names of the same one.
///
/// Returns an error when the directory cannot be read.
pub fn measure(directory: &Path, most: u64) -> io::Result<Usage> {
    let mut usage = Usage::default();
    let (mut entries, mut several) = (0, HashSet::new());
    let walk = WalkOptions { most, unlock: false };
    walk.run(directory, |found| {
        entries += 1;
        if found.stat.st_nlink < 2 || found.kind() == FileType::Directory || several.insert(found.id()) {
            count(&mut usage, found);
        }
    })?;
    let files = if entries >= most { entries } else { usage.files };
    Ok(Usage { files, ..usage })
}

fn count(usage: &mut Usage, found: &WalkEntry<'_>) {
    usage.files += 1;
    usage.bytes += u64::try_from(found.stat.st_blocks).unwrap_or(0) * BLOCK;
}

fn item(found: &WalkEntry<'_>) -> Item {
    Item { path: found.path.to_vec(), id: found.id() }
}

fn has_capabilities(found: &WalkEntry<'_>) -> bool {
    let mut path = format!("/proc/self/fd/{}/", found.directory.as_raw_fd()).into_bytes();
    path.extend_from_slice(found.name.to_bytes());
    rustix::fs::lgetxattr(path.as_slice(), CAPABILITIES, &mut [0_u8; 64]).is_ok()
}

/// The attribute that holds the capabilities of a program.
pub(super) const CAPABILITIES: &str = "security.capability";
