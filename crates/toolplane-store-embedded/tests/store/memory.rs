//! What is read again and again stays in memory up to the bound of the cache, however much is stored.

use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use tempfile::TempDir;
use toolplane_store::page::MAX_PAGE;
use toolplane_store::{Commit, Family, RecordKey, Store, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore};

const MIB: usize = 1024 * 1024;
const RECORDS: usize = 12_000;
const RECORD_BYTES: usize = 4_000;
/// Set in the process that reads, which is this test once more: where the store is, and how large its cache.
const READER: &str = "TOOLPLANE_TEST_READER";

#[tokio::test]
async fn reading_through_a_store_holds_no_more_than_its_cache() {
    if let Ok(order) = std::env::var(READER) {
        return read_through(&order).await;
    }
    let root = TempDir::new().unwrap();
    fill(root.path()).await;
    let (small, large) = (reader_mib(root.path(), 4), reader_mib(root.path(), 64));
    // With room for everything it holds everything; the bound alone makes the difference.
    assert!(small + 25 < large, "{small} MiB with a cache of 4 MiB, {large} MiB with one of 64 MiB");
}

async fn fill(path: &Path) {
    let store = EmbeddedStore::open(path, EmbeddedOptions::default()).unwrap();
    for hundred in 0..RECORDS / 100 {
        let put = |number: usize| Write::Put {
            // Of a family that is kept as it is: others of the same bytes would take next to nothing.
            key: RecordKey::new(Family::Payload, format!("{:06}", hundred * 100 + number)),
            bytes: Bytes::from(vec![b'x'; RECORD_BYTES]),
        };
        store.commit(Commit { writes: (0..100).map(put).collect(), ..Commit::default() }).await.unwrap();
    }
    store.close().await.unwrap();
}

/// Memory of a process that has read all of the store three times.
fn reader_mib(path: &Path, cache_mib: usize) -> usize {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::reading_through_a_store_holds_no_more_than_its_cache", "--nocapture"])
        .env(READER, format!("{cache_mib} {}", path.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = said.lines().find_map(|line| line.strip_prefix("resident KiB: "));
    line.unwrap_or_else(|| panic!("{output:?}")).parse::<usize>().unwrap() / 1024
}

async fn read_through(order: &str) {
    let (cache_mib, path) = order.split_once(' ').unwrap();
    let options =
        EmbeddedOptions { cache_bytes: cache_mib.parse::<usize>().unwrap() * MIB, ..EmbeddedOptions::default() };
    let store = EmbeddedStore::open(path, options).unwrap();
    for _ in 0..3 {
        let (mut after, mut seen) = (None, 0);
        loop {
            let page = store.keys(Family::Payload, after.as_deref(), MAX_PAGE).await.unwrap();
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            seen += page.len();
        }
        assert_eq!(seen, RECORDS);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    println!("\nresident KiB: {}", line.trim().trim_end_matches(" kB"));
}
