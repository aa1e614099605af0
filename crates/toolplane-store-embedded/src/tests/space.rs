//! What a nearly full disk still takes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolplane_store::{Commit, CommitOutcome, Expect, Retry, Store, StoreError};

use super::{SimStore, key, manual, nth};
use crate::EmbeddedOptions;
use crate::space::SpaceSource;

#[derive(Clone)]
struct Shown(Arc<AtomicU64>);

impl SpaceSource for Shown {
    fn path(&self) -> &Path {
        Path::new("/store")
    }

    fn free(&self) -> std::io::Result<u64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}

#[tokio::test]
async fn the_reserve_is_for_essential_commits() {
    const RESERVE: u64 = 1024 * 1024;
    let free = Shown(Arc::new(AtomicU64::new(10 * RESERVE)));
    let options = EmbeddedOptions { reserve_bytes: RESERVE, ..manual() };
    let store = SimStore::default().open_beside(Box::new(free.clone()), options).unwrap();
    assert_eq!(store.commit(nth(1)).await, Ok(CommitOutcome::Applied));

    free.0.store(RESERVE - 1, Ordering::Relaxed);
    toolplane_wait::pause(Duration::from_millis(1_100), "room is looked at once a second").await;
    let refused = store.commit(nth(2)).await.unwrap_err();
    assert_eq!(refused, StoreError::DiskShort { path: "/store".into(), free: RESERVE - 1, reserve: RESERVE });
    assert_eq!((refused.code(), refused.retry()), ("store.disk_short", Retry::Definite));
    assert_eq!(store.events("log", 1, 0).await.unwrap().head_seq, 1, "nothing was written");

    // What is known already is answered as ever, and what ends work passes; the store goes on.
    assert_eq!(store.commit(nth(1)).await, Ok(CommitOutcome::Replayed));
    let lost = Commit { compare: vec![(key("last"), Expect::Absent)], ..nth(2) };
    assert!(matches!(store.commit(lost).await, Ok(CommitOutcome::Lost { .. })));
    assert_eq!(store.commit(Commit { essential: true, ..nth(2) }).await, Ok(CommitOutcome::Applied));
    assert_eq!(store.commit(nth(3)).await.unwrap_err().code(), "store.disk_short");

    free.0.store(10 * RESERVE, Ordering::Relaxed);
    toolplane_wait::pause(Duration::from_millis(1_100), "room is looked at once a second").await;
    assert_eq!(store.commit(nth(3)).await, Ok(CommitOutcome::Applied), "the refused operation was not remembered");
}
