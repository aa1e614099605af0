//! What is kept of tools over a store in memory: what goes with them, and what is made again.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolplane_catalog::Registration;
use toolplane_meaning::{EmbedError, Embedder, ModelId};
use toolplane_store::{MemoryStore, Store as _};
use toolplane_wait::eventually;

use super::*;
use crate::keys;
use crate::memory::Memory;
use crate::registry::Registry;

const PATIENCE: Duration = Duration::from_secs(20);

/// All texts are the same to it.
#[derive(Debug)]
struct Same(ModelId);

impl Embedder for Same {
    fn model(&self) -> &ModelId {
        &self.0
    }

    fn dimension(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(vec![vec![0.6, 0.8]; texts.len()])
    }
}

/// A store with the tools `text.count` and `text.sort` of one tenant.
struct Bed {
    store: Arc<MemoryStore>,
    tenant: TenantId,
}

/// A process with a model at work.
struct Reading {
    registry: Registry,
    meaning: Meaning,
    stop: CancellationToken,
}

impl Bed {
    async fn start() -> Self {
        let store = Arc::new(MemoryStore::new());
        let tenant = TenantId::from_trusted("acme");
        let tool = |name: &str| -> Registration {
            let declaration = json!({ "tool_id": format!("text.{name}"), "namespace": "text", "name": name,
                "description": "about text", "lifecycle": "available", "tool_kind": "mcp_tool" });
            serde_json::from_value(json!({ "declaration": declaration })).unwrap()
        };
        let bed = Self { store, tenant };
        let tools = vec![tool("count"), tool("sort")];
        bed.registry().await.register(bed.tenant.clone(), tools, false).await.unwrap();
        bed
    }

    async fn registry(&self) -> Registry {
        let patience = Duration::from_millis(500);
        Registry::open(self.store.clone(), patience, Memory::default()).await.unwrap()
    }

    fn key(&self, id: &str) -> toolplane_store::RecordKey {
        keys::meaning(&self.tenant, &ToolId::from_trusted(id))
    }

    /// Starts a process, and waits until this many tools can be found by what they mean.
    async fn read(&self, tools: usize) -> Reading {
        let embedder: Arc<dyn Embedder> = Arc::new(Same(ModelId::new("same", "1")));
        let weights = Weights::default();
        let source: Arc<dyn MeaningSource> = Arc::new(Computed::new(embedder));
        let options = MeaningOptions { source, weights, least_similarity: 0.5, patience: PATIENCE };
        let (registry, stop) = (self.registry().await, CancellationToken::new());
        let reading = Reading { registry, meaning: Meaning::new(options), stop };
        tokio::spawn(reading.meaning.clone().read_tools(reading.registry.clone(), reading.stop.clone()));
        reading.finds(&self.tenant, tools).await;
        reading
    }
}

impl Reading {
    async fn finds(&self, tenant: &TenantId, tools: usize) {
        let near = async || {
            let asked = self.meaning.ask(tenant, "anything").await;
            let found = asked.nearest().map(|nearest| nearest.nearest(10, &mut |_| true).len());
            (found == Some(tools) && asked.word(2) == "complete").then_some(())
        };
        eventually("the tools are read", PATIENCE, near).await;
    }
}

#[tokio::test]
async fn what_was_made_of_a_tool_goes_when_it_is_retired() {
    let bed = Bed::start().await;
    let count = ToolId::from_trusted("text.count");
    let reading = bed.read(2).await;
    reading.registry.retire(bed.tenant.clone(), count, String::new()).await.unwrap();
    reading.finds(&bed.tenant, 1).await;
    assert!(bed.store.get(&bed.key("text.count")).await.unwrap().is_none());
    assert!(bed.store.get(&bed.key("text.sort")).await.unwrap().is_some());
    reading.stop.cancel();
    // Nor is it read by whoever starts later.
    let later = bed.read(1).await;
    assert!(bed.store.get(&bed.key("text.count")).await.unwrap().is_none());
    later.stop.cancel();
}

#[tokio::test]
async fn what_is_damaged_is_made_again() {
    let bed = Bed::start().await;
    bed.read(2).await.stop.cancel();
    bed.store.spoil(&bed.key("text.count"));
    assert!(bed.store.get(&bed.key("text.count")).await.is_err());
    let reading = bed.read(2).await;
    assert!(bed.store.get(&bed.key("text.count")).await.unwrap().is_some());
    reading.stop.cancel();
}
