use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use toolplane_sandbox::{ProcessEnd, Profile, SandboxBackend as _, SandboxError};

use crate::support::{run, sandbox, shell, stdout};

/// A workspace with a file that lives as long as a process in the sandbox holds a lock on it.
pub(crate) struct Lock {
    pub(crate) dir: tempfile::TempDir,
}

impl Lock {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("lock"), "").unwrap();
        Self { dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("lock")
    }

    pub(crate) fn free(&self) -> bool {
        let file = std::fs::File::open(self.path()).unwrap();
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    pub(crate) async fn becomes(&self, free: bool) {
        let bound = Instant::now() + Duration::from_secs(15);
        while self.free() != free {
            assert!(Instant::now() < bound, "the lock did not become {}", if free { "free" } else { "held" });
            toolplane_wait::look_again().await;
        }
    }
}

/// Starts a process that holds the lock, leaves its session, ignores signals, and then does `then`.
pub(crate) fn holding(then: &str) -> String {
    format!("exec 9<lock; flock 9; (trap '' TERM HUP INT; setsid nohup sleep 1000 >/dev/null 2>&1 &); {then}")
}

#[tokio::test]
async fn nothing_survives_the_end_of_the_tool() {
    for (then, ending) in [
        ("exit 0", ProcessEnd::Code(0)),
        ("sleep 1000 & exit 3", ProcessEnd::Code(3)),
        ("(kill -STOP $BASHPID) & exit 0", ProcessEnd::Code(0)),
        ("kill -KILL $$", ProcessEnd::Signal(9)),
    ] {
        let lock = Lock::new();
        let begin = Instant::now();
        let exit = run(shell(&holding(then)).with_profile(Profile::WorkspaceWrite, lock.dir.path())).await;
        assert_eq!(exit.ending, ending, "{then}");
        assert!(lock.free(), "{then}: something still holds the lock");
        assert!(begin.elapsed() < Duration::from_secs(10), "{then}: the pipe holder was waited for");
    }
}

#[tokio::test]
async fn a_stopped_or_deaf_tool_is_ended_on_cancel() {
    for then in ["sleep 1000", "kill -STOP $$", "trap '' TERM; while :; do sleep 1000; done"] {
        let lock = Lock::new();
        let mut spec = shell(&holding(then)).with_profile(Profile::WorkspaceWrite, lock.dir.path());
        spec.limits.grace = Duration::from_millis(200);
        let running = sandbox().spawn(spec, None).await.unwrap();
        lock.becomes(false).await;
        running.cancel();
        let exit = running.wait().await.unwrap();
        assert!(exit.canceled && !exit.timed_out, "{then}: {exit:?}");
        assert!(lock.free(), "{then}");
    }
}

#[tokio::test]
async fn a_tool_may_use_its_grace() {
    let spec = shell("trap 'echo tidy; exit 5' TERM; echo up; while :; do sleep 0.05; done");
    let running = sandbox().spawn(spec, None).await.unwrap();
    running.progress().wait_for(|progress| progress.stdout_lines == 1).await.unwrap();
    running.canceler().cancel();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.ending, stdout(&exit).as_str()), (ProcessEnd::Code(5), "up\ntidy\n"));
    assert!(exit.canceled);
}

#[tokio::test]
async fn dropping_a_run_kills_it() {
    let lock = Lock::new();
    let spec = shell(&holding("sleep 1000")).with_profile(Profile::WorkspaceWrite, lock.dir.path());
    let running = sandbox().spawn(spec, None).await.unwrap();
    lock.becomes(false).await;
    drop(running);
    lock.becomes(true).await;
}

#[tokio::test]
async fn many_at_once_do_not_disturb_each_other() {
    let runs = (0..12).map(|number| tokio::spawn(run(shell(&format!("echo {number}; sleep 0.1; exit {number}")))));
    for (number, run) in runs.collect::<Vec<_>>().into_iter().enumerate() {
        let exit = run.await.unwrap();
        assert_eq!((exit.ending, stdout(&exit)), (ProcessEnd::Code(number as i32), format!("{number}\n")));
    }
}

/// Not a test of its own: the worker that the next tests kill. It starts a run in the given workspace and stays.
#[tokio::test]
#[ignore = "started by other tests"]
async fn worker_to_be_killed() {
    let Some(workspace) = std::env::var_os("TOOLPLANE_TEST_WORKSPACE") else { return };
    let mut spec = shell(&holding("sleep 1000")).with_profile(Profile::WorkspaceWrite, workspace);
    spec.limits.wall = Duration::from_secs(100);
    let running = sandbox().spawn(spec, None).await.unwrap();
    let outcome = running.wait().await;
    std::process::exit(if matches!(outcome, Err(SandboxError::Lost { .. })) { 42 } else { 1 });
}

fn start_worker(workspace: &Path) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lifecycle::worker_to_be_killed", "--ignored", "--nocapture"])
        .env("TOOLPLANE_TEST_WORKSPACE", workspace)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn the_tree_dies_with_its_worker() {
    let lock = Lock::new();
    let mut worker = start_worker(lock.dir.path());
    lock.becomes(false).await;
    worker.kill().unwrap();
    worker.wait().unwrap();
    lock.becomes(true).await;
}

/// The only child of `pid`, found through the kernel's list of children.
fn only_child(pid: u32) -> Option<u32> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let text = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        children.extend(text.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()));
    }
    children.first().copied()
}

#[tokio::test]
async fn a_killed_launcher_takes_the_tree_along_and_is_no_exit_of_the_tool() {
    let lock = Lock::new();
    let mut worker = start_worker(lock.dir.path());
    lock.becomes(false).await;
    let launcher = only_child(worker.id()).expect("bubblewrap is the child of the worker");
    let launcher = rustix::process::Pid::from_raw(launcher as i32).unwrap();
    rustix::process::kill_process(launcher, rustix::process::Signal::KILL).unwrap();
    lock.becomes(true).await;
    assert_eq!(worker.wait().unwrap().code(), Some(42), "the run must end as lost");
}

#[tokio::test]
async fn a_plain_user_gets_the_same_sandbox() {
    if !rustix::process::geteuid().is_root() {
        return; // Then every other test here already runs as a plain user.
    }
    // The test program and the launcher, where another user can reach them.
    let place = tempfile::tempdir().unwrap();
    let test = std::env::current_exe().unwrap();
    let launcher = test.parent().and_then(Path::parent).unwrap().join("toolplane-sandbox-launcher");
    for (from, to) in [(test.as_path(), "tests"), (launcher.as_path(), "toolplane-sandbox-launcher")] {
        std::fs::copy(from, place.path().join(to)).unwrap();
    }
    let status = Command::new("chmod").args(["-R", "a+rX"]).arg(place.path()).status().unwrap();
    assert!(status.success());
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"])
        .arg(place.path().join("tests"))
        .args(["basics", "confinement", "limits", "posture", "nothing_survives", "the_tree_dies", "a_killed_launcher"])
        .current_dir("/")
        .env("TMPDIR", "/tmp")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
