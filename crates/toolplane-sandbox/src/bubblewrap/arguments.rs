//! What bubblewrap is told: namespaces, and a file system laid out from nothing.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::SandboxError;
use crate::inside::{CREDENTIALS, SCRATCH, WORKSPACE};
use crate::private::PrivateFiles;
use crate::protected::ProtectedSnapshot;
use crate::spec::{Masks, SandboxSpec, WorkspaceAccess};
use crate::wire::{INNER_LAUNCHER, PART_INNER, PRIVATE_FILE_FD};

/// User and group number of the tool, as it sees itself.
const TOOL_ID: &str = "1000";

/// Top-level directories that are links into `/usr` on merged systems and directories elsewhere.
const SYSTEM_DIRS: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// What the loader, installed alternatives and local time need; no accounts, no host names, no keys.
const ETC: &[&str] =
    &["/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"];

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// Files of `/proc` that tell about the whole machine.
const MASKED: &[&str] = &["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/kmsg"];

/// Where the outer stage will find things on the host.
pub(super) struct Sources<'a> {
    pub(super) launcher: &'a Path,
    pub(super) workspace: Option<&'a Path>,
    /// As many as the specification names, in its order.
    pub(super) read_only: Vec<PathBuf>,
}

struct Arguments(Vec<String>);

impl Arguments {
    fn add<const N: usize>(&mut self, words: [&str; N]) {
        self.0.extend(words.map(str::to_owned));
    }

    fn bind(&mut self, option: &str, source: &Path, target: &str) -> Result<(), SandboxError> {
        let source =
            source.to_str().ok_or_else(|| SandboxError::invalid("workspace", "has a path that is not valid UTF-8"))?;
        self.add([option, source, target]);
        Ok(())
    }
}

/// All arguments, ending with the inner launcher.
pub(super) fn build(
    spec: &SandboxSpec,
    sources: &Sources<'_>,
    protected: &ProtectedSnapshot,
) -> Result<Vec<String>, SandboxError> {
    let mut arguments = Arguments(Vec::new());
    arguments.add(["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc"]);
    arguments.add(["--unshare-uts", "--unshare-cgroup", "--new-session", "--as-pid-1", "--clearenv"]);
    arguments.add(["--uid", TOOL_ID, "--gid", TOOL_ID, "--hostname", "sandbox", "--cap-drop", "ALL"]);
    system(&mut arguments)?;
    kernel(&mut arguments, spec.limits.scratch_bytes);
    for (source, path) in sources.read_only.iter().zip(&spec.read_only_paths) {
        arguments.bind("--ro-bind", source, &path.to_string_lossy())?;
    }
    arguments.bind("--ro-bind", sources.launcher, INNER_LAUNCHER)?;
    private_files(&mut arguments, &spec.private_files);
    if let (Some(mount), Some(source)) = (&spec.workspace, sources.workspace) {
        workspace(&mut arguments, source, mount.access, protected, &spec.masks)?;
    }
    // Last: nothing can be laid out any more, and nothing can be written beside what was meant to be writable.
    arguments.add(["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]);
    arguments.add(["--", INNER_LAUNCHER, PART_INNER]);
    Ok(arguments.0)
}

fn system(arguments: &mut Arguments) -> Result<(), SandboxError> {
    arguments.add(["--ro-bind", "/usr", "/usr"]);
    for dir in SYSTEM_DIRS {
        match fs::symlink_metadata(dir) {
            Ok(meta) if meta.is_symlink() => {
                let target = fs::read_link(dir).map_err(|error| SandboxError::setup("layout", &error))?;
                arguments.add(["--symlink", &target.to_string_lossy(), dir]);
            }
            Ok(meta) if meta.is_dir() => arguments.add(["--ro-bind", dir, dir]),
            _ => {}
        }
    }
    arguments.add(["--dir", "/etc"]);
    for path in ETC {
        arguments.add(["--ro-bind-try", path, path]);
    }
    Ok(())
}

fn kernel(arguments: &mut Arguments, scratch_bytes: u64) {
    let size = scratch_bytes.max(4096).to_string();
    arguments.add(["--proc", "/proc"]);
    for path in MASKED.iter().filter(|path| Path::new(path).exists()) {
        arguments.add(["--ro-bind", "/dev/null", path]);
    }
    arguments.add(["--size", "65536", "--tmpfs", "/dev"]);
    for device in DEVICES {
        let path = format!("/dev/{device}");
        arguments.add(["--dev-bind", &path, &path]);
    }
    for (name, target) in [("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")] {
        arguments.add(["--symlink", target, &format!("/dev/{name}")]);
    }
    for scratch in ["/dev/shm", SCRATCH] {
        arguments.add(["--perms", "1777", "--size", &size, "--tmpfs", scratch]);
    }
}

/// A file system of their own, which takes nothing more once they are in it.
fn private_files(arguments: &mut Arguments, files: &PrivateFiles) {
    if files.is_empty() {
        return;
    }
    arguments.add(["--perms", "0700", "--size", &files.room().to_string(), "--tmpfs", CREDENTIALS]);
    for ((place, _), number) in files.placed().zip(PRIVATE_FILE_FD..) {
        arguments.add(["--perms", "0400", "--file", &number.to_string(), &place]);
    }
    arguments.add(["--remount-ro", CREDENTIALS]);
}

fn workspace(
    arguments: &mut Arguments,
    source: &Path,
    access: WorkspaceAccess,
    protected: &ProtectedSnapshot,
    masks: &Masks,
) -> Result<(), SandboxError> {
    if access == WorkspaceAccess::ReadOnly {
        arguments.bind("--ro-bind", source, WORKSPACE)?;
        return hide(arguments, masks);
    }
    arguments.bind("--bind", source, WORKSPACE)?;
    // What is kept from this run must not be moved to where it is not kept from the next.
    for directory in masks.above().into_iter().filter(|directory| !masks.hides(directory)) {
        arguments.bind("--bind", &source.join(directory), &inside(directory))?;
    }
    // A mount point cannot be renamed: `.git` with its protected parts stays where it is.
    for repository in &protected.repositories {
        arguments.bind("--bind", &source.join(repository), &inside(repository))?;
    }
    for path in protected.read_only() {
        arguments.bind("--ro-bind", &source.join(&path.path), &inside(&path.path))?;
    }
    for mask in masks.read_only.iter().filter(|mask| !masks.hides(&mask.path)) {
        arguments.bind("--ro-bind", &source.join(&mask.path), &inside(&mask.path))?;
    }
    hide(arguments, masks)
}

/// Last, so that nothing is laid out over it: a directory that no process may enter, a device that none may open.
fn hide(arguments: &mut Arguments, masks: &Masks) -> Result<(), SandboxError> {
    for mask in &masks.hidden {
        let place = inside(&mask.path);
        if mask.directory {
            arguments.add(["--perms", "0000", "--size", "4096", "--tmpfs", &place, "--remount-ro", &place]);
        } else {
            arguments.bind("--ro-bind", Path::new("/dev/null"), &place)?;
        }
    }
    Ok(())
}

/// A path of the workspace as the tool sees it.
pub(super) fn inside(path: &str) -> String {
    format!("{WORKSPACE}/{path}")
}
