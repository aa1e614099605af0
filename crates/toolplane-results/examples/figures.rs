//! How fast outputs are kept, proved, read and cleaned, in MB a second, beside a plain copy of the same bytes: `cargo xtask bench results`.

#![allow(clippy::disallowed_methods, clippy::expect_used, reason = "a measurement ends where something does not work")]

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use toolplane_cleaning::{Class, Cleaner, CleaningPolicy, Treatment};
use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::time::Timestamp;
use toolplane_results::payload::key::PayloadKey;
use toolplane_results::{PayloadOptions, PayloadOrigin, PayloadStore};

/// Bytes of one piece, as they come from a worker.
const PIECE: usize = 256 * 1024;
const MIB: usize = 1024 * 1024;

/// Lines as a build or a server writes them.
fn lines() -> Vec<u8> {
    (0..4096)
        .flat_map(|line: u64| {
            let noise = line.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            format!(
                "2026-11-21T10:00:{:02}Z info request {noise:016x} of /v1/items/{line} took {} ms\n",
                line % 60,
                noise % 977
            )
            .into_bytes()
        })
        .collect()
}

fn noise() -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = (0..MIB / 8).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.collect()
}

/// So many MiB, made of `block`.
fn write(path: &Path, block: &[u8], mebibytes: usize) {
    let mut file = std::fs::File::create(path).expect("create");
    let mut left = mebibytes * MIB;
    while left > 0 {
        let length = left.min(block.len());
        file.write_all(&block[..length]).expect("write");
        left -= length;
    }
    file.sync_all().expect("sync");
}

fn pieces(path: &Path) -> impl Iterator<Item = Result<Bytes, std::io::Error>> + use<> {
    let mut file = std::fs::File::open(path).expect("open");
    std::iter::from_fn(move || {
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece) {
            Ok(0) => None,
            Ok(length) => {
                piece.truncate(length);
                Some(Ok(piece.into()))
            }
            Err(error) => Some(Err(error)),
        }
    })
}

fn told(what: &str, mebibytes: usize, since: Instant) {
    let seconds = since.elapsed().as_secs_f64();
    println!("{what:<34} {:>8.0} MB/s  {seconds:>7.2} s", (mebibytes * MIB) as f64 / 1e6 / seconds);
}

#[tokio::main]
async fn main() {
    let mebibytes: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1024);
    let folder = tempfile::tempdir_in(std::env::args().nth(2).unwrap_or_else(|| ".".to_owned())).expect("folder");
    let options = PayloadOptions { max_bytes: u64::MAX, retention_days: None };
    let store = PayloadStore::local(&folder.path().join("objects"), options).expect("store");
    println!("{mebibytes} MiB at a time");
    // As a scheduler looks through what is kept: characters nobody sees stay in texts, and what is no text can hold credentials alone.
    let usual = CleaningPolicy::default();
    let of_bytes = Cleaner::new(&usual.only(Class::Credentials));
    let of_text = Cleaner::new(&CleaningPolicy { invisible: Treatment::Keep, ..usual });
    for (kind, block, cleaner) in [("text", lines(), of_text), ("bytes", noise(), of_bytes)] {
        let source = folder.path().join(kind);
        write(&source, &block, mebibytes);

        let since = Instant::now();
        let copy = folder.path().join("copy");
        std::fs::copy(&source, &copy).expect("copy");
        std::fs::File::open(&copy).and_then(|file| file.sync_all()).expect("sync");
        told(&format!("{kind}: a plain copy, synced"), mebibytes, since);

        let origin = PayloadOrigin {
            tenant: TenantId::unauthenticated(),
            invocation_id: InvocationId::from_trusted("inv_figures"),
            lease_no: 1,
            media_type: "application/octet-stream".to_owned(),
            made_at: Timestamp::default(),
        };
        let since = Instant::now();
        let kept = store.put_stream(origin, stream::iter(pieces(&source))).await.expect("kept");
        told(&format!("{kind}: kept, with digest, synced"), mebibytes, since);

        let key: PayloadKey = kept.uri.parse().expect("an address");
        for what in ["proved and read", "read again"] {
            let since = Instant::now();
            let part = store.read_range(&key, 0, u64::MAX, Timestamp::default()).await.expect("read");
            let length = part.stream.fold(0, async |sum, piece| sum + piece.expect("a piece").len()).await;
            assert_eq!(length, mebibytes * MIB, "all of it");
            told(&format!("{kind}: {what}"), mebibytes, since);
        }

        let since = Instant::now();
        let (mut cleaning, mut out) = (cleaner.stream(), Vec::new());
        for piece in pieces(&source) {
            cleaning.push(&piece.expect("a piece"), &mut out);
            out.clear();
        }
        cleaning.finish(&mut out);
        told(&format!("{kind}: looked through (cleaning)"), mebibytes, since);
    }
}
