//! How fast the store commits: `cargo run --release -p toolplane-store-embedded --example commit_rate [directory]`.
//!
//! Each commit is like one step of a call: a compare, a record of 1.5 KB, three events, three index changes.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytes::Bytes;
use toolplane_store::{Append, Commit, CommitOutcome, Expect, Family, IndexOp, RecordKey, Store, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore};

const LONE_COMMITS: u64 = 2_000;
const RUN: Duration = Duration::from_secs(5);

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = given.unwrap_or_else(|| std::env::temp_dir().join(format!("commit-rate-{}", std::process::id())));
    println!("store in {}", directory.display());
    lone(&directory.join("lone")).await?;
    for in_flight in [64, 256] {
        together(&directory.join(in_flight.to_string()), in_flight).await?;
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}

async fn lone(directory: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let store = EmbeddedStore::open(directory, EmbeddedOptions::default())?;
    let mut times = Vec::new();
    for call in 0..LONE_COMMITS / 3 {
        for step in 1..=3 {
            let started = Instant::now();
            apply(&store, commit(0, call, step)).await?;
            times.push(started.elapsed());
        }
    }
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100];
    println!("one at a time: p50 {:?}, p99 {:?} over {} commits", at(50), at(99), times.len());
    store.close().await?;
    Ok(())
}

async fn together(directory: &std::path::Path, in_flight: u64) -> Result<(), Box<dyn Error>> {
    let store = EmbeddedStore::open(directory, EmbeddedOptions::default())?;
    let (started, before) = (Instant::now(), thread_seconds());
    let mut callers = Vec::new();
    for caller in 0..in_flight {
        let store = store.clone();
        callers.push(tokio::spawn(async move {
            let mut slowest = Duration::ZERO;
            let mut call = 0;
            while started.elapsed() < RUN {
                for step in 1..=3 {
                    let asked = Instant::now();
                    if let Err(error) = apply(&store, commit(caller, call, step)).await {
                        return Err(error.to_string());
                    }
                    slowest = slowest.max(asked.elapsed());
                }
                call += 1;
            }
            Ok(slowest)
        }));
    }
    let mut slowest = Duration::ZERO;
    for caller in callers {
        slowest = slowest.max(caller.await??);
    }
    let seconds = started.elapsed().as_secs_f64();
    let stats = store.stats();
    println!(
        "{in_flight} in flight: {:.0} commits/s, {:.1} to a flush, {} checkpoints, slowest {slowest:?}",
        stats.commits as f64 / seconds,
        stats.commits as f64 / stats.groups as f64,
        stats.checkpoints,
    );
    for (name, spent) in thread_seconds() {
        let spent = spent - before.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, spent)| *spent);
        println!("  {name}: {:.2} s of cpu, {:.1} us a commit", spent, spent * 1e6 / stats.commits as f64);
    }
    store.close().await?;
    Ok(())
}

async fn apply(store: &EmbeddedStore, commit: Commit) -> Result<(), Box<dyn Error>> {
    match store.commit(commit).await? {
        CommitOutcome::Applied => Ok(()),
        other => Err(format!("unexpected outcome {other:?}").into()),
    }
}

/// Step 1 to 3 of a call: submitted, claimed, done.
fn commit(caller: u64, call: u64, step: u64) -> Commit {
    let id = format!("019{caller:05x}-{call:08x}-7000-8000-invocation");
    let key = RecordKey::new(Family::Invocation, id.clone());
    let expect = if step == 1 { Expect::Absent } else { Expect::Version(step - 1) };
    let index = |name: &str| name.to_owned();
    let enter = |name: &str, score| IndexOp::Put { index: index(name), score, member: id.clone() };
    let leave = |name: &str| IndexOp::Remove { index: index(name), member: id.clone() };
    let moves = match step {
        1 => vec![enter("queue:default", call), enter("timer", call + 60_000), enter("live", call)],
        2 => vec![leave("queue:default"), enter("lease", call + 1_500), enter("timer", call + 30_000)],
        _ => vec![leave("lease"), leave("timer"), leave("live")],
    };
    Commit {
        operation_id: Some(format!("{id}-{step}")),
        compare: vec![(key.clone(), expect)],
        writes: vec![Write::Put { key, bytes: Bytes::from(vec![b'r'; 1500]) }],
        index: moves,
        events: vec![Append {
            stream: id.clone(),
            first_seq: step * 3 - 2,
            events: vec![Bytes::from(vec![b'e'; 250]); 3],
        }],
        ..Commit::default()
    }
}

// What each thread of this process has spent, from the kernel's accounting at 100 ticks a second; threads of the same
// name are added up.
fn thread_seconds() -> Vec<(String, f64)> {
    let mut spent: Vec<(String, f64)> = Vec::new();
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    for stat in tasks.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok()) {
        let Some((name, rest)) = stat.split_once('(').and_then(|(_, rest)| rest.rsplit_once(") ")) else { continue };
        let fields: Vec<f64> = rest.split(' ').skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
        let seconds = fields.iter().sum::<f64>() / 100.0;
        match spent.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += seconds,
            None => spent.push((name.to_owned(), seconds)),
        }
    }
    spent
}
