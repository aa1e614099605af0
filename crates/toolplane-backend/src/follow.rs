//! The health of a role's store: whether it is there, and what of it is damaged.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_runtime::health::Need;

use crate::{Backend, RedisShards};

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
                Self::Redis(shards) => follow_shared(shards, &need).await,
            }
        };
        stop.run_until_cancelled(following).await;
    }
}

async fn follow_shared(shards: &RedisShards, need: &Need) {
    let mut followed: Vec<_> = shards.all().map(|store| (store, store.trouble(), store.damaged())).collect();
    loop {
        let (mut trouble, mut count) = (None, 0);
        for (_, of_shard, damaged) in &mut followed {
            trouble = trouble.or(of_shard.borrow_and_update().clone());
            count += *damaged.borrow_and_update();
        }
        match trouble {
            None => need.there(),
            Some(trouble) => need.missing(trouble.to_string()),
        }
        need.remark(remark(count));
        let changes = followed.iter_mut().map(|(_, trouble, damaged)| {
            Box::pin(async move {
                tokio::select! {
                    changed = trouble.changed() => changed,
                    changed = damaged.changed() => changed,
                }
            })
        });
        let changed = tokio::select! {
            (changed, ..) = futures_util::future::select_all(changes) => changed.is_ok(),
            () = tokio::time::sleep(AGAIN), if count > 0 => {
                for store in shards.all() {
                    store.look_again().await;
                }
                true
            }
        };
        if !changed {
            return;
        }
    }
}

/// A count and no name: any client may ask for the health.
fn remark(damaged: usize) -> Option<String> {
    (damaged > 0).then(|| format!("{damaged} damaged, set aside (toolplane store check)"))
}
