//! Outputs that are larger than memory should be.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use serde_json::json;
use sha2::{Digest as _, Sha256};
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_testkit::Options;

use crate::bed::Bed;
use crate::shell::Shell;

const CONFIG: &str = r#"
[objects]
max_bytes = 2147483648

[executor.sandbox]
output_kept_bytes = 2147483648
output_max_bytes = 2147483648

[executor.quota]
call_bytes = 4294967296
tenant_bytes = 4294967296
worker_bytes = 4294967296

[[permission.rules]]
id = "all"
behavior = "allow"
tool = "*"
reason = "made for this"
"#;

/// What a process may take more than idle for an output of any size.
const MOST_MORE: u64 = 64 * 1024 * 1024;

/// What a process has allocated and touched. Parts of its program that were not used before are none of that: they are many in a
/// development build, and the system takes them back when it likes.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// The most a process has in memory at any time while `work` goes on.
async fn most_resident<T>(process: u32, work: impl Future<Output = T>) -> (u64, T) {
    let (done, ended) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        while ended.recv_timeout(Duration::from_millis(2)) == Err(RecvTimeoutError::Timeout) {
            most = resident(process).max(most);
        }
        most
    });
    let given = work.await;
    drop(done);
    (watch.join().unwrap(), given)
}

/// Bytes that no text has, and of which no two MiB are the same.
fn write_noise(path: &Path, mebibytes: u32) -> String {
    let (mut file, mut hash) = (std::fs::File::create(path).unwrap(), Sha256::new());
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let words = (0..128 * 1024).flat_map(|_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    let mut piece: Vec<u8> = words.collect();
    for number in 0..mebibytes {
        piece[..4].copy_from_slice(&number.to_le_bytes());
        hash.update(&piece);
        file.write_all(&piece).unwrap();
    }
    format!("sha256:{}", hex::encode(hash.finalize()))
}

/// Reads a part, and compares it with the same part of `source`.
async fn read(bed: &Bed, id: &str, uri: &str, source: &Path, (offset, limit): (u64, u64)) -> u64 {
    let selector = Some(Selector::Uri(uri.to_owned()));
    let request = v1::ReadPayloadRequest { invocation_id: id.to_owned(), offset, limit, selector };
    let mut stream = bed.clients.invocations().read_payload(request).await.unwrap().into_inner();
    let (mut length, mut source) = (0, std::fs::File::open(source).unwrap());
    source.seek(SeekFrom::Start(offset)).unwrap();
    while let Some(part) = stream.message().await.unwrap() {
        let mut expected = vec![0; part.data.len()];
        source.read_exact(&mut expected).unwrap();
        assert!(part.data == expected, "bytes differ after {}", offset + length);
        length += part.data.len() as u64;
    }
    length
}

/// One output of so many MiB, through one process that is both scheduler and worker.
async fn goes_through(mebibytes: u32) {
    let mut bed = Bed::with(Options::new(CONFIG)).await;
    let source = bed.cluster.workspace().join("noise");
    let digest = write_noise(&source, mebibytes);
    let size = u64::from(mebibytes) * 1024 * 1024;
    let process = bed.cluster.running().unwrap().id();
    bed.call("local.shell.exec", json!({ "command": "true" }).to_string()).await;
    let idle = resident(process);

    let command = json!({ "command": "cat noise; echo done >&2", "timeout_ms": 120_000 }).to_string();
    let started = std::time::Instant::now();
    let (most, result) = most_resident(process, bed.call("local.shell.exec", command)).await;
    let took = started.elapsed();
    assert!(!result.is_error, "{result:?}");
    let kept = result.content.iter().find_map(|block| match &block.block {
        Some(Block::PersistedOutputRef(kept)) => Some(kept.clone()),
        _ => None,
    });
    let kept = kept.expect("a reference to the whole output");
    assert_eq!((kept.size_bytes, kept.digest.as_str()), (size, digest.as_str()));
    assert_eq!(kept.media_type, "application/octet-stream");

    let part = |range| read(&bed, &result.invocation_id, &kept.uri, &source, range);
    let (most_read, whole) = most_resident(process, part((0, 0))).await;
    assert_eq!(whole, size, "the bytes come back as they were written");
    for (offset, limit) in [(0, 10), (size / 2 - 3, 7_000), (size - 5, 100)] {
        assert_eq!(part((offset, limit)).await, limit.min(size - offset));
    }
    let more = |most: u64| most.saturating_sub(idle) / 1024 / 1024;
    eprintln!("{mebibytes} MiB in {took:?}: {} MiB more to keep, {} to read", more(most), more(most_read));
    assert!(most.saturating_sub(idle) <= MOST_MORE, "{} MiB more than idle to keep", more(most));
    assert!(most_read.saturating_sub(idle) <= MOST_MORE, "{} MiB more than idle to read", more(most_read));
    let shell = Shell::at(bed.cluster.endpoint());
    assert!(shell.says(0, &["results", "orphans"]).is_empty(), "the call names all that is kept");
    let refused = shell.complains(2, &["results", "link", &result.invocation_id]);
    assert!(refused.contains("LINK_UNSUPPORTED"), "{refused}");
    let left = bed.cluster.data_dir().join("executor/outputs");
    assert_eq!(std::fs::read_dir(left).unwrap().count(), 0, "nothing stays on the worker's disk");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_output_larger_than_memory_should_be_comes_back_byte_for_byte() {
    goes_through(40).await;
}

/// The same at full size.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes"]
async fn an_output_of_a_gibibyte_comes_back_byte_for_byte() {
    goes_through(1024).await;
}
