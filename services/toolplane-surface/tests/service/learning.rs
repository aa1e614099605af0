//! What searches learn of use: from loads and calls, over a restart, in several processes, for one tenant, and not at all.

use std::time::Duration;

use tokio::time::timeout;
use toolplane_proto::v1;
use toolplane_proto::v1::forget_use_request::What;
use toolplane_surface::{LearningOptions, SurfaceOptions};

use crate::role::{PATIENCE, Role, changed, options, tool};
use crate::several::several;

fn deferred() -> v1::CreateSurfaceRequest {
    v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() }
}

fn office() -> Vec<v1::ToolRegistration> {
    let leave = changed(tool("hr", "leave"), |tool| "Asks for days off.".clone_into(&mut tool.description));
    vec![leave, tool("mail", "send"), tool("chat", "send")]
}

/// Searches until use says something of the best match.
async fn taught(role: &Role, surface: &str, query: &str) -> v1::FoundTool {
    let told = async {
        loop {
            let found = role.search(surface, query).await.found;
            if let Some(best) = found.into_iter().find(|tool| tool.why.iter().any(|why| why.how == "use")) {
                return best;
            }
        }
    };
    timeout(PATIENCE, told).await.unwrap()
}

#[tokio::test]
async fn what_was_asked_in_vain_leads_to_what_was_loaded_then_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    // Nothing is written before the end.
    let seldom = LearningOptions { every: Duration::from_secs(3_600), ..options().learning };
    let role = Role::start_with(dir.path(), SurfaceOptions { learning: seldom, ..options() }).await;
    role.register(office()).await.unwrap();
    let surface = role.surface(deferred()).await.surface_id;
    assert!(role.search(&surface, "vacation").await.found.is_empty());
    assert_eq!(role.search(&surface, "days off").await.found[0].name, "hr.leave");
    role.load(&surface, &["hr.leave"]).await;
    role.stop().await;
    let role = Role::start(dir.path()).await;
    let best = taught(&role, &surface, "a vacation in June").await;
    let why = &best.why[0];
    assert_eq!((best.name.as_str(), why.asked.as_str(), why.times), ("hr.leave", "vacation", 1));
    assert_eq!(best.score, 245, "as the page about search says");
    role.stop().await;
}

#[tokio::test]
async fn a_first_call_in_a_surface_teaches_too() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(office()).await.unwrap();
    // Everything is loaded there: only calls tell what was meant.
    let surface = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    let before = role.search(&surface, "send something").await.found;
    let second = before[1].name.clone();
    role.resolved(&surface, &second).await;
    let best = taught(&role, &surface, "send something").await;
    assert_eq!(best.name, second);
    assert_eq!(role.search(&surface, "send something").await.found[0].name, second);
    role.stop().await;
}

#[tokio::test]
async fn a_question_that_is_only_tried_neither_teaches_nor_knows_of_use() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(office()).await.unwrap();
    let surface = role.surface(deferred()).await.surface_id;
    let tried = |query: &str| v1::SearchToolsRequest {
        surface_id: surface.clone(),
        query: query.to_owned(),
        without_use: true,
        ..Default::default()
    };
    let mut client = role.client.clone();
    client.search_tools(tried("holiday")).await.unwrap();
    client.search_tools(tried("days off")).await.unwrap();
    role.search(&surface, "vacation").await;
    role.search(&surface, "days off").await;
    role.load(&surface, &["hr.leave"]).await;
    taught(&role, &surface, "vacation").await;
    assert!(role.search(&surface, "holiday").await.found.is_empty());
    let found = client.search_tools(tried("vacation")).await.unwrap().into_inner().result.unwrap_or_default().found;
    assert!(found.is_empty(), "{found:?}");
    role.stop().await;
}

#[tokio::test]
async fn switched_off_nothing_is_learned() {
    let dir = tempfile::tempdir().unwrap();
    let off = LearningOptions { enabled: false, ..options().learning };
    let role = Role::start_with(dir.path(), SurfaceOptions { learning: off, ..options() }).await;
    role.register(office()).await.unwrap();
    let surface = role.surface(deferred()).await.surface_id;
    role.search(&surface, "vacation").await;
    role.search(&surface, "days off").await;
    role.load(&surface, &["hr.leave"]).await;
    role.stop().await;
    let role = Role::start(dir.path()).await;
    role.search(&surface, "mail").await;
    role.load(&surface, &["mail.send"]).await;
    taught(&role, &surface, "mail").await;
    assert!(role.search(&surface, "vacation").await.found.is_empty());
    role.stop().await;
}

async fn forget(role: &Role, what: What) -> (u32, u32) {
    let request = v1::ForgetUseRequest { what: Some(what) };
    let answer = role.client.clone().forget_use(request).await.unwrap().into_inner();
    (answer.tools, answer.words)
}

/// Nothing that is found was found by use.
async fn knows_nothing(role: &Role, surface: &str, query: &str) {
    let found = role.search(surface, query).await.found;
    assert!(found.iter().flat_map(|tool| &tool.why).all(|why| why.how != "use"), "{found:?}");
}

#[tokio::test]
async fn what_use_taught_is_forgotten_in_both_processes_at_once() {
    let (_server, [one, other]) = several(&options()).await;
    one.register(office()).await.unwrap();
    let surface = one.surface(deferred()).await.surface_id;
    for (role, query, name) in [(&one, "days off", "hr.leave"), (&other, "mail", "mail.send")] {
        role.search(&surface, query).await;
        role.load(&surface, &[name]).await;
        taught(&one, &surface, query).await;
        taught(&other, &surface, query).await;
    }
    assert_eq!(forget(&other, What::Name("hr.leave".to_owned())).await, (1, 2));
    for role in [&one, &other] {
        knows_nothing(role, &surface, "days off").await;
        taught(role, &surface, "mail").await;
    }
    assert_eq!(forget(&one, What::Everything(true)).await.0, 1);
    for role in [&one, &other] {
        knows_nothing(role, &surface, "mail").await;
    }
    assert_eq!(forget(&one, What::Everything(true)).await, (0, 0));
    // Use teaches anew.
    other.unload(&surface, &["hr.leave"]).await.unwrap();
    other.search(&surface, "days off").await;
    other.load(&surface, &["hr.leave"]).await;
    taught(&one, &surface, "days off").await;
    let unknown = v1::ForgetUseRequest { what: Some(What::ToolId("tool_nothing".to_owned())) };
    let refused = one.client.clone().forget_use(unknown).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::NotFound);
    let nothing = one.client.clone().forget_use(v1::ForgetUseRequest::default()).await.unwrap_err();
    assert_eq!(nothing.code(), tonic::Code::InvalidArgument);
    one.stop().await;
    other.stop().await;
}

/// Lessons that wait to be written are forgotten too, and stay so after a restart.
#[tokio::test]
async fn what_waits_to_be_written_is_forgotten_too() {
    let dir = tempfile::tempdir().unwrap();
    let seldom = LearningOptions { every: Duration::from_secs(3_600), ..options().learning };
    let role = Role::start_with(dir.path(), SurfaceOptions { learning: seldom, ..options() }).await;
    role.register(office()).await.unwrap();
    let surface = role.surface(deferred()).await.surface_id;
    role.search(&surface, "days off").await;
    role.load(&surface, &["hr.leave"]).await;
    forget(&role, What::ToolId("tool_hr_leave".to_owned())).await;
    role.search(&surface, "mail").await;
    role.load(&surface, &["mail.send"]).await;
    role.stop().await;
    let role = Role::start(dir.path()).await;
    taught(&role, &surface, "mail").await;
    knows_nothing(&role, &surface, "days off").await;
    role.stop().await;
}

#[tokio::test]
async fn what_two_processes_learn_adds_up_in_both() {
    let (_server, [one, other]) = several(&options()).await;
    one.register(office()).await.unwrap();
    let surface = one.surface(deferred()).await.surface_id;
    for (role, word) in [(&one, "vacation"), (&other, "holiday")] {
        role.search(&surface, word).await;
        role.search(&surface, "days off").await;
        role.load(&surface, &["hr.leave"]).await;
    }
    for role in [&one, &other] {
        for word in ["vacation", "holiday"] {
            assert_eq!(taught(role, &surface, word).await.name, "hr.leave");
        }
    }
    one.stop().await;
    other.stop().await;
}
