//! The health of a role's store: whether it is there, and what of it is damaged.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_runtime::health::Need;
use toolplane_store_redis::RedisStore;

use crate::Backend;

/// How often damage in a shared store is looked at again: another process may have dealt with it.
const AGAIN: Duration = Duration::from_secs(30);

impl Backend {
    /// Keeps `need` up to date about the store, until `stop`.
    pub async fn follow(&self, need: Need, stop: CancellationToken) {
        let following = async {
            match self {
                Self::Embedded(store) => {
                    // Its own files: when they fail, the process ends.
                    need.there();
                    let mut damaged = store.damaged();
                    loop {
                        need.remark(remark(*damaged.borrow_and_update()));
                        if damaged.changed().await.is_err() {
                            return;
                        }
                    }
                }
                Self::Redis(store) => follow_shared(store, &need).await,
            }
        };
        stop.run_until_cancelled(following).await;
    }
}

async fn follow_shared(store: &RedisStore, need: &Need) {
    let (mut trouble, mut damaged) = (store.trouble(), store.damaged());
    loop {
        match &*trouble.borrow_and_update() {
            None => need.there(),
            Some(trouble) => need.missing(trouble.to_string()),
        }
        let count = *damaged.borrow_and_update();
        need.remark(remark(count));
        let changed = tokio::select! {
            changed = trouble.changed() => changed,
            changed = damaged.changed() => changed,
            () = tokio::time::sleep(AGAIN), if count > 0 => {
                store.look_again().await;
                Ok(())
            }
        };
        if changed.is_err() {
            return;
        }
    }
}

/// A count and no name: any client may ask for the health.
fn remark(damaged: usize) -> Option<String> {
    (damaged > 0).then(|| format!("{damaged} damaged, set aside (toolplane store check)"))
}
