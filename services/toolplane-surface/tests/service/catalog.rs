//! Registering, reading, listing and retiring.

use std::collections::BTreeMap;

use tonic::Code;
use tonic_types::StatusExt as _;
use toolplane_proto::v1;
use toolplane_proto::v1::list_events_request::Subject;
use toolplane_records::declaration::ToolDeclaration;
use toolplane_records::payload::JsonPayload;

use crate::role::{Role, changed, options, tool};

fn outcomes(response: &v1::RegisterToolsResponse) -> Vec<(v1::RegistrationOutcome, u64)> {
    response.tools.iter().map(|tool| (tool.outcome(), tool.revision)).collect()
}

#[tokio::test]
async fn the_same_registration_changes_nothing_and_another_one_is_a_revision() {
    use v1::RegistrationOutcome::{Created, Unchanged, Updated};
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let tools = vec![tool("files", "read"), tool("files", "write")];
    let only_checked = v1::RegisterToolsRequest { tools: tools.clone(), validate_only: true };
    let checked = role.client.clone().register_tools(only_checked).await.unwrap().into_inner();
    assert_eq!(outcomes(&checked), [(Created, 1), (Created, 1)]);
    assert_eq!(outcomes(&role.register(tools.clone()).await.unwrap()), [(Created, 1), (Created, 1)]);
    assert_eq!(outcomes(&role.register(tools.clone()).await.unwrap()), [(Unchanged, 1), (Unchanged, 1)]);
    role.stop().await;
    let role = Role::start(dir.path()).await;
    let newer = changed(tool("files", "write"), |tool| tool.title = "Write".to_owned());
    let registered = role.register(vec![tool("files", "read"), newer]).await.unwrap();
    assert_eq!(outcomes(&registered), [(Unchanged, 1), (Updated, 2)]);
    let events = role.events(Subject::ToolId("tool_files_write".to_owned())).await;
    let told: Vec<_> = events.iter().map(|event| (event.sequence, event.event_type.as_str())).collect();
    assert_eq!(told, [(1, "tool.declared"), (2, "tool.declared")]);
    assert_eq!(events[1].tool_id, "tool_files_write");
    role.stop().await;
}

#[tokio::test]
async fn a_tool_is_read_back_exactly_by_every_name() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let declared = changed(tool("files", "read"), |tool| tool.aliases = vec!["cat".to_owned()]);
    role.register(vec![declared.clone()]).await.unwrap();
    for name in ["files.read", "files__read", "cat", "read", "tool_files_read"] {
        let request = v1::GetToolRequest {
            tool: Some(v1::get_tool_request::Tool::Name(name.to_owned())),
            view: v1::RecordView::Json.into(),
        };
        let got = role.client.clone().get_tool(request).await.unwrap().into_inner();
        let wanted = declared.declaration.clone().unwrap().input_contract.unwrap().model_input_schema;
        let found = got.registration.unwrap().declaration.unwrap().input_contract.unwrap().model_input_schema;
        assert_eq!(found.unwrap().body, wanted.unwrap().body, "{name}");
        let json = JsonPayload::try_from(got.declaration_json.unwrap()).unwrap();
        let record: ToolDeclaration = json.parse().unwrap();
        assert_eq!(record.tool_id.as_str(), "tool_files_read");
        assert!(json.text().contains("9007199254740993"), "numbers keep their spelling");
        assert!(got.interface_json.is_none());
    }
    role.stop().await;
}

#[tokio::test]
async fn everything_wrong_is_told_at_once_and_nothing_is_registered() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let bad_schema = JsonPayload::from_checked(r#"{"type":"object","properties":{"a":{"type":"strnig"}}}"#);
    let bad_schema = changed(tool("web", "fetch"), |tool| {
        tool.input_contract.as_mut().unwrap().model_input_schema = Some((&bad_schema).into());
    });
    let tools = vec![
        tool("mail", "send"),
        changed(tool("files", "other"), |tool| tool.aliases = vec!["files.read".to_owned()]),
        changed(tool("mail", "read"), |tool| tool.name = "no spaces".to_owned()),
        bad_schema,
    ];
    let status = role.register(tools).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let violations = status.get_error_details().bad_request().unwrap().field_violations.clone();
    let wrong: BTreeMap<_, _> =
        violations.iter().map(|wrong| (wrong.field.as_str(), wrong.description.as_str())).collect();
    let check = |place: &str, word: &str| {
        let found = wrong.iter().any(|(field, rule)| field.starts_with(place) && rule.contains(word));
        assert!(found, "no violation at {place} with {word}: {wrong:#?}");
    };
    check("tools[1].declaration.aliases[0]", "tool_files_read");
    check("tools[2].declaration.name", "contains");
    check("tools[3].declaration.input_contract.model_input_schema", "");
    assert!(!wrong.keys().any(|field| field.starts_with("tools[0]")), "{wrong:#?}");
    let listed = role.client.clone().list_tools(v1::ListToolsRequest::default()).await.unwrap().into_inner();
    assert_eq!(listed.tools.len(), 1);
    let decode = role.register(vec![v1::ToolRegistration::default(), v1::ToolRegistration::default()]).await;
    let status = decode.unwrap_err();
    let details = status.get_error_details();
    let fields: Vec<_> = details.bad_request().unwrap().field_violations.iter().map(|v| v.field.clone()).collect();
    assert_eq!(fields, ["tools[0].declaration", "tools[1].declaration"]);
    role.stop().await;
}

#[tokio::test]
async fn lists_are_in_order_and_pages_cover_them_once() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let tools: Vec<_> = (0..23).map(|n| tool(["mail", "files"][n % 2], &format!("t{n:02}"))).collect();
    role.register(tools).await.unwrap();
    let mut seen = Vec::new();
    let mut token = String::new();
    loop {
        let request = v1::ListToolsRequest { page_size: 5, page_token: token, ..Default::default() };
        let page = role.client.clone().list_tools(request).await.unwrap().into_inner();
        assert!(page.tools.len() <= 5);
        seen.extend(page.tools.into_iter().map(|tool| tool.full_name));
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    assert!(seen.is_sorted() && seen.len() == 23, "{seen:?}");
    let filtered = v1::ListToolsRequest { namespace: "mail".to_owned(), text: "T0".to_owned(), ..Default::default() };
    let filtered = role.client.clone().list_tools(filtered).await.unwrap().into_inner();
    assert_eq!(filtered.tools.len(), 5);
    let first = v1::ListToolsRequest { page_size: 5, ..Default::default() };
    let token = role.client.clone().list_tools(first).await.unwrap().into_inner().next_page_token;
    let bad = [
        ("page_size", v1::ListToolsRequest { page_size: -1, ..Default::default() }),
        ("page_token", v1::ListToolsRequest { page_token: "zz".to_owned(), ..Default::default() }),
        ("page_token", v1::ListToolsRequest { page_token: token, text: "x".to_owned(), ..Default::default() }),
    ];
    for (field, request) in bad {
        let status = role.client.clone().list_tools(request).await.unwrap_err();
        let details = status.get_error_details();
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, field);
    }
    role.stop().await;
}

#[tokio::test]
async fn a_retired_tool_keeps_its_identity_and_is_never_used_again() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let surface = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    assert_eq!(role.resolved(&surface, "files.read").await.revision, 1);
    let retired = role.retire("tool_files_read").await.unwrap();
    assert_eq!((retired.declaration.unwrap().lifecycle(), retired.revision), (v1::ToolLifecycle::Retired, 2));
    assert_eq!(role.retire("tool_files_read").await.unwrap().revision, 2, "once more changes nothing");
    assert_eq!(role.retire("tool_nothing").await.unwrap_err().code(), Code::NotFound);
    role.stop().await;
    let role = Role::start(dir.path()).await;
    let refusal = role.refusal(&surface, "files.read").await;
    assert_eq!((refusal.kind(), refusal.reason.as_str()), (v1::NotCallableKind::Retired, "retired"));
    assert_eq!(refusal.tool_id, "tool_files_read");
    let again = role.register(vec![tool("files", "read")]).await.unwrap_err();
    assert_eq!(again.code(), Code::InvalidArgument);
    let other = changed(tool("files", "read"), |tool| tool.tool_id = "tool_new".to_owned());
    assert_eq!(role.register(vec![other]).await.unwrap_err().code(), Code::InvalidArgument, "its names stay taken");
    let events = role.events(Subject::ToolId("tool_files_read".to_owned())).await;
    let types: Vec<_> = events.iter().map(|event| event.event_type.as_str()).collect();
    assert_eq!(types, ["tool.declared", "ext.tool.retired"]);
    let data = JsonPayload::try_from(events[1].data.clone().unwrap()).unwrap().to_value();
    assert_eq!(data["reason"], "replaced");
    role.stop().await;
}

#[tokio::test]
async fn tool_files_are_registered_at_start_and_retired_tools_stay_retired() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tools.json");
    let declared = |name: &str| {
        format!(
            r#"{{"declaration":{{"tool_id":"tool_{name}","namespace":"native","name":"{name}","description":"{name}",
            "lifecycle":"available","tool_kind":"native_tool"}}}}"#
        )
    };
    std::fs::write(&file, format!(r#"{{"tools":[{},{}]}}"#, declared("echo"), declared("noop"))).unwrap();
    let start = || toolplane_surface::SurfaceOptions { declarations: vec![file.clone()], ..options() };
    let role = Role::start_with(dir.path(), start()).await;
    role.retire("tool_noop").await.unwrap();
    role.stop().await;
    let role = Role::start_with(dir.path(), start()).await;
    let listed = role.client.clone().list_tools(v1::ListToolsRequest::default()).await.unwrap().into_inner();
    let listed: Vec<_> = listed.tools.iter().map(|tool| (tool.full_name.as_str(), tool.lifecycle())).collect();
    let expected = [("native.echo", v1::ToolLifecycle::Available), ("native.noop", v1::ToolLifecycle::Retired)];
    assert_eq!(listed, expected);
    role.stop().await;
}
