//! For a root worker: the launcher, the workspace and further paths that can be read, placed where the sandbox's own user can reach
//! them, whatever directories they lie in.
//!
//! In a mount namespace of its own, they are put on an empty `/tmp`. What else can be read keeps its owners and modes. The workspace is mounted with translated owners:
//! what belongs to the workspace's owner on disk belongs to the sandbox's user in there, and what the tool makes
//! belongs to the workspace's owner on disk. No file changes its owner for a call.

use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::{fs, io};

use rustix::fs::CWD;
use rustix::mount::{MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags};

use super::stage::StageFailure;
use super::sys::{self, Fork};
use crate::wire::{self, OuterPlan, STAGED_LAUNCHER, STAGED_WORKSPACE};

pub(super) fn prepare(plan: &OuterPlan, slot: u32) -> Result<(), StageFailure> {
    sys::unshare(libc::CLONE_NEWNS).map_err(StageFailure::at("staging"))?;
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    rustix::mount::mount_change("/", private).map_err(StageFailure::at("staging"))?;
    // All are taken before `/tmp` is covered, since they may lie there.
    let launcher = detached(&plan.launcher, false).map_err(StageFailure::at("staging"))?;
    let workspace = plan.workspace.as_deref().map(|path| translated(path, slot)).transpose()?;
    let read_only = plan.read_only.iter().map(|path| readable(path)).collect::<Result<Vec<_>, _>>()?;
    rustix::mount::mount("tmpfs", "/tmp", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(c"mode=0755,size=64k"))
        .map_err(StageFailure::at("staging"))?;
    fs::write(STAGED_LAUNCHER, "").map_err(StageFailure::at("staging"))?;
    attach(&launcher, STAGED_LAUNCHER)?;
    if let Some(workspace) = workspace {
        fs::create_dir(STAGED_WORKSPACE).map_err(StageFailure::at("staging"))?;
        attach(&workspace, STAGED_WORKSPACE)?;
    }
    for (index, (directory, mount)) in read_only.into_iter().enumerate() {
        let place = wire::staged_read_only(index);
        let made = if directory { fs::create_dir(&place) } else { fs::write(&place, "") };
        made.map_err(StageFailure::at("staging"))?;
        attach(&mount, &place)?;
    }
    Ok(())
}

/// A path that can be read, with what is mounted below it, and whether it is a directory.
fn readable(path: &Path) -> Result<(bool, OwnedFd), StageFailure> {
    let failed = |error: io::Error| StageFailure {
        stage: "read_only_paths",
        errno: error.raw_os_error(),
        detail: format!("`{}` cannot be read: {error}", path.display()),
    };
    let directory = fs::metadata(path).map_err(failed)?.is_dir();
    Ok((directory, detached(path, true).map_err(|error| failed(error.into()))?))
}

fn detached(path: &Path, recursive: bool) -> rustix::io::Result<OwnedFd> {
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    if recursive {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    rustix::mount::open_tree(CWD, path, flags)
}

fn attach(mount: &OwnedFd, target: impl AsRef<Path>) -> Result<(), StageFailure> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    rustix::mount::move_mount(mount, "", CWD, target.as_ref(), flags).map_err(StageFailure::at("staging"))
}

/// The workspace with its owner shown as the user `slot`. Mounts below it are left out.
fn translated(path: &Path, slot: u32) -> Result<OwnedFd, StageFailure> {
    let explain = |error: io::Error| StageFailure {
        stage: "workspace",
        errno: error.raw_os_error(),
        detail: format!(
            "owners of the workspace cannot be translated ({error}); run the worker as a plain user, or keep workspaces \
             on ext4, xfs, btrfs or tmpfs"
        ),
    };
    let owner = fs::metadata(path).map_err(StageFailure::at("workspace"))?;
    let mount = detached(path, false).map_err(StageFailure::at("workspace"))?;
    let map = owner_map(owner.uid(), owner.gid(), slot)?;
    sys::map_owners(mount.as_fd(), map.as_fd()).map_err(explain)?;
    Ok(mount)
}

/// A user namespace that exists only to carry the translation.
fn owner_map(uid: u32, gid: u32, slot: u32) -> Result<OwnedFd, StageFailure> {
    let failed = StageFailure::at("workspace");
    let (ours, theirs) = sys::message_pair().map_err(&failed)?;
    match sys::fork().map_err(&failed)? {
        Fork::Child => {
            drop(ours);
            let made = sys::unshare(libc::CLONE_NEWUSER).map_or_else(|error| error.raw_os_error().unwrap_or(0), |()| 0);
            let _ = sys::send_message(theirs.as_fd(), &made.to_le_bytes(), None);
            // Stays until the other side has its hold on the namespace.
            let _ = sys::receive_message(theirs.as_fd(), 4);
            std::process::exit(0);
        }
        Fork::Parent(pid) => {
            drop(theirs);
            let (answer, _) = sys::receive_message(ours.as_fd(), 4).map_err(&failed)?;
            let errno = answer.first_chunk().map_or(libc::EPIPE, |bytes| i32::from_le_bytes(*bytes));
            if errno != 0 {
                return Err(no_user_namespaces(&io::Error::from_raw_os_error(errno)));
            }
            let namespace = mapped(pid, uid, gid, slot).map_err(&failed)?;
            drop(ours);
            // Bubblewrap takes this process's place and must not find a child it does not know.
            while !matches!(sys::reap(), Ok(Some(_)) | Err(_)) {
                std::thread::yield_now();
            }
            Ok(namespace)
        }
    }
}

fn mapped(pid: i32, uid: u32, gid: u32, slot: u32) -> io::Result<OwnedFd> {
    fs::write(format!("/proc/{pid}/uid_map"), format!("{uid} {slot} 1"))?;
    fs::write(format!("/proc/{pid}/gid_map"), format!("{gid} {slot} 1"))?;
    Ok(fs::File::open(format!("/proc/{pid}/ns/user"))?.into())
}

/// The machine lets no process make user namespaces, or no more of them: nothing about the workspace is wrong.
fn no_user_namespaces(error: &io::Error) -> StageFailure {
    let hint = match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EUSERS) => {
            "their number is bound: see `sysctl user.max_user_namespaces`, which must not be 0"
        }
        Some(libc::EPERM | libc::EACCES) => {
            "something forbids them: a container's seccomp profile, AppArmor, or `sysctl kernel.unprivileged_userns_clone`"
        }
        _ => "the kernel may be built without them",
    };
    let detail = format!("user namespaces cannot be made ({error}); {hint}");
    StageFailure { stage: "namespaces", errno: error.raw_os_error(), detail }
}
