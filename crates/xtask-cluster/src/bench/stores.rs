//! The stores benches run on, as a cluster has them: the embedded one on disk, or a Redis server that syncs every write.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolplane_store::{Commit, CommitOutcome, Store, StoreError};
use toolplane_store_embedded::EmbeddedStore;
use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::process::Process;
use toolplane_testkit::{Problem, layout, ports};

use crate::redis::{self, Redis};

/// The stores there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum StoreName {
    /// Inside the process.
    Embedded,
    /// Redis, with `appendfsync always`.
    Redis,
}

impl StoreName {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::Redis => "redis",
        }
    }
}

/// What `stat` counts blocks in.
const BLOCK: u64 = 512;

/// A place for stores of one kind.
pub(super) struct Stores {
    folder: PathBuf,
    /// One for each shard; the first also serves what has one shard.
    redis: Vec<(Redis, Process)>,
}

impl Stores {
    /// An empty place; a Redis server for each of so many shards runs as long as it lives.
    pub(super) async fn start(name: StoreName, shards: usize) -> Result<Self, Problem> {
        let folder = super::folder("store")?;
        let mut servers = Vec::new();
        for shard in (0..shards).filter(|_| name == StoreName::Redis) {
            let own = folder.join(format!("redis-{shard}"));
            std::fs::create_dir_all(&own).map_err(|source| Problem::File { path: own.clone(), source })?;
            let redis = Redis { port: ports::free(), folder: own };
            let mut command = redis.command();
            // It would fall into one case or another, and take one of two cores there for as long as it lasts.
            command.args(["--auto-aof-rewrite-percentage", "0"]);
            let mut process = Process::start("redis-server", &mut command, &redis.log_file())?;
            while !redis.answers() {
                process.expect_running()?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            servers.push((redis, process));
        }
        Ok(Self { folder, redis: servers })
    }

    /// A store of its own below this place.
    pub(super) async fn open(&self, name: &str) -> Result<Arc<dyn Store>, Problem> {
        match self.redis.first() {
            None => {
                let opened = EmbeddedStore::open(self.folder.join(name), Default::default());
                Ok(Arc::new(opened.map_err(|error| problem("opening the store", &error))?))
            }
            Some((redis, _)) => open_redis(redis, name).await,
        }
    }

    /// What a process is told, so that its scheduler uses this place.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let Some((redis, _)) = self.redis.first() else { return Vec::new() };
        let mut environment = vec![
            ("TOOLPLANE__STORE__BACKEND".to_owned(), "redis".to_owned()),
            ("TOOLPLANE__STORE__REDIS__URL".to_owned(), redis.url()),
        ];
        environment.extend(self.shards());
        environment
    }

    /// What a process is told of the shards after the first.
    pub(super) fn shards(&self) -> Vec<(String, String)> {
        redis::shards(self.redis.iter().map(|(redis, _)| redis))
    }

    /// The same for a cluster of many processes.
    pub(super) fn layout(&self) -> layout::Store {
        self.redis.first().map_or(layout::Store::Embedded, |(redis, _)| layout::Store::RedisAt(redis.url()))
    }

    /// The processes of the Redis servers.
    pub(super) fn redis(&self) -> Vec<u32> {
        self.redis.iter().map(|(_, process)| process.id()).collect()
    }

    /// Bytes of memory the Redis server uses for what is stored in it; nothing where there is none.
    pub(super) fn redis_bytes(&self) -> Result<Option<u64>, Problem> {
        let used = self.redis.first().map(|(redis, _)| redis.used_memory()).transpose();
        used.map_err(|error| problem("asking Redis for its memory", &error))
    }
}

async fn open_redis(redis: &Redis, name: &str) -> Result<Arc<dyn Store>, Problem> {
    let options = RedisOptions { namespace: name.to_owned(), ..RedisOptions::standalone(redis.url()) };
    let opened = RedisStore::open(options).await.map_err(|error| problem("opening the store", &error))?;
    Ok(Arc::new(opened))
}

/// Makes one commit that must apply.
pub(super) async fn apply(store: &dyn Store, commit: Commit) -> Result<(), Problem> {
    match store.commit(commit).await {
        Ok(CommitOutcome::Applied) => Ok(()),
        Ok(other) => Err(Problem::Missing(format!("a commit that applies; this one: {other:?}"))),
        Err(error) => Err(failed(&error)),
    }
}

/// A call of a store failed.
pub(super) fn failed(error: &StoreError) -> Problem {
    problem("using the store", error)
}

fn problem(what: &str, error: &dyn std::fmt::Display) -> Problem {
    Problem::Program { what: what.to_owned(), said: error.to_string() }
}

/// Bytes that all files below this folder take on the disk. Not their lengths: a file of tables is made longer than it is filled.
pub(super) fn disk(folder: &Path) -> Result<u64, Problem> {
    let mut bytes = 0;
    let file = |source| Problem::File { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(file)? {
        let entry = entry.map_err(file)?;
        let about = entry.metadata().map_err(file)?;
        bytes += if about.is_dir() { disk(&entry.path())? } else { about.blocks() * BLOCK };
    }
    Ok(bytes)
}
