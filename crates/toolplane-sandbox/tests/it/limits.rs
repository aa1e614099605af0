use std::time::{Duration, Instant};

use toolplane_sandbox::{Exit, LimitKind, ProcessEnd, Profile};

use crate::support::{run, sandbox, shell, stderr};

fn hit(exit: &Exit, limit: LimitKind) -> bool {
    exit.limits_hit.iter().any(|hit| hit.limit == limit)
}

#[tokio::test]
async fn wall_time_ends_the_tool_and_then_the_tree() {
    let mut spec = shell("while :; do :; done");
    spec.limits.wall = Duration::from_millis(300);
    let exit = run(spec).await;
    assert!(exit.timed_out && !exit.canceled);
    assert_eq!(exit.ending, ProcessEnd::Signal(libc::SIGTERM));

    let mut spec = shell("trap '' TERM INT HUP; echo ready; sleep 1000");
    spec.limits.wall = Duration::from_millis(300);
    spec.limits.grace = Duration::from_millis(200);
    let begin = Instant::now();
    let exit = run(spec).await;
    assert!(exit.timed_out && begin.elapsed() < Duration::from_secs(10));
    assert_eq!(exit.ending, ProcessEnd::Signal(libc::SIGKILL));
    assert_eq!(exit.stdout.kept(), b"ready\n");
}

#[tokio::test]
async fn output_is_kept_and_read_within_bounds() {
    let mut spec = shell("yes >&2 & yes");
    spec.limits.output_kept_bytes = 1000;
    spec.limits.output_max_bytes = 1_000_000;
    let exit = run(spec).await;
    assert!(exit.output_limit_hit && !exit.timed_out && !exit.canceled);
    for captured in [&exit.stdout, &exit.stderr] {
        assert!(captured.truncated && captured.kept().len() <= 1000);
        assert!(captured.total_bytes < 1_200_000, "{}", captured.total_bytes);
    }

    let mut spec = shell("seq 1 10000");
    spec.limits.output_kept_bytes = 100;
    let exit = run(spec).await;
    assert!(exit.success() && exit.stdout.truncated);
    assert!(exit.stdout.head.starts_with(b"1\n2\n") && exit.stdout.tail.ends_with(b"\n10000\n"));
    assert_eq!(exit.stdout.total_lines, 10_000);
}

#[tokio::test]
async fn processes_memory_files_and_space_are_bounded() {
    let mut spec = shell("for i in $(seq 60); do sleep 5 & done; wait");
    spec.limits.pids = 20;
    spec.limits.wall = Duration::from_secs(1);
    let exit = run(spec).await;
    assert!(stderr(&exit).contains("Resource temporarily unavailable"), "{}", stderr(&exit));
    assert_eq!(hit(&exit, LimitKind::Pids), sandbox().control_groups().bounds_pids());

    let mut spec = shell("/usr/bin/python3 -c 'x=bytearray(300_000_000); print(len(x))'");
    spec.limits.memory_bytes = 100_000_000;
    let exit = run(spec).await;
    assert!(!exit.success() && exit.stdout.total_bytes == 0);
    assert_eq!(hit(&exit, LimitKind::Memory), sandbox().control_groups().bounds_memory());

    let mut spec = shell("exec dd if=/dev/zero of=/tmp/f bs=1M count=100");
    spec.limits.file_bytes = 5_000_000;
    let exit = run(spec).await;
    assert_eq!(exit.ending, ProcessEnd::Signal(libc::SIGXFSZ));
    assert!(hit(&exit, LimitKind::FileSize));

    let mut spec = shell("dd if=/dev/zero of=/tmp/f bs=1M count=40");
    spec.limits.scratch_bytes = 8 << 20;
    let exit = run(spec).await;
    assert!(!exit.success() && hit(&exit, LimitKind::Scratch), "{exit:?}");
}

#[tokio::test]
async fn cpu_time_is_bounded() {
    let mut spec = shell("while :; do :; done");
    spec.limits.cpu_seconds = 1;
    let exit = run(spec).await;
    assert!(!exit.success() && !exit.timed_out);
    assert!(hit(&exit, LimitKind::Cpu), "{exit:?}");
    assert!(exit.resources.user_cpu_us > 500_000, "{:?}", exit.resources);
}

#[tokio::test]
async fn places_of_the_sandbox_itself_take_no_bytes() {
    let workspace = tempfile::tempdir().unwrap();
    let spec = shell("echo x > /x || echo x > /dev/x || echo x > /etc/x || echo x > /.toolplane/x || mkdir /home")
        .with_profile(Profile::WorkspaceWrite, workspace.path());
    let exit = run(spec).await;
    assert!(!exit.success());
    assert_eq!(stderr(&exit).matches("Read-only file system").count(), 5, "{}", stderr(&exit));
}
