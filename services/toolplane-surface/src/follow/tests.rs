use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use toolplane_catalog::Registration;
use toolplane_store::{
    Commit, CommitOutcome, Durability, EventPage, Family, Found, IndexEntry, MemoryStore, RecordKey, ScoreRange, Store,
    StoreFuture, Versioned, Write,
};

use super::*;
use crate::learning::Learning;
use crate::synonyms::Thesauri;

/// A store that several processes share, and that loses every notice.
#[derive(Default)]
struct Deaf {
    inner: MemoryStore,
    away: AtomicBool,
}

impl Deaf {
    fn there<'a, T: Send + 'a>(&'a self, answer: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if self.away.load(Ordering::Acquire) {
            return Box::pin(async { Err(StoreError::Unavailable { reason: "away".to_owned() }) });
        }
        answer
    }
}

impl Store for Deaf {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        self.there(self.inner.commit(commit))
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        self.there(self.inner.get(key))
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        self.there(self.inner.get_each(keys))
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        self.there(self.inner.scan(index, range, limit))
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        self.there(self.inner.indexes(prefix))
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        self.there(self.inner.index_len(index))
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        self.there(self.inner.events(stream, from_seq, limit))
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        self.there(self.inner.keys(family, after, limit))
    }

    fn now(&self) -> StoreFuture<'_, toolplane_records::time::Timestamp> {
        self.inner.now()
    }

    fn durability(&self) -> Durability {
        self.inner.durability()
    }

    fn is_shared(&self) -> bool {
        true
    }
}

fn tool(id: &str, title: &str) -> Registration {
    serde_json::from_value(json!({ "declaration": {
        "tool_id": id, "namespace": "test", "name": id, "title": title, "description": "does something",
        "lifecycle": "available", "tool_kind": "native_tool",
        "input_contract": { "model_input_schema": { "type": "object" } },
    }}))
    .unwrap()
}

async fn joined(store: &Arc<Deaf>) -> Registry {
    let registry = Registry::open(store.clone(), Duration::from_millis(500), Thesauri::default(), Learning::default()).await.unwrap();
    registry.join().await.unwrap();
    registry
}

fn title(registry: &Registry, id: &str) -> Option<String> {
    let found = registry.tool(&TenantId::unauthenticated(), &ToolId::from_trusted(id)).ok()?;
    Some(found.tool.registration().declaration.title.clone())
}

async fn register(registry: &Registry, id: &str, title: &str) {
    registry.register(TenantId::unauthenticated(), vec![tool(id, title)], false).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_change_is_seen_by_all_also_when_every_notice_is_lost() {
    let store = Arc::new(Deaf::default());
    let (one, other) = (joined(&store).await, joined(&store).await);
    let stop = CancellationToken::new();
    let followers = [one.clone(), other.clone()].map(|registry| tokio::spawn(registry.follow(stop.clone())));
    for round in 0..5 {
        register(&one, "a", &format!("a{round}")).await;
        assert_eq!(title(&other, "a"), Some(format!("a{round}")), "the answer waited for it");
        register(&other, "b", &format!("b{round}")).await;
        assert_eq!(title(&one, "b"), Some(format!("b{round}")));
        assert_eq!(one.0.hub.revision(), other.0.hub.revision());
    }
    stop.cancel();
    future::join_all(followers).await;
    assert!(one.0.followers.as_ref().unwrap().trusted_for().is_none(), "it has given its lease back");
}

#[tokio::test(start_paused = true)]
async fn without_its_lease_a_process_looks_before_it_answers() {
    let store = Arc::new(Deaf::default());
    let (one, other) = (joined(&store).await, joined(&store).await);
    assert!(other.trusted_for().unwrap().is_some());
    // The other one is paused: nothing of it runs while its lease runs out.
    one.0.followers.as_ref().unwrap().leave().await.unwrap();
    register(&one, "a", "new").await;
    assert_eq!(title(&other, "a"), None);
    tokio::time::advance(Duration::from_secs(3)).await;
    assert!(other.trusted_for().is_err(), "schedulers are told that they cannot go by it");
    other.current().await.unwrap();
    assert_eq!(title(&other, "a").as_deref(), Some("new"));
    store.away.store(true, Ordering::Release);
    assert!(other.current().await.is_err(), "what it cannot know it does not say");
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_out_by_hand_is_made_anew() {
    let store = Arc::new(Deaf::default());
    let (one, other) = (joined(&store).await, joined(&store).await);
    let stop = CancellationToken::new();
    let followers = [one.clone(), other.clone()].map(|registry| tokio::spawn(registry.follow(stop.clone())));
    register(&one, "a", "before").await;
    let tenant = TenantId::unauthenticated();
    let key = keys::tool(&tenant, &ToolId::from_trusted("a"));
    let forget = vec![keys::log_of(&key).unwrap()];
    store.commit(Commit { writes: vec![Write::Delete { key }], forget, ..Commit::default() }).await.unwrap();
    register(&other, "a", "after").await;
    for registry in [&one, &other] {
        let found = registry.tool(&tenant, &ToolId::from_trusted("a")).unwrap();
        assert_eq!((found.revision, found.tool.registration().declaration.title.as_str()), (1, "after"));
    }
    stop.cancel();
    future::join_all(followers).await;
}
