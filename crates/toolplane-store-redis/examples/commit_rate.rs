//! How fast the store commits, beside what Redis does with a bare command of the same size:
//! `cargo run --release -p toolplane-store-redis --example commit_rate [always|everysec|no]`.
//!
//! Each commit is like one step of a call: a compare, a record of 1.5 KB, three events, three index changes.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

use std::error::Error;
use std::time::{Duration, Instant};

use bytes::Bytes;
use redis::aio::MultiplexedConnection;
use toolplane_store::{Append, Commit, CommitOutcome, Expect, Family, IndexOp, RecordKey, Store, Write};
use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::redis::{Fsync, RedisOptions as ServerOptions, RedisServer};

const RUN: Duration = Duration::from_secs(4);
const CALLERS: [u64; 3] = [1, 64, 256];
/// As many bytes as a commit sends.
const SIZE: usize = 2_700;
const BARE_SCRIPT: &str = "#!lua\nredis.call('SET', KEYS[1], ARGV[1]) return 0";

/// What one caller repeats.
#[derive(Clone)]
enum Work {
    Commit(RedisStore),
    Set(MultiplexedConnection),
    Script(MultiplexedConnection, String),
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let fsync = match std::env::args().nth(1).as_deref() {
        Some("no") => Fsync::No,
        Some("everysec") => Fsync::Everysec,
        _ => Fsync::Always,
    };
    let server = RedisServer::start(ServerOptions { fsync, ..ServerOptions::default() }).await?;
    let connection = redis::Client::open(server.url())?.get_multiplexed_async_connection().await?;
    let script: String = redis::cmd("SCRIPT").arg("LOAD").arg(BARE_SCRIPT).query_async(&mut connection.clone()).await?;
    println!("appendfsync {}", fsync.as_str());
    for callers in CALLERS {
        let store = RedisStore::open(RedisOptions::standalone(server.url())).await?;
        run("bare SET    ", callers, &Work::Set(connection.clone()), &server).await?;
        run("bare EVALSHA", callers, &Work::Script(connection.clone(), script.clone()), &server).await?;
        run("commit      ", callers, &Work::Commit(store), &server).await?;
        server.command(&["FLUSHALL"])?;
    }
    Ok(())
}

async fn run(name: &str, callers: u64, work: &Work, server: &RedisServer) -> Result<(), Box<dyn Error>> {
    let (started, own, theirs) = (Instant::now(), seconds("self"), seconds(&pid(server)?));
    let running: Vec<_> = (0..callers)
        .map(|caller| {
            let mut work = work.clone();
            tokio::spawn(async move {
                let mut times = Vec::new();
                let mut number = 0;
                while started.elapsed() < RUN {
                    let asked = Instant::now();
                    work.once(caller, number).await?;
                    times.push(asked.elapsed());
                    number += 1;
                }
                Ok::<_, String>(times)
            })
        })
        .collect();
    let mut times = Vec::new();
    for caller in running {
        times.extend(caller.await??);
    }
    let count = times.len() as f64;
    let elapsed = started.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: usize| times[times.len() * share / 100];
    println!(
        "{callers:>3} callers, {name}: {:>6.0}/s, p50 {:?}, p99 {:?}; cpu each: {:.1} us here, {:.1} us in Redis",
        count / elapsed,
        at(50),
        at(99),
        (seconds("self") - own) * 1e6 / count,
        (seconds(&pid(server)?) - theirs) * 1e6 / count,
    );
    Ok(())
}

impl Work {
    async fn once(&mut self, caller: u64, number: u64) -> Result<(), String> {
        let done = match self {
            Self::Commit(store) => {
                return match store.commit(commit(caller, number / 3, number % 3 + 1)).await {
                    Ok(CommitOutcome::Applied) => Ok(()),
                    other => Err(format!("{other:?}")),
                };
            }
            Self::Set(connection) => {
                let command = redis::cmd("SET").arg(format!("bare:{caller}:{number}")).arg(filler(SIZE)).to_owned();
                command.exec_async(connection).await
            }
            Self::Script(connection, digest) => {
                let mut command = redis::cmd("EVALSHA");
                command.arg(&*digest).arg(1).arg(format!("bare:{caller}:{number}")).arg(filler(SIZE));
                command.exec_async(connection).await
            }
        };
        done.map_err(|error| error.to_string())
    }
}

/// Step 1 to 3 of a call: submitted, claimed, done.
fn commit(caller: u64, call: u64, step: u64) -> Commit {
    let id = format!("019{caller:05x}-{call:08x}-7000-8000-invocation");
    let key = RecordKey::new(Family::Invocation, id.clone());
    let expect = if step == 1 { Expect::Absent } else { Expect::Version(step - 1) };
    let enter = |name: &str, score| IndexOp::Put { index: name.to_owned(), score, member: id.clone() };
    let leave = |name: &str| IndexOp::Remove { index: name.to_owned(), member: id.clone() };
    let moves = match step {
        1 => vec![enter("queue:default", call), enter("timer", call + 60_000), enter("live", call)],
        2 => vec![leave("queue:default"), enter("lease", call + 1_500), enter("timer", call + 30_000)],
        _ => vec![leave("lease"), leave("timer"), leave("live")],
    };
    Commit {
        compare: vec![(key.clone(), expect)],
        writes: vec![Write::Put { key, bytes: Bytes::from(filler(1500)) }],
        index: moves,
        events: vec![Append { stream: id, first_seq: step * 3 - 2, events: vec![Bytes::from(filler(250)); 3] }],
        ..Commit::default()
    }
}

/// Text that packs about as well as our JSON: half of it is noise.
fn filler(size: usize) -> Vec<u8> {
    let mut state = size as u64;
    let mut text = Vec::with_capacity(size);
    while text.len() < size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.extend_from_slice(b"\"invocation_id\":");
        text.extend_from_slice(format!("{state:016x}").as_bytes());
    }
    text.truncate(size);
    text
}

fn pid(server: &RedisServer) -> Result<String, Box<dyn Error>> {
    let info = server.command(&["INFO", "server"])?;
    let line = info.lines().find_map(|line| line.strip_prefix("process_id:"));
    Ok(line.ok_or("the server does not tell its process id")?.trim().to_owned())
}

// What a process has spent, from the kernel's accounting at 100 ticks a second.
fn seconds(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let Some((_, rest)) = stat.rsplit_once(") ") else { return 0.0 };
    rest.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
