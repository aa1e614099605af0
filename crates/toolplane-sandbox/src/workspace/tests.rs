use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode};

use super::walk::{MAX_DEPTH, WalkOptions};
use super::{Quota, Usage, Visit, measure, tidy};
use crate::error::SandboxError;

const MIB: u64 = 1024 * 1024;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn program(path: &Path, mode: u32) {
    fs::write(path, "#!/bin/sh\n").unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[test]
fn rights_of_others_are_taken_off_whoever_left_them() {
    let root = tempfile::tempdir().unwrap();
    let workspace = root.path().join("workspace");
    let deep = workspace.join("a/.git/b");
    fs::create_dir_all(&deep).unwrap();
    for (path, mode) in [("one", 0o6755), ("a/.git/b/two", 0o4711), ("three", 0o2755), ("plain", 0o755)] {
        program(&workspace.join(path), mode);
    }
    // A second name in the workspace is no reason to leave it, one outside is: no file of another owner is changed.
    fs::hard_link(workspace.join("three"), workspace.join("four")).unwrap();
    program(&root.path().join("others"), 0o4755);
    fs::hard_link(root.path().join("others"), workspace.join("others")).unwrap();
    std::os::unix::fs::symlink(root.path().join("others"), workspace.join("link")).unwrap();
    let told = tidy(&workspace).unwrap().0.join("\n");
    for (path, expected) in
        [("one", 0o755), ("a/.git/b/two", 0o711), ("three", 0o755), ("plain", 0o755), ("others", 0o4755)]
    {
        assert_eq!(mode(&workspace.join(path)), expected, "{path}: {told}");
    }
    assert!(
        told.contains("off `a/.git/b/two`") && told.contains("left set-user-id or set-group-id on `others`"),
        "{told}"
    );
    assert!(!told.contains("link`"), "{told}");
    assert_eq!(tidy(&workspace).unwrap().0.len(), 1, "only what is left alone is told again");
}

#[test]
fn capabilities_are_taken_off() {
    if !rustix::process::geteuid().is_root() {
        return; // No other user can put them there.
    }
    let workspace = tempfile::tempdir().unwrap();
    let path = workspace.path().join("ping");
    program(&path, 0o755);
    // Version 2, CAP_NET_RAW permitted and effective.
    let value = [1, 0, 0, 2, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    rustix::fs::setxattr(&path, "security.capability", &value, rustix::fs::XattrFlags::empty()).unwrap();
    let (told, _) = tidy(workspace.path()).unwrap();
    assert_eq!(told, ["took capabilities off `ping`"]);
    assert!(rustix::fs::getxattr(&path, "security.capability", &mut [0_u8; 64]).is_err());
}

#[test]
fn what_was_not_there_before_is_removed_by_the_last_one_out() {
    let workspace = tempfile::tempdir().unwrap();
    let at = |name: &str| workspace.path().join(name);
    fs::create_dir(at("d")).unwrap();
    fifo(&at("before"));
    let first = Visit::begin(workspace.path(), Quota::default()).unwrap();
    fifo(&at("d/of-first"));
    let second = Visit::begin(workspace.path(), Quota::default()).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    assert_eq!(second.end().mended, Vec::<String>::new());
    assert!(at("d/of-first").exists() && at("socket").exists(), "the first run may still use them");
    let mut mended = first.end().mended;
    mended.sort();
    assert_eq!(mended, ["removed the FIFO `d/of-first`", "removed the socket `socket`"]);
    assert!(at("before").exists() && !at("socket").exists() && !at("d/of-first").exists());
}

#[test]
fn another_worker_that_is_inside_keeps_what_it_made() {
    let workspace = tempfile::tempdir().unwrap();
    // What another process holds, a second descriptor of this one holds as well.
    let other = fs::File::open(workspace.path()).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockShared).unwrap();
    let visit = Visit::begin(workspace.path(), Quota::default()).unwrap();
    fifo(&workspace.path().join("its"));
    assert_eq!(visit.end().mended, Vec::<String>::new());
    assert!(workspace.path().join("its").exists());
}

#[test]
fn usage_counts_what_is_on_disk_once() {
    let workspace = tempfile::tempdir().unwrap();
    let empty = measure(workspace.path(), 100).unwrap();
    assert_eq!(empty, Usage::default());
    fs::write(workspace.path().join("one"), vec![1; 1_000_000]).unwrap();
    fs::hard_link(workspace.path().join("one"), workspace.path().join("two")).unwrap();
    let sparse = fs::File::create(workspace.path().join("sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let usage = measure(workspace.path(), 100).unwrap();
    assert_eq!(usage.files, 2);
    assert!((1_000_000..1_100_000).contains(&usage.bytes), "{usage:?}");
    assert_eq!(measure(workspace.path(), 2).unwrap().files, 2, "names count when there are too many");
}

#[test]
fn a_full_workspace_is_refused_and_says_what_it_holds() {
    let workspace = tempfile::tempdir().unwrap();
    fs::write(workspace.path().join("large"), vec![1; 300_000]).unwrap();
    let begin = |quota| Visit::begin(workspace.path(), quota).map(drop);
    let quota = Quota::default();
    assert_eq!(begin(quota), Ok(()));
    let most = |bytes, files| Quota { most: Usage { bytes, files }, ..quota };
    for (quota, words) in [
        (most(200_000, 100), "bytes of at most 200000"),
        (most(MIB, 1), "1 files of at most 1"),
        (Quota { reserve_bytes: u64::MAX, ..quota }, "are free on its disk"),
    ] {
        match begin(quota) {
            Err(SandboxError::Full { rule }) => assert!(rule.contains(words), "{rule}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_cannot_be_looked_through_is_refused() {
    let workspace = tempfile::tempdir().unwrap();
    let deep = (0..MAX_DEPTH + 2).fold(workspace.path().to_owned(), |path, _| path.join("d"));
    fs::create_dir_all(&deep).unwrap();
    let error = Visit::begin(workspace.path(), Quota::default()).unwrap_err();
    assert!(error.to_string().contains("too deep"), "{error}");
    let cut = WalkOptions { most: 5, unlock: false }.run(workspace.path(), |_| {}).unwrap();
    assert!(cut.unwrap().contains("more than 5 entries"));
}
