//! Why tools cannot be used: each reason a surface gives, and what the logs of tools and surfaces tell.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::{Cluster, Options, tools};
use toolplane_wait::eventually;

use crate::bed::{PATIENCE, RULES, register};
use crate::coverage;

/// No rule denies anything.
const OPEN: &str = "[[permission.rules]]\nbehavior = \"allow\"\ntool = \"*\"\nreason = \"a test\"\n";

/// A tool of which `change` says what keeps it out.
fn tool(name: &str, change: impl Fn(&mut serde_json::Value)) -> v1::ToolRegistration {
    let id = format!("tool_kept_{name}");
    let mut document = json!({
        "declaration": {
            "tool_id": id, "namespace": "kept", "name": name, "description": "A tool that is kept out.",
            "lifecycle": "available", "tool_kind": "native_tool",
            "input_contract": { "strict": true, "model_input_schema": { "type": "object" } },
        },
        "interface": { "interface_id": format!("iface_{id}"), "tool_id": id, "is_read_only": true },
        "execution_profile": {
            "execution_profile_id": format!("exec_{id}"), "execution_kind": "embedded_runtime",
            "binding": { "type": "native", "name": "native.noop" },
        },
    });
    change(&mut document);
    tools::registration(&document.to_string()).unwrap()
}

#[tokio::test]
async fn every_reason_to_hide_a_tool_is_told_and_a_call_of_it_says_the_same() {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let clients = cluster.clients();
    register(
        clients,
        vec![
            tool("open", |_| {}),
            tool("setup", |tool| tool["declaration"]["lifecycle"] = "requires_setup".into()),
            tool("old", |tool| tool["declaration"]["lifecycle"] = "retired".into()),
            tool("draft", |tool| tool["declaration"]["lifecycle"] = "draft".into()),
            tool("gated", |tool| tool["interface"]["feature_gate_refs"] = json!(["beta"])),
            tool("keyed", |tool| tool["interface"]["required_credentials"] = json!(["crm"])),
            tool("person", |tool| tool["interface"]["requires_user_interaction"] = true.into()),
            tool("agent", |tool| tool["declaration"]["tool_kind"] = "peer_agent_tool".into()),
            tool("picture", |tool| tool["declaration"]["output_contract"] = json!({ "content_types": ["image"] })),
            tool("blocked", |_| {}),
        ],
    )
    .await;
    let request = v1::CreateSurfaceRequest {
        defer_policy: v1::DeferPolicy::All.into(),
        role: "subagent".to_owned(),
        interaction_mode: v1::InteractionMode::NonInteractive.into(),
        model_capabilities: Some(payload(r#"{"content_types":["text"]}"#)),
        blocked: vec![v1::BlockedName { name: "kept.blocked".to_owned(), ..Default::default() }],
        ..Default::default()
    };
    let surface = clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap();
    coverage::surface(&surface);
    let hidden = surface.blocked_tools.iter().chain(&surface.excluded_tools);
    let mut told: Vec<(&str, &str)> = hidden.map(|tool| (tool.name.as_str(), tool.reason.as_str())).collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("kept.agent", "recursive_tool_forbidden"),
            ("kept.blocked", "policy_blocked"),
            ("kept.draft", "not_selected"),
            ("kept.gated", "feature_disabled"),
            ("kept.keyed", "credential_missing"),
            ("kept.old", "retired"),
            ("kept.person", "role_not_allowed"),
            ("kept.picture", "model_unsupported"),
            ("kept.setup", "setup_required"),
        ]
    );
    assert_eq!(surface.deferred_tools.len(), 1);
    assert_eq!(surface.deferred_tools[0].reason, "deferred_until_discovered");
    coverage::note("reasons", &surface.deferred_tools[0].reason);

    let needs = v1::CreateSurfaceRequest { capability_requirements: vec!["web".to_owned()], ..Default::default() };
    let needs = clients.surfaces().create_surface(needs).await.unwrap().into_inner().surface.unwrap();
    coverage::surface(&needs);
    assert!(needs.excluded_tools.iter().any(|tool| tool.reason == "capability_missing"));

    for (name, reason) in told {
        let spec = v1::InvocationSpec {
            surface_id: surface.surface_id.clone(),
            tool_name: name.to_owned(),
            model_input: Some(payload("{}")),
            ..Default::default()
        };
        let request = v1::CallRequest { spec: Some(spec), ..Default::default() };
        let result = clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
        coverage::result(&result);
        let error = result.error.unwrap();
        assert!(error.error_code.ends_with(reason), "{name}: {error:?}");
        assert!(error.recovery_suggestion.is_some_and(|text| !text.is_empty()) && error.can_retry == Some(false));
    }
}

/// Denies the tools `kept.s*` to everybody; the rule.
async fn deny(clients: &Clients, reason: &str) -> String {
    let denial = v1::PermissionRule {
        source: "project_settings".to_owned(),
        behavior: v1::Behavior::Deny.into(),
        matcher: "kept.s*".to_owned(),
        reason: reason.to_owned(),
        ..Default::default()
    };
    let rules = v1::AddRulesRequest { rules: vec![denial], ..Default::default() };
    clients.permissions().add_rules(rules).await.unwrap().into_inner().rules.remove(0).rule_id
}

/// Who asks for the denied tool by name is told why at once, and so is who wants it exported.
async fn check_told_by_name(clients: &Clients, surface_id: &str, why: &str) {
    let named = v1::CreateSurfaceRequest {
        tool_refs: vec!["kept.shut".to_owned()],
        load: vec!["kept.open".to_owned(), "kept.shut".to_owned()],
        ..Default::default()
    };
    let warned = clients.surfaces().create_surface(named).await.unwrap().into_inner().warnings;
    let warned: Vec<(&str, &str)> = warned.iter().map(|one| (&*one.field, &*one.message)).collect();
    let told = format!("`kept.shut` {why}");
    assert_eq!(warned, [("tool_refs[0]", told.as_str()), ("load[1]", told.as_str())]);
    let export = v1::ExportSurfaceRequest {
        surface_id: surface_id.to_owned(),
        shape: "mcp".to_owned(),
        names: vec!["kept.shut".to_owned()],
        ..Default::default()
    };
    let [left] =
        <[_; 1]>::try_from(clients.surfaces().export_surface(export).await.unwrap().into_inner().left_out).unwrap();
    assert_eq!((left.reason, left.message), ("hidden".to_owned(), why.to_owned()));
}

/// What the rules deny whatever the call is not shown as something to be called, and comes back with the rule.
#[tokio::test]
async fn a_tool_that_the_rules_deny_to_everybody_is_blocked_in_every_surface() {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let clients = cluster.clients();
    register(clients, vec![tool("open", |_| {}), tool("shut", |_| {})]).await;
    let request = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let surface_id = clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap().surface_id;
    let blocked = async || {
        let request = v1::GetSurfaceRequest { surface_id: surface_id.clone(), ..Default::default() };
        clients.surfaces().get_surface(request).await.unwrap().into_inner().surface.unwrap().blocked_tools
    };
    let load = async |name: &str| {
        let (surface_id, names) = (surface_id.clone(), vec![name.to_owned()]);
        let request = v1::LoadToolsRequest { surface_id, names, ..Default::default() };
        let loaded = clients.surfaces().load_tools(request).await.unwrap().into_inner();
        <[_; 1]>::try_from(loaded.outcomes).unwrap().map(|outcome| outcome.outcome.unwrap())
    };
    let rule = deny(clients, "out of use").await;
    let told = eventually("the rule is known to surfaces", PATIENCE, async || {
        let blocked = blocked().await;
        (!blocked.is_empty()).then_some(blocked)
    })
    .await;
    let [tool_shut] = <[_; 1]>::try_from(told).unwrap();
    let why = format!("is denied by the rule `{rule}`, whatever the call: out of use");
    assert_eq!((&*tool_shut.name, &*tool_shut.reason, tool_shut.message), ("kept.shut", "policy_blocked", why.clone()));

    // One that comes now is looked at too.
    register(clients, vec![tool("stop", |_| {})]).await;
    assert_eq!(blocked().await.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["kept.shut", "kept.stop"]);

    let request =
        v1::SearchToolsRequest { surface_id: surface_id.clone(), query: "kept".to_owned(), ..Default::default() };
    let found = clients.surfaces().search_tools(request).await.unwrap().into_inner().result.unwrap();
    assert_eq!(found.found.iter().map(|found| &*found.name).collect::<Vec<_>>(), ["kept.open"]);
    let query = "select:kept.shut".to_owned();
    let request = v1::SearchToolsRequest { surface_id: surface_id.clone(), query, ..Default::default() };
    let selected = clients.surfaces().search_tools(request).await.unwrap().into_inner().result.unwrap();
    let [hidden] = <[_; 1]>::try_from(selected.refs).unwrap();
    assert!(hidden.reason.contains(&why) && selected.found.is_empty(), "{hidden:?}");

    let [Outcome::Failure(failure)] = load("kept.shut").await else { panic!("it is loaded") };
    assert_eq!((failure.kind(), failure.reason.as_str()), (v1::NotCallableKind::Blocked, "policy_blocked"));
    assert_eq!((failure.message, failure.error.unwrap().error_code), (why.clone(), "permission.denied".to_owned()));
    let [Outcome::Loaded(_)] = load("kept.open").await else { panic!("it is not loaded") };

    // A call of what is loaded is decided about all the same, and the decision is kept; to load another one is no advice.
    for (surface_id, is_decided) in [(String::new(), true), (surface_id.clone(), false)] {
        let spec = v1::InvocationSpec {
            surface_id,
            tool_name: "kept.shut".to_owned(),
            model_input: Some(payload("{}")),
            ..Default::default()
        };
        let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() };
        let result = clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
        let error = result.error.unwrap();
        assert_eq!((&*error.error_code, error.message == why), ("permission.denied", !is_decided), "{}", error.message);
    }
    let choice = v1::CreateSurfaceRequest {
        default_tool_choice: Some(payload(r#"{"tool":"kept.shut"}"#)),
        namespaces: vec!["kept".to_owned()],
        ..Default::default()
    };
    let warned = clients.surfaces().create_surface(choice).await.unwrap().into_inner().warnings;
    assert_eq!(warned.iter().map(|warning| &*warning.field).collect::<Vec<_>>(), ["default_tool_choice"]);
    check_told_by_name(clients, &surface_id, &why).await;

    let revoked = v1::RevokeRuleRequest { rule_id: rule, ..Default::default() };
    clients.permissions().revoke_rule(revoked).await.unwrap();
    eventually("the rule is known to be gone", PATIENCE, async || blocked().await.is_empty().then_some(())).await;
    let [Outcome::Loaded(_)] = load("kept.shut").await else { panic!("it is not loaded") };
}

/// What surfaces say of rules is told to who follows one, over breaks too.
#[tokio::test]
async fn whoever_follows_a_surface_hears_what_the_rules_deny_and_allow_again() {
    let cluster = Cluster::start(Options::new(OPEN)).await.unwrap();
    let clients = cluster.clients();
    register(clients, vec![tool("open", |_| {}), tool("shut", |_| {})]).await;
    let request = v1::CreateSurfaceRequest {
        defer_policy: v1::DeferPolicy::All.into(),
        namespaces: vec!["kept".to_owned()],
        ..Default::default()
    };
    let surface = clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap();
    let follow = async |from_moment: &str| {
        let (surface_id, from_moment) = (surface.surface_id.clone(), from_moment.to_owned());
        let request = v1::WatchSurfaceRequest { surface_id, from_moment, ..Default::default() };
        clients.surfaces().watch_surface(request).await.unwrap().into_inner()
    };
    let told = |message: v1::WatchSurfaceResponse| {
        let changes =
            message.changes.iter().map(|change| format!("{:?} {} {}", change.kind(), change.name, change.reason));
        (message.anew, changes.map(|change| change.trim_end().to_owned()).collect::<Vec<_>>(), message.moment)
    };
    let next = async |stream: &mut tonic::Streaming<v1::WatchSurfaceResponse>| {
        told(tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap())
    };
    let mut stream = follow(&surface.moment).await;
    assert_eq!(next(&mut stream).await, (false, vec![], surface.moment.clone()));

    let rule = deny(clients, "").await;
    let (anew, changes, denied) = next(&mut stream).await;
    assert_eq!((anew, changes), (false, vec!["Removed kept.shut policy_blocked".to_owned()]));
    assert_ne!(denied, surface.moment, "it is another moment, at which something else could be used");
    let request = v1::GetSurfaceRequest { surface_id: surface.surface_id.clone(), ..Default::default() };
    let read = clients.surfaces().get_surface(request).await.unwrap().into_inner().surface.unwrap();
    assert_eq!(read.moment, denied);

    // What is denied from the first moment on is not told.
    register(clients, vec![tool("stop", |_| {}), tool("more", |_| {})]).await;
    let (_, changes, later) = next(&mut stream).await;
    assert_eq!(changes, ["Added kept.more"]);
    // Who comes again knows what it knew; a call by such a moment is a call like any.
    drop(stream);
    let mut stream = follow(&denied).await;
    assert_eq!(next(&mut stream).await, (false, vec![], denied.clone()));
    assert_eq!(next(&mut stream).await, (false, vec!["Added kept.more".to_owned()], later.clone()));
    let mut from_before = follow(&surface.moment).await;
    assert_eq!(next(&mut from_before).await.2, surface.moment);
    let (_, mut changes, _) = next(&mut from_before).await;
    changes.sort_unstable();
    assert_eq!(changes, ["Added kept.more", "Removed kept.shut policy_blocked"]);
    let load = v1::LoadToolsRequest {
        surface_id: surface.surface_id.clone(),
        names: vec!["kept.open".to_owned()],
        ..Default::default()
    };
    let loaded = clients.surfaces().load_tools(load).await.unwrap().into_inner();
    assert_eq!(next(&mut stream).await.1, ["Changed kept.open"]);
    let spec = v1::InvocationSpec {
        surface_id: surface.surface_id.clone(),
        surface_moment: loaded.moment.clone(),
        tool_name: "kept.open".to_owned(),
        model_input: Some(payload("{}")),
        ..Default::default()
    };
    let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() };
    let result = clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
    assert!(!result.is_error, "{result:?}");

    let revoked = v1::RevokeRuleRequest { rule_id: rule, ..Default::default() };
    clients.permissions().revoke_rule(revoked).await.unwrap();
    let (anew, mut changes, allowed) = next(&mut stream).await;
    changes.sort_unstable();
    assert_eq!((anew, changes), (false, vec!["Added kept.shut".to_owned(), "Added kept.stop".to_owned()]));
    assert!(!allowed.contains('-'), "{allowed}");
    // What was denied at that moment is not known any more: all is told, and no moment before that.
    let mut stream = follow(&loaded.moment).await;
    assert_eq!(next(&mut stream).await, (false, vec![], String::new()));
    let (anew, changes, moment) = next(&mut stream).await;
    assert_eq!((anew, changes.len(), moment), (true, 4, allowed));
}

/// A process that has just begun shows nothing that is denied, and whoever follows on is told nothing.
#[tokio::test]
async fn a_start_knows_what_is_denied_before_it_shows_anything() {
    let mut cluster = Cluster::start(Options::new(OPEN)).await.unwrap();
    register(cluster.clients(), vec![tool("open", |_| {}), tool("shut", |_| {})]).await;
    deny(cluster.clients(), "").await;
    let look = async |clients: &Clients| {
        let request = v1::ListSurfaceToolsRequest { page_size: 100, ..Default::default() };
        let told = clients.surfaces().list_surface_tools(request).await?.into_inner();
        let blocked = |tool: &v1::SurfaceTool| matches!(tool.tool, Some(v1::surface_tool::Tool::Blocked(_)));
        Ok::<_, tonic::Status>((told.tools.iter().filter(|tool| blocked(tool)).count(), told.moment))
    };
    let before = eventually("the rule is known to surfaces", PATIENCE, async || {
        look(cluster.clients()).await.ok().filter(|(blocked, _)| *blocked == 1)
    })
    .await;
    cluster.stop().await.unwrap();
    cluster.launch().unwrap();
    let clients = cluster.clients();
    let first = eventually("the process answers", PATIENCE, async || look(clients).await.ok()).await;
    assert_eq!(first, before, "the first answer there is");
    let request = v1::WatchSurfaceRequest { from_moment: before.1.clone(), ..Default::default() };
    let mut stream = clients.surfaces().watch_surface(request).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap().unwrap().moment, before.1);
    // A stream that is cut off by a stop is no stream that has ended.
    let stopped = async {
        loop {
            match stream.message().await {
                Ok(Some(message)) => assert_eq!((message.anew, message.changes.len()), (false, 0)),
                Ok(None) => panic!("it ends as if the surface were gone"),
                Err(status) => return status,
            }
        }
    };
    let mut stopping = cluster;
    let (status, ended) = tokio::join!(stopped, async move { stopping.stop().await });
    ended.unwrap();
    assert_eq!((status.code(), status.message()), (tonic::Code::Unavailable, "this server is stopping"));
}

/// The logs of a tool and of a surface tell what happened to them.
#[tokio::test]
async fn tools_and_surfaces_tell_what_happened_to_them() {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let clients = cluster.clients();
    register(clients, vec![tool("open", |_| {})]).await;
    let request = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let surface_id = clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap().surface_id;
    let request =
        v1::SearchToolsRequest { surface_id: surface_id.clone(), query: "kept".to_owned(), ..Default::default() };
    clients.surfaces().search_tools(request).await.unwrap();
    let request = v1::LoadToolsRequest {
        surface_id: surface_id.clone(),
        names: vec!["kept.open".to_owned()],
        ..Default::default()
    };
    clients.surfaces().load_tools(request).await.unwrap();
    let mut told = Vec::new();
    for subject in [
        v1::list_events_request::Subject::ToolId("tool_kept_open".to_owned()),
        v1::list_events_request::Subject::SurfaceId(surface_id),
    ] {
        let request = v1::ListEventsRequest { subject: Some(subject), ..Default::default() };
        let log = clients.surfaces().list_events(request).await.unwrap().into_inner();
        log.events.iter().for_each(coverage::event);
        told.extend(log.events.into_iter().map(|event| event.event_type));
    }
    for expected in ["tool.declared", "tool.surface.created", "tool.deferred.discovered", "tool.deferred.loaded"] {
        assert!(told.iter().any(|kind| kind == expected), "{expected}: {told:?}");
    }
}
