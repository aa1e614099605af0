//! Outputs while the object store is away.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};
use toolplane_records::payload::Digest;

use super::files;
use crate::payload::conformance::{self, now, options, origin, read};
use crate::payload::{PayloadStore, SpoolOptions};

/// An object store that can be away.
#[derive(Debug, Default)]
struct Unsteady {
    inner: InMemory,
    away: AtomicBool,
}

impl Unsteady {
    fn there(&self) -> Result<&InMemory> {
        match self.away.load(Ordering::Relaxed) {
            true => Err(object_store::Error::Generic { store: "unsteady", source: "connection refused".into() }),
            false => Ok(&self.inner),
        }
    }
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unsteady")
    }
}

#[async_trait::async_trait]
impl ObjectStore for Unsteady {
    async fn put_opts(&self, at: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.there()?.put_opts(at, payload, options).await
    }

    async fn put_multipart_opts(&self, at: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.there()?.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.there()?.get_opts(at, options).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        match self.there() {
            Ok(there) => there.delete_stream(paths),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        match self.there() {
            Ok(there) => there.list(prefix),
            Err(error) => stream::iter([Err(error)]).boxed(),
        }
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.there()?.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.there()?.copy_opts(from, to, options).await
    }
}

struct Bed {
    folder: tempfile::TempDir,
    bucket: Arc<Unsteady>,
}

impl Bed {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("temporary folder"), bucket: Arc::default() }
    }

    /// The store as a process opens it; what an earlier one spooled is there.
    fn open(&self, max_bytes: u64) -> PayloadStore {
        let spool = SpoolOptions { directory: self.folder.path().join("spool"), max_bytes };
        PayloadStore::over(self.bucket.clone(), options()).with_spool(&spool).expect("spool")
    }

    fn away(&self, away: bool) {
        self.bucket.away.store(away, Ordering::Relaxed);
    }

    async fn in_bucket(&self) -> usize {
        self.bucket.inner.list(None).count().await
    }
}

#[tokio::test]
async fn a_store_with_a_spool_is_like_any_other() {
    let bed = Bed::new();
    conformance::run_all(&bed.open(1 << 30)).await;
    assert_eq!(files(&bed.folder.path().join("spool/results")).len(), 0);
}

#[tokio::test]
async fn outputs_wait_on_disk_are_read_there_and_move_when_the_store_is_back() {
    let bed = Bed::new();
    let store = bed.open(1 << 30);
    bed.away(true);
    let small = store.put(&origin("acme", "inv_1"), Bytes::from("small")).await.expect("spooled");
    // The first part of a long one finds out that the store is away, the next attempt is spooled.
    let long = Bytes::from(vec![b'x'; 9_000_000]);
    let chunks = || {
        stream::iter(
            long.chunks(500_000).map(|chunk| Ok::<_, String>(Bytes::copy_from_slice(chunk))).collect::<Vec<_>>(),
        )
    };
    let long_kept = store.put_stream(origin("acme", "inv_2"), chunks()).await.expect("spooled");
    assert_eq!(store.put_stream(origin("acme", "inv_2"), chunks()).await.expect("once more"), long_kept);
    assert_eq!((store.waiting_bytes(), bed.in_bucket().await), (9_000_005, 0));
    store.move_spooled().await.expect_err("still away");
    // The process is killed, and another one goes on.
    drop(store);
    let store = bed.open(1 << 30);
    assert_eq!(read(&store, &small.uri, 1, 3).await.expect("from the spool"), b"mal");
    assert_eq!(read(&store, &long_kept.uri, 8_999_999, 9).await.expect("from the spool"), b"x");
    assert_eq!(
        store
            .link(&small.uri.parse().expect("an address"), std::time::Duration::from_secs(1))
            .await
            .expect_err("no link")
            .code(),
        "PAYLOAD_NO_LINK"
    );
    let later = store.put(&origin("acme", "inv_3"), Bytes::from("later")).await.expect("spooled");

    bed.away(false);
    assert_eq!(store.move_spooled().await.expect("back"), 3);
    assert_eq!((store.waiting_bytes(), bed.in_bucket().await), (0, 3));
    assert_eq!(files(&bed.folder.path().join("spool")).len(), 0, "nothing is left on this machine");
    for (kept, whole) in [(&small, Bytes::from("small")), (&long_kept, long), (&later, Bytes::from("later"))] {
        assert_eq!((kept.digest, kept.size_bytes), (Digest::of(&whole), whole.len() as u64));
        assert_eq!(store.read_verified(kept, 1 << 30, now()).await.expect("from the bucket"), whole);
    }
    store.put(&origin("acme", "inv_4"), Bytes::from("at once")).await.expect("kept");
    assert_eq!(bed.in_bucket().await, 4, "and nothing is spooled any more");
}

#[tokio::test]
async fn a_full_spool_takes_nothing_more_and_says_so() {
    let bed = Bed::new();
    let store = bed.open(10);
    bed.away(true);
    store.put(&origin("acme", "inv_1"), Bytes::from("0123456")).await.expect("spooled");
    for _ in 0..2 {
        let full = store.put(&origin("acme", "inv_1"), Bytes::from("789a")).await.expect_err("full");
        assert_eq!((full.code(), full.is_retryable()), ("PAYLOAD_SPOOL_FULL", true));
        let chunks = stream::iter([Ok::<_, String>(Bytes::from("789b"))]);
        let full = store.put_stream(origin("acme", "inv_1"), chunks).await.expect_err("full");
        assert_eq!(full.code(), "PAYLOAD_SPOOL_FULL");
    }
    assert_eq!(store.waiting_bytes(), 7, "what was refused takes no room");
    store.put(&origin("acme", "inv_1"), Bytes::from("789")).await.expect("fits");
    bed.away(false);
    assert_eq!(store.move_spooled().await.expect("back"), 2);
    assert_eq!(store.waiting_bytes(), 0);
}

#[tokio::test]
async fn what_was_kept_before_is_not_taken_twice() {
    let bed = Bed::new();
    let store = bed.open(1 << 30);
    let kept = store.put(&origin("acme", "inv_1"), Bytes::from("same")).await.expect("kept");
    bed.away(true);
    assert_eq!(store.put(&origin("acme", "inv_1"), Bytes::from("same")).await.expect("spooled"), kept);
    bed.away(false);
    assert_eq!(store.move_spooled().await.expect("back"), 1);
    assert_eq!((store.waiting_bytes(), bed.in_bucket().await), (0, 1));
}
