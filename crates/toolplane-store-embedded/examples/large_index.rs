//! What a million queued calls cost: `cargo run --release -p toolplane-store-embedded --example large_index [directory]`.
//!
//! Fills one index and as many records, then times what dispatch does at its head, with all of it in the tables and
//! with the newest part still in memory, and tells the bytes on disk.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use toolplane_store::{Bound, Commit, CommitOutcome, Expect, Family, IndexOp, RecordKey, ScoreRange, Store, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore};

const RECORD_BYTES: usize = 1_500;
const PER_COMMIT: u64 = 500;
/// So few that the smallest queue is not emptied.
const CALLS: u64 = 100;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = given.unwrap_or_else(|| std::env::temp_dir().join(format!("large-index-{}", std::process::id())));
    let store = EmbeddedStore::open(&directory, EmbeddedOptions::default())?;
    let mut filled = 0;
    let mut taken = 0;
    for size in [1_000, 10_000, 100_000, 1_000_000] {
        let began = Instant::now();
        while filled < size {
            must_apply(store.commit(fill(filled..filled + PER_COMMIT)).await?)?;
            filled += PER_COMMIT;
        }
        println!("{size} records and entries, filled in {:?}", began.elapsed());
        taken = measure(&store, "newest in memory", taken).await?;
        let began = Instant::now();
        store.checkpoint().await?;
        println!("  checkpoint in {:?}", began.elapsed());
        taken = measure(&store, "all in the tables", taken).await?;
        let bytes = size_of(&directory.join("state.redb"))?;
        println!("  tables: {} MB, {} bytes a record of {RECORD_BYTES}", bytes / 1_000_000, bytes / size);
    }
    store.close().await?;
    let began = Instant::now();
    let store = EmbeddedStore::open(&directory, EmbeddedOptions::default())?;
    println!("opened again in {:?}, {} entries", began.elapsed(), store.index_len("queue").await?);
    drop(store);
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}

/// Times the head of the queue, its length and claims, `CALLS` times each; answers how many were claimed in all.
async fn measure(store: &EmbeddedStore, when: &str, taken: u64) -> Result<u64, Box<dyn Error>> {
    let (mut scans, mut lengths, mut claims) = (Vec::new(), Vec::new(), Vec::new());
    for n in taken..taken + CALLS {
        let began = Instant::now();
        let head = store.scan("queue", ScoreRange::all(), 1).await?;
        scans.push(began.elapsed());
        let expected = id(n);
        if head.first().is_none_or(|entry| entry.member != expected) {
            return Err(format!("the head is {head:?}, not {expected}").into());
        }
        let began = Instant::now();
        store.index_len("queue").await?;
        lengths.push(began.elapsed());
        let began = Instant::now();
        must_apply(store.commit(claim(n)).await?)?;
        claims.push(began.elapsed());
    }
    println!("  {when}: head {}, length {}, claim {}", shown(scans), shown(lengths), shown(claims));
    Ok(taken + CALLS)
}

fn shown(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    format!("{:?} (p99 {:?})", times[times.len() / 2], times[times.len() * 99 / 100])
}

fn id(n: u64) -> String {
    // Spread over the tables, as random ids are.
    format!("{:016x}-{n:08x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn fill(numbers: std::ops::Range<u64>) -> Commit {
    let mut commit = Commit::default();
    for n in numbers {
        let key = RecordKey::new(Family::Invocation, id(n));
        commit.writes.push(Write::Put { key, bytes: Bytes::from(vec![b'r'; RECORD_BYTES]) });
        commit.index.push(IndexOp::Put { index: "queue".to_owned(), score: n, member: id(n) });
    }
    commit
}

fn claim(n: u64) -> Commit {
    let key = RecordKey::new(Family::Invocation, id(n));
    Commit {
        operation_id: Some(format!("claim-{n}")),
        compare: vec![(key.clone(), Expect::Version(1))],
        bounds: vec![Bound { index: "leased".to_owned(), below: 1_000_000 }],
        writes: vec![Write::Put { key, bytes: Bytes::from(vec![b'c'; RECORD_BYTES]) }],
        index: vec![
            IndexOp::Remove { index: "queue".to_owned(), member: id(n) },
            IndexOp::Put { index: "leased".to_owned(), score: n, member: id(n) },
        ],
        ..Commit::default()
    }
}

fn must_apply(outcome: CommitOutcome) -> Result<(), Box<dyn Error>> {
    match outcome {
        CommitOutcome::Applied => Ok(()),
        other => Err(format!("unexpected outcome {other:?}").into()),
    }
}

fn size_of(path: &Path) -> Result<u64, Box<dyn Error>> {
    Ok(std::fs::metadata(path)?.len())
}
