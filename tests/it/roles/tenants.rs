//! Two tenants on one cluster: what belongs to one does not exist for the other.

use tonic::{Code, Status};
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload};
use toolplane_testkit::tools;

use super::callers::Callers;
use crate::bed::{PATIENCE, register, surface};

/// Everything one person may do in a tenant.
const EVERYTHING: [&str; 4] = ["agent", "approver", "operator", "auditor"];

/// Things of tenant `acme`.
struct Things {
    surface: String,
    tool: String,
    invocation: String,
    batch: String,
    approval: String,
    rule: String,
}

async fn things(acme: &Clients) -> Things {
    register(acme, tools::examples().unwrap()).await;
    let surface = surface(acme).await;
    let listed = acme.surfaces().list_tools(v1::ListToolsRequest::default()).await.unwrap().into_inner().tools;
    let spec = v1::InvocationSpec {
        surface_id: surface.clone(),
        tool_name: "local.shell.exec".to_owned(),
        model_input: Some(payload(r#"{"command":"touch x"}"#)),
        ..Default::default()
    };
    let parked = acme.invocations().submit_invocation(v1::SubmitInvocationRequest { spec: Some(spec.clone()) }).await;
    let parked = parked.unwrap().into_inner().invocation.unwrap();
    assert!(!parked.approval_request_ref.is_empty(), "{parked:?}");
    let spec = v1::InvocationSpec { tool_name: "native.echo".to_owned(), ..spec };
    let batch =
        v1::BatchSpec { calls: vec![v1::BatchCall { spec: Some(spec), ..Default::default() }], ..Default::default() };
    let batch = acme.invocations().submit_batch(v1::SubmitBatchRequest { spec: Some(batch) }).await.unwrap();
    let rule = v1::PermissionRule {
        source: "project_settings".to_owned(),
        behavior: v1::Behavior::Deny.into(),
        matcher: "no.such.tool".to_owned(),
        ..Default::default()
    };
    let rules = v1::AddRulesRequest { rules: vec![rule], ..Default::default() };
    let rules = acme.permissions().add_rules(rules).await.unwrap().into_inner().rules;
    Things {
        surface,
        tool: listed[0].tool_id.clone(),
        invocation: parked.invocation_id,
        batch: batch.into_inner().batch.unwrap().batch_id,
        approval: parked.approval_request_ref,
        rule: rules[0].rule_id.clone(),
    }
}

/// The answer to a question about an id, with the id itself left out.
fn said<T>(answer: Result<T, Status>, id: &str) -> (Code, Option<String>, String) {
    match answer {
        Ok(_) => (Code::Ok, None, String::new()),
        Err(status) => {
            let reason = toolplane_runtime::status::reason(&status);
            (status.code(), reason, status.message().replace(id, "ID"))
        }
    }
}

/// Asks with the id of something of the other tenant and with one that does not exist: the answers are the same
/// NOT_FOUND.
macro_rules! hidden {
    ($client:expr, $method:ident, $theirs:expr, |$id:ident| $request:expr) => {{
        let mut answers = Vec::new();
        let theirs: String = $theirs.clone();
        for $id in [theirs.clone(), unknown(&theirs)] {
            let asked = $id.clone();
            let answer = tokio::time::timeout(PATIENCE, $client.$method($request)).await.unwrap();
            answers.push(said(answer.map(drop), &asked));
        }
        assert_eq!(answers[0].0, Code::NotFound, "{}: {:?}", stringify!($method), answers[0]);
        assert_eq!(answers[0], answers[1], "{} tells them apart", stringify!($method));
    }};
}

/// An id of the same form that nothing has.
fn unknown(id: &str) -> String {
    let last = if id.ends_with('0') { '1' } else { '0' };
    format!("{}{last}", &id[..id.len() - 1])
}

fn spec(surface: String) -> v1::InvocationSpec {
    v1::InvocationSpec { surface_id: surface, tool_name: "native.echo".to_owned(), ..Default::default() }
}

#[tokio::test]
async fn what_belongs_to_another_tenant_does_not_exist() {
    let callers = Callers::start("").await;
    let acme = callers.with(&callers.key("a", "acme", &EVERYTHING).await);
    let globex = callers.with(&callers.key("g", "globex", &EVERYTHING).await);
    let own = things(&acme).await;
    calls(&globex, &own).await;
    others(&globex, &own).await;
    lists(&globex, &own).await;
    synonyms(&acme, &globex).await;

    // And it is all still there, untouched, for those it belongs to.
    let id = own.invocation.clone();
    let request = v1::GetInvocationRequest { invocation_id: id, ..Default::default() };
    let record = acme.invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    assert_eq!(record.status_code(), v1::InvocationStatus::AwaitingApproval);
    assert_eq!((record.tenant.as_str(), record.caller_ref()), ("acme", "key:a"));
    let tool = v1::get_tool_request::Tool::ToolId(own.tool.clone());
    acme.surfaces().get_tool(v1::GetToolRequest { tool: Some(tool), ..Default::default() }).await.unwrap();
}

async fn calls(globex: &Clients, own: &Things) {
    let mut client = globex.invocations();
    let id = &own.invocation;
    hidden!(client, get_invocation, id, |i| v1::GetInvocationRequest { invocation_id: i, ..Default::default() });
    hidden!(client, get_result, id, |i| v1::GetResultRequest { invocation_id: i, ..Default::default() });
    hidden!(client, wait_invocation, id, |i| v1::WaitInvocationRequest { invocation_id: i, ..Default::default() });
    hidden!(client, watch_invocation, id, |i| v1::WatchInvocationRequest { invocation_id: i, ..Default::default() });
    hidden!(client, cancel_invocation, id, |i| v1::CancelInvocationRequest { invocation_id: i, ..Default::default() });
    hidden!(client, read_payload, id, |i| v1::ReadPayloadRequest { invocation_id: i, ..Default::default() });
    hidden!(client, get_persistence, id, |i| v1::GetPersistenceRequest { invocation_id: i, ..Default::default() });
    hidden!(client, list_mutations, id, |i| v1::ListMutationsRequest { invocation_id: i, ..Default::default() });
    hidden!(client, list_decisions, id, |i| v1::ListDecisionsRequest { invocation_id: i, ..Default::default() });
    hidden!(client, list_hooks, id, |i| v1::ListHooksRequest { invocation_id: i, ..Default::default() });
    hidden!(client, provide_input, id, |i| v1::ProvideInputRequest {
        invocation_id: i,
        declined: true,
        ..Default::default()
    });
    let batch = &own.batch;
    hidden!(client, get_batch, batch, |i| v1::GetBatchRequest { batch_id: i, ..Default::default() });
    hidden!(client, watch_batch, batch, |i| v1::WatchBatchRequest { batch_id: i, ..Default::default() });
    hidden!(client, cancel_batch, batch, |i| v1::CancelBatchRequest { batch_id: i, ..Default::default() });
    let surface = &own.surface;
    hidden!(client, invoke, surface, |i| v1::InvokeRequest { spec: Some(spec(i)), ..Default::default() });
    hidden!(client, submit_invocation, surface, |i| v1::SubmitInvocationRequest { spec: Some(spec(i)) });
    hidden!(client, explain_invocation, surface, |i| v1::ExplainInvocationRequest { spec: Some(spec(i)) });
}

async fn others(globex: &Clients, own: &Things) {
    let mut client = globex.surfaces();
    let (surface, tool) = (&own.surface, &own.tool);
    hidden!(client, get_surface, surface, |i| v1::GetSurfaceRequest { surface_id: i, ..Default::default() });
    hidden!(client, extend_surface, surface, |i| v1::ExtendSurfaceRequest {
        surface_id: i,
        namespaces: vec!["x".to_owned()],
        ..Default::default()
    });
    hidden!(client, watch_surface, surface, |i| v1::WatchSurfaceRequest { surface_id: i, ..Default::default() });
    hidden!(client, delete_surface, surface, |i| v1::DeleteSurfaceRequest { surface_id: i });
    hidden!(client, search_tools, surface, |i| v1::SearchToolsRequest {
        surface_id: i,
        query: "read".to_owned(),
        ..Default::default()
    });
    hidden!(client, load_tools, surface, |i| v1::LoadToolsRequest {
        surface_id: i,
        names: vec!["x".to_owned()],
        ..Default::default()
    });
    hidden!(client, unload_tools, surface, |i| v1::UnloadToolsRequest {
        surface_id: i,
        names: vec!["x".to_owned()],
        ..Default::default()
    });
    hidden!(client, get_tool, tool, |i| v1::GetToolRequest {
        tool: Some(v1::get_tool_request::Tool::ToolId(i)),
        ..Default::default()
    });
    hidden!(client, get_tool, "native.echo".to_owned(), |i| v1::GetToolRequest {
        tool: Some(v1::get_tool_request::Tool::Name(i)),
        ..Default::default()
    });
    hidden!(client, retire_tool, tool, |i| v1::RetireToolRequest { tool_id: i, ..Default::default() });
    let mut client = globex.permissions();
    let (approval, rule) = (&own.approval, &own.rule);
    hidden!(client, get_approval, approval, |i| v1::GetApprovalRequest { approval_id: i, ..Default::default() });
    hidden!(client, resolve_approval, approval, |i| v1::ResolveApprovalRequest {
        approval_id: i,
        behavior: v1::Behavior::Allow.into(),
        ..Default::default()
    });
    hidden!(client, revoke_rule, rule, |i| v1::RevokeRuleRequest { rule_id: i, reason: "x".to_owned() });
}

/// Words that one tenant says mean the same are in no list and in no search of another one.
async fn synonyms(acme: &Clients, globex: &Clients) {
    let group = v1::SynonymGroup { words: vec!["parrot".to_owned(), "echo".to_owned()], ..Default::default() };
    let request = v1::AddSynonymsRequest { groups: vec![group], ..Default::default() };
    acme.surfaces().add_synonyms(request).await.unwrap();
    register(globex, tools::examples().unwrap()).await;
    let asked = v1::SearchToolsRequest { query: "parrot".to_owned(), ..Default::default() };
    for (clients, known) in [(acme, true), (globex, false)] {
        let groups = clients.surfaces().list_synonyms(v1::ListSynonymsRequest::default()).await.unwrap().into_inner();
        assert_eq!(!groups.groups.is_empty(), known);
        let found = clients.surfaces().search_tools(asked.clone()).await.unwrap().into_inner().result.unwrap().found;
        assert_eq!(found.iter().any(|tool| tool.name == "native.echo"), known, "{found:?}");
    }
    let mut client = globex.surfaces();
    hidden!(client, remove_synonyms, "parrot".to_owned(), |i| v1::RemoveSynonymsRequest { words: vec![i] });
}

async fn lists(globex: &Clients, own: &Things) {
    let (mut surfaces, mut calls, mut questions) = (globex.surfaces(), globex.invocations(), globex.permissions());
    assert!(surfaces.list_tools(v1::ListToolsRequest::default()).await.unwrap().into_inner().tools.is_empty());
    assert!(surfaces.list_surfaces(v1::ListSurfacesRequest::default()).await.unwrap().into_inner().surfaces.is_empty());
    for batch_id in [String::new(), own.batch.clone()] {
        let request = v1::ListInvocationsRequest { batch_id, ..Default::default() };
        assert!(calls.list_invocations(request).await.unwrap().into_inner().invocations.is_empty());
    }
    assert!(calls.list_batches(v1::ListBatchesRequest::default()).await.unwrap().into_inner().batches.is_empty());
    let workers = calls.list_workers(v1::ListWorkersRequest::default()).await.unwrap().into_inner().workers;
    assert!(!workers.is_empty() && workers.iter().all(|worker| worker.invocation_ids.is_empty()));
    let waiting = questions.list_approvals(v1::ListApprovalsRequest::default()).await.unwrap().into_inner();
    assert!(waiting.approvals.is_empty());
    let rules = questions.list_rules(v1::ListRulesRequest { page_size: 1000, ..Default::default() }).await.unwrap();
    assert!(rules.get_ref().rules.iter().all(|rule| rule.rule_id != own.rule), "another tenant's rule is listed");
    // Only a peer may name another tenant, or all of them.
    for tenant in ["acme", "*"] {
        let request = v1::ListApprovalsRequest { tenant: tenant.to_owned(), ..Default::default() };
        let refused = questions.list_approvals(request).await.unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied, "{tenant}");
    }
    for subject in [
        v1::list_events_request::Subject::ToolId(own.tool.clone()),
        v1::list_events_request::Subject::SurfaceId(own.surface.clone()),
    ] {
        let request = v1::ListEventsRequest { subject: Some(subject), ..Default::default() };
        match surfaces.list_events(request).await {
            Ok(answer) => assert!(answer.get_ref().events.is_empty(), "{answer:?}"),
            Err(refused) => assert_eq!(refused.code(), Code::NotFound),
        }
    }
}

/// What `text` comes to as a call with this id.
async fn echo(clients: &Clients, surface_id: &str, invocation_id: &str, text: &str) -> Result<String, Status> {
    let spec = v1::InvocationSpec {
        surface_id: surface_id.to_owned(),
        tool_name: "native.echo".to_owned(),
        invocation_id: invocation_id.to_owned(),
        model_input: Some(payload(serde_json::json!({ "text": text }).to_string())),
        ..Default::default()
    };
    let mut stream =
        clients.invocations().invoke(v1::InvokeRequest { spec: Some(spec), ..Default::default() }).await?.into_inner();
    while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap()? {
        if let Some(result) = message.result {
            assert_eq!(result.invocation_id, invocation_id);
            assert!(!result.is_error, "{:?}", result.error);
            return Ok(format!("{result:?}"));
        }
    }
    panic!("the stream ended without a result");
}

/// Ids that one tenant chose, or that can be worked out from its keys, are free for every other, and both calls run at once on
/// one worker. The longest there may be are read back like any other.
#[tokio::test]
async fn an_id_of_one_tenant_is_free_for_another() {
    let callers = Callers::start("").await;
    let acme = callers.with(&callers.key("a", "acme", &EVERYTHING).await);
    let globex = callers.with(&callers.key("g", "globex", &EVERYTHING).await);
    let mut surfaces = Vec::new();
    for clients in [&acme, &globex] {
        register(clients, tools::examples().unwrap()).await;
        surfaces.push(surface(clients).await);
    }
    let keyed = v1::InvocationSpec {
        surface_id: surfaces[0].clone(),
        tool_name: "native.echo".to_owned(),
        model_input: Some(payload(r#"{"text":"keyed"}"#)),
        idempotency_key: "monday's report".to_owned(),
        ..Default::default()
    };
    let accepted =
        acme.invocations().submit_invocation(v1::SubmitInvocationRequest { spec: Some(keyed) }).await.unwrap();
    let computed = accepted.into_inner().invocation.unwrap().invocation_id;
    let most = toolplane_records::ids::MAX_GIVEN_ID_LEN;
    let longest = format!("inv_{}", "/x".repeat(most))[..most].to_owned();
    for id in ["inv_shared", &longest] {
        let (of_acme, of_globex) =
            tokio::join!(echo(&acme, &surfaces[0], id, "roadrunner"), echo(&globex, &surfaces[1], id, "hank scorpio"));
        assert!(of_acme.unwrap().contains("roadrunner") && of_globex.unwrap().contains("hank scorpio"), "{id}");
        for (clients, own) in [(&acme, "acme"), (&globex, "globex")] {
            let request = v1::GetInvocationRequest { invocation_id: id.to_owned(), ..Default::default() };
            let found = clients.invocations().get_invocation(request).await.unwrap().into_inner();
            assert_eq!(found.invocation.unwrap().tenant, own);
            let request = v1::GetPersistenceRequest { invocation_id: id.to_owned(), ..Default::default() };
            assert_eq!(clients.invocations().get_persistence(request).await.unwrap().into_inner().decisions.len(), 1);
            let request = v1::ListDecisionsRequest { invocation_id: id.to_owned(), ..Default::default() };
            assert_eq!(clients.invocations().list_decisions(request).await.unwrap().into_inner().decisions.len(), 1);
        }
    }
    echo(&globex, &surfaces[1], &computed, "worked out").await.expect("nobody is told of another's key");
    let refused = echo(&acme, &surfaces[0], &format!("{longest}x"), "too long").await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("spec.invocation_id") && refused.message().contains("217"), "{refused:?}");
}
