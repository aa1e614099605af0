//! Taking back what no tool may leave.

use super::mode::{change_mode, magic};
use std::collections::HashSet;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::survey::{CAPABILITIES, Id, Item, LENDING, Lends, Survey};
use super::walk::{hold, shown};
use crate::quota::Usage;

/// Most lines that are told.
const MAX_TOLD: usize = 100;

/// Takes set-user-id and set-group-id bits and capabilities off the files in `workspace`, including those put there by
/// others; tells each for people, and what the workspace holds. For a worker that starts: an earlier one may have been
/// killed before it could.
///
/// Files with a name outside the workspace are left as they are, and told too. Returns an error when the directory cannot be read.
pub fn tidy(workspace: &Path) -> io::Result<(Vec<String>, Usage)> {
    let survey = Survey::take(workspace)?;
    let mut told = lending(workspace, &survey);
    told.extend(survey.unseen.iter().map(|unseen| format!("not all of it could be looked at: {unseen}")));
    Ok((told, survey.usage))
}

/// Takes off whatever lends rights.
pub(super) fn lending(workspace: &Path, survey: &Survey) -> Vec<String> {
    let Ok(root) = File::open(workspace) else { return Vec::new() };
    let each = survey.lending.iter().map(|(item, lends)| {
        let what = match lends {
            Lends::Mode => "set-user-id or set-group-id",
            Lends::Capabilities => "capabilities",
        };
        let path = shown(&item.path);
        if survey.is_shared(item.id) {
            return format!("left {what} on `{path}`, which has a name outside the workspace too");
        }
        match take_off(root.as_fd(), item, *lends) {
            Ok(()) => format!("took {what} off `{path}`"),
            Err(error) => format!("could not take {what} off `{path}`: {error}"),
        }
    });
    each.take(MAX_TOLD).collect()
}

/// Removes FIFOs, sockets and devices that were not there `before`.
pub(super) fn special(workspace: &Path, survey: &Survey, before: &HashSet<Id>) -> Vec<String> {
    let Ok(root) = File::open(workspace) else { return Vec::new() };
    let new = survey.special.iter().filter(|(item, _)| !before.contains(&item.id));
    let each = new.map(|(item, kind)| {
        let (what, path) = (name_of(*kind), shown(&item.path));
        match remove(root.as_fd(), item) {
            Ok(()) => format!("removed the {what} `{path}`"),
            Err(error) => format!("could not remove the {what} `{path}`: {error}"),
        }
    });
    each.take(MAX_TOLD).collect()
}

fn name_of(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "FIFO",
        FileType::Socket => "socket",
        _ => "device",
    }
}

fn take_off(root: BorrowedFd<'_>, item: &Item, lends: Lends) -> Result<(), Errno> {
    let (directory, name) = parent(root, item)?;
    let held = hold(directory.as_fd(), &name, item.id)?;
    match lends {
        Lends::Mode => change_mode(&held, rustix::fs::fstat(&held)?.st_mode & !LENDING),
        Lends::Capabilities => rustix::fs::removexattr(magic(&held), CAPABILITIES),
    }
}

fn remove(root: BorrowedFd<'_>, item: &Item) -> Result<(), Errno> {
    let (directory, name) = parent(root, item)?;
    hold(directory.as_fd(), &name, item.id)?;
    rustix::fs::unlinkat(&directory, &name, AtFlags::empty())
}

/// The directory an item is in and its name there, by a way that has no link on it and does not leave the workspace.
fn parent(root: BorrowedFd<'_>, item: &Item) -> Result<(OwnedFd, CString), Errno> {
    let path = Path::new(OsStr::from_bytes(&item.path));
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let directory = rustix::fs::openat2(root, directory, flags, Mode::empty(), resolve)?;
    Ok((directory, CString::new(name.as_bytes()).map_err(|_| Errno::INVAL)?))
}
