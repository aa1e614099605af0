//! Calls in surfaces within surfaces: what one above does not show is not called, whatever a scheduler remembers.

use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::{Cluster, Options};

use crate::bed::RULES;
use crate::default_surface::echo;

async fn made(clients: &Clients, request: v1::CreateSurfaceRequest) -> String {
    clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap().surface_id
}

fn of(space: &str, parent: &str) -> v1::CreateSurfaceRequest {
    let namespaces = if space.is_empty() { Vec::new() } else { vec![space.to_owned()] };
    v1::CreateSurfaceRequest { namespaces, parent_surface_id: parent.to_owned(), ..Default::default() }
}

/// The error code of a call, and what is said of it; both empty where it succeeds.
async fn call(clients: &Clients, surface: &str, tool: &str) -> (String, String) {
    let spec = v1::InvocationSpec {
        tool_name: tool.to_owned(),
        surface_id: surface.to_owned(),
        model_input: Some(payload(b"{}".to_vec())),
        ..Default::default()
    };
    let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() };
    let result = clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
    result.error.map_or_else(Default::default, |error| (error.error_code, error.message))
}

#[tokio::test]
async fn a_call_is_refused_where_a_surface_above_does_not_show_its_tool() {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let clients = cluster.clients();
    let schema = r#"{"type":"object"}"#;
    let tools = vec![echo("one", "say", schema), echo("two", "say", schema)];
    clients.surfaces().register_tools(v1::RegisterToolsRequest { tools, validate_only: false }).await.unwrap();
    let parent = made(clients, of("one", "")).await;
    let child = made(clients, of("", &parent)).await;
    // Twice: the second time the scheduler remembers the tool.
    for _ in 0..2 {
        assert_eq!(call(clients, &child, "one.say").await, (String::new(), String::new()));
    }
    let (code, message) = call(clients, &child, "two.say").await;
    assert_eq!(code, "surface.not_selected");
    assert!(message.contains(&format!("is not part of the surface `{parent}`")), "{message}");
    // What the surface above says about choosing is held in the one within it.
    let silent =
        v1::CreateSurfaceRequest { default_tool_choice: Some(payload(br#""none""#.to_vec())), ..of("one", "") };
    let silent = made(clients, silent).await;
    let (code, message) = call(clients, &made(clients, of("", &silent)).await, "one.say").await;
    assert_eq!(code, "surface.no_calls");
    assert!(message.contains(&format!("(says the surface `{silent}`")), "{message}");
    // And what it is for.
    let task = v1::CreateSurfaceRequest { scope: "task".into(), runtime_refs: vec!["task:7".into()], ..of("one", "") };
    let task = made(clients, task).await;
    let (code, message) = call(clients, &made(clients, of("", &task)).await, "one.say").await;
    assert_eq!(code, "surface.out_of_scope");
    assert!(message.contains(&format!("(says the surface `{task}`")), "{message}");
    // A change above is known at once.
    let extend = v1::ExtendSurfaceRequest {
        surface_id: parent.clone(),
        namespaces: vec!["two".to_owned()],
        ..Default::default()
    };
    clients.surfaces().extend_surface(extend).await.unwrap();
    assert_eq!(call(clients, &child, "two.say").await.0, "surface.schema_not_loaded");
    clients.surfaces().delete_surface(v1::DeleteSurfaceRequest { surface_id: parent.clone() }).await.unwrap();
    let (code, message) = call(clients, &child, "one.say").await;
    assert_eq!(code, "surface.parent_gone");
    assert!(message.contains(&parent), "{message}");
}
