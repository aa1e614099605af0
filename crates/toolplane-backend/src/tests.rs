use std::path::Path;

use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use toolplane_runtime::config::StoreBackend;
use toolplane_runtime::health::Readiness;
use toolplane_store::{Commit, CommitOutcome, Family, RecordKey, Store, Write};
use toolplane_testkit::redis::{RedisOptions, RedisServer};

use super::{Backend, Config, Keeper};

#[tokio::test]
async fn roles_of_one_process_keep_apart() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.server.data_dir = dir.path().to_owned();
    let scheduler = Backend::open(&config, Keeper::Scheduler).await.unwrap();
    let permission = Backend::open(&config, Keeper::Permission).await.unwrap();
    assert!(dir.path().join("scheduler").is_dir() && dir.path().join("permission").is_dir());
    let twice = Backend::open(&config, Keeper::Permission).await.unwrap_err();
    assert_eq!(twice.code(), "store.embedded");
    scheduler.close().await.unwrap();
    permission.close().await.unwrap();
}

#[tokio::test]
async fn a_store_that_is_gone_is_not_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.server.data_dir = dir.path().to_owned();
    let note = dir.path().join("permission.made");
    let open = async || match Backend::open(&config, Keeper::Permission).await {
        Ok(backend) => backend.close().await.map_err(|error| error.to_string()),
        Err(error) => Err(error.code().to_owned()),
    };
    assert_eq!(open().await, Ok(()));
    // One of an earlier version is noted when it is opened the next time.
    std::fs::remove_file(&note).unwrap();
    assert_eq!(open().await, Ok(()));
    std::fs::remove_dir_all(dir.path().join("permission")).unwrap();
    for _ in 0..2 {
        assert_eq!(open().await, Err("store.missing".to_owned()));
        std::fs::create_dir_all(dir.path().join("permission")).unwrap();
    }
    std::fs::remove_file(&note).unwrap();
    assert_eq!(open().await, Ok(()));
}

#[test]
fn every_configurable_namespace_leaves_room_for_the_role() {
    assert_eq!(Keeper::Scheduler.namespace("toolplane"), "toolplane");
    assert_eq!(Keeper::Permission.namespace("toolplane"), "toolplane-permission");
    assert_eq!(Keeper::Surface.namespace("toolplane"), "toolplane-surface");
}

const TEXT: &str = "what was said, and nothing else that is like it";

fn key() -> RecordKey {
    RecordKey::new(Family::Approval, "said")
}

async fn write(store: &dyn Store, write: Write) {
    let commit = Commit { writes: vec![write], ..Commit::default() };
    assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
}

async fn fill(backend: &Backend) {
    write(&*backend.store(), Write::Put { key: key(), bytes: Bytes::from_static(TEXT.as_bytes()) }).await;
}

fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let at = bytes.windows(TEXT.len()).position(|part| part == TEXT.as_bytes()).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// Follows `backend`, and waits until the health says this of it, and this once the damaged record is deleted.
async fn follows(backend: Backend, damaged: &[&str]) {
    let (readiness, stop) = (Readiness::default(), CancellationToken::new());
    let need = readiness.need("the store", &["calls"]);
    let (followed, until) = (backend.clone(), stop.clone());
    let task = tokio::spawn(async move { followed.follow(need, until).await });
    let told = async |expected: &[&str]| {
        while readiness.remarks("calls") != expected || readiness.lacks("calls").is_none_or(|lacks| lacks.len() > 1) {
            tokio::task::yield_now().await;
        }
    };
    // Found by the next reader, if not before.
    drop(backend.store().get(&key()).await);
    told(damaged).await;
    write(&*backend.store(), Write::Delete { key: key() }).await;
    told(&[]).await;
    stop.cancel();
    task.await.unwrap();
}

const ONE: &[&str] = &["the store: 1 damaged, set aside (toolplane store check)"];

#[tokio::test]
async fn damage_in_a_directory_shows_in_the_health() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Backend::in_directory(dir.path(), 1024 * 1024).unwrap();
    let backend = open();
    fill(&backend).await;
    follows(backend.clone(), &[]).await;
    fill(&backend).await;
    backend.close().await.unwrap();
    drop(backend);
    flip(&dir.path().join("state.redb"));
    follows(open(), ONE).await;
}

#[tokio::test]
async fn damage_in_redis_shows_in_the_health() {
    let server = RedisServer::start(RedisOptions::default()).await.unwrap();
    let mut config = Config::default();
    config.store.backend = StoreBackend::Redis;
    config.store.redis.url = Some(server.url());
    let backend = Backend::open(&config, Keeper::Permission).await.unwrap();
    fill(&backend).await;
    follows(backend.clone(), &[]).await;
    fill(&backend).await;
    server.command(&["SETRANGE", "{toolplane-permission}:r:a:said", "20", "?"]).unwrap();
    follows(backend, ONE).await;
}
