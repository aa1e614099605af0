//! Making surfaces, finding and loading tools in them.

use std::time::{Duration, Instant};

use tonic::Code;
use toolplane_proto::v1;
use toolplane_proto::v1::list_events_request::Subject;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_proto::v1::unload_outcome::Outcome as Unloaded;
use toolplane_records::payload::JsonPayload;
use toolplane_records::surface::ToolSurface;

use crate::role::{Role, changed, tool};

fn deferred() -> v1::CreateSurfaceRequest {
    v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() }
}

#[tokio::test]
async fn from_search_over_loading_to_a_callable_tool() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("files", "write"), tool("mail", "send")]).await.unwrap();
    let made = role.surface(deferred()).await;
    assert_eq!((made.loaded_tools.len(), made.deferred_tools.len(), made.revision), (0, 3, 1));
    let id = made.surface_id;
    let refusal = role.refusal(&id, "files.read").await;
    assert_eq!(refusal.kind(), v1::NotCallableKind::NotLoaded);
    assert_eq!(refusal.reason, "deferred_until_discovered");
    let found = role.search(&id, "read files").await;
    assert_eq!((found.query_type.as_str(), found.next_action.as_str()), ("keyword", "load_schema_then_call"));
    assert_eq!(found.matches[0], "tool_files_read");
    let exact = role.search(&id, "select:mail.send,files.fly").await;
    assert_eq!((exact.matches, exact.missing_names), (vec!["tool_mail_send".to_owned()], vec!["files.fly".to_owned()]));
    assert_eq!(role.search(&id, "teleportation").await.next_action, "refine_query");
    let loaded = role.load(&id, &["files.read", "files.fly"]).await;
    assert_eq!(loaded.surface_revision, 2);
    let Some(Outcome::Loaded(schema)) = &loaded.outcomes[0].outcome else { panic!("{loaded:?}") };
    let text = JsonPayload::try_from(schema.model_input_schema.clone().unwrap()).unwrap();
    assert!(text.text().contains("9007199254740993"), "the exact schema");
    let Some(Outcome::Failure(failure)) = &loaded.outcomes[1].outcome else { panic!("{loaded:?}") };
    assert_eq!(failure.kind(), v1::NotCallableKind::Unknown);
    let resolved = role.resolved(&id, "files__read").await;
    assert_eq!(resolved.digest, schema.digest);
    assert_eq!(role.load(&id, &["files.read"]).await.surface_revision, 2, "loading again changes nothing");
    assert_eq!(role.search(&id, "select:files.read").await.next_action, "call");
    role.stop().await;
    let role = Role::start(dir.path()).await;
    role.resolved(&id, "read").await;
    let stored = role.get(&id).await;
    let record: ToolSurface = JsonPayload::try_from(stored.json.unwrap()).unwrap().parse().unwrap();
    assert_eq!((record.loaded_tools.len(), record.deferred_tools.len(), record.revision), (1, 2, 2));
    let events = role.events(Subject::SurfaceId(id)).await;
    let types: Vec<_> = events.iter().map(|event| event.event_type.as_str()).collect();
    let expected = [
        "tool.surface.created",
        "tool.deferred.discovered",
        "tool.deferred.discovered",
        "tool.deferred.loaded",
        "tool.surface.updated",
    ];
    assert_eq!(types, expected);
    assert!(events.iter().zip(1..).all(|(event, seq)| event.sequence == seq));
    assert_eq!(events[3].tool_id, "tool_files_read");
    role.stop().await;
}

/// A schema that changed is told, with what changed, over a restart too; loading it again is knowing it again.
#[tokio::test]
async fn a_changed_schema_is_told_and_loaded_again() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("files", "write")]).await.unwrap();
    let id = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    let first = role.resolved(&id, "files.read").await.digest;
    let schema =
        r#"{"type":"object","required":["to"],"properties":{"path":{"type":"string"},"to":{"type":"string"}}}"#;
    let anew = |description: &str| {
        changed(tool("files", "read"), |declaration| {
            let schema = Some((&JsonPayload::from_checked(schema)).into());
            declaration.input_contract = Some(v1::InputContract { model_input_schema: schema, ..Default::default() });
            description.clone_into(&mut declaration.description);
        })
    };
    role.register(vec![anew("Use it now.")]).await.unwrap();
    role.stop().await;
    let role = Role::start(dir.path()).await;
    let refusal = role.refusal(&id, "files.read").await;
    assert_eq!(refusal.kind(), v1::NotCallableKind::Changed);
    for words in ["since it was loaded here", "`/max` is gone", "`/to` is new and required", "load it again"] {
        assert!(refusal.message.contains(words), "{words}: {}", refusal.message);
    }
    let shown = role.get(&id).await;
    let told = shown.surface.unwrap().loaded_tools;
    let changed: Vec<_> =
        told.iter().map(|tool| (tool.name.as_str(), tool.changed.contains("`/max` is gone"))).collect();
    assert_eq!(changed, [("files.read", true), ("files.write", false)]);
    assert_eq!(told[0].digest, first);
    let found = role.search(&id, "select:files.read").await;
    assert_eq!(found.next_action, "load_schema_then_call");
    assert!(found.refs[0].reason.contains("changed since it was loaded"), "{:?}", found.refs);
    let loaded = role.load(&id, &["files.read"]).await;
    assert_eq!(loaded.surface_revision, 3, "the change, and loading it");
    let now = role.resolved(&id, "files.read").await.digest;
    assert_ne!(now, first);
    assert_eq!(role.search(&id, "select:files.read").await.next_action, "call");
    // Another description changes nothing that was loaded; the older declaration is still another one.
    role.register(vec![anew("Use it later.")]).await.unwrap();
    role.resolved(&id, "files.read").await;
    let by = async |known: &str| match role.resolve_by(&id, "files.read", known).await.resolution.unwrap() {
        v1::resolve_tool_response::Resolution::NotCallable(refusal) => refusal.message,
        v1::resolve_tool_response::Resolution::Resolved(_) => String::new(),
    };
    assert_eq!(by(&now).await, "");
    assert!(by(&first).await.contains("`/to` is new and required"));
    let nobodys = format!("sha256:{}", "0".repeat(64));
    assert!(by(&nobodys).await.contains("no longer stored"));
    role.stop().await;
}

/// A surface follows its catalog: what comes later is found and loaded, and no prompt grows by itself.
#[tokio::test]
async fn later_tools_are_in_surfaces_that_are_there() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("mail", "send")]).await.unwrap();
    let files = v1::CreateSurfaceRequest { namespaces: vec!["files".to_owned()], ..Default::default() };
    let made = role.surface(files).await;
    let id = made.surface_id;
    role.register(vec![tool("files", "write"), tool("mail", "read")]).await.unwrap();
    let check = async |role: &Role| {
        let now = role.get(&id).await.surface.unwrap();
        let names = |tools: &[String]| tools.join(" ");
        assert_eq!(names(&now.tool_refs), "tool_files_read tool_files_write");
        let counts = now.counts.unwrap();
        assert_eq!((counts.loaded, counts.deferred, now.revision), (1, 1, made.revision + 2));
        let refusal = role.refusal(&id, "files.write").await;
        assert_eq!(refusal.kind(), v1::NotCallableKind::NotLoaded);
        assert_eq!(role.refusal(&id, "mail.read").await.kind(), v1::NotCallableKind::Excluded);
        role.resolved(&id, "files.read").await;
    };
    check(&role).await;
    role.stop().await;
    let role = Role::start(dir.path()).await;
    check(&role).await;
    assert_eq!(role.search(&id, "write files").await.matches[0], "tool_files_write");
    role.load(&id, &["files.write"]).await;
    role.resolved(&id, "write").await;
    role.stop().await;
}

/// What was unloaded is deferred, also after a restart, whether the rules or somebody loaded it; it can be loaded again.
#[tokio::test]
async fn loaded_tools_can_be_unloaded() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("files", "write"), tool("mail", "send")]).await.unwrap();
    let id = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    let unloaded = role.unload(&id, &["files.read", "tool_mail_send", "files.reed", "files.read"]).await.unwrap();
    assert_eq!(unloaded.surface_revision, 2);
    let told: Vec<_> = unloaded.outcomes.iter().map(|outcome| outcome.outcome.clone().unwrap()).collect();
    let gone = |id: &str| Unloaded::DeferredToolId(id.to_owned());
    assert_eq!(
        [&told[0], &told[1], &told[3]],
        [&gone("tool_files_read"), &gone("tool_mail_send"), &gone("tool_files_read")]
    );
    let Unloaded::Failure(failure) = &told[2] else { panic!("{told:?}") };
    assert_eq!((failure.kind(), failure.similar_names.is_empty()), (v1::NotCallableKind::Unknown, false));
    let again = role.unload(&id, &["files.read"]).await.unwrap();
    assert_eq!((again.surface_revision, again.outcomes[0].outcome.clone().unwrap()), (2, gone("tool_files_read")));
    role.stop().await;
    let role = Role::start(dir.path()).await;
    assert_eq!(role.refusal(&id, "files.read").await.kind(), v1::NotCallableKind::NotLoaded);
    role.resolved(&id, "files.write").await;
    assert_eq!(role.search(&id, "select:files.read").await.next_action, "load_schema_then_call");
    role.load(&id, &["files.read"]).await;
    role.resolved(&id, "files.read").await;
    let counts = role.get(&id).await.surface.unwrap().counts.unwrap();
    assert_eq!((counts.loaded, counts.deferred), (2, 1));
    let events = role.events(Subject::SurfaceId(id)).await;
    assert_eq!(events[1].event_type, "tool.surface.updated");
    let data = JsonPayload::try_from(events[1].data.clone().unwrap()).unwrap();
    assert!(data.text().contains(r#""unloaded":["tool_files_read","tool_mail_send"]"#), "{}", data.text());
    assert_eq!(role.unload("", &["files.read"]).await.unwrap_err().code(), Code::InvalidArgument);
    role.stop().await;
}

/// A surface that was made for some tools gets others, in each process and after a restart.
#[tokio::test]
async fn a_surface_is_extended() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("files", "write"), tool("mail", "send")]).await.unwrap();
    let only = v1::CreateSurfaceRequest { tool_refs: vec!["files.read".to_owned()], ..Default::default() };
    let id = role.surface(only).await.surface_id;
    assert_eq!(role.refusal(&id, "mail.send").await.kind(), v1::NotCallableKind::Excluded);
    let by = v1::ExtendSurfaceRequest {
        surface_id: id.clone(),
        namespaces: vec!["files".to_owned()],
        load: vec!["mail.send".to_owned()],
        ..Default::default()
    };
    let extended = role.extend(by.clone()).await.unwrap();
    let counts = extended.counts.unwrap();
    assert_eq!((counts.loaded, counts.deferred, counts.excluded), (2, 1, 0));
    assert_eq!(role.extend(by.clone()).await.unwrap().revision, extended.revision, "the same again");
    role.resolved(&id, "mail.send").await;
    assert_eq!(role.refusal(&id, "files.write").await.kind(), v1::NotCallableKind::NotLoaded);
    role.register(vec![tool("files", "later")]).await.unwrap();
    role.stop().await;
    let role = Role::start(dir.path()).await;
    assert_eq!(role.refusal(&id, "files.later").await.kind(), v1::NotCallableKind::NotLoaded);
    role.load(&id, &["files.write"]).await;
    role.resolved(&id, "files.write").await;
    let events = role.events(Subject::SurfaceId(id)).await;
    let types: Vec<_> = events[1..4].iter().map(|event| event.event_type.as_str()).collect();
    assert_eq!(types, ["tool.surface.updated", "tool.deferred.loaded", "tool.surface.updated"]);
    let wrong = |change: fn(&mut v1::ExtendSurfaceRequest)| {
        let mut request = by.clone();
        change(&mut request);
        request
    };
    for request in [
        wrong(|request| request.load = vec!["mail.sned".to_owned()]),
        wrong(|request| request.namespaces = vec![String::new()]),
        wrong(|request| request.namespaces = (0..1_001).map(|n| format!("n{n}")).collect()),
        wrong(|request| request.surface_id = String::new()),
        wrong(|request| (request.namespaces, request.load) = Default::default()),
    ] {
        assert_eq!(role.extend(request).await.unwrap_err().code(), Code::InvalidArgument);
    }
    role.stop().await;
}

/// What cannot be used any more is not shown as if it could.
#[tokio::test]
async fn a_surface_is_read_as_it_is_now() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("files", "write")]).await.unwrap();
    let id = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    role.retire("tool_files_write").await.unwrap();
    let now = role.get(&id).await.surface.unwrap();
    let names = |tools: &[v1::LoadedTool]| tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&now.loaded_tools), ["files.read"]);
    assert_eq!(
        (now.excluded_tools[0].name.as_str(), now.excluded_tools[0].reason.as_str()),
        ("files.write", "retired")
    );
    role.stop().await;
}

/// Suggestions cost a request no more than so much, however many names it gets wrong.
#[tokio::test]
async fn many_wrong_names_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    for part in 0..3 {
        let tools = (0..500).map(|n| tool("many", &format!("thing_{part}_{n}"))).collect();
        role.register(tools).await.unwrap();
    }
    let id = role.surface(deferred()).await.surface_id;
    let names: Vec<String> = (0..100).map(|n| format!("many.thinf_1_{n}x")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let outcomes = role.load(&id, &names).await.outcomes;
    let similar = |outcome: &v1::LoadOutcome| match &outcome.outcome {
        Some(Outcome::Failure(failure)) => failure.similar_names.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!((outcomes.len(), similar(&outcomes[0]), similar(&outcomes[99])), (100, 3, 0));
    role.stop().await;
}

#[tokio::test]
async fn every_hidden_tool_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let mut person = tool("chat", "ask");
    person.interface = Some(v1::ToolInterface {
        interface_id: "iface_ask".to_owned(),
        tool_id: "tool_chat_ask".to_owned(),
        requires_user_interaction: Some(true),
        ..Default::default()
    });
    role.register(vec![tool("files", "read"), tool("files", "write"), tool("mail", "send"), person]).await.unwrap();
    let blocked = v1::BlockedName { name: "files.write".to_owned(), message: "is frozen this week".to_owned() };
    let request = v1::CreateSurfaceRequest {
        namespaces: vec!["files".to_owned(), "chat".to_owned()],
        blocked: vec![blocked],
        ..Default::default()
    };
    let id = role.surface(request.clone()).await.surface_id;
    let check = async |name: &str, kind: v1::NotCallableKind, reason: &str, words: &str| {
        let refusal = role.refusal(&id, name).await;
        assert_eq!((refusal.kind(), refusal.reason.as_str()), (kind, reason), "{name}");
        assert!(refusal.message.contains(words), "{}", refusal.message);
    };
    use v1::NotCallableKind::{Blocked, Excluded, Unknown};
    check("files.write", Blocked, "policy_blocked", "frozen").await;
    check("mail.send", Excluded, "not_selected", "not part of this surface").await;
    check("chat.ask", Excluded, "role_not_allowed", "person").await;
    check("nothing", Unknown, "", "search").await;
    assert_eq!(role.refusal(&id, "files.raed").await.similar_names, ["files.read"]);
    let interactive = v1::CreateSurfaceRequest { interaction_mode: v1::InteractionMode::Interactive.into(), ..request };
    let id = role.surface(interactive).await.surface_id;
    role.resolved(&id, "chat.ask").await;
    role.stop().await;
}

#[tokio::test]
async fn a_repeated_request_finds_the_surface_it_made() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let request = v1::CreateSurfaceRequest { request_id: uuid::Uuid::now_v7().to_string(), ..deferred() };
    let racing = futures_util::future::join_all((0..8).map(|_| role.surface(request.clone()))).await;
    let first = racing[0].surface_id.clone();
    assert!(racing.iter().all(|surface| surface.surface_id == first));
    role.stop().await;
    let role = Role::start(dir.path()).await;
    assert_eq!(role.surface(request.clone()).await.surface_id, first);
    let other = v1::CreateSurfaceRequest { producer: "somebody else".to_owned(), ..request.clone() };
    let status = role.client.clone().create_surface(other).await.unwrap_err();
    assert_eq!(status.code(), Code::AlreadyExists);
    let listed = role.client.clone().list_surfaces(v1::ListSurfacesRequest::default()).await.unwrap().into_inner();
    assert_eq!(listed.surfaces.len(), 1, "only one was made");
    role.stop().await;
}

#[tokio::test]
async fn a_wrong_request_is_refused_before_anything_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let list = JsonPayload::from_checked("[1]");
    let cases = [
        v1::CreateSurfaceRequest { request_id: "seven".to_owned(), ..Default::default() },
        v1::CreateSurfaceRequest { scope: "nowhere".to_owned(), ..Default::default() },
        v1::CreateSurfaceRequest { tool_refs: vec!["files.raed".to_owned()], ..Default::default() },
        v1::CreateSurfaceRequest { defer_policy: 99, ..Default::default() },
        v1::CreateSurfaceRequest { model_capabilities: Some((&list).into()), ..Default::default() },
    ];
    for request in cases {
        let status = role.client.clone().create_surface(request.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{request:?}");
    }
    let listed = role.client.clone().list_surfaces(v1::ListSurfacesRequest::default()).await.unwrap().into_inner();
    assert!(listed.surfaces.is_empty());
    let unknown = v1::GetSurfaceRequest { surface_id: "surface_none".to_owned(), ..Default::default() };
    assert_eq!(role.client.clone().get_surface(unknown).await.unwrap_err().code(), Code::NotFound);
    role.stop().await;
}

#[tokio::test]
async fn surfaces_are_listed_newest_first_by_scope() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let mut made = Vec::new();
    for n in 0..9 {
        let scope = ["session", "turn", "task"][n % 3].to_owned();
        made.push(role.surface(v1::CreateSurfaceRequest { scope, ..Default::default() }).await.surface_id);
    }
    let list = async |scope: &str, page_size: i32| {
        let (mut seen, mut page_token) = (Vec::new(), String::new());
        loop {
            let scope = scope.to_owned();
            let request = v1::ListSurfacesRequest { scope, page_size, page_token, ..Default::default() };
            let page = role.client.clone().list_surfaces(request).await.unwrap().into_inner();
            seen.extend(page.surfaces.into_iter().map(|surface| surface.surface_id));
            page_token = page.next_page_token;
            if page_token.is_empty() {
                return seen;
            }
        }
    };
    let newest_first: Vec<_> = made.iter().rev().cloned().collect();
    assert_eq!(list("", 4).await, newest_first);
    let turns: Vec<_> = newest_first.iter().filter(|id| made.iter().position(|m| m == *id).unwrap() % 3 == 1).collect();
    assert_eq!(list("turn", 2).await.iter().collect::<Vec<_>>(), turns);
    role.stop().await;
}

#[tokio::test]
async fn concurrent_loads_all_count() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register((0..12).map(|n| tool("files", &format!("t{n}"))).collect()).await.unwrap();
    let id = role.surface(deferred()).await.surface_id;
    let names: Vec<String> = (0..12).map(|n| format!("files.t{n}")).collect();
    let each = names.iter().map(|name| async {
        role.load(&id, &[name]).await;
        role.search(&id, "select:files.t0,files.t11").await;
    });
    futures_util::future::join_all(each).await;
    let surface = role.get(&id).await.surface.unwrap();
    assert_eq!((surface.loaded_tools.len(), surface.deferred_tools.len(), surface.revision), (12, 0, 13));
    let events = role.events(Subject::SurfaceId(id)).await;
    assert!(events.iter().zip(1..).all(|(event, seq)| event.sequence == seq), "the log has no gap");
    assert_eq!(events.iter().filter(|event| event.event_type == "tool.deferred.loaded").count(), 12);
    role.stop().await;
}

#[tokio::test]
async fn three_thousand_tools_are_usable() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    for batch in 0..3 {
        let tools = (0..1000).map(|n| tool(&format!("space{}", n % 40), &format!("action{}", batch * 1000 + n)));
        role.register(tools.collect()).await.unwrap();
    }
    role.stop().await;
    let started = Instant::now();
    let role = Role::start(dir.path()).await;
    println!("start with 3000 tools: {:?}", started.elapsed());
    let everything = v1::CreateSurfaceRequest { defer_threshold: 5_000, ..Default::default() };
    let made = role.surface(everything).await;
    assert_eq!(made.counts.unwrap().loaded, 3000);
    assert!(!made.loaded_tools.is_empty() && !made.next_tools_token.is_empty(), "the first ones");
    let id = made.surface_id;
    let timed = async |what: &str, name: &str, times: u32| {
        let started = Instant::now();
        for _ in 0..times {
            role.resolve(&id, name).await;
        }
        let each = started.elapsed() / times;
        println!("{what}: {each:?}");
        each
    };
    let known = timed("resolve a known name", "space7.action2967", 100).await;
    let unknown = timed("resolve an unknown name", "space7.action99999", 5).await;
    let started = Instant::now();
    let found = role.search(&id, "action1234").await;
    println!("search: {:?}", started.elapsed());
    assert_eq!(found.matches[0], "tool_space34_action1234");
    // Far above what it takes, far below what a walk over everything for everything would.
    assert!(known < Duration::from_millis(200) && unknown < Duration::from_secs(5));
    role.stop().await;
}

#[tokio::test]
async fn what_a_surface_is_for_is_held_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let refs = |text: &str| vec![text.to_owned(), "sandbox:3".to_owned()];
    let of_task = |text: &str| v1::CreateSurfaceRequest {
        scope: "task".to_owned(),
        runtime_refs: refs(text),
        ..Default::default()
    };
    let wrong = role.client.clone().create_surface(of_task("turn:7")).await.unwrap_err();
    assert!(wrong.message().contains("runtime_refs[0]") && wrong.message().contains("`task:`"), "{}", wrong.message());
    // What no call could name, by the rule that calls are held to.
    let wrong = role.client.clone().create_surface(of_task("task:\u{7}")).await.unwrap_err();
    assert_eq!(wrong.code(), tonic::Code::InvalidArgument);
    assert_eq!(wrong.message(), "`runtime_refs[0]` must not contain control characters");
    let id = role.surface(of_task("task:7")).await.surface_id;
    let (load, names) =
        (|request| async { role.client.clone().load_tools(request).await }, vec!["files.read".to_owned()]);
    let asked = |runtime_refs| v1::LoadToolsRequest { surface_id: id.clone(), names: names.clone(), runtime_refs };
    load(asked(refs("task:7"))).await.unwrap();
    for (other, says) in [(refs("task:8"), "another task than `8`"), (Vec::new(), "names none")] {
        let refused = load(asked(other.clone())).await.unwrap_err();
        assert_eq!(refused.code(), tonic::Code::PermissionDenied);
        assert!(refused.message().contains(says) && !refused.message().contains('7'), "{}", refused.message());
        assert!(refused.message().contains("the load names"), "{}", refused.message());
        let unload =
            v1::UnloadToolsRequest { surface_id: id.clone(), names: names.clone(), runtime_refs: other.clone() };
        let refused = role.client.clone().unload_tools(unload).await.unwrap_err();
        assert!(refused.message().contains("the unload names"), "{}", refused.message());
        let search = v1::SearchToolsRequest {
            surface_id: id.clone(),
            query: "read".to_owned(),
            runtime_refs: other,
            ..Default::default()
        };
        assert_eq!(role.client.clone().search_tools(search).await.unwrap_err().code(), tonic::Code::PermissionDenied);
    }
    let wrong = load(asked(refs("task:7\n"))).await.unwrap_err();
    assert_eq!(wrong.message(), "`runtime_refs[0]` must not contain control characters");
    assert_eq!(role.resolved(&id, "files.read").await.scope_refs, ["task:7"]);
    role.stop().await;
}
