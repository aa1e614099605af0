//! The surface of callers that name none: every tool, as it is declared now.

use tonic::Code;
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_testkit::clients::{Clients, payload, payload_bytes};
use toolplane_testkit::{Cluster, Options, tools};

use crate::bed::RULES;

/// The echo tool under another name, with this schema.
pub(crate) fn echo(namespace: &str, name: &str, schema: &str) -> v1::ToolRegistration {
    let files = tools::example_files().unwrap();
    let file = files.into_iter().find(|file| file.ends_with("native.echo.json")).unwrap();
    let text = std::fs::read_to_string(file).unwrap().replace("_native_echo", &format!("_{namespace}_{name}"));
    let mut tool: serde_json::Value = serde_json::from_str(&text).unwrap();
    let declaration = &mut tool["declaration"];
    declaration["namespace"] = namespace.into();
    declaration["name"] = name.into();
    declaration["input_contract"]["examples"] = serde_json::json!([]);
    declaration["input_contract"]["model_input_schema"] = serde_json::from_str(schema).unwrap();
    tools::registration(&tool.to_string()).unwrap()
}

pub(crate) async fn register(clients: &Clients, tools: Vec<v1::ToolRegistration>) {
    let request = v1::RegisterToolsRequest { tools, validate_only: false };
    clients.surfaces().register_tools(request).await.unwrap();
}

async fn call(clients: &Clients, tool: &str, input: &str) -> v1::ToolResult {
    let spec = v1::InvocationSpec {
        tool_name: tool.to_owned(),
        model_input: Some(payload(input.as_bytes().to_vec())),
        ..Default::default()
    };
    let answer = clients
        .invocations()
        .call(v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() })
        .await
        .unwrap();
    *answer.into_inner().result.unwrap()
}

fn code(result: &v1::ToolResult) -> &str {
    result.error.as_ref().map_or("", |error| &error.error_code)
}

#[tokio::test]
async fn tools_can_be_called_as_they_are_declared_at_that_moment() {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let clients = cluster.clients();
    assert_eq!(code(&call(clients, "one.say", "{}").await), "surface.unknown_tool");
    register(clients, vec![echo("one", "say", r#"{"type":"object"}"#)]).await;
    let said = call(clients, "one.say", r#"{"n":1}"#).await;
    assert_eq!(&payload_bytes(said.structured_content.as_ref())[..], br#"{"n":1}"#);
    let by_its_bare_name = call(clients, "say", r#"{"n":2}"#).await;
    assert!(!by_its_bare_name.is_error, "{by_its_bare_name:?}");

    // The record says in which surface it was.
    let request = v1::GetInvocationRequest { invocation_id: said.invocation_id.clone(), ..Default::default() };
    let record = clients.invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    assert_eq!(record.surface_id, "default");

    // Another schema counts for the very next call, and nothing has to be loaded again.
    register(clients, vec![echo("one", "say", r#"{"type":"object","required":["m"]}"#)]).await;
    assert!(call(clients, "one.say", r#"{"n":1}"#).await.is_error);
    assert!(!call(clients, "one.say", r#"{"m":1}"#).await.is_error);

    // A bare name that two tools share means neither of them any more, although one was found by it before.
    register(clients, vec![echo("two", "say", r#"{"type":"object"}"#)]).await;
    assert!(call(clients, "say", r#"{"m":1}"#).await.is_error);
    assert!(!call(clients, "two.say", "{}").await.is_error);

    let retire = v1::RetireToolRequest { tool_id: "tool_one_say".to_owned(), reason: String::new() };
    clients.surfaces().retire_tool(retire).await.unwrap();
    assert_eq!(code(&call(clients, "one.say", r#"{"m":1}"#).await), "surface.retired");
}

/// Who goes by what was read is told what it is now, and nothing else is called in its place.
#[tokio::test]
async fn a_call_goes_by_the_moment_its_caller_read() {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let clients = cluster.clients();
    let say = |name: &str, schema: &str| {
        let mut tool = echo("one", name, schema);
        tool.declaration.as_mut().unwrap().tool_id = "tool_one_say".to_owned();
        tool.interface.as_mut().unwrap().tool_id = "tool_one_say".to_owned();
        tool
    };
    let moment = async || {
        let request = v1::ListSurfaceToolsRequest { page_size: 1, ..Default::default() };
        clients.surfaces().list_surface_tools(request).await.unwrap().into_inner().moment
    };
    let at = async |tool: &str, input: &str, moment: &str| {
        let spec = v1::InvocationSpec {
            tool_name: tool.to_owned(),
            model_input: Some(payload(input.as_bytes().to_vec())),
            surface_moment: moment.to_owned(),
            ..Default::default()
        };
        let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() };
        clients.invocations().call(request).await.map(|answer| *answer.into_inner().result.unwrap())
    };
    register(clients, vec![say("say", r#"{"type":"object"}"#)]).await;
    let first = moment().await;
    let called = at("one.say", "{}", &first).await.unwrap();
    assert!(!called.is_error, "{called:?}");
    let request = v1::GetInvocationRequest { invocation_id: called.invocation_id, ..Default::default() };
    let record = clients.invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    assert_eq!(record.surface_moment.as_deref(), Some(first.as_str()));
    // Without a moment the tool is what it is now; the default surface has nothing to load.
    register(clients, vec![say("say", r#"{"type":"object","properties":{"m":{}},"required":["m"]}"#)]).await;
    assert!(!call(clients, "one.say", r#"{"m":1}"#).await.is_error);
    let changed = at("one.say", r#"{"m":1}"#, &first).await.unwrap();
    assert_eq!(code(&changed), "surface.schema_changed");
    assert!(changed.error.unwrap().message.contains("`/m` is new and required"));
    let second = moment().await;
    assert!(!at("one.say", r#"{"m":1}"#, &second).await.unwrap().is_error, "read again");
    register(clients, vec![say("tell", r#"{"type":"object","properties":{"m":{}},"required":["m"]}"#)]).await;
    let mut other = echo("one", "say", r#"{"type":"object"}"#);
    other.declaration.as_mut().unwrap().tool_id = "tool_one_other".to_owned();
    other.interface.as_mut().unwrap().tool_id = "tool_one_other".to_owned();
    register(clients, vec![other]).await;
    let renamed = at("one.say", r#"{"m":1}"#, &second).await.unwrap();
    let error = renamed.error.unwrap();
    assert_eq!(
        (error.error_code.as_str(), error.next_steps.as_slice()),
        ("surface.renamed", &["one.tell".to_owned()][..])
    );
    assert!(!call(clients, "one.say", "{}").await.is_error, "another tool has the name now");
    assert_eq!(code(&at("tool_one_other", "{}", &second).await.unwrap()), "surface.came_later");
    for wrong in ["1.1", "0.99999", "soon"] {
        let refused = at("one.tell", r#"{"m":1}"#, wrong).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{wrong}");
        assert!(refused.message().contains("`spec.surface_moment`"), "{refused:?}");
    }
    // In a batch the call is named.
    let spec = v1::InvocationSpec {
        tool_name: "one.tell".to_owned(),
        surface_moment: "0.99999".to_owned(),
        ..Default::default()
    };
    let one = v1::BatchCall { spec: Some(spec), ..Default::default() };
    let batch = v1::BatchSpec { calls: vec![one], ..Default::default() };
    let request = v1::SubmitBatchRequest { spec: Some(batch) };
    let refused = clients.invocations().submit_batch(request).await.unwrap_err();
    assert!(refused.message().contains("`spec.calls[0].spec.surface_moment`"), "{refused:?}");
}

/// What a surface says about choosing is held at each call, of batches too.
#[tokio::test]
async fn what_a_surface_says_about_choosing_is_held() {
    let rule = r#"
[[permission.rules]]
id = "locked"
behavior = "deny"
tool = "*"
facts = ["surface_policy:locked"]
"#;
    let cluster = Cluster::start(Options::new(format!("{RULES}{rule}"))).await.unwrap();
    let clients = cluster.clients();
    let any = r#"{"type":"object"}"#;
    register(clients, vec![echo("one", "say", any), echo("one", "tell", any), echo("two", "say", any)]).await;
    let made = async |choice: &str, policy: &str| {
        let json = |text: &str| (!text.is_empty()).then(|| payload(text.as_bytes().to_vec()));
        let request = v1::CreateSurfaceRequest {
            default_tool_choice: json(choice),
            selection_policy: json(policy),
            ..Default::default()
        };
        clients.surfaces().create_surface(request).await.map(|answer| answer.into_inner().surface.unwrap())
    };
    let spec = |surface: &v1::ToolSurface, tool: &str, moment: &str| v1::InvocationSpec {
        surface_id: surface.surface_id.clone(),
        tool_name: tool.to_owned(),
        surface_moment: moment.to_owned(),
        ..Default::default()
    };
    let ends = async |spec: v1::InvocationSpec| {
        let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() };
        let result = clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
        code(&result).to_owned()
    };
    let none = made(r#""none""#, "").await.unwrap();
    assert_eq!(ends(spec(&none, "one.say", "")).await, "surface.no_calls");
    let only = made(r#"{"tool":"one.say"}"#, "").await.unwrap();
    assert_eq!(ends(spec(&only, "one.say", "")).await, "");
    assert_eq!(ends(spec(&only, "one.tell", "")).await, "surface.not_chosen");
    let some =
        made("", r#"{"allowed_tools":["one.*"],"denied_tools":["one.tell"],"require_moment":true}"#).await.unwrap();
    for (tool, moment, code) in [
        ("one.say", some.moment.as_str(), ""),
        ("one.say", "", "surface.moment_required"),
        ("one.tell", some.moment.as_str(), "surface.not_chosen"),
        ("two.say", some.moment.as_str(), "surface.not_chosen"),
    ] {
        assert_eq!(ends(spec(&some, tool, moment)).await, code, "{tool} {moment}");
    }
    let slow = made("", r#"{"parallel_calls":false}"#).await.unwrap();
    assert_eq!(ends(spec(&slow, "one.say", "")).await, "");
    for (max_parallel, expected) in [(None, "surface.parallel_calls"), (Some(1), "")] {
        let call = |tool: &str| v1::BatchCall { spec: Some(spec(&slow, tool, "")), ..Default::default() };
        let policy = v1::SchedulerPolicy { max_parallel, ..Default::default() };
        let batch = v1::BatchSpec {
            calls: vec![call("one.say"), call("one.tell")],
            policy: Some(policy),
            ..Default::default()
        };
        let request = v1::InvokeBatchRequest { spec: Some(batch), ..Default::default() };
        let mut stream = clients.invocations().invoke_batch(request).await.unwrap().into_inner();
        let mut ends = Vec::new();
        while let Some(message) = stream.message().await.unwrap() {
            ends.extend(message.items.iter().filter_map(|item| Some(code(item.result.as_ref()?).to_owned())));
        }
        assert_eq!(ends, [expected; 2], "{max_parallel:?}");
    }
    // What it names of policies, rules may be about, and decisions name it.
    let policy_refs = vec!["locked".to_owned()];
    let request = v1::CreateSurfaceRequest { policy_refs, ..Default::default() };
    let locked = clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap();
    assert_eq!(ends(spec(&locked, "one.say", "")).await, "permission.denied");
    for (choice, policy, field) in [
        ("7", "", "default_tool_choice"),
        (r#""one.sya""#, "", "default_tool_choice"),
        ("", r#"{"max_calls":1}"#, "selection_policy.max_calls"),
        ("", r#"{"denied_tools":["Bsh"]}"#, "selection_policy.denied_tools[0]"),
    ] {
        let refused = made(choice, policy).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{choice}{policy}");
        assert!(refused.message().contains(field), "{refused:?}");
    }
}

#[tokio::test]
async fn it_is_listed_searched_and_loaded_like_any_other() {
    let cluster = Cluster::start(Options::new(RULES)).await.unwrap();
    let clients = cluster.clients();
    register(clients, tools::examples().unwrap()).await;
    let surface = clients.surfaces().get_surface(v1::GetSurfaceRequest::default()).await.unwrap().into_inner();
    let surface = surface.surface.unwrap();
    let counts = surface.counts.unwrap_or_default();
    assert_eq!(surface.surface_id, "default");
    assert!(counts.loaded > 5 && counts.deferred == 0, "{counts:?}");

    let mut request = v1::ListSurfaceToolsRequest { page_size: 2, ..Default::default() };
    let mut listed = 0;
    loop {
        let page = clients.surfaces().list_surface_tools(request.clone()).await.unwrap().into_inner();
        listed += page.tools.len();
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    assert_eq!(listed, usize::try_from(counts.loaded + counts.blocked + counts.excluded).unwrap());

    let request = v1::SearchToolsRequest { query: "count words".to_owned(), ..Default::default() };
    let found = clients.surfaces().search_tools(request).await.unwrap().into_inner().result.unwrap();
    assert_eq!(found.refs[0].name, "text.word_count");
    let request = v1::LoadToolsRequest { names: vec![found.refs[0].name.clone()], ..Default::default() };
    let loaded = clients.surfaces().load_tools(request).await.unwrap().into_inner();
    let Some(Outcome::Loaded(schema)) = &loaded.outcomes[0].outcome else { panic!("{loaded:?}") };
    assert!(!payload_bytes(schema.model_input_schema.as_ref()).is_empty());
    let log = v1::ListEventsRequest {
        subject: Some(v1::list_events_request::Subject::SurfaceId("default".to_owned())),
        ..Default::default()
    };
    let log = clients.surfaces().list_events(log).await.unwrap().into_inner();
    assert!(log.events.is_empty(), "looking at it changes nothing: {log:?}");
    let unknown = v1::GetSurfaceRequest { surface_id: "surf_nowhere".to_owned(), ..Default::default() };
    assert_eq!(clients.surfaces().get_surface(unknown).await.unwrap_err().code(), Code::NotFound);
}
