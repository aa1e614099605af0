//! Disks that are full before everything is copied: small ones of their own, in a namespace of their own.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::{StoredError, backup, check, config, filled, is_sound, payloads_of, restore, said};
use crate::Keeper;

/// Names the directory a small disk is mounted on; set for the inner half of the test alone.
const SMALL: &str = "TOOLPLANE_TEST_SMALL_DISK";
const INNER: &str = "stored::tests::full::on_a_small_disk";

#[test]
fn a_full_disk_is_said_and_nothing_is_left() {
    let small = TempDir::new().unwrap();
    let mut inner = Command::new("unshare");
    inner.args(["--user", "--map-root-user", "--mount"]).arg(std::env::current_exe().unwrap());
    inner.args(["--exact", INNER, "--ignored", "--nocapture"]).env(SMALL, small.path());
    let output = inner.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

#[tokio::test]
#[ignore = "run by the test above, where it may mount a disk"]
async fn on_a_small_disk() {
    let Some(small) = std::env::var_os(SMALL).map(PathBuf::from) else { return };
    let root = TempDir::new().unwrap();
    let from = filled(&root.path().join("from")).await;
    let whole = root.path().join("whole");
    let size = usize::try_from(backup(&from, &whole, payloads_of).unwrap().bytes).unwrap();
    let before = serde_json::to_value(check(&from, payloads_of).await.unwrap()).unwrap();
    // Full in the middle of the first file, and in the last.
    for room in [64 * 1024, size - 8 * 1024] {
        mount(&small, room);
        let copy = small.join("copy");
        check_full(backup(&from, &copy, payloads_of).map(drop), &small.join("copy.partial"));
        assert_eq!(names(&small), Vec::<String>::new(), "{room}");
        check_full(backup(&from, &small.join("new/copy"), payloads_of).map(drop), &small.join("new/copy.partial"));
        assert_eq!(names(&small), Vec::<String>::new(), "{room}: what was made on the way is removed too");
        let after = serde_json::to_value(check(&from, payloads_of).await.unwrap()).unwrap();
        assert_eq!((&after, &after["sound"]), (&before, &true.into()), "{room}: the stores are as they were");
        // What a killed attempt left behind hinders no later one.
        fs::create_dir_all(small.join("copy.partial/stores")).unwrap();
        grow(&small);
        backup(&from, &copy, payloads_of).unwrap();
        assert_eq!(names(&small), ["copy"], "{room}");
        unmount(&small);

        mount(&small, room);
        let to = config(&small.join("data"));
        check_full(restore(&to, &whole).map(drop), &to.server.data_dir);
        assert_eq!(names(&small), Vec::<String>::new(), "{room}: no directory is left that was not there");
        grow(&small);
        restore(&to, &whole).unwrap();
        assert!(is_sound(&to).await);
        assert!(said(&to.server.data_dir, Keeper::Permission.as_str()).await.starts_with("permission"));
        unmount(&small);
    }
}

fn check_full(answer: Result<(), StoredError>, below: &Path) {
    let error = answer.unwrap_err();
    let text = error.to_string();
    let StoredError::File { path, reason } = error else { panic!("{text}") };
    assert!(path.starts_with(below) && reason.kind() == ErrorKind::StorageFull, "{text}");
    assert!(text.contains(&path.display().to_string()) && text.contains("No space left"), "{text}");
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn mount(place: &Path, bytes: usize) {
    run("mount", &["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"], place);
}

fn grow(place: &Path) {
    run("mount", &["-o", "remount,size=256m"], place);
}

fn unmount(place: &Path) {
    run("umount", &[], place);
}

fn run(program: &str, arguments: &[&str], place: &Path) {
    let status = Command::new(program).args(arguments).arg(place).status().unwrap();
    assert!(status.success(), "{program} {arguments:?}");
}
