use std::collections::BTreeSet;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::sync::{Arc, Mutex};

use toolplane_sandbox::{OutputStream, ProcessEnd, Profile, SandboxBackend as _, SandboxError, SandboxSpec};

use crate::support::{run, run_in, sandbox, shell, stderr, stdout};

#[tokio::test]
async fn runs_a_tool_and_tells_its_end_and_output() {
    let exit = run(shell("echo out; echo err >&2; exit 7")).await;
    assert_eq!((exit.ending, stdout(&exit).as_str(), stderr(&exit).as_str()), (ProcessEnd::Code(7), "out\n", "err\n"));
    assert_eq!((exit.stdout.total_bytes, exit.stdout.total_lines), (4, 1));
    assert!(!exit.success() && !exit.timed_out && !exit.canceled && !exit.output_limit_hit);
    assert!(exit.violations.is_empty() && exit.limits_hit.is_empty(), "{exit:?}");
    assert!(run(shell("true")).await.success());
    assert_eq!(run(shell("kill -9 $$")).await.ending, ProcessEnd::Signal(9));
}

#[tokio::test]
async fn arguments_and_environment_arrive_exactly() {
    let mut spec = SandboxSpec::new(["printf", "%s|", "a b", "", "$HOME `id` * 😀\n"]);
    assert_eq!(stdout(&run(spec.clone()).await), "a b||$HOME `id` * 😀\n|");
    spec.argv = vec!["env".into()];
    spec.env.insert("MY_VALUE".into(), "x=y z".into());
    let text = stdout(&run(spec.clone()).await);
    let lines: BTreeSet<_> = text.lines().collect();
    for line in ["MY_VALUE=x=y z", "HOME=/tmp", "TERM=dumb", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"] {
        assert!(lines.contains(line), "{line} in {text}");
    }
    assert!(!text.contains("CARGO"), "{text}");
}

#[tokio::test]
async fn standard_input_is_what_was_given_or_nothing() {
    let mut spec = SandboxSpec::new(["sha256sum"]);
    spec.stdin = Some(vec![b'x'; 3_000_000]);
    let digest = "bfeab0fbc23dc2efc7e4bd7b65a1cc3ee4bda4cd2c1dc9a6cdb1d1d6bdb8ea3d".len();
    let large = stdout(&run(spec.clone()).await);
    assert_eq!(large.split(' ').next().unwrap().len(), digest);
    spec.argv = vec!["wc".into(), "-c".into()];
    assert_eq!(stdout(&run(spec.clone()).await), "3000000\n");
    spec.stdin = None;
    assert_eq!(stdout(&run(spec).await), "0\n");
}

#[tokio::test]
async fn a_workspace_is_writable_only_if_asked_for() {
    let workspace = tempfile::tempdir().unwrap();
    std::fs::set_permissions(workspace.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    std::fs::write(workspace.path().join("in.txt"), "hello").unwrap();
    let exit = run_in(workspace.path(), Profile::WorkspaceWrite, "cat in.txt > out.txt && mkdir d && pwd").await;
    assert_eq!((exit.ending, stdout(&exit).as_str()), (ProcessEnd::Code(0), "/workspace\n"), "{}", stderr(&exit));
    assert_eq!(std::fs::read_to_string(workspace.path().join("out.txt")).unwrap(), "hello");
    let (owner, made) =
        (std::fs::metadata(workspace.path()).unwrap(), std::fs::metadata(workspace.path().join("out.txt")).unwrap());
    assert_eq!((made.uid(), made.gid()), (owner.uid(), owner.gid()), "what a tool makes belongs to the owner");

    let exit = run_in(workspace.path(), Profile::WorkspaceReadOnly, "cat in.txt; rm in.txt; echo x > new").await;
    assert_eq!(stdout(&exit), "hello");
    assert!(stderr(&exit).contains("Read-only file system"), "{}", stderr(&exit));
    assert!(workspace.path().join("in.txt").exists() && !workspace.path().join("new").exists());

    let exit =
        run_in(workspace.path(), Profile::ComputeOnly, "ls -d /workspace; pwd; echo x > scratch && cat scratch").await;
    assert_eq!(stdout(&exit), "/tmp\nx\n");
}

#[tokio::test]
async fn scratch_is_new_for_every_run() {
    assert!(run(shell("echo secret > /tmp/left; echo secret > /dev/shm/left")).await.success());
    assert_eq!(stdout(&run(shell("ls -A /tmp /dev/shm")).await), "/dev/shm:\n\n/tmp:\n");
}

#[tokio::test]
async fn output_is_streamed_and_progress_counted() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tap = {
        let seen = Arc::clone(&seen);
        Box::new(move |stream: OutputStream, chunk: &[u8]| seen.lock().unwrap().push((stream, chunk.to_vec())))
    };
    let running = sandbox().spawn(shell("echo one; read -t 0.3 x <> <(:); echo two >&2"), Some(tap)).await.unwrap();
    let mut progress = running.progress();
    progress.wait_for(|progress| progress.stdout_lines == 1).await.unwrap();
    let exit = running.wait().await.unwrap();
    let seen = seen.lock().unwrap();
    let joined = |stream| seen.iter().filter(|(s, _)| *s == stream).flat_map(|(_, c)| c.clone()).collect::<Vec<u8>>();
    assert_eq!(joined(OutputStream::Stdout), b"one\n");
    assert_eq!(joined(OutputStream::Stderr), exit.stderr.kept());
    assert!(exit.stderr.kept().ends_with(b"two\n"));
}

#[tokio::test]
async fn a_program_that_cannot_run_is_a_setup_failure() {
    let cases = [("no-such-program", libc::ENOENT), ("/etc", libc::EACCES), ("/workspace/x", libc::ENOENT)];
    for (program, errno) in cases {
        let error = sandbox().spawn(SandboxSpec::new([program]), None).await.unwrap_err();
        assert!(
            matches!(&error, SandboxError::SetupFailed { stage, errno: found, .. } if stage == "exec" && *found == Some(errno)),
            "{program}: {error:?}"
        );
    }
    let mut spec = shell("true");
    spec.cwd = Some("/nowhere".into());
    let error = sandbox().spawn(spec, None).await.unwrap_err();
    assert!(matches!(&error, SandboxError::SetupFailed { stage, .. } if stage == "cwd"), "{error:?}");
}

#[tokio::test]
async fn an_exit_code_of_the_tool_is_never_a_failure_of_the_sandbox() {
    for code in [1, 124, 125, 126, 127, 137, 255] {
        assert_eq!(run(shell(&format!("exit {code}"))).await.ending, ProcessEnd::Code(code));
    }
}

#[tokio::test]
async fn further_directories_can_be_read() {
    let tools = tempfile::Builder::new().prefix("toolplane-tools-").tempdir_in("/var/tmp").unwrap();
    std::fs::set_permissions(tools.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let tool = tools.path().join("tool");
    std::fs::write(&tool, "#!/bin/sh\necho from the tool\n").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut spec = SandboxSpec::new([tool.to_str().unwrap()]);
    spec.read_only_paths = vec![tools.path().into()];
    assert_eq!(stdout(&run(spec.clone()).await), "from the tool\n");
    // What an operator names can be read wherever it lies; what lies beside it is not there.
    std::fs::write(tools.path().join("beside"), "").unwrap();
    std::fs::set_permissions(tools.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    spec.read_only_paths = vec![tool];
    assert_eq!(stdout(&run(spec.clone()).await), "from the tool\n");
    spec.argv = vec!["ls".into(), tools.path().to_str().unwrap().into()];
    assert_eq!(stdout(&run(spec).await), "tool\n");
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let mut spec = shell("true");
    spec.read_only_paths = vec!["/nowhere/at/all".into()];
    let error = sandbox().spawn(spec, None).await.unwrap_err();
    assert!(
        matches!(&error, SandboxError::SetupFailed { detail, .. } if detail.contains("/nowhere/at/all")),
        "{error:?}"
    );
}
