//! Providers: made, asked, reviewed, changed and taken out of use.

use std::path::Path;

use futures_util::stream;
use serde_json::{Value, json};
use tonic::Code;
use tonic_types::StatusExt as _;
use toolplane_backend::{Backend, Keeper};
use toolplane_proto::v1;
use toolplane_proto::v1::list_events_request::Subject as LogOf;
use toolplane_testkit::redis::{RedisOptions, RedisServer};
use toolplane_wait::eventually;

use crate::role::{PATIENCE, Role, options};
use crate::several::on;
use crate::watch::Watch;

/// A document with these operations: id, method, description.
fn document(operations: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut paths = json!({});
    for (id, method, description) in operations {
        paths[format!("/{id}")] = json!({ *method: { "operationId": id, "description": description,
            "parameters": [{ "name": "q", "in": "query", "schema": { "type": "string" } }],
            "responses": { "200": { "description": "ok" } } } });
    }
    let document = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "7" },
        "servers": [{ "url": "https://pets.example.org" }], "paths": paths });
    document.to_string().into_bytes()
}

async fn uploaded(role: &Role, document: Vec<u8>) -> String {
    let parts: Vec<_> =
        document.chunks(1000).map(|part| v1::UploadDocumentRequest { data: part.to_vec().into() }).collect();
    role.providers().upload_document(stream::iter(parts)).await.unwrap().into_inner().digest
}

fn pets(digest: &str, trust: v1::ProviderTrust) -> v1::Provider {
    let document = v1::openapi_source::Document::Uploaded(digest.to_owned());
    let source = v1::OpenapiSource { document: Some(document), ..Default::default() };
    v1::Provider {
        provider_id: "pets".to_owned(),
        source: Some(v1::provider::Source::Openapi(source)),
        trust: trust.into(),
        ..Default::default()
    }
}

async fn put(role: &Role, provider: v1::Provider) -> v1::PutProviderResponse {
    let request = v1::PutProviderRequest { provider: Some(provider), ..Default::default() };
    role.providers().put_provider(request).await.unwrap().into_inner()
}

async fn refreshed(role: &Role, dry_run: bool) -> v1::RefreshProviderResponse {
    let request = v1::RefreshProviderRequest { provider_id: "pets".to_owned(), dry_run };
    role.providers().refresh_provider(request).await.unwrap().into_inner()
}

async fn tools(role: &Role) -> Vec<v1::ListedTool> {
    let request = v1::ListProvidedToolsRequest { provider_id: "pets".to_owned(), ..Default::default() };
    role.providers().list_provided_tools(request).await.unwrap().into_inner().tools
}

async fn states(role: &Role) -> Vec<(String, v1::ReviewState, bool)> {
    let tools = tools(role).await;
    tools.into_iter().map(|tool| (tool.tool_id.clone(), tool.tool.unwrap().state(), tool.callable)).collect()
}

async fn shown(role: &Role, tool: &str) -> v1::ShowToolResponse {
    let request = v1::ShowToolRequest { tool_id: format!("provider:pets/{tool}") };
    role.providers().show_tool(request).await.unwrap().into_inner()
}

async fn review(role: &Role, tool: &str, digest: &str, approve: bool) -> v1::ReviewOutcome {
    let tools = vec![v1::ReviewedTool { tool_id: format!("provider:pets/{tool}"), digest: digest.to_owned() }];
    let request = v1::ReviewToolsRequest { provider_id: "pets".to_owned(), approve, tools, ..Default::default() };
    role.providers().review_tools(request).await.unwrap().into_inner().outcomes.remove(0)
}

async fn approve(role: &Role, tool: &str) {
    let digest = shown(role, tool).await.digest;
    let outcome = review(role, tool, &digest, true).await;
    assert_eq!(outcome.tool.unwrap().state(), v1::ReviewState::Approved, "{}", outcome.message);
}

async fn status(role: &Role) -> v1::ProviderStatus {
    let request = v1::GetProviderRequest { provider_id: "pets".to_owned() };
    role.providers().get_provider(request).await.unwrap().into_inner().status.unwrap()
}

async fn error_of(role: &Role, surface: &str, name: &str) -> String {
    let refusal = role.refusal(surface, name).await;
    assert_eq!(refusal.kind(), v1::NotCallableKind::Provider, "{refusal:?}");
    refusal.error.unwrap().error_code
}

async fn events(role: &Role) -> Vec<(String, Value)> {
    let events = role.events(LogOf::ProviderId("pets".to_owned())).await;
    let data =
        |event: &v1::Event| toolplane_records::payload::JsonPayload::try_from(event.data.clone().unwrap()).unwrap();
    events.iter().map(|event| (event.event_type.clone(), data(event).to_value())).collect()
}

/// The tools of a surface as it is read: each with how it is shown, and with why it cannot be called.
async fn read(role: &Role, surface: &str) -> Vec<String> {
    let surface = role.get(surface).await.surface.unwrap();
    let loaded = surface.loaded_tools.into_iter().map(|tool| {
        assert_eq!(tool.uncallable.is_empty(), tool.message.is_empty(), "{tool:?}");
        format!("{} loaded {}", tool.name, tool.uncallable)
    });
    let deferred = surface.deferred_tools.into_iter().map(|tool| format!("{} deferred {}", tool.name, tool.reason));
    let hidden = surface.blocked_tools.into_iter().map(|tool| format!("{} blocked {}", tool.name, tool.reason));
    loaded.chain(deferred).chain(hidden).collect()
}

/// What is different about a surface: each tool with how it is told, and with why.
async fn told(watch: &mut Watch) -> Vec<String> {
    let message = watch.next().await.unwrap();
    assert!(!message.anew, "{message:?}");
    let told = message.changes.into_iter().map(|change| {
        assert_eq!(change.reason.is_empty(), change.message.is_empty(), "{change:?}");
        format!("{} {} {}", change.name, change.kind().as_str_name().rsplit('_').next().unwrap(), change.reason)
    });
    told.collect()
}

const TWO: &[(&str, &str, &str)] = &[("listPets", "get", "Lists pets."), ("buyPet", "post", "Buys a pet.")];

/// From a document to a tool that can be called, and on to one that cannot any more because it changed.
async fn whole_way(role: &Role) {
    let digest = uploaded(role, document(TWO)).await;
    let made = put(role, pets(&digest, v1::ProviderTrust::Untrusted)).await;
    assert_eq!((made.change.as_str(), made.provider.unwrap().namespace.as_str()), ("created", "pets"));
    assert_eq!(put(role, pets(&digest, v1::ProviderTrust::Untrusted)).await.change, "unchanged");
    refreshed(role, false).await;
    let new = v1::ReviewState::New;
    let expected = ["provider:pets/buyPet", "provider:pets/listPets"].map(|id| (id.to_owned(), new, false));
    assert_eq!(states(role).await, expected);
    let status = status(role).await;
    assert_eq!((status.state(), status.tools.unwrap().waiting), (v1::ProviderState::Ready, 2));
    assert_eq!((status.server_name.as_str(), status.server_version.as_str()), ("Pets", "7"));

    // Nobody has looked at them: they are in no list, and a call is told why.
    let surface = role.surface(v1::CreateSurfaceRequest::default()).await;
    assert!(surface.loaded_tools.is_empty() && surface.deferred_tools.is_empty());
    assert_eq!(error_of(role, &surface.surface_id, "pets.listPets").await, "provider.tool_waits");
    approve(role, "listPets").await;
    let surface = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    let tool = role.resolved(&surface, "pets.listPets").await;
    let interface = tool.registration.unwrap().interface.unwrap();
    assert_eq!(interface.is_read_only.unwrap().fact, Some(v1::safety_fact::Fact::Known(true)));
    assert_eq!(error_of(role, &surface, "pets.buyPet").await, "provider.tool_waits");

    // It changes: what was approved may not be called any more, and the person sees what is different.
    let other: &[_] = &[("listPets", "get", "Lists pets, and sends them away."), ("feedPet", "put", "Feeds.")];
    let digest = uploaded(role, document(other)).await;
    assert_eq!(put(role, pets(&digest, v1::ProviderTrust::Untrusted)).await.change, "changed");
    let would = refreshed(role, true).await.difference.unwrap();
    if would.changed_count == 1 {
        assert_eq!((would.added_count, would.withdrawn_count, would.changed.len()), (1, 1, 1));
        assert!(would.changed[0].changes[0].contains("sends them away"), "{:?}", would.changed[0].changes);
    }
    refreshed(role, false).await;
    assert_eq!(error_of(role, &surface, "pets.listPets").await, "provider.tool_waits");
    let seen = shown(role, "listPets").await;
    assert!(seen.changed && seen.changes[0].contains("sends them away"), "{:?}", seen.changes);
    assert!(seen.rendered.contains("  | Lists pets, and sends them away."), "{}", seen.rendered);
    let outdated = review(role, "listPets", &toolplane_records::payload::Digest::of(b"x").to_string(), true).await;
    assert_eq!(outdated.error_code, "REVIEW_OUTDATED");
    approve(role, "listPets").await;
    let load = role.load(&surface, &["pets.listPets"]).await.outcomes.remove(0);
    assert!(matches!(load.outcome, Some(v1::load_outcome::Outcome::Loaded(_))), "{load:?}");
    assert!(role.resolved(&surface, "pets.listPets").await.registration.is_some());
    assert_eq!(read(role, &surface).await, ["pets.listPets loaded "]);
    // A yes that was given can be taken back.
    assert_eq!(review(role, "listPets", &seen.digest, false).await.tool.unwrap().state(), v1::ReviewState::Rejected);
    assert_eq!(error_of(role, &surface, "pets.listPets").await, "provider.tool_rejected");
    assert_eq!(read(role, &surface).await, ["pets.listPets blocked policy_blocked"]);
    assert_eq!(review(role, "listPets", &seen.digest, true).await.tool.unwrap().state(), v1::ReviewState::Approved);
    assert!(role.resolved(&surface, "pets.listPets").await.registration.is_some());

    let log = events(role).await;
    let kinds: Vec<&str> = log.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds[0], "ext.provider.changed");
    assert!(kinds.contains(&"ext.provider.listed") && kinds.contains(&"ext.provider.reviewed"), "{kinds:?}");
    let request = v1::RemoveProviderRequest { provider_id: "pets".to_owned(), ..Default::default() };
    role.providers().remove_provider(request).await.unwrap();
    assert_eq!(error_of(role, &surface, "pets.listPets").await, "provider.retired");
    assert_eq!(read(role, &surface).await, ["pets.listPets blocked retired"]);
    let listed = role.providers().list_providers(v1::ListProvidersRequest::default()).await.unwrap().into_inner();
    assert!(listed.providers.is_empty());
    // Put again, it is asked anew, and what was approved is what it was.
    assert_eq!(put(role, pets(&digest, v1::ProviderTrust::Untrusted)).await.change, "created");
    refreshed(role, false).await;
    assert!(role.resolved(&surface, "pets.listPets").await.registration.is_some());
}

#[tokio::test]
async fn a_document_becomes_tools_that_wait_and_are_approved() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    whole_way(&role).await;
    role.stop().await;
    // All of it is there after a restart.
    let role = Role::start(dir.path()).await;
    let surface = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    assert!(role.resolved(&surface, "pets.listPets").await.registration.is_some());
    assert_eq!(error_of(&role, &surface, "pets.feedPet").await, "provider.tool_waits");
    role.stop().await;
}

#[tokio::test]
async fn the_same_over_redis_and_the_other_process_knows() {
    let server = RedisServer::start(RedisOptions::default()).await.unwrap();
    let start = async || Role::start_on(Backend::open(&on(&server), Keeper::Surface).await.unwrap(), options()).await;
    let (one, other) = (start().await, start().await);
    whole_way(&one).await;
    let surface = other.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    assert!(other.resolved(&surface, "pets.listPets").await.registration.is_some());
    let digest = shown(&other, "listPets").await.digest;
    review(&other, "listPets", &digest, false).await;
    assert_eq!(error_of(&one, &surface, "pets.listPets").await, "provider.tool_rejected");
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn trust_lets_tools_pass_and_ends_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let digest = uploaded(&role, document(TWO)).await;
    put(&role, pets(&digest, v1::ProviderTrust::NewTools)).await;
    refreshed(&role, false).await;
    assert!(states(&role).await.iter().all(|(_, state, callable)| *state == v1::ReviewState::Approved && *callable));
    let surface = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    role.resolved(&surface, "pets.buyPet").await;
    put(&role, pets(&digest, v1::ProviderTrust::Untrusted)).await;
    assert_eq!(error_of(&role, &surface, "pets.buyPet").await, "provider.tool_waits");
    role.stop().await;
}

/// A provider that is new is asked without anybody asking for it.
#[tokio::test]
async fn a_new_provider_is_asked_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let digest = uploaded(&role, document(TWO)).await;
    put(&role, pets(&digest, v1::ProviderTrust::Untrusted)).await;
    let ready = async || (status(&role).await.state() == v1::ProviderState::Ready).then_some(());
    eventually("the provider is asked", PATIENCE, ready).await;
    assert_eq!(tools(&role).await.len(), 2);
    role.stop().await;
}

/// One tool that cannot be entered, because another tool has its name, is refused alone.
#[tokio::test]
async fn one_bad_tool_never_loses_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![crate::role::tool("pets", "buyPet")]).await.unwrap();
    let digest = uploaded(&role, document(TWO)).await;
    put(&role, pets(&digest, v1::ProviderTrust::AllTools)).await;
    let difference = refreshed(&role, false).await;
    drop(difference);
    let states = states(&role).await;
    assert_eq!(states[0].1, v1::ReviewState::Refused, "{states:?}");
    assert_eq!((states[1].1, states[1].2), (v1::ReviewState::Approved, true));
    assert_eq!(status(&role).await.tools.unwrap().refused, 1);
    role.stop().await;
}

/// Tools that workers bring along.
fn of_worker(id: &str, prefix: &str) -> v1::Provider {
    let source = v1::provider::Source::Worker(v1::WorkerSource { native_prefix: prefix.to_owned() });
    v1::Provider { provider_id: id.to_owned(), source: Some(source), ..Default::default() }
}

#[tokio::test]
async fn what_is_wrong_is_refused_by_field() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let gone = toolplane_records::payload::Digest::of(b"nothing").to_string();
    let mut provider = pets(&gone, v1::ProviderTrust::Untrusted);
    provider.namespace = "a b".to_owned();
    let request = v1::PutProviderRequest { provider: Some(provider), ..Default::default() };
    let refused = role.providers().put_provider(request).await.unwrap_err();
    let details = refused.get_error_details();
    let fields: Vec<_> = details.bad_request().unwrap().field_violations.iter().map(|v| v.field.clone()).collect();
    assert_eq!(
        (refused.code(), fields),
        (Code::InvalidArgument, vec!["provider.namespace".to_owned(), "provider.source.document".to_owned()])
    );
    put(&role, of_worker("own", "acme.")).await;
    for (prefix, rule) in [("native.", "built-in"), ("acme.more.", "`own`")] {
        let request = v1::PutProviderRequest { provider: Some(of_worker("w", prefix)), ..Default::default() };
        let refused = role.providers().put_provider(request).await.unwrap_err();
        let details = refused.get_error_details();
        let found = &details.bad_request().unwrap().field_violations[0];
        assert_eq!(found.field, "provider.source.native_prefix");
        assert!(found.description.contains(rule), "{}", found.description);
    }
    let mut own = crate::role::tool("pets", "x");
    own.declaration.as_mut().unwrap().tool_id = "provider:pets/x".to_owned();
    assert_eq!(role.register(vec![own]).await.unwrap_err().code(), Code::InvalidArgument);
    let request = v1::RefreshProviderRequest { provider_id: "nobody".to_owned(), dry_run: false };
    assert_eq!(role.providers().refresh_provider(request).await.unwrap_err().code(), Code::NotFound);
    role.stop().await;
}

/// A file that is away, and then is no list of tools: what was there stays, and the state says why.
#[tokio::test]
async fn a_file_that_is_away_takes_nothing_away() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let file = dir.path().join("tools.json");
    let write = |path: &Path, names: &[&str]| {
        let tools: Vec<_> = names
            .iter()
            .map(|name| {
                json!({ "declaration": { "tool_id": name, "namespace": "x", "name": name, "description": name,
                "lifecycle": "available", "tool_kind": "native_tool" } })
            })
            .collect();
        std::fs::write(path, json!({ "tools": tools }).to_string()).unwrap();
    };
    write(&file, &["echo", "noop"]);
    let source = v1::provider::Source::File(v1::FileSource { path: file.display().to_string() });
    let provider = v1::Provider { source: Some(source), ..pets("", v1::ProviderTrust::NewTools) };
    put(&role, provider).await;
    refreshed(&role, false).await;
    let made = role.surface(v1::CreateSurfaceRequest::default()).await;
    let surface = made.surface_id;
    let mut watch = Watch::from(&role, &surface, &made.moment).await;
    role.resolved(&surface, "pets.x.echo").await;
    std::fs::remove_file(&file).unwrap();
    for _ in 0..2 {
        let answer = refreshed(&role, false).await;
        assert!(answer.difference.is_none() && answer.line.contains("cannot be reached"), "{}", answer.line);
    }
    assert_eq!(status(&role).await.state(), v1::ProviderState::Degraded);
    role.resolved(&surface, "pets.x.echo").await;
    refreshed(&role, false).await;
    let now = status(&role).await;
    assert_eq!((now.state(), now.circuit()), (v1::ProviderState::Failed, v1::CircuitState::Open));
    assert_eq!(now.tools.unwrap().found, 2, "nothing is lost");
    let refusal = role.refusal(&surface, "pets.x.echo").await.error.unwrap();
    assert_eq!(refusal.error_code, "provider.away");
    assert!(refusal.retry_after_ms.is_some_and(|wait| wait > 0));
    let found = role.search(&surface, "echo").await;
    assert_eq!(found.pending_providers, ["pets"]);
    // Whoever follows is told, also from a moment before it; who goes on from a moment behind it knows it.
    let away = ["pets.x.echo CHANGED provider.away", "pets.x.noop CHANGED provider.away"];
    assert_eq!(told(&mut watch).await, away);
    let mut late = Watch::from(&role, &surface, &made.moment).await;
    assert_eq!(told(&mut late).await, away);
    let reads = ["pets.x.echo loaded provider.away", "pets.x.noop loaded provider.away"];
    assert_eq!(read(&role, &surface).await, reads);
    let mut again = Watch::from(&role, &surface, &watch.moment).await;
    // It is back with one tool less: that one is not shown any more, and its identity is not spent.
    write(&file, &["echo"]);
    let difference = refreshed(&role, false).await.difference.unwrap();
    assert_eq!(difference.withdrawn, ["provider:pets/x.noop"]);
    for watch in [&mut watch, &mut late, &mut again] {
        assert_eq!(told(watch).await, ["pets.x.echo CHANGED ", "pets.x.noop REMOVED retired"]);
    }
    assert_eq!(read(&role, &surface).await, ["pets.x.echo loaded ", "pets.x.noop blocked retired"]);
    // It is offered to no model, takes nothing of a budget, and who names it is told why.
    let few = v1::SurfaceBudget { max_tools: 1, ..Default::default() };
    let named = vec!["pets.x.noop".to_owned(), "pets.x.echo".to_owned()];
    let request = v1::CreateSurfaceRequest { tool_refs: named, budget: Some(few), ..Default::default() };
    let made = role.client.clone().create_surface(request).await.unwrap().into_inner();
    let (small, warned) = (made.surface.unwrap().surface_id, made.warnings);
    assert_eq!(read(&role, &small).await, ["pets.x.echo loaded ", "pets.x.noop blocked retired"]);
    assert!(warned.iter().any(|one| one.message == "`pets.x.noop` is no tool of its provider any more"), "{warned:?}");
    assert!(role.search(&small, "noop").await.refs.is_empty());
    role.resolved(&surface, "pets.x.echo").await;
    assert_eq!(error_of(&role, &surface, "pets.x.noop").await, "provider.tool_withdrawn");
    write(&file, &["echo", "noop"]);
    refreshed(&role, false).await;
    assert_eq!(error_of(&role, &surface, "pets.x.noop").await, "provider.tool_waits", "one that comes back is new");
    approve(&role, "x.noop").await;
    role.resolved(&surface, "pets.x.noop").await;
    assert_eq!(read(&role, &surface).await, ["pets.x.echo loaded ", "pets.x.noop loaded "]);
    role.stop().await;
}
