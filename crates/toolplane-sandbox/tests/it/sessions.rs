//! Runs that stay open and talk.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use toolplane_sandbox::{
    Exit, LimitKind, OutputStream, ProcessEnd, Profile, Rate, RunLimits, SandboxBackend as _, SandboxError,
    SandboxSpec, Session, StreamRates,
};

use crate::lifecycle::{Lock, holding};
use crate::support::{sandbox, shell, stderr};

pub(crate) fn talking(mut spec: SandboxSpec) -> SandboxSpec {
    spec.limits = RunLimits { grace: Duration::from_secs(1), ..RunLimits::session() };
    spec
}

pub(crate) async fn open(spec: SandboxSpec) -> Session {
    sandbox().open(talking(spec), StreamRates::default()).await.expect("the sandbox stands")
}

fn hit(exit: &Exit, limit: LimitKind) -> bool {
    exit.limits_hit.iter().any(|hit| hit.limit == limit)
}

/// One line there and one line back.
pub(crate) async fn ask(session: &mut Session, line: &str) -> String {
    session.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while answer.last() != Some(&b'\n') {
        answer.push(session.output.read_u8().await.expect("the program answers"));
    }
    String::from_utf8(answer).unwrap().trim_end().to_owned()
}

#[tokio::test]
async fn a_session_talks_and_ends_with_its_input() {
    let mut session = open(SandboxSpec::new(["cat"])).await;
    for line in ["one", "two", "three"] {
        assert_eq!(ask(&mut session, line).await, line);
    }
    assert_eq!((session.input.bytes(), session.output.bytes()), (14, 14));
    let exit = session.close().await.unwrap();
    assert!(exit.success() && !exit.canceled && exit.violations.is_empty(), "{exit:?}");
    assert_eq!((exit.stdout.total_bytes, exit.stdout.kept().len()), (14, 0));
}

#[tokio::test]
async fn what_cannot_be_opened_is_an_error_and_no_session() {
    let mut spec = talking(SandboxSpec::new(["cat"]));
    spec.stdin = Some(b"x".to_vec());
    let error = sandbox().open(spec, StreamRates::default()).await.unwrap_err();
    assert!(matches!(error, SandboxError::Invalid { field: "stdin", .. }), "{error:?}");
    let spec = talking(SandboxSpec::new(["no-such-program"]));
    let error = sandbox().open(spec, StreamRates::default()).await.unwrap_err();
    assert!(matches!(&error, SandboxError::SetupFailed { stage, .. } if stage == "exec"), "{error:?}");
}

#[tokio::test]
async fn the_streams_can_be_opened_by_name() {
    let mut session =
        open(shell("read line < /dev/stdin; echo \"got $line\" > /dev/stdout; echo said > /dev/stderr")).await;
    assert_eq!(ask(&mut session, "it").await, "got it");
    assert_eq!(stderr(&session.wait().await.unwrap()), "said\n");
}

#[tokio::test]
async fn much_goes_both_ways_and_a_slow_reader_holds_the_program_up() {
    const MUCH: usize = 40 << 20;
    let Session { mut input, mut output, running } = open(SandboxSpec::new(["cat"])).await;
    // Nobody reads: what goes in is what the pipes and `cat` hold.
    let chunk: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    let stopped = tokio::time::timeout(Duration::from_millis(300), input.write_all(&chunk)).await;
    assert!(stopped.is_err() && input.bytes() < 1 << 20, "{} bytes went into pipes", input.bytes());
    let writer = tokio::spawn(async move {
        while input.bytes() < MUCH as u64 {
            let at = input.bytes() as usize;
            let end = (at % 256 + MUCH - at).min(chunk.len());
            input.write_all(&chunk[at % 256..end]).await.unwrap();
        }
    });
    let (mut read, mut buffer) = (0, vec![0; 1 << 20]);
    loop {
        let length = output.read(&mut buffer).await.unwrap();
        assert!(buffer[..length].iter().enumerate().all(|(at, byte)| *byte == ((read + at) % 256) as u8));
        read += length;
        if length == 0 {
            break;
        }
    }
    writer.await.unwrap();
    assert_eq!(read, MUCH);
    assert!(running.wait().await.unwrap().success());
}

#[tokio::test]
async fn the_death_of_the_program_is_seen_at_once() {
    let begin = Instant::now();
    let Session { mut input, mut output, running } =
        open(shell("echo last; (trap '' TERM HUP; setsid sleep 1000 &) & read line; kill -KILL $$")).await;
    input.write_all(b"die\n").await.unwrap();
    let mut said = String::new();
    output.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "last\n", "the end of the stream comes after all that was written");
    assert_eq!(running.wait().await.unwrap().ending, ProcessEnd::Signal(9));
    assert_eq!(input.write(b"x").await.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    assert!(begin.elapsed() < Duration::from_secs(5));
}

/// A session whose tree holds the lock, with a process that has left its process group and ignores signals.
async fn holder(lock: &Lock) -> Session {
    let session =
        open(shell(&holding("echo up; exec cat")).with_profile(Profile::WorkspaceWrite, lock.dir.path())).await;
    lock.becomes(false).await;
    session
}

#[tokio::test]
async fn nothing_outlives_a_session_however_it_ends() {
    let lock = Lock::new();
    drop(holder(&lock).await);
    lock.becomes(true).await;

    let session = holder(&lock).await;
    assert!(session.close().await.unwrap().success());
    assert!(lock.free());

    let Session { input, output, running } = holder(&lock).await;
    running.killer().kill();
    assert!(matches!(running.wait().await, Err(SandboxError::Lost { .. })));
    lock.becomes(true).await;
    drop((input, output));

    let Session { input, output, running } = holder(&lock).await;
    drop(running);
    lock.becomes(true).await;
    drop((input, output));

    let session = holder(&lock).await;
    session.running.cancel();
    let exit = session.wait().await.unwrap();
    assert!(exit.canceled && lock.free(), "{exit:?}");
}

#[tokio::test]
async fn a_program_that_does_not_end_with_its_input_is_told_and_then_killed() {
    for (then, ending) in [("sleep 1000", ProcessEnd::Signal(15)), ("trap '' TERM; sleep 1000", ProcessEnd::Signal(9))]
    {
        let mut session = open(shell(&format!("trap '' HUP; echo up; {then}; sleep 1000"))).await;
        assert_eq!(session.output.read_u8().await.unwrap(), b'u');
        let exit = session.close().await.unwrap();
        assert_eq!((exit.ending, exit.canceled, exit.timed_out), (ending, false, false), "{then}");
    }
}

#[tokio::test]
async fn a_worker_that_stops_leaves_no_session() {
    let lock = Lock::new();
    let path = lock.dir.path().to_owned();
    let spec = talking(shell(&holding("exec cat")).with_profile(Profile::WorkspaceWrite, path));
    let worker = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let session = runtime.block_on(sandbox().open(spec, StreamRates::default())).unwrap();
        (runtime, session)
    });
    let (runtime, session) = worker.join().unwrap();
    lock.becomes(false).await;
    // Its tasks are gone with it; nobody is told anything.
    runtime.shutdown_background();
    lock.becomes(true).await;
    drop(session);
}

#[tokio::test]
async fn bounds_hold_for_as_long_as_it_stays_open() {
    let mut spec = talking(SandboxSpec::new(["cat"]));
    spec.limits.wall = Duration::from_millis(300);
    let exit = sandbox().open(spec, StreamRates::default()).await.unwrap().wait().await.unwrap();
    assert!(exit.timed_out && exit.ending == ProcessEnd::Signal(15), "{exit:?}");

    let mut spec = talking(shell("/usr/bin/python3 -c 'x=bytearray(300_000_000); print(len(x))'"));
    spec.limits.memory_bytes = 100_000_000;
    let exit = sandbox().open(spec, StreamRates::default()).await.unwrap().wait().await.unwrap();
    assert!(!exit.success());
    assert_eq!(hit(&exit, LimitKind::Memory), sandbox().control_groups().bounds_memory());

    let mut spec = talking(shell("for i in $(seq 60); do sleep 5 & done; echo started"));
    spec.limits.pids = 20;
    let session = sandbox().open(spec, StreamRates::default()).await.unwrap();
    let exit = session.wait().await.unwrap();
    assert!(stderr(&exit).contains("Resource temporarily unavailable"), "{}", stderr(&exit));
    assert_eq!(hit(&exit, LimitKind::Pids), sandbox().control_groups().bounds_pids());

    let mut spec = talking(shell("while :; do :; done"));
    spec.limits.cpu_seconds = 1;
    let exit = sandbox().open(spec, StreamRates::default()).await.unwrap().wait().await.unwrap();
    assert!(hit(&exit, LimitKind::Cpu) && !exit.timed_out, "{exit:?}");
}

#[tokio::test]
async fn standard_error_is_kept_within_a_bound_and_read_at_a_rate() {
    let mut spec = talking(shell("echo first >&2; head -c 1500000 /dev/zero >&2; echo last >&2; echo done; exec cat"));
    spec.limits.output_kept_bytes = 4096;
    let rates =
        StreamRates { errors: Rate { bytes_per_second: 1 << 20, burst_bytes: 1 << 18 }, ..StreamRates::default() };
    let begin = Instant::now();
    let mut session = sandbox().open(spec, rates).await.unwrap();
    let observer = session.running.observer();
    assert_eq!(session.output.read_u8().await.unwrap(), b'd', "the program goes on");
    assert!(begin.elapsed() > Duration::from_millis(800), "1.5 MB in {:?}", begin.elapsed());
    let kept = toolplane_wait::eventually("the last line", Duration::from_secs(10), async || {
        let kept = observer.kept(OutputStream::Stderr);
        kept.tail.ends_with(b"last\n").then_some(kept)
    })
    .await;
    assert!(kept.head.starts_with(b"first\n") && kept.kept().len() == 4096);
    let exit = session.close().await.unwrap();
    assert!(exit.success() && exit.stderr == kept, "no total ends a session");
}

#[tokio::test]
async fn both_streams_have_a_rate() {
    let rate = Rate { bytes_per_second: 1 << 20, burst_bytes: 1 << 18 };
    for (input, output) in [(rate, StreamRates::default().output), (StreamRates::default().input, rate)] {
        let rates = StreamRates { input, output, ..StreamRates::default() };
        let mut session = sandbox().open(talking(SandboxSpec::new(["cat"])), rates).await.unwrap();
        let (begin, mut bytes) = (Instant::now(), vec![7; 1 << 20]);
        let Session { input, output, .. } = &mut session;
        let sent = bytes.clone();
        let (written, read) = tokio::join!(input.write_all(&sent), output.read_exact(&mut bytes));
        written.and(read.map(drop)).unwrap();
        assert!(begin.elapsed() > Duration::from_millis(500), "1 MiB in {:?}", begin.elapsed());
        assert!(session.close().await.unwrap().success());
    }
}

#[tokio::test]
async fn what_it_uses_can_be_read_while_it_runs() {
    let mut session = open(shell("read x; echo up; read x; for i in 1 2 3; do sleep 1000 & done; i=0; while [ $i -lt 90000 ]; do i=$((i+1)); done; echo done; read x"))
        .await;
    let observer = session.running.observer();
    assert_eq!(ask(&mut session, "up").await, "up");
    let before = observer.uses().await.unwrap();
    assert_eq!(before.processes, 1);
    assert!(before.resident_bytes > 100_000, "{before:?}");
    assert_eq!(ask(&mut session, "go").await, "done");
    let (one, other) = tokio::join!(observer.uses(), observer.uses());
    let after = one.unwrap();
    assert_eq!(other, Some(after));
    assert_eq!(after.processes, 4, "the shell and three that sleep");
    assert!(after.user_cpu_us > before.user_cpu_us && after.resident_bytes > 200_000, "{after:?}");
    session.close().await.unwrap();
    assert_eq!(observer.uses().await, None);
}
