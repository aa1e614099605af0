//! Surfaces within a budget: what loading unloads, who is told of it, and that every process goes by the same.

use tonic::Code;
use toolplane_catalog::Budget;
use toolplane_proto::v1;
use toolplane_proto::v1::list_events_request::Subject;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_records::payload::JsonPayload;

use crate::role::{Role, changed, options, tool};
use crate::several::several;
use crate::watch::Watch;

fn told(name: &str, words: usize) -> v1::ToolRegistration {
    changed(tool("files", name), |declaration| declaration.description = vec!["words"; words].join(" "))
}

fn within(max_tools: u64) -> v1::CreateSurfaceRequest {
    let budget = v1::SurfaceBudget { max_tools, ..Default::default() };
    v1::CreateSurfaceRequest { budget: Some(budget), ..Default::default() }
}

fn unloaded(tools: &[v1::UnloadedTool]) -> Vec<(&str, &str)> {
    tools.iter().map(|tool| (tool.name.as_str(), tool.reason.as_str())).collect()
}

fn loaded(surface: &v1::ToolSurface) -> Vec<&str> {
    surface.loaded_tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[tokio::test]
async fn a_surface_says_what_of_its_budget_is_used_and_loading_unloads_the_least_used() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(["list", "move", "read", "write"].map(|name| told(name, 5)).to_vec()).await.unwrap();
    let made = role.surface(v1::CreateSurfaceRequest { load: vec!["files.write".to_owned()], ..within(3) }).await;
    assert_eq!(loaded(&made), ["files.write", "files.list", "files.move"]);
    let budget = made.budget.clone().unwrap();
    assert_eq!((budget.tools, budget.deferred, budget.deferred_tools[0].name.as_str()), (3, 1, "files.read"));
    assert!(budget.schema_tokens > 30 && budget.schema_bytes > budget.schema_tokens, "{budget:?}");
    assert_eq!(made.deferred_tools[0].reason, "budget");
    // A call is a use; of the others the least used goes, and not what its maker named.
    let mut watch = Watch::from(&role, &made.surface_id, &made.moment).await;
    role.resolved(&made.surface_id, "files.list").await;
    let answer = role.load(&made.surface_id, &["files.read"]).await;
    assert_eq!(unloaded(&answer.unloaded), [("files.move", "budget")]);
    assert!(answer.unloaded[0].schema_tokens > 10);
    assert_eq!(role.refusal(&made.surface_id, "files.move").await.kind(), v1::NotCallableKind::NotLoaded);
    let now = role.get(&made.surface_id).await.surface.unwrap();
    assert_eq!(loaded(&now), ["files.write", "files.list", "files.read"]);
    // Whoever follows is told, and so is the log.
    let changes = watch.next().await.unwrap().changes;
    let gone = changes.iter().find(|change| change.name == "files.move").unwrap();
    assert_eq!((gone.state(), gone.reason.as_str()), (v1::SurfaceToolState::Deferred, "budget"));
    assert!(gone.message.contains("budget"), "{gone:?}");
    let events = role.events(Subject::SurfaceId(made.surface_id.clone())).await;
    let data = events.iter().map(|event| JsonPayload::try_from(event.data.clone().unwrap()).unwrap().text().to_owned());
    assert!(data.clone().any(|data| data.contains(r#""unloaded":["tool_files_move"]"#) && data.contains("budget")));
    // It is what it was after a restart.
    role.stop().await;
    let role = Role::start(dir.path()).await;
    assert_eq!(role.get(&made.surface_id).await.surface.unwrap().loaded_tools, now.loaded_tools);
    role.stop().await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused_with_what_it_lacks_and_another_budget_unloads() {
    let dir = tempfile::tempdir().unwrap();
    let server = Budget { max_tools: 2, ..Budget::default() };
    let role = Role::start_with(dir.path(), toolplane_surface::SurfaceOptions { budget: server, ..options() }).await;
    role.register(vec![told("big", 500), told("list", 5), told("read", 5)]).await.unwrap();
    // The server's own, and none where none is wanted.
    let own = role.surface(v1::CreateSurfaceRequest::default()).await;
    assert_eq!((own.loaded_tools.len(), own.budget.unwrap().budget.unwrap().max_tools), (2, 2));
    let none = role.surface(within(0)).await;
    assert_eq!((none.loaded_tools.len(), none.budget), (3, None));
    let tokens = v1::SurfaceBudget { max_schema_tokens: 200, ..Default::default() };
    let load = ["files.read", "files.big"].map(str::to_owned).to_vec();
    let wanted = v1::CreateSurfaceRequest { budget: Some(tokens), load, ..Default::default() };
    let made = role.client.clone().create_surface(wanted).await.unwrap().into_inner();
    assert_eq!(made.warnings.iter().map(|one| one.field.as_str()).collect::<Vec<_>>(), ["load[1]"]);
    let id = made.surface.unwrap().surface_id;
    let answer = role.load(&id, &["files.big", "files.list"]).await;
    let Some(Outcome::Failure(refused)) = answer.outcomes[0].outcome.clone() else { panic!("it is too large") };
    let shortage = refused.shortage.unwrap();
    assert_eq!((refused.kind, refused.reason.as_str()), (v1::NotCallableKind::NotLoaded.into(), "budget"));
    assert!(shortage.field == "max_schema_tokens" && shortage.need > 500 && shortage.free < 200, "{shortage:?}");
    assert!(refused.message.contains("`files.big` needs 5"), "{}", refused.message);
    assert!(matches!(answer.outcomes[1].outcome, Some(Outcome::Loaded(_))) && answer.unloaded.is_empty());
    // A smaller budget unloads, as far as tools do not stay.
    let other = |surface_id: &str, max_tools| v1::ExtendSurfaceRequest {
        surface_id: surface_id.to_owned(),
        budget: Some(v1::SurfaceBudget { max_tools, ..Default::default() }),
        ..Default::default()
    };
    let smaller = role.client.clone().extend_surface(other(&id, 1)).await.unwrap().into_inner();
    assert_eq!(unloaded(&smaller.unloaded), [("files.list", "budget")]);
    assert_eq!(loaded(&smaller.surface.unwrap()), ["files.read"]);
    let roomy = v1::ExtendSurfaceRequest { load: vec!["files.big".to_owned()], ..other(&id, 2) };
    let larger = role.client.clone().extend_surface(roomy).await.unwrap().into_inner();
    assert_eq!(loaded(&larger.surface.unwrap()), ["files.read", "files.big"]);
    // One that was made without a budget gets its first.
    let first = role.client.clone().extend_surface(other(&none.surface_id, 2)).await.unwrap().into_inner();
    assert_eq!((first.unloaded.len(), first.surface.unwrap().loaded_tools.len()), (1, 2));
    for (max_tools, rule) in [(0, "has no bound"), (1_001, "at most 1000")] {
        let refused = role.client.clone().extend_surface(other(&id, max_tools)).await.unwrap_err();
        assert!(refused.code() == Code::InvalidArgument && refused.message().contains(rule), "{refused:?}");
    }
    role.stop().await;
}

#[tokio::test]
async fn a_first_budget_goes_by_what_was_called_and_unloaded_before_it() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(["list", "move", "read", "write"].map(|name| told(name, 5)).to_vec()).await.unwrap();
    let made = role.surface(v1::CreateSurfaceRequest::default()).await;
    let unload = v1::UnloadToolsRequest {
        surface_id: made.surface_id.clone(),
        names: vec!["files.move".to_owned()],
        ..Default::default()
    };
    role.client.clone().unload_tools(unload).await.unwrap();
    let moment = role.get(&made.surface_id).await.surface.unwrap().moment;
    role.resolved(&made.surface_id, "files.list").await;
    let budget = |max_tools| v1::ExtendSurfaceRequest {
        surface_id: made.surface_id.clone(),
        budget: Some(v1::SurfaceBudget { max_tools, ..Default::default() }),
        ..Default::default()
    };
    let first = role.client.clone().extend_surface(budget(3)).await.unwrap().into_inner();
    assert_eq!(
        (first.unloaded, loaded(&first.surface.unwrap())),
        (vec![], vec!["files.list", "files.read", "files.write"])
    );
    let smaller = role.client.clone().extend_surface(budget(1)).await.unwrap().into_inner();
    assert_eq!(loaded(&smaller.surface.unwrap()), ["files.list"], "it alone was called");
    // Who comes back from before both is told of what went with the second.
    let told = Watch::from(&role, &made.surface_id, &moment).await.next().await.unwrap();
    let gone: Vec<&str> = told.changes.iter().map(|change| change.name.as_str()).collect();
    assert_eq!((told.anew, gone), (false, vec!["files.read", "files.write"]));
    role.stop().await;
}

#[tokio::test]
async fn every_process_goes_by_the_same_budget() {
    let (_server, [one, other]) = several(&options()).await;
    one.register(["list", "move", "read"].map(|name| told(name, 5)).to_vec()).await.unwrap();
    let id = one.surface(within(2)).await.surface_id;
    let first = other.load(&id, &["files.read"]).await;
    assert_eq!(unloaded(&first.unloaded), [("files.list", "budget")]);
    // What was loaded last there counts here, too.
    let second = one.load(&id, &["files.list"]).await;
    assert_eq!(unloaded(&second.unloaded), [("files.move", "budget")]);
    for role in [&one, &other] {
        let now = role.get(&id).await.surface.unwrap();
        assert_eq!((loaded(&now), now.budget.as_ref().unwrap().tools), (vec!["files.read", "files.list"], 2));
    }
    // Both at once: none is beyond it.
    let (here, there) = (["files.move"], ["files.list", "files.read"]);
    tokio::join!(one.load(&id, &here), other.load(&id, &there));
    assert_eq!(one.get(&id).await.surface.unwrap().loaded_tools.len(), 2);
    one.stop().await;
    other.stop().await;
}
