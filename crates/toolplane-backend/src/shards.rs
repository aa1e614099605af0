//! What a role keeps in Redis: one store, or several that are its shards.

use std::sync::Arc;

use toolplane_store::{Durability, Placement, ShardedStore, Store};
use toolplane_store_redis::{OpenError, RedisOptions, RedisStore};

/// The opened shards of one role, in their order. Only the scheduler has more than one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RedisShards {
    first: Arc<RedisStore>,
    others: Vec<Arc<RedisStore>>,
}

impl RedisShards {
    pub(crate) async fn open(shards: Vec<RedisOptions>) -> Result<Self, OpenError> {
        let mut opened = RedisStore::open_shards(shards).await?.into_iter().map(Arc::new);
        let missing = || OpenError::InvalidOption { reason: "a store has one shard at least".to_owned() };
        Ok(Self { first: opened.next().ok_or_else(missing)?, others: opened.collect() })
    }

    /// The first shard, which holds everything of a role whose records are not spread.
    pub fn first(&self) -> &Arc<RedisStore> {
        &self.first
    }

    /// Every shard.
    pub fn all(&self) -> impl Iterator<Item = &Arc<RedisStore>> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// The shards as one store; `placement` says what lies in which of them. One shard is its own store.
    pub(crate) fn spread(&self, placement: impl FnOnce(usize) -> Arc<dyn Placement>) -> Arc<dyn Store> {
        if self.others.is_empty() {
            return self.first.clone();
        }
        let shards: Vec<_> = self.all().map(|store| store.clone() as Arc<dyn Store>).collect();
        let placement = placement(shards.len());
        Arc::new(ShardedStore::new(shards, placement))
    }

    pub(crate) fn is_buffered(&self) -> bool {
        self.all().any(|store| store.durability() == Durability::Buffered)
    }
}
