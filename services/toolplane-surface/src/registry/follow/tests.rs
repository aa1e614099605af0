use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use toolplane_catalog::Registration;
use toolplane_store::{Commit, Store as _, Write};

use super::*;
use crate::fakes::Deaf;
use crate::memory::Memory;

fn tool(id: &str, title: &str) -> Registration {
    serde_json::from_value(json!({ "declaration": {
        "tool_id": id, "namespace": "test", "name": id, "title": title, "description": "does something",
        "lifecycle": "available", "tool_kind": "native_tool",
        "input_contract": { "model_input_schema": { "type": "object" } },
    }}))
    .unwrap()
}

async fn joined(store: &Arc<Deaf>) -> Registry {
    let registry = Registry::open(store.clone(), Duration::from_millis(500), Memory::default()).await.unwrap();
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
