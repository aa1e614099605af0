//! Rounds over a clock that is paused: who is asked when, what a provider that is away costs, and what it takes away.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_providers::{Found, ToolNames};
use toolplane_records::ids::{ProviderId, TenantId};
use toolplane_records::provider::Provider;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{CircuitState, ProviderFault, ProviderState};
use toolplane_store::MemoryStore;
use toolplane_wait::pause;

use super::Gate;
use super::look::{Fault, Said};
use super::looks::{Clock, Discover, Looks};
use crate::memory::Memory;
use crate::options::ProviderOptions;
use crate::parts::Parts;
use crate::registry::Registry;
use crate::retention::UseNotes;

/// What a provider does when it is asked.
#[derive(Clone, Debug)]
enum Does {
    Says(Vec<&'static str>),
    Fails(ProviderFault),
    Hangs,
}

/// Providers that do as they are told, and what they were asked.
#[derive(Debug, Default)]
struct Script {
    does: Mutex<HashMap<String, Does>>,
    asked: Mutex<Vec<(String, Instant)>>,
    going: Mutex<(usize, usize)>,
}

impl Script {
    fn tell(&self, id: &str, does: Does) {
        self.does.lock().insert(id.to_owned(), does);
    }

    fn times(&self, id: &str) -> usize {
        self.asked.lock().iter().filter(|(asked, _)| asked == id).count()
    }

    fn forget(&self) {
        self.asked.lock().clear();
    }
}

impl Discover for Script {
    fn ask<'a>(&'a self, provider: &'a Provider, _: &'a str) -> BoxFuture<'a, Result<Said, Fault>> {
        async move {
            let id = provider.provider_id.to_string();
            self.asked.lock().push((id.clone(), Instant::now()));
            let _going = Going::begin(self);
            let does = self.does.lock().get(&id).cloned().unwrap_or(Does::Says(Vec::new()));
            match does {
                Does::Says(names) => {
                    Ok(Said { tools: names.iter().map(|name| found(provider, name)).collect(), ..Said::default() })
                }
                Does::Fails(code) => Err(Fault::new(code, "as told")),
                Does::Hangs => std::future::pending().await,
            }
        }
        .boxed()
    }
}

/// Counts a question out, however it ends.
struct Going<'a>(&'a Script);

impl<'a> Going<'a> {
    fn begin(script: &'a Script) -> Self {
        let mut going = script.going.lock();
        going.0 += 1;
        going.1 = going.1.max(going.0);
        Self(script)
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.going.lock().0 -= 1;
    }
}

fn found(provider: &Provider, name: &str) -> Found {
    let names = ToolNames::of(&provider.provider_id, name).unwrap();
    let made = json!({ "declaration": { "tool_id": names.tool_id, "namespace": provider.namespace, "name": names.name,
        "description": name, "lifecycle": "available", "tool_kind": "mcp_tool" } });
    Found { native_id: name.to_owned(), made: Ok(serde_json::from_value(made).unwrap()) }
}

pub(super) fn provider(tenant: &str, id: &str, every_s: Option<u64>) -> Provider {
    let provider = json!({ "provider_id": id, "tenant": tenant, "namespace": id, "trust": "new_tools",
        "source": { "kind": "mcp_http", "url": "https://mcp.example.org/" },
        "refresh_interval_ms": every_s.map(|seconds| seconds * 1000) });
    serde_json::from_value(provider).unwrap()
}

struct Bed {
    parts: Parts,
    script: Arc<Script>,
    stop: CancellationToken,
}

const PATIENCE: Duration = Duration::from_secs(20);

impl Bed {
    async fn start() -> Self {
        let (store, memory) = (Arc::new(MemoryStore::new()), Memory::default());
        let registry = Registry::open(store.clone(), Duration::from_millis(500), memory.clone()).await.unwrap();
        let parts = Parts::new(registry.clone(), &memory, &UseNotes::new(store, None));
        let (began, base) = (Instant::now(), registry.now().await.unwrap());
        let clock: Clock = Arc::new(move || {
            let passed = i64::try_from(began.elapsed().as_millis()).unwrap();
            std::future::ready(Ok(base.plus_millis(passed))).boxed()
        });
        let script = Arc::new(Script::default());
        let options = ProviderOptions { at_once: 4, of_one_tenant: 2, patience: PATIENCE, ..Default::default() };
        let looks = Looks::new(clock, parts.providers.clone(), parts.hidden.clone(), script.clone(), options);
        let stop = CancellationToken::new();
        tokio::spawn(looks.rounds(stop.clone()));
        Self { parts, script, stop }
    }

    async fn put(&self, tenant: &str, id: &str, every_s: Option<u64>) {
        let provider = provider(tenant, id, every_s);
        self.parts.providers.put(provider, "ann".to_owned(), false).await.unwrap();
    }

    fn gate(&self) -> Gate {
        let Parts { registry, providers, credentials, denied, .. } = self.parts.clone();
        Gate::new(registry, providers, credentials, denied)
    }

    fn held(&self, tenant: &str, id: &str) -> Arc<super::Held> {
        let (tenant, id) = (TenantId::from_trusted(tenant), ProviderId::from_trusted(id));
        self.parts.providers.shelf().get(&tenant, &id).unwrap()
    }

    async fn pass(&self, seconds: u64) {
        pause(Duration::from_secs(seconds), "the clock of this test is paused").await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_is_away_keeps_its_tools_and_is_asked_less_and_less() {
    let bed = Bed::start().await;
    bed.script.tell("git", Does::Says(vec!["status", "log"]));
    bed.put("default", "git", Some(60)).await;
    bed.pass(5).await;
    let held = bed.held("default", "git");
    assert_eq!((held.status.state, held.status.tools.imported), (ProviderState::Ready, 2));
    bed.pass(300).await;
    let regular = bed.script.times("git");
    assert!((5..=8).contains(&regular), "{regular}");

    bed.script.tell("git", Does::Fails(ProviderFault::Unreachable));
    bed.script.forget();
    bed.pass(3_600).await;
    let held = bed.held("default", "git");
    assert_eq!((held.status.state, held.status.circuit), (ProviderState::Failed, CircuitState::Open));
    assert_eq!((held.tools.len(), held.status.tools.imported), (2, 2), "nothing is taken away");
    let tries = bed.script.times("git");
    assert!((8..=25).contains(&tries), "waits grow: {tries} tries in an hour");
    let tenant = TenantId::unauthenticated();
    let entry = bed.parts.registry.tool_named(&tenant, "git.status").unwrap();
    let error = bed.gate().obstacle(&tenant, &entry, now(&held)).unwrap();
    assert_eq!(error.error_code, "provider.away");

    bed.script.tell("git", Does::Says(vec!["status", "log"]));
    bed.pass(1_000).await;
    let held = bed.held("default", "git");
    assert_eq!((held.status.state, held.status.circuit), (ProviderState::Ready, CircuitState::Closed));
    bed.stop.cancel();
}

/// A moment at which the circuit of a provider is still open.
fn now(held: &super::Held) -> Timestamp {
    held.status.last_try_at.unwrap()
}

#[tokio::test(start_paused = true)]
async fn those_that_hang_cost_nobody_else_anything() {
    let bed = Bed::start().await;
    for n in 0..8 {
        let id = format!("hangs{n}");
        bed.script.tell(&id, Does::Hangs);
        bed.put("noisy", &id, None).await;
    }
    bed.script.tell("good", Does::Says(vec!["a"]));
    bed.put("quiet", "good", None).await;
    bed.pass(2).await;
    assert_eq!(bed.held("quiet", "good").status.state, ProviderState::Ready, "it waited for nobody");
    bed.pass(300).await;
    assert!(bed.script.going.lock().1 <= 4, "{:?}", bed.script.going.lock());
    let held = bed.held("noisy", "hangs0");
    assert_eq!(held.status.fault.as_ref().unwrap().code, ProviderFault::TimedOut);
    bed.stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn one_that_says_it_has_nothing_is_asked_twice_before_it_is_believed() {
    let bed = Bed::start().await;
    bed.script.tell("git", Does::Says(vec!["status"]));
    bed.put("default", "git", Some(60)).await;
    bed.pass(5).await;
    bed.script.tell("git", Does::Says(Vec::new()));
    bed.script.forget();
    bed.pass(70).await;
    assert_eq!(bed.script.times("git"), 2);
    let held = bed.held("default", "git");
    assert_eq!((held.status.tools.withdrawn, held.status.tools.imported), (1, 0));
    bed.stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn a_document_that_no_provider_uses_is_forgotten_after_a_day() {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let bed = Bed::start().await;
    let (documents, providers, tenant) = (&bed.parts.documents, &bed.parts.providers, TenantId::from_trusted("acme"));
    let (used, unused) = (Bytes::from_static(b"{}"), Bytes::from(vec![b' '; 1_000_000]));
    let digest = documents.keep(&tenant, &used).await.unwrap();
    let gone = documents.keep(&tenant, &unused).await.unwrap();
    let source = json!({ "kind": "openapi", "document": { "from": "uploaded", "digest": digest } });
    let mut pets = serde_json::to_value(provider("acme", "pets", None)).unwrap();
    pets["source"] = source;
    providers.put(serde_json::from_value(pets).unwrap(), "ann".to_owned(), false).await.unwrap();
    let now = bed.parts.registry.now().await.unwrap();
    assert_eq!(documents.forget_unused(now).await.unwrap(), 0, "it was handed in just now");
    let later = now.plus_millis(DAY_MS + 1);
    assert_eq!(documents.forget_unused(later).await.unwrap(), 1);
    assert!(documents.has(&tenant, &digest).await.unwrap());
    assert!(documents.read(&tenant, &gone).await.unwrap().is_err());
    let id = ProviderId::from_trusted("pets");
    providers.remove(tenant.clone(), id, "ann".to_owned(), String::new()).await.unwrap();
    assert_eq!(documents.forget_unused(later).await.unwrap(), 1, "a retired provider uses nothing");
    assert_eq!(documents.forget_unused(later).await.unwrap(), 0);
}
