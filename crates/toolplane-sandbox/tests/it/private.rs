//! Files that a run has for itself.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

use toolplane_sandbox::{PrivateFiles, Profile, SandboxBackend as _, SandboxError, SandboxSpec, StreamRates};

use crate::sessions::ask;
use crate::support::{run, sandbox, shell, stderr, stdout};

const KEY: &str = "the-content-of-a-private-file";

fn files(name: &str, content: &[u8]) -> PrivateFiles {
    let mut files = PrivateFiles::default();
    files.insert(name, content);
    files
}

fn with(mut spec: SandboxSpec, name: &str, content: &[u8]) -> SandboxSpec {
    spec.private_files = files(name, content);
    spec
}

/// Whether a file at `place`, or beneath it, that was changed since then holds the content. Other file systems are not looked at.
fn holds(place: &Path, device: u64, since: SystemTime) -> bool {
    let Ok(meta) = std::fs::symlink_metadata(place) else { return false };
    if meta.dev() != device || meta.is_symlink() || meta.modified().is_ok_and(|at| at < since) {
        return false;
    }
    match std::fs::read_dir(place) {
        Ok(entries) => entries.flatten().any(|entry| holds(&entry.path(), device, since)),
        Err(_) => std::fs::read(place).is_ok_and(|bytes| bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes())),
    }
}

#[tokio::test]
async fn a_run_reads_its_files_and_cannot_change_them() {
    let all: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let command = "cd \"$CREDENTIALS_DIRECTORY\" && pwd && stat -c '%a %u %n' . * && id -u && cat key.pem && \
        sha256sum all.bin | cut -c 1-16; touch x 2>&1; chmod 644 key.pem 2>&1; rm -f key.pem 2>&1; echo x 2>/dev/null >> key.pem \
        || echo kept; ls";
    let mut spec = with(shell(command), "key.pem", format!("{KEY}\n").as_bytes());
    spec.private_files.insert("all.bin", all);
    let exit = run(spec).await;
    let said = stdout(&exit);
    let lines: Vec<_> = said.lines().collect();
    let expected = ["/run/credentials", "700 1000 .", "400 1000 all.bin", "400 1000 key.pem", "1000", KEY];
    assert_eq!(lines[..6], expected, "{said}{}", stderr(&exit));
    assert_eq!(lines.iter().filter(|line| line.contains("Read-only file system")).count(), 3, "{said}");
    assert_eq!(lines[lines.len() - 3..], ["kept", "all.bin", "key.pem"], "{said}");
    assert!(exit.success(), "{exit:?}");

    // A run without any has no directory, and is told of none.
    let exit = run(shell("ls /run/credentials; echo \"[$CREDENTIALS_DIRECTORY]\"")).await;
    assert_eq!(stdout(&exit), "[]\n");
}

/// While a program has its file, no file of the host holds it, and its workspace neither; a run beside it does not see it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_on_the_host_holds_them() {
    let (started, workspace) = (SystemTime::now(), tempfile::tempdir().unwrap());
    let echo =
        "while read -r line; do if [ \"$line\" = key ]; then cat /run/credentials/key; else echo \"$line\"; fi; done";
    let spec = SandboxSpec::server(["bash", "-c", echo]).with_profile(Profile::WorkspaceWrite, workspace.path());
    let spec = with(spec, "key", format!("{KEY}\n").as_bytes());
    assert!(!format!("{spec:?}").contains(KEY));
    let mut session = sandbox().open(spec, StreamRates::default()).await.unwrap();
    assert_eq!(ask(&mut session, "key").await, KEY);
    for place in ["/tmp", "/run", "/dev/shm", "/var/tmp", &workspace.path().display().to_string()] {
        for entry in std::fs::read_dir(place).unwrap().flatten() {
            assert!(!holds(&entry.path(), std::fs::metadata(place).unwrap().dev(), started), "{:?}", entry.path());
        }
    }
    let beside = run(shell("cat /run/credentials/key /proc/*/root/run/credentials/key 2>/dev/null | wc -c")).await;
    assert_eq!(stdout(&beside), "0\n");
    assert!(session.close().await.unwrap().success());
}

#[tokio::test]
async fn what_is_no_plain_file_is_refused() {
    let many = |count: usize, bytes: usize| {
        let mut files = PrivateFiles::default();
        (0..count).for_each(|index| files.insert(format!("f{index}"), vec![b'x'; bytes]));
        files
    };
    for wrong in [
        files("../key", b"x"),
        files(".key", b"x"),
        files("", b"x"),
        files("a b", b"x"),
        files(&"x".repeat(129), b"x"),
        many(65, 1),
        many(2, 300 * 1024),
    ] {
        let mut spec = shell("true");
        spec.private_files = wrong;
        let refused = sandbox().spawn(spec, None).await.unwrap_err();
        assert!(matches!(&refused, SandboxError::Invalid { field, .. } if *field == "private_files"), "{refused:?}");
    }
    // As many and as much as there may be.
    let mut spec = shell("ls /run/credentials | wc -l; cat /run/credentials/* | wc -c");
    spec.private_files = many(64, 8 * 1024);
    assert_eq!(stdout(&run(spec).await), "64\n524288\n");
}
