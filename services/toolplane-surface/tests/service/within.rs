//! Surfaces within surfaces: made, bounded, followed, deleted, and the same after a new start and at another process.

use tonic::Code;
use toolplane_proto::v1;
use toolplane_proto::v1::NotCallableKind as Kind;
use toolplane_proto::v1::SurfaceToolState as State;
use toolplane_proto::v1::list_events_request::Subject as LogOf;
use toolplane_proto::v1::resolve_tool_response::Resolution;
use toolplane_records::codes;
use toolplane_records::payload::JsonPayload;
use toolplane_runtime::status::describe;

use crate::role::{Role, options, tool};
use crate::several::several;
use crate::watch::Watch;

fn of(spaces: &[&str]) -> v1::CreateSurfaceRequest {
    let namespaces = spaces.iter().map(|space| (*space).to_owned()).collect();
    v1::CreateSurfaceRequest { namespaces, ..Default::default() }
}

async fn made(role: &Role, request: v1::CreateSurfaceRequest) -> String {
    role.surface(request).await.surface_id
}

fn within(parent: &str, request: v1::CreateSurfaceRequest) -> v1::CreateSurfaceRequest {
    v1::CreateSurfaceRequest { parent_surface_id: parent.to_owned(), ..request }
}

async fn extend(role: &Role, surface: &str, space: &str) -> v1::ToolSurface {
    let request = v1::ExtendSurfaceRequest {
        surface_id: surface.to_owned(),
        namespaces: vec![space.to_owned()],
        ..Default::default()
    };
    role.extend(request).await.unwrap()
}

/// The surface as it is read: loaded and deferred tools.
async fn shown(role: &Role, surface: &str) -> (Vec<String>, Vec<String>) {
    let surface = role.get(surface).await.surface.unwrap();
    let loaded = surface.loaded_tools.into_iter().map(|tool| tool.name).collect();
    (loaded, surface.deferred_tools.into_iter().map(|tool| tool.name).collect())
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

async fn refused(role: &Role, request: v1::CreateSurfaceRequest) -> (Code, String) {
    let status = role.client.clone().create_surface(request).await.unwrap_err();
    let fields: Vec<String> =
        describe(&status).violations.iter().map(|wrong| format!("{} {}", wrong.field, wrong.rule)).collect();
    (status.code(), if fields.is_empty() { status.message().to_owned() } else { fields.join("; ") })
}

fn fields(warnings: &[v1::SelectionWarning]) -> Vec<&str> {
    warnings.iter().map(|one| one.field.as_str()).collect()
}

fn data(event: v1::Event) -> String {
    JsonPayload::try_from(event.data.unwrap()).unwrap().text().to_owned()
}

/// What every way of reading an orphan is answered with.
async fn check_orphaned(role: &Role, surface: &str, parent: &str) {
    let mut client = role.client.clone();
    let surface_id = surface.to_owned();
    let get = v1::GetSurfaceRequest { surface_id: surface_id.clone(), ..Default::default() };
    let list = v1::ListSurfaceToolsRequest { surface_id: surface_id.clone(), ..Default::default() };
    let search = v1::SearchToolsRequest { surface_id: surface_id.clone(), query: "a".into(), ..Default::default() };
    let load =
        v1::LoadToolsRequest { surface_id: surface_id.clone(), names: names(&["files.read"]), ..Default::default() };
    let extend = v1::ExtendSurfaceRequest { surface_id, namespaces: names(&["mail"]), ..Default::default() };
    for status in [
        client.get_surface(get).await.unwrap_err(),
        client.list_surface_tools(list).await.unwrap_err(),
        client.search_tools(search).await.unwrap_err(),
        client.load_tools(load).await.unwrap_err(),
        client.extend_surface(extend).await.unwrap_err(),
    ] {
        assert_eq!(status.code(), Code::FailedPrecondition, "{status:?}");
        assert_eq!(describe(&status).reason.as_deref(), Some(codes::PARENT_GONE.as_str()));
        assert!(status.message().contains(parent), "{}", status.message());
    }
    let refusal = role.refusal(surface, "files.read").await;
    assert_eq!(refusal.kind(), Kind::ParentGone);
    assert!(refusal.message.contains(parent), "{}", refusal.message);
}

#[tokio::test]
async fn a_surface_shows_and_calls_nothing_that_its_parent_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("files", "write"), tool("mail", "send")]).await.unwrap();
    let blocked = vec![v1::BlockedName { name: "files.write".to_owned(), message: "not today".to_owned() }];
    let parent = made(&role, v1::CreateSurfaceRequest { blocked, ..of(&["files"]) }).await;
    let told = role.surface(within(&parent, v1::CreateSurfaceRequest::default())).await;
    assert_eq!((told.parent_surface_id.as_str(), told.moment.split('.').count()), (parent.as_str(), 3));
    let child = told.surface_id;
    assert_eq!(shown(&role, &child).await, (names(&["files.read"]), vec![]));
    assert!(role.resolved(&child, "files.read").await.above.iter().any(|above| above.surface_id == parent));
    let refusal = role.refusal(&child, "files.write").await;
    assert_eq!((refusal.kind(), refusal.reason.as_str()), (Kind::Blocked, "policy_blocked"));
    assert!(refusal.message.contains(&format!("not today (says the surface `{parent}`")), "{}", refusal.message);
    let refusal = role.refusal(&child, "mail.send").await;
    assert_eq!((refusal.kind(), refusal.reason.as_str()), (Kind::Excluded, "not_selected"));
    assert!(refusal.message.contains(&parent), "{}", refusal.message);
    let outcome = role.load(&child, &["mail.send"]).await.outcomes.remove(0).outcome.unwrap();
    assert!(matches!(outcome, v1::load_outcome::Outcome::Failure(_)), "loading is no way around it: {outcome:?}");
    let found = role.search(&child, "send mail").await;
    assert!(found.refs.iter().all(|found| found.name == "files.read"), "{found:?}");
    // Neither is adding it.
    let after = extend(&role, &child, "mail").await;
    assert_eq!(after.loaded_tools.len() + after.deferred_tools.len(), 1);
    let none = role.client.clone().create_surface(within(&parent, of(&["mail"]))).await.unwrap().into_inner();
    assert_eq!(fields(&none.warnings), ["namespaces[0]", "parent_surface_id"]);
    // In a list of surfaces it is bounded, too.
    let listed = role.client.clone().list_surfaces(v1::ListSurfacesRequest::default()).await.unwrap().into_inner();
    let listed = listed.surfaces.into_iter().find(|surface| surface.surface_id == child).unwrap();
    assert_eq!((listed.counts.unwrap().loaded, listed.parent_surface_id.as_str()), (1, parent.as_str()));
    role.stop().await;
}

#[tokio::test]
async fn names_that_lead_nowhere_within_a_parent_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("files", "write"), tool("mail", "send")]).await.unwrap();
    let blocked = vec![v1::BlockedName { name: "files.write".to_owned(), message: "not today".to_owned() }];
    let parent = made(&role, v1::CreateSurfaceRequest { blocked, ..of(&["files"]) }).await;
    let request = v1::CreateSurfaceRequest {
        tool_refs: names(&["files.read", "mail.send"]),
        load: names(&["files.write", "files.read"]),
        ..of(&["files", "mail"])
    };
    let made = role.client.clone().create_surface(within(&parent, request)).await.unwrap().into_inner();
    assert_eq!(fields(&made.warnings), ["namespaces[1]", "tool_refs[1]", "load[0]"]);
    let said = |at: usize| made.warnings[at].message.as_str();
    let above = format!("the surface `{parent}`, which this one is within");
    assert_eq!(said(0), format!("{above}, shows no tool that has the namespace `mail` now"));
    assert!(said(1).starts_with(&format!("`mail.send` is not part of {above}")), "{}", said(1));
    assert_eq!(said(2), format!("`files.write` not today (says {above})"));
    let request = v1::ExtendSurfaceRequest {
        surface_id: made.surface.unwrap().surface_id,
        namespaces: names(&["mail"]),
        tool_refs: names(&["files.write", "files.read"]),
        load: names(&["mail.send"]),
        ..Default::default()
    };
    let extended = role.client.clone().extend_surface(request).await.unwrap().into_inner();
    assert_eq!(fields(&extended.warnings), ["namespaces[0]", "tool_refs[0]"]);
    assert_eq!(extended.not_loaded.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["mail.send"]);
    // Nothing is said of what the parent shows.
    let request = v1::CreateSurfaceRequest { load: names(&["files.read"]), ..of(&["files"]) };
    let made = role.client.clone().create_surface(within(&parent, request)).await.unwrap().into_inner();
    assert_eq!(fields(&made.warnings), [""; 0]);
    role.stop().await;
}

#[tokio::test]
async fn a_parent_has_to_be_there_and_lines_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let (code, message) = refused(&role, within("surf_nobody", of(&[]))).await;
    assert_eq!(code, Code::NotFound);
    assert!(message.contains("`parent_surface_id`") && message.contains("`surf_nobody`"), "{message}");
    let (code, message) = refused(&role, within("default", of(&[]))).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.starts_with("parent_surface_id is the default surface"), "{message}");
    let (code, message) = refused(&role, within("not an id", of(&[]))).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.starts_with("parent_surface_id "), "{message}");
    let mut lowest = made(&role, of(&[])).await;
    for _ in 0..3 {
        lowest = made(&role, within(&lowest, of(&[]))).await;
    }
    let (code, message) = refused(&role, within(&lowest, of(&[]))).await;
    assert_eq!(code, Code::InvalidArgument);
    assert!(message.starts_with("parent_surface_id is the lowest of 4 surfaces"), "{message}");
    // A request that is sent again is one with its parent.
    let request_id = "0190b5a4-0000-7000-8000-000000000001".to_owned();
    let other = made(&role, of(&[])).await;
    let request = within(&other, v1::CreateSurfaceRequest { request_id, ..of(&[]) });
    assert_eq!(made(&role, request.clone()).await, made(&role, request.clone()).await);
    let (code, _) = refused(&role, v1::CreateSurfaceRequest { parent_surface_id: String::new(), ..request }).await;
    assert_eq!(code, Code::AlreadyExists);
    role.stop().await;
}

#[tokio::test]
async fn a_change_of_a_parent_is_one_of_those_within_it() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("mail", "send")]).await.unwrap();
    let parent = made(&role, of(&["files"])).await;
    let middle = made(&role, within(&parent, of(&[]))).await;
    let child = role.surface(within(&middle, of(&[]))).await;
    let mut watch = Watch::from(&role, &child.surface_id, &child.moment).await;
    extend(&role, &parent, "mail").await;
    let change = watch.change().await;
    assert_eq!((change.name.as_str(), change.state()), ("mail.send", State::Deferred));
    let now = role.get(&child.surface_id).await.surface.unwrap();
    assert_eq!((now.moment.as_str(), now.revision), (watch.moment.as_str(), child.revision + 1));
    let mut again = Watch::from(&role, &child.surface_id, &child.moment).await;
    assert_eq!(again.change().await, change, "who knows the moment before hears of it, too");
    // A call that goes by that moment knows nothing of the tool.
    let then = role.resolve_at(&child.surface_id, "mail.send", &child.moment).await.unwrap();
    let Resolution::NotCallable(refusal) = then else { panic!("{then:?}") };
    assert_eq!(refusal.kind(), Kind::Later);
    let then = role.resolve_at(&child.surface_id, "files.read", &child.moment).await.unwrap();
    assert!(matches!(then, Resolution::Resolved(_)), "{then:?}");
    // The log of the child tells it, once somebody follows or with its next change.
    role.load(&child.surface_id, &["mail.send"]).await;
    let log = role.events(LogOf::SurfaceId(child.surface_id.clone())).await;
    let told: Vec<String> = log.into_iter().map(data).collect();
    assert!(told.iter().any(|told| told.contains(r#""added":1"#) && told.contains("mail.send")), "{told:?}");
    role.stop().await;
}

#[tokio::test]
async fn without_its_parent_a_surface_is_nothing_but_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let request_id = "0190b5a4-0000-7000-8000-000000000002".to_owned();
    let first = v1::CreateSurfaceRequest { request_id, ..of(&[]) };
    let parent = made(&role, first.clone()).await;
    let middle = made(&role, within(&parent, of(&[]))).await;
    let child = role.surface(within(&middle, of(&[]))).await;
    let mut watch = Watch::from(&role, &child.surface_id, &child.moment).await;
    role.resolved(&child.surface_id, "files.read").await;
    role.delete(&parent).await.unwrap();
    assert_eq!(watch.next().await.unwrap().ended, "parent_gone");
    assert!(watch.next().await.is_none());
    check_orphaned(&role, &child.surface_id, &parent).await;
    let (code, message) = refused(&role, within(&middle, of(&[]))).await;
    assert_eq!(code, Code::FailedPrecondition, "{message}");
    let listed = role.client.clone().list_surfaces(v1::ListSurfacesRequest::default()).await.unwrap().into_inner();
    assert_eq!(listed.surfaces.len(), 2);
    assert!(listed.surfaces.iter().all(|surface| surface.counts.unwrap().loaded == 0), "{listed:?}");
    // Another one that is made under its id is not its parent.
    assert_eq!(made(&role, first).await, parent);
    check_orphaned(&role, &child.surface_id, &parent).await;
    role.stop().await;
    let role = Role::start(dir.path()).await;
    check_orphaned(&role, &child.surface_id, &parent).await;
    assert_eq!(role.events(LogOf::SurfaceId(child.surface_id.clone())).await.len(), 1, "its log stays");
    role.delete(&child.surface_id).await.unwrap();
    role.delete(&middle).await.unwrap();
    role.stop().await;
}

/// Of what its parents were changed by, its log was told nothing before they are deleted.
#[tokio::test]
async fn a_revision_does_not_go_back_when_a_parent_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("mail", "send")]).await.unwrap();
    let parent = made(&role, of(&["files"])).await;
    let middle = made(&role, within(&parent, of(&["files"]))).await;
    let child = made(&role, within(&middle, of(&[]))).await;
    extend(&role, &parent, "mail").await;
    extend(&role, &middle, "mail").await;
    let revision = async |role: &Role| {
        let listed = role.client.clone().list_surfaces(v1::ListSurfacesRequest::default()).await.unwrap().into_inner();
        listed.surfaces.into_iter().find(|surface| surface.surface_id == child).unwrap().revision
    };
    let mut told = vec![revision(&role).await];
    assert_eq!(told, [3], "with each change above");
    for gone in [&parent, &middle] {
        role.delete(gone).await.unwrap();
        told.push(revision(&role).await);
    }
    role.stop().await;
    let role = Role::start(dir.path()).await;
    told.push(revision(&role).await);
    told.push(role.delete(&child).await.unwrap().revision);
    assert!(told[0] < told[1] && told.is_sorted(), "{told:?}");
    role.stop().await;
}

#[tokio::test]
async fn a_line_is_the_same_after_a_new_start() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("mail", "send")]).await.unwrap();
    let parent = made(&role, of(&["files"])).await;
    let child = made(&role, within(&parent, of(&[]))).await;
    extend(&role, &parent, "mail").await;
    let before = role.get(&child).await.surface.unwrap();
    role.stop().await;
    let role = Role::start(dir.path()).await;
    assert_eq!(role.get(&child).await.surface.unwrap(), before);
    assert_eq!(role.refusal(&child, "mail.send").await.kind(), Kind::NotLoaded);
    role.stop().await;
}

/// Whatever is changed about a parent at one process is true at once for those within it at the other, also after it has read them.
#[tokio::test]
async fn a_parent_bounds_those_within_it_at_every_process() {
    let (_server, [one, other]) = several(&options()).await;
    one.register(vec![tool("files", "read"), tool("mail", "send")]).await.unwrap();
    for round in 0..8 {
        let (here, there) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let parent = made(here, of(&["files"])).await;
        let child =
            made(there, within(&parent, v1::CreateSurfaceRequest { load: names(&["mail.send"]), ..of(&[]) })).await;
        assert_eq!(there.refusal(&child, "mail.send").await.kind(), Kind::Excluded);
        assert_eq!(here.refusal(&child, "mail.send").await.kind(), Kind::Excluded);
        let mut watch = Watch::from(there, &child, "").await;
        extend(here, &parent, "mail").await;
        there.resolved(&child, "mail.send").await;
        assert_eq!(watch.change().await.name, "mail.send");
        // The moment of one process is known to the other.
        let then = here.resolve_at(&child, "mail.send", &watch.moment).await.unwrap();
        assert!(matches!(then, Resolution::Resolved(_)), "{then:?}");
        here.delete(&parent).await.unwrap();
        check_orphaned(there, &child, &parent).await;
        assert_eq!(watch.next().await.unwrap().ended, "parent_gone");
        there.delete(&child).await.unwrap();
    }
    one.stop().await;
    other.stop().await;
}
