//! kill -9 at random moments: what was answered is kept, and what a reader saw does too.

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use bytes::Bytes;
use tempfile::TempDir;
use toolplane_store::{Append, Commit, CommitOutcome, Expect, Family, IndexOp, RecordKey, ScoreRange, Store, Write};
use toolplane_store_embedded::EmbeddedStore;

use super::restless;

const DIRECTORY: &str = "TOOLPLANE_CRASH_TEST_DIRECTORY";
const TASKS: u64 = 16;
const ROUNDS: u64 = 10;

// The same test is the parent, and, with the directory in its environment, the child that gets killed.
#[test]
fn killing_the_process_loses_no_answered_commit() {
    match env::var_os(DIRECTORY) {
        Some(directory) => work_until_killed(Path::new(&directory)),
        None => kill_and_check(),
    }
}

// === the child ===

fn work_until_killed(directory: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let store = EmbeddedStore::open(directory, restless()).unwrap();
        let mut tasks = Vec::new();
        for task in 0..TASKS {
            tasks.push(tokio::spawn(commit_forever(store.clone(), task)));
        }
        tasks.push(tokio::spawn(read_forever(store)));
        for task in tasks {
            task.await.unwrap();
        }
    });
}

async fn commit_forever(store: EmbeddedStore, task: u64) {
    let mut done = store.events(&stream(task), 1, 0).await.unwrap().head_seq;
    loop {
        done += 1;
        assert_eq!(store.commit(nth(task, done)).await, Ok(CommitOutcome::Applied));
        report("ack", task, done);
    }
}

// Whatever it reports was readable, so it must still be there afterwards.
async fn read_forever(store: EmbeddedStore) {
    for task in (0..TASKS).cycle() {
        let head = store.events(&stream(task), 1, 0).await.unwrap().head_seq;
        report("saw", task, head);
        toolplane_wait::pause(Duration::from_millis(1), "the reader leaves room for the writers").await;
    }
}

// One write call of a short line: it reaches the pipe whole or not at all.
fn report(what: &str, task: u64, n: u64) {
    let line = format!("{what} {task} {n}\n");
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.flush().unwrap();
}

// === what each commit leaves ===

fn stream(task: u64) -> String {
    format!("stream-{task}")
}

fn key(id: String) -> RecordKey {
    RecordKey::new(Family::Invocation, id)
}

/// The `n`-th commit of a task: a record of its own, the task's counter at version `n`, one event more, the newest
/// member into the task's queue and the one before out of it.
fn nth(task: u64, n: u64) -> Commit {
    let text = Bytes::from(format!("{task}:{n}:{}", "x".repeat(600)));
    let counter = key(format!("counter-{task}"));
    let expect = if n == 1 { Expect::Absent } else { Expect::Version(n - 1) };
    let index = format!("queue-{task}");
    Commit {
        operation_id: Some(format!("{task}-{n}")),
        compare: vec![(counter.clone(), expect)],
        writes: vec![
            Write::Put { key: counter, bytes: text.clone() },
            Write::Put { key: key(format!("own-{task}-{n:08}")), bytes: text.clone() },
        ],
        index: vec![
            IndexOp::Put { index: index.clone(), score: n, member: n.to_string() },
            IndexOp::Remove { index, member: (n - 1).to_string() },
        ],
        events: vec![Append { stream: stream(task), first_seq: n, events: vec![text] }],
        ..Commit::default()
    }
}

// === the parent ===

fn kill_and_check() {
    let directory = TempDir::new().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut moment = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..ROUNDS {
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let promised = run_and_kill(directory.path(), Duration::from_micros((moment >> 33) % 400_000));
        assert!(!promised.is_empty(), "round {round} was killed before anything happened");
        runtime.block_on(check_promises(directory.path(), &promised, round));
    }
}

// The greatest number each task was answered or seen with, by the child that was killed `after` its first answer.
fn run_and_kill(directory: &Path, after: Duration) -> BTreeMap<u64, u64> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "crash::killing_the_process_loses_no_answered_commit", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let reports = follow(&mut child);
    let mut promised = BTreeMap::new();
    let first = reports.recv_timeout(Duration::from_secs(60)).expect("the child reports something");
    toolplane_wait::block(after, "the process is killed somewhere in its work");
    child.kill().unwrap();
    child.wait().unwrap();
    for (task, n) in [first].into_iter().chain(reports) {
        let known = promised.entry(task).or_insert(0);
        *known = n.max(*known);
    }
    promised
}

fn follow(child: &mut Child) -> Receiver<(u64, u64)> {
    let output = BufReader::new(child.stdout.take().unwrap());
    let (found, reports) = channel();
    std::thread::spawn(move || {
        for line in output.split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8(line).unwrap();
            let words: Vec<_> = line.split(' ').collect();
            // The test harness prints lines of its own.
            if let ["ack" | "saw", task, n] = words[..]
                && found.send((task.parse().unwrap(), n.parse().unwrap())).is_err()
            {
                return;
            }
        }
    });
    reports
}

async fn check_promises(directory: &Path, promised: &BTreeMap<u64, u64>, round: u64) {
    let store = EmbeddedStore::open(directory, restless()).unwrap();
    for task in 0..TASKS {
        let at = format!("round {round} task {task}");
        let events = all_events(&store, task).await;
        let head = events.len() as u64;
        let promised = promised.get(&task).copied().unwrap_or(0);
        assert!(head >= promised, "{at}: {promised} promised, {head} found");
        for (n, (seq, event)) in (1..).zip(&events) {
            assert_eq!(*seq, n, "{at}: the stream has a gap");
            assert!(event.starts_with(format!("{task}:{n}:").as_bytes()), "{at}: event {n} holds something else");
        }
        let counter = store.get(&key(format!("counter-{task}"))).await.unwrap();
        assert_eq!(counter.map_or(0, |found| found.version), head, "{at}");
        let queue = store.scan(&format!("queue-{task}"), ScoreRange::all(), 9).await.unwrap();
        assert_eq!(
            queue.iter().map(|entry| entry.score).collect::<Vec<_>>(),
            Vec::from_iter((head > 0).then_some(head))
        );
        assert_eq!(store.index_len(&format!("queue-{task}")).await.unwrap(), u64::from(head > 0), "{at}");
        let keys: Vec<_> = (1..=head).map(|n| key(format!("own-{task}-{n:08}"))).collect();
        let owned = store.get_many(&keys).await.unwrap();
        assert!(owned.iter().all(|found| found.as_ref().is_some_and(|found| found.version == 1)), "{at}");
        if head > 0 {
            assert_eq!(store.commit(nth(task, head)).await, Ok(CommitOutcome::Replayed), "{at}");
        }
    }
}

async fn all_events(store: &EmbeddedStore, task: u64) -> Vec<(u64, Bytes)> {
    let mut events: Vec<(u64, Bytes)> = Vec::new();
    loop {
        let next = events.last().map_or(1, |(seq, _)| seq + 1);
        let page = store.events(&stream(task), next, 500).await.unwrap();
        if page.events.is_empty() {
            assert_eq!(page.head_seq, events.len() as u64);
            return events;
        }
        events.extend(page.events);
    }
}
