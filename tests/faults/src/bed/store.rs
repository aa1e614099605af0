//! Where the schedulers of a bed keep their calls, and what is left there at the end.

use std::path::Path;

use toolplane_store::{ScoreRange, Store};
use toolplane_store_embedded::EmbeddedStore;
use toolplane_store_redis::{RedisOptions as StoreOptions, RedisStore};
use toolplane_testkit::proxy::{self, Proxy};
use toolplane_testkit::redis::{RedisOptions, RedisServer};
use toolplane_testkit::{Layout, layout};

use crate::trouble::Trouble;

/// What must be empty when every call has ended.
const EMPTY: [&str; 7] = ["queue/", "timers/", "running/", "waiting/", "coordination/", "awaiting", "undecodable/"];

/// Members of a left index that are named.
const SHOWN: usize = 3;

/// A kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// Inside the one scheduler.
    Embedded,
    /// A Redis server that flushes every write.
    Redis,
    /// The same with so many shards on it.
    Shards(usize),
}

impl StoreKind {
    /// Whether several schedulers can use it.
    pub(crate) fn is_shared(self) -> bool {
        self != Self::Embedded
    }

    fn shards(self) -> usize {
        match self {
            Self::Shards(shards) => shards,
            Self::Embedded | Self::Redis => 1,
        }
    }
}

/// A running store.
#[derive(Debug)]
pub(super) enum Backing {
    Embedded,
    Redis { server: Box<RedisServer>, proxy: Option<Proxy>, shards: usize },
}

impl Backing {
    /// A store, with something breakable between it and the schedulers where that is wanted.
    pub(super) async fn start(kind: StoreKind, breakable: bool) -> Result<Self, Trouble> {
        if kind == StoreKind::Embedded {
            return Ok(Self::Embedded);
        }
        let server = RedisServer::start(RedisOptions::default()).await?;
        let proxy = if breakable { Some(Proxy::start(server.address()).await?) } else { None };
        Ok(Self::Redis { server: Box::new(server), proxy, shards: kind.shards() })
    }

    pub(super) fn has_process(&self) -> bool {
        matches!(self, Self::Redis { .. })
    }

    /// `layout` on this store.
    pub(super) fn place(&self, layout: Layout) -> Layout {
        match self {
            Self::Embedded => layout,
            Self::Redis { server, proxy, shards } => {
                let proxied = proxy.as_ref().map(|proxy| format!("redis://127.0.0.1:{}", proxy.port()));
                let layout = layout.on(layout::Store::RedisAt(proxied.unwrap_or_else(|| server.url())));
                layout.env("TOOLPLANE__STORE__REDIS__SHARDS", shards.to_string())
            }
        }
    }

    /// Does this to the connections of the schedulers.
    pub(super) fn link(&self, fault: proxy::Fault) {
        if let Self::Redis { proxy: Some(proxy), .. } = self {
            proxy.set(fault);
        }
    }

    /// Answers that were swallowed so far.
    pub(super) fn swallowed(&self) -> u64 {
        match self {
            Self::Redis { proxy: Some(proxy), .. } => proxy.swallowed(),
            _ => 0,
        }
    }

    /// The server.
    pub(super) fn server(&mut self) -> Result<&mut RedisServer, Trouble> {
        match self {
            Self::Embedded => Err(Trouble::Said("the embedded store has no process of its own".to_owned())),
            Self::Redis { server, .. } => Ok(server),
        }
    }

    /// Indexes that must be empty and are not. The schedulers are stopped.
    pub(super) async fn leaks(&self, cluster: &Path) -> Result<Vec<(String, u64)>, Trouble> {
        match self {
            Self::Embedded => {
                let opened = EmbeddedStore::open(cluster.join("scheduler-1/scheduler"), Default::default());
                left(&opened.map_err(|error| Trouble::Said(format!("the store: {error}")))?).await
            }
            Self::Redis { server, shards, .. } => {
                let options = vec![StoreOptions::standalone(server.url()); *shards];
                let opened = RedisStore::open_shards(options).await;
                let mut leaks = Vec::new();
                for shard in opened.map_err(|error| Trouble::Said(format!("the store: {error}")))? {
                    leaks.extend(left(&shard).await?);
                }
                Ok(leaks)
            }
        }
    }
}

async fn left(store: &impl Store) -> Result<Vec<(String, u64)>, Trouble> {
    let failed = |error: toolplane_store::StoreError| Trouble::Said(format!("the store: {error}"));
    let mut left = Vec::new();
    for prefix in EMPTY {
        for index in store.indexes(prefix).await.map_err(failed)? {
            let members = store.index_len(&index).await.map_err(failed)?;
            let some = store.scan(&index, ScoreRange::all(), SHOWN).await.map_err(failed)?;
            let some: Vec<_> = some.into_iter().map(|entry| entry.member).collect();
            left.push((format!("{index} ({})", some.join(", ")), members));
        }
    }
    Ok(left)
}
