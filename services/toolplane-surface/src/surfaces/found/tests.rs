use std::sync::atomic::Ordering;

use serde_json::json;
use toolplane_catalog::search::{Question, Thesaurus};
use toolplane_catalog::{DeferPolicy, SurfaceRequest};
use toolplane_records::vocabulary::SurfaceScope;

use super::*;
use crate::fakes::Deaf;
use crate::memory::Memory;
use crate::parts::Parts;
use crate::retention::UseNotes;
use crate::surfaces::Wanted;

struct House {
    store: Arc<Deaf>,
    parts: Parts,
    tenant: TenantId,
}

impl House {
    /// A tool `test.a`, and nothing that writes what searches find by itself.
    async fn open() -> Self {
        let store = Arc::new(Deaf::default());
        let memory = Memory::default();
        let patience = Duration::from_millis(500);
        let registry = Registry::open(store.clone(), patience, memory.clone()).await.unwrap();
        let tool = serde_json::from_value(json!({ "declaration": {
            "tool_id": "a", "namespace": "test", "name": "a", "description": "does something",
            "lifecycle": "available", "tool_kind": "native_tool",
            "input_contract": { "model_input_schema": { "type": "object" } },
        }}));
        let tenant = TenantId::unauthenticated();
        registry.register(tenant.clone(), vec![tool.unwrap()], false).await.unwrap();
        Self { parts: Parts::new(registry, &memory, &UseNotes::new(store.clone(), None)), store, tenant }
    }

    async fn surface(&self) -> SurfaceId {
        let request = SurfaceRequest {
            defer: DeferPolicy::All,
            ..SurfaceRequest::new(self.tenant.clone(), SurfaceScope::Session)
        };
        let wanted = Wanted { request, parent: None, model_capabilities: None, repeatable: None };
        self.parts.surfaces.create(&wanted).await.unwrap().indexed().id().clone()
    }

    async fn search(&self, surface: &SurfaceId) {
        let thesaurus = Thesaurus::empty();
        let question = Question {
            text: "something",
            filters: &[],
            limit: 10,
            after: None,
            thesaurus: &thesaurus,
            learned: None,
            meaning: None,
        };
        let answer = self.parts.search.look(&self.tenant, surface, &question).await.unwrap();
        self.parts.search.note(&self.tenant, surface, &answer.result).await.unwrap();
        assert_eq!(answer.result.found.len(), 1);
    }

    /// The commits that this made.
    async fn commits(&self, work: impl Future<Output = ()>) -> usize {
        let before = self.store.commits.load(Ordering::Acquire);
        work.await;
        self.store.commits.load(Ordering::Acquire) - before
    }

    async fn log(&self, surface: &SurfaceId) -> Vec<String> {
        let log = Log::Surface(self.tenant.clone(), surface.clone());
        let entries = log.read(&*self.store, 1, 1_000).await.unwrap().events;
        entries.into_iter().map(|event| event.event_type).collect()
    }

    async fn write(&self) {
        self.parts.finds.write_together(&self.parts.finds.places()).await.unwrap();
    }
}

#[tokio::test]
async fn searches_make_no_commit_and_those_of_many_surfaces_are_written_in_one() {
    let house = House::open().await;
    let mut surfaces = Vec::new();
    for _ in 0..20 {
        surfaces.push(house.surface().await);
    }
    let asked = house.commits(async {
        for surface in surfaces.iter().chain(&surfaces) {
            house.search(surface).await;
        }
    });
    assert_eq!(asked.await, 0, "40 searches");
    assert_eq!(house.commits(house.write()).await, 1);
    for surface in &surfaces {
        let found = EventClass::DeferredDiscovered.as_str();
        assert_eq!(house.log(surface).await, [EventClass::SurfaceCreated.as_str(), found, found]);
    }
    assert_eq!(house.commits(house.write()).await, 0, "nothing waits any more");
}

#[tokio::test]
async fn what_was_found_is_in_the_log_before_what_was_loaded_then_and_costs_no_commit() {
    let house = House::open().await;
    let surface = house.surface().await;
    let commits = house.commits(async {
        house.search(&surface).await;
        house.parts.edits.load(house.tenant.clone(), surface.clone(), vec!["test.a".to_owned()]).await.unwrap();
    });
    assert_eq!(commits.await, 1);
    let kinds = [
        EventClass::SurfaceCreated,
        EventClass::DeferredDiscovered,
        EventClass::DeferredLoaded,
        EventClass::SurfaceUpdated,
    ];
    assert_eq!(house.log(&surface).await, kinds.map(|kind| kind.as_str().to_owned()));
}

#[tokio::test]
async fn what_cannot_be_written_waits_and_what_has_no_surface_any_more_does_not() {
    let house = House::open().await;
    let (stays, goes) = (house.surface().await, house.surface().await);
    house.search(&stays).await;
    house.search(&goes).await;
    house.store.away.store(true, Ordering::Release);
    assert!(house.parts.finds.write_together(&house.parts.finds.places()).await.is_err());
    house.store.away.store(false, Ordering::Release);
    house.parts.surfaces.delete(house.tenant.clone(), goes.clone()).await.unwrap();
    house.write().await;
    assert_eq!(house.log(&stays).await.len(), 2);
    assert!(house.parts.finds.places().is_empty() && house.parts.finds.waiting.lock().bytes == 0);
    let stream = keys::surface_stream(&house.tenant, &goes);
    assert_eq!(toolplane_store::Store::events(&*house.store, &stream, 1, 10).await.unwrap().head_seq, 0);
}
