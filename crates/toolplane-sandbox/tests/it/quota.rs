//! How much a tool may write.

use std::time::Duration;

use toolplane_sandbox::{
    Exit, LimitKind, ProcessEnd, Profile, Quota, SandboxBackend as _, SandboxError, SandboxSpec, Usage,
};

use crate::support::{run, sandbox, shell, stderr};

const MIB: u64 = 1024 * 1024;

fn within(spec: SandboxSpec, workspace: &std::path::Path, quota: Quota) -> SandboxSpec {
    let mut spec = spec.with_profile(Profile::WorkspaceWrite, workspace);
    spec.limits.wall = Duration::from_secs(60);
    spec.workspace.as_mut().unwrap().quota = quota;
    spec
}

fn hit(exit: &Exit) -> Option<LimitKind> {
    exit.limits_hit.first().map(|hit| hit.limit)
}

#[tokio::test]
async fn a_tool_that_writes_too_much_is_ended() {
    let growth = Usage { bytes: 20 * MIB, files: 100 };
    for (command, limit) in [
        ("while :; do head -c 4000000 /dev/zero > f$RANDOM; done", LimitKind::WorkspaceBytes),
        ("i=0; while :; do : > f$((i++)); done", LimitKind::WorkspaceFiles),
        ("i=0; while :; do mkdir -p d$((i++))/e; done", LimitKind::WorkspaceFiles),
    ] {
        let workspace = tempfile::tempdir().unwrap();
        let exit = run(within(shell(command), workspace.path(), Quota { growth, ..Quota::default() })).await;
        assert_eq!((exit.ending, hit(&exit)), (ProcessEnd::Signal(libc::SIGKILL), Some(limit)), "{command}: {exit:?}");
        assert!(!exit.timed_out && !exit.canceled);
        let held = exit.workspace_usage.unwrap();
        assert!(held.bytes > growth.bytes || held.files > growth.files, "{held:?}");
        // The next one does not even start.
        let most = Usage { bytes: 20 * MIB, files: 100 };
        let spec = within(shell("true"), workspace.path(), Quota { most, ..Quota::default() });
        let error = sandbox().spawn(spec, None).await.unwrap_err();
        assert!(matches!(&error, SandboxError::Full { .. }), "{error:?}");
    }
}

/// A disk of its own in memory, so that what other tests write and remove at the same time does not count.
struct Disk(tempfile::TempDir);

impl Disk {
    fn of(bytes: u64) -> Self {
        let at = tempfile::tempdir().unwrap();
        rustix::mount::mount(
            "tmpfs",
            at.path(),
            "tmpfs",
            rustix::mount::MountFlags::empty(),
            Some(std::ffi::CString::new(format!("size={bytes}")).unwrap().as_c_str()),
        )
        .unwrap();
        Self(at)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = rustix::mount::unmount(self.0.path(), rustix::mount::UnmountFlags::DETACH);
    }
}

#[tokio::test]
async fn the_disk_keeps_its_reserve() {
    // Only root can mount.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let disk = Disk::of(64 * MIB);
    let workspace = disk.0.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    // Files that are gone and still open are in no directory.
    let command = "exec 7>gone; rm gone; while :; do head -c 8000000 /dev/zero >&7; sleep 0.01; done";
    let quota = Quota { reserve_bytes: 40 * MIB, ..Quota::default() };
    let exit = run(within(shell(command), &workspace, quota)).await;
    assert_eq!(hit(&exit), Some(LimitKind::DiskFree), "{exit:?} {}", stderr(&exit));
}

#[tokio::test]
async fn space_cannot_be_taken_without_writing() {
    let workspace = tempfile::tempdir().unwrap();
    let code = "import os; f=os.open(\"f\", os.O_CREAT|os.O_RDWR); os.ftruncate(f, 60_000_000)\n\
        import ctypes; print(ctypes.CDLL(None).fallocate(f, 0, 0, ctypes.c_long(60_000_000)))";
    let spec = within(shell(&format!("/usr/bin/python3 -c '{code}'")), workspace.path(), Quota::default());
    let exit = run(spec).await;
    assert_eq!(crate::support::stdout(&exit), "-1\n", "{}", stderr(&exit));
    assert!(exit.workspace_usage.unwrap().bytes < MIB);
}

#[tokio::test]
async fn what_fits_is_not_disturbed() {
    let workspace = tempfile::tempdir().unwrap();
    let growth = Usage { bytes: 20 * MIB, files: 100 };
    let command = "head -c 5000000 /dev/zero > f; for i in $(seq 50); do echo $i > f$i; done; sleep 0.5; rm f*";
    let exit = run(within(shell(command), workspace.path(), Quota { growth, ..Quota::default() })).await;
    assert!(exit.success() && exit.limits_hit.is_empty(), "{exit:?} {}", stderr(&exit));
    assert_eq!(exit.workspace_usage, Some(Usage::default()));
}
