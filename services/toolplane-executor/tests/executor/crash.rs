//! Workers that are killed, and what the next start on their directory makes of it.
//!
//! The worker runs in a process of its own, which is this test program told by its environment to be one.

use std::path::{Path, PathBuf};
use std::process::{Child, Command as Program, Stdio};
use std::sync::atomic::Ordering;

use toolplane_execution::{Toolbox, ToolboxOptions};
use toolplane_executor::{ExecutorOptions, ExecutorRole};
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{ExecutionDone, LeaseRef, StartGranted};
use toolplane_records::payload::Digest;
use toolplane_runtime::Shutdown;

use crate::fake::{Connection, Fake};
use crate::worker::{Call, config, schedulers};

const URL: &str = "TOOLPLANE_TEST_WORKER_OF";
const DIR: &str = "TOOLPLANE_TEST_WORKER_IN";

/// Not a test: the worker of the tests below, when they start this program.
#[test]
fn the_worker() {
    let (Ok(url), Ok(dir)) = (std::env::var(URL), std::env::var(DIR)) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let dir = PathBuf::from(dir);
        let workspace = dir.join("workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        let toolbox = Toolbox::probe(ToolboxOptions::new(workspace.canonicalize().unwrap())).await;
        let config = config(&dir);
        let options = ExecutorOptions::from_config(&config).unwrap();
        let started = ExecutorRole::open(options, toolbox.into(), schedulers(&[&url]), Shutdown::new()).unwrap();
        started.ended().await;
    });
}

/// A worker process. Killed when it is dropped, without a chance to say or write anything.
struct Killed(Child);

impl Killed {
    fn start(url: &str, dir: &Path) -> Self {
        let mut program = Program::new(std::env::current_exe().unwrap());
        program.args(["--exact", "crash::the_worker", "--nocapture"]).env(URL, url).env(DIR, dir);
        Self(program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Bed {
    fake: Fake,
    dir: tempfile::TempDir,
}

impl Bed {
    async fn start() -> Self {
        Self { fake: Fake::start().await, dir: tempfile::tempdir().unwrap() }
    }

    async fn worker(&mut self) -> (Killed, Connection) {
        let worker = Killed::start(&self.fake.url, self.dir.path());
        (worker, self.fake.connection().await)
    }

    /// How often the effect of the call happened.
    fn effects(&self) -> usize {
        let ledger = self.dir.path().join("workspace/ledger");
        std::fs::read_to_string(ledger).unwrap_or_default().lines().count()
    }
}

/// Runs a call that must not run twice up to where it has its grant.
async fn begin(connection: &mut Connection, command: &str) -> LeaseRef {
    let (lease, offer) = Call::shell(command).needs_grant().offer("once");
    connection.send(offer);
    let asks = |report: &Report| matches!(report, Report::StartRequested(_)).then_some(());
    connection.until("a request to start", asks).await;
    connection.send(Command::StartGranted(StartGranted { lease: Some(lease.clone()) }));
    lease
}

/// The one ending a restarted worker tells of first of all.
fn told(connection: &Connection) -> &ExecutionDone {
    assert!(connection.hello.held.is_empty() && connection.hello.previous_incarnation_dead);
    match &connection.hello.finished[..] {
        [done] => done,
        other => panic!("not one ending but {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_tool_runs_there_is_nothing_to_tell() {
    let mut bed = Bed::start().await;
    let (worker, mut connection) = bed.worker().await;
    begin(&mut connection, "echo effect >> ledger; sleep 7171.25").await;
    while bed.effects() == 0 {
        toolplane_wait::look_again().await;
    }
    drop(worker);
    let (_worker, connection) = bed.worker().await;
    assert!(connection.hello.finished.is_empty() && connection.hello.previous_incarnation_dead);
    assert_eq!(bed.effects(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_the_output_is_kept_the_next_start_keeps_and_tells_it() {
    let mut bed = Bed::start().await;
    let (worker, mut connection) = bed.worker().await;
    bed.fake.uploads.hang.store(true, Ordering::SeqCst);
    let begun = bed.fake.uploads.clone();
    let begun = begun.begun.notified();
    let lease = begin(&mut connection, "echo effect >> ledger; seq 1 40000").await;
    begun.await;
    drop(worker);
    bed.fake.uploads.hang.store(false, Ordering::SeqCst);
    let (worker, connection) = bed.worker().await;
    let done = told(&connection);
    let outcome = done.outcome.as_ref().unwrap();
    assert_eq!((done.lease.as_ref(), outcome.status.as_str()), (Some(&lease), "succeeded"));
    let kept = bed.fake.uploads.kept.lock().unwrap()["result"].clone();
    assert_eq!(outcome.persisted[0].payload.as_ref().unwrap().digest, Digest::of(&kept).to_string());
    assert!(kept.ends_with(b"\n39999\n40000\n"));
    assert_eq!(bed.effects(), 1, "told, not repeated");
    drop(worker);
    // Not acknowledged, so it is told again; acknowledged, no more.
    let (worker, connection) = bed.worker().await;
    assert_eq!(told(&connection).outcome.as_ref().unwrap().persisted, outcome.persisted);
    connection.acknowledge(&lease);
    bed.fake.beats.rest().await;
    drop(worker);
    let (_worker, connection) = bed.worker().await;
    assert!(connection.hello.finished.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_the_report_it_is_told_again_in_the_same_words() {
    let mut bed = Bed::start().await;
    let (worker, mut connection) = bed.worker().await;
    let lease = begin(&mut connection, "echo effect >> ledger; seq 1 40000").await;
    let first = connection.done(&lease).await;
    drop(worker);
    let (_worker, connection) = bed.worker().await;
    assert_eq!(told(&connection), &ExecutionDone { lease: Some(lease), outcome: Some(Box::new(first)) });
    assert_eq!(bed.effects(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_away_at_the_restart_costs_the_output_and_not_the_success() {
    let mut bed = Bed::start().await;
    let (worker, mut connection) = bed.worker().await;
    let lease = begin(&mut connection, "echo effect >> ledger; seq 1 40000").await;
    connection.done(&lease).await;
    drop(worker);
    bed.fake.uploads.refuse.store(true, Ordering::SeqCst);
    let (_worker, connection) = bed.worker().await;
    let outcome = told(&connection).outcome.as_ref().unwrap();
    assert_eq!((outcome.status.as_str(), outcome.is_error), ("partial_succeeded", false));
}
