//! Surfaces and tools larger than an answer.

use prost::Message as _;
use tonic::Code;
use toolplane_proto::v1;
use toolplane_proto::v1::surface_tool::Tool;
use toolplane_records::payload::JsonPayload;

use super::role::{Role, changed, tool};

const TOOLS: usize = 7_000;
/// What gRPC clients take by default.
const MESSAGE_BYTES: usize = 4 * 1024 * 1024;

fn wordy(n: usize) -> v1::ToolRegistration {
    changed(tool("many", &format!("action{n}")), |declaration| declaration.search_hint = "word ".repeat(79))
}

async fn filled(role: &Role) {
    for first in (0..TOOLS).step_by(1_000) {
        role.register((first..(first + 1_000).min(TOOLS)).map(wordy).collect()).await.unwrap();
    }
}

async fn tools_of(role: &Role, mut surface: v1::ToolSurface) -> Vec<String> {
    let mut seen = std::mem::take(&mut surface.tool_refs);
    let mut page_token = surface.next_tools_token;
    while !page_token.is_empty() {
        let surface_id = surface.surface_id.clone();
        let request = v1::ListSurfaceToolsRequest { surface_id, page_size: 1_000, page_token };
        let page = role.client.clone().list_surface_tools(request).await.unwrap().into_inner();
        assert!(page.encoded_len() < MESSAGE_BYTES / 2 && page.revision == surface.revision);
        seen.extend(page.tools.into_iter().map(|tool| match tool.tool.unwrap() {
            Tool::Loaded(tool) => tool.tool_id,
            Tool::Deferred(tool) => tool.tool_id,
            Tool::Blocked(tool) | Tool::Excluded(tool) => tool.tool_id,
        }));
        page_token = page.next_page_token;
    }
    seen
}

#[tokio::test]
async fn a_surface_of_more_tools_than_an_answer_holds_is_made_told_and_listed() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    filled(&role).await;
    let request_id = uuid::Uuid::now_v7().to_string();
    let request = v1::CreateSurfaceRequest { request_id, ..Default::default() };
    let made = role.surface(request.clone()).await;
    let counts = made.counts.unwrap();
    assert_eq!((counts.deferred, counts.loaded, counts.blocked), (TOOLS as u32, 0, 0));
    assert!(
        made.encoded_len() < MESSAGE_BYTES / 4 && !made.next_tools_token.is_empty() && !made.deferred_tools.is_empty()
    );
    // The same request again finds it.
    assert_eq!(role.surface(request).await.surface_id, made.surface_id);

    let mut all = tools_of(&role, made.clone()).await;
    all.sort();
    all.dedup();
    assert_eq!(all.len(), TOOLS);
    let told = role.get(&made.surface_id).await;
    assert!(told.json.is_none() && told.surface.is_some_and(|surface| surface.counts == made.counts));

    // Every list of the tenant works, however many such surfaces there are.
    for _ in 0..5 {
        role.surface(v1::CreateSurfaceRequest::default()).await;
    }
    let (mut listed, mut page_token) = (0, String::new());
    loop {
        let request = v1::ListSurfacesRequest { page_token, ..Default::default() };
        let page = role.client.clone().list_surfaces(request).await.unwrap().into_inner();
        assert!(page.surfaces.iter().all(|surface| surface.counts == made.counts));
        listed += page.surfaces.len();
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    assert_eq!(listed, 6);

    // A place is good for one revision: a loaded tool is elsewhere.
    role.load(&made.surface_id, &["many.action7"]).await;
    let stale = v1::ListSurfaceToolsRequest {
        surface_id: made.surface_id.clone(),
        page_token: made.next_tools_token,
        ..Default::default()
    };
    let refused = role.client.clone().list_surface_tools(stale).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let now = role.get(&made.surface_id).await.surface.unwrap();
    assert_eq!((now.loaded_tools.len(), tools_of(&role, now).await.len()), (1, TOOLS));
    role.stop().await;
}

#[tokio::test]
async fn a_small_surface_is_told_whole() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register((0..30).map(wordy).collect()).await.unwrap();
    let made = role.surface(v1::CreateSurfaceRequest::default()).await;
    assert_eq!((made.tool_refs.len(), made.deferred_tools.len(), made.next_tools_token.as_str()), (30, 30, ""));
    let page = v1::ListSurfacesRequest::default();
    let page = role.client.clone().list_surfaces(page).await.unwrap().into_inner();
    assert_eq!(page.surfaces[0], made);
    role.stop().await;
}

#[tokio::test]
async fn what_an_answer_cannot_carry_is_refused_before_anything_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let text = format!(r#"{{"type":"object","description":"{}"}}"#, "x".repeat(200 * 1024));
    let large = |n: usize| {
        changed(tool("large", &format!("t{n}")), |declaration| {
            let schema = JsonPayload::from_checked(text.clone());
            declaration.input_contract =
                Some(v1::InputContract { model_input_schema: Some((&schema).into()), ..Default::default() });
        })
    };
    for first in [0, 10, 20] {
        role.register((first..first + 10).map(large).collect()).await.unwrap();
    }
    let policy = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let id = role.surface(policy).await.surface_id;
    let names: Vec<String> = (0..30).map(|n| format!("large.t{n}")).collect();
    let request = v1::LoadToolsRequest { surface_id: id.clone(), names: names.clone(), ..Default::default() };
    let refused = role.client.clone().load_tools(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    assert!(role.get(&id).await.surface.unwrap().loaded_tools.is_empty(), "nothing was loaded");
    let few: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    assert_eq!(role.load(&id, &few).await.outcomes.len(), 5);

    let policy = JsonPayload::from_checked(format!(r#"{{"allowed_tools":["{}"]}}"#, "x".repeat(3 * 1024 * 1024)));
    let request = v1::CreateSurfaceRequest { selection_policy: Some((&policy).into()), ..Default::default() };
    let refused = role.client.clone().create_surface(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    let page = v1::ListSurfacesRequest::default();
    assert_eq!(role.client.clone().list_surfaces(page).await.unwrap().into_inner().surfaces.len(), 1);
    role.stop().await;
}
