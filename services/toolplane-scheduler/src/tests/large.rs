//! Many and large rows: every answer stays below what gRPC clients take, and the tokens lead to each row once.

use std::collections::BTreeSet;

use prost::Message as _;
use serde_json::json;
use tonic::Request;
use toolplane_lifecycle::Command;
use toolplane_proto::v1::invocation_service_server::InvocationService as _;
use toolplane_records::decision::{DecisionReason, PermissionDecision};
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::DecisionId;
use toolplane_records::result::ContentBlock;
use toolplane_records::trail;
use toolplane_records::vocabulary::{Behavior, ReasonType, ResultStatus};
use toolplane_store::Store as _;

use super::fakes::tool;
use super::*;
use crate::calls::Attached;

/// What gRPC clients take by default.
const MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// Every page of a list: how to ask with a token, and what the rows and the next token of an answer are.
macro_rules! pages {
    ($api:expr, $method:ident, $request:expr) => {{
        let (mut request, mut pages) = ($request, Vec::new());
        loop {
            let page = $api.$method(Request::new(request.clone())).await.unwrap().into_inner();
            assert!(page.encoded_len() < MESSAGE_BYTES, "{} bytes", page.encoded_len());
            let token = page.next_page_token.clone();
            pages.push(page);
            if token.is_empty() {
                break pages;
            }
            request.page_token = token;
        }
    }};
}

fn decision(record: &Invocation, number: usize) -> PermissionDecision {
    let message = format!("{number} {}", "x".repeat(60_000));
    PermissionDecision {
        reason: Some(DecisionReason { reason_type: ReasonType::Rule, rule_ref: None, message: message.into() }),
        policy_digest: format!("v{number}").into(),
        ..PermissionDecision::new(
            DecisionId::from_trusted(format!("perm_late_{number:04}")),
            record.invocation_id.clone(),
            Behavior::Allow,
            record.created_at,
        )
    }
}

fn hook_run(record: &Invocation, number: usize) -> ToolHook {
    serde_json::from_value(json!({
        "hook_id": format!("h{number:04}"), "hook_event": "permission_decision", "invocation_id": record.invocation_id,
        "outputs": [{ "type": "message", "text": "y".repeat(30_000) }],
    }))
    .unwrap()
}

/// The rules change again and again while the call waits, and each time hooks have their say.
async fn wait_through(world: &World, record: &Invocation, changes: std::ops::Range<usize>) {
    for number in changes {
        let decision = decision(record, number);
        let hooks = vec![hook_run(record, number)];
        let attached = Attached { decisions: vec![decision.clone()], hooks, ..Attached::default() };
        let confirm = |_: &Invocation| Command::Confirm { decision: decision.clone(), replan: None };
        world.parts.calls.command_with(&record.key(), attached, confirm).await.unwrap();
    }
}

#[tokio::test]
async fn decisions_and_hooks_of_a_call_that_waits_for_days_are_bounded_pages() {
    let (world, changes) = (World::new().await, 400);
    let record = world.call(r#"{"path":"a"}"#).await;
    let accepted = record.permission_decision_refs[0].to_string();
    wait_through(&world, &record, 0..changes).await;
    let api = world.api();

    // A client that knows nothing of pages gets a first one.
    let request = v1::ListDecisionsRequest {
        invocation_id: record.invocation_id.to_string(),
        view: v1::RecordView::Json.into(),
        ..Default::default()
    };
    let found = pages!(api, list_decisions, request);
    assert!(found.len() > 1 && found.iter().all(|page| page.jsons.len() == page.decisions.len()));
    let ids: Vec<_> = found.iter().flat_map(|page| &page.decisions).map(|one| one.decision_id.clone()).collect();
    let late = |number: usize| format!("perm_late_{number:04}");
    let expected = std::iter::once(accepted).chain((0..7).map(late)).chain((changes - 56..changes).map(late));
    assert_eq!(ids, expected.collect::<Vec<_>>());
    assert_eq!(found[0].left_out, 1 + changes as u64 - trail::DECISIONS.most() as u64);

    let request = v1::ListHooksRequest { invocation_id: record.invocation_id.to_string(), ..Default::default() };
    let found = pages!(api, list_hooks, request);
    let ids: Vec<_> = found.iter().flat_map(|page| &page.hooks).map(|one| one.hook_id.clone()).collect();
    let expected = (0..64).chain(changes - 192..changes).map(|number| format!("h{number:04}"));
    assert_eq!((found.len() > 1, ids), (true, expected.collect()));
    assert_eq!(found[0].left_out, changes as u64 - trail::HOOKS.most() as u64);

    // What is left out is gone from the store, and the log still names it.
    let tenant = TenantId::unauthenticated();
    assert!(world.parts.calls.records().decision(&tenant, &late(100)).await.unwrap().is_none());
    let stored = world.store.keys(toolplane_store::Family::Payload, None, 10_000).await.unwrap();
    assert_eq!(stored.iter().filter(|(key, _)| key.starts_with("hook:")).count(), trail::HOOKS.most());
    let log = world.parts.calls.records().log(&record.key()).await.unwrap();
    assert!(log.iter().any(|event| event.data.as_ref().is_some_and(|data| data.text().contains(&late(100)))));
}

/// Rows that come and go between two pages neither repeat nor hide others.
#[tokio::test]
async fn pages_go_on_where_they_were_while_decisions_come_and_are_left_out() {
    let world = World::new().await;
    let record = world.call(r#"{"path":"a"}"#).await;
    wait_through(&world, &record, 0..100).await;
    let api = world.api();
    let mut request = v1::ListDecisionsRequest {
        invocation_id: record.invocation_id.to_string(),
        page_size: 20,
        ..Default::default()
    };
    let first = api.list_decisions(Request::new(request.clone())).await.unwrap().into_inner();
    wait_through(&world, &record, 100..130).await;
    request.page_token = first.next_page_token.clone();
    let rest = pages!(api, list_decisions, request.clone());
    let rows = first.decisions.iter().chain(rest.iter().flat_map(|page| &page.decisions));
    let ids: Vec<_> = rows.map(|one| one.decision_id.clone()).skip(1).collect();
    assert!(ids.is_sorted() && ids.iter().collect::<BTreeSet<_>>().len() == ids.len(), "{ids:?}");
    let newest: BTreeSet<_> = (74..130).map(|number| format!("perm_late_{number:04}")).collect();
    assert!(newest.iter().all(|id| ids.contains(id)), "{ids:?}");

    // A token is of its own list.
    let other = v1::ListHooksRequest {
        invocation_id: request.invocation_id,
        page_token: first.next_page_token,
        ..Default::default()
    };
    assert_eq!(api.list_hooks(Request::new(other)).await.unwrap_err().code(), tonic::Code::InvalidArgument);
}

#[tokio::test]
async fn changes_of_inputs_end_a_page_by_bytes() {
    let world = World::with_hooks(&["h"]).await;
    let mut free = tool();
    free["declaration"]["input_contract"] = json!({ "model_input_schema": { "type": "object" } });
    world.change(|fakes| fakes.declare(Some(free))).await;
    // Names so long that what says which fields have changed is large.
    let input = |round: usize| {
        let fields = (0..48).map(|n| (format!("{n:02}{}", "k".repeat(12_000)), json!(round)));
        serde_json::Value::Object(fields.collect())
    };
    let round = std::sync::atomic::AtomicUsize::new(0);
    world.fakes.hook(move |_| {
        let round = 1 + round.fetch_add(1, std::sync::atomic::Ordering::SeqCst).min(2);
        let updated = super::payload(&input(round).to_string());
        v1::HookOutput { updated_input: Some(updated), ..Default::default() }
    });
    let record = world.call(&input(0).to_string()).await;
    let count = world.parts.calls.records().mutations(&record).await.unwrap().len();
    let request = v1::ListMutationsRequest {
        invocation_id: record.invocation_id.to_string(),
        view: v1::RecordView::Json.into(),
        page_size: 1000,
        ..Default::default()
    };
    let found = pages!(world.api(), list_mutations, request);
    let ids: BTreeSet<_> = found.iter().flat_map(|page| &page.mutations).map(|one| &one.mutation_id).collect();
    assert_eq!((found.len() > 1, ids.len(), count), (true, count, 3));
}

fn wordy(input: &str) -> v1::InvocationSpec {
    let refs = |kind: &str| (0..64).map(|n| format!("{kind}:{n:02}{}", "r".repeat(240))).collect();
    v1::InvocationSpec { runtime_refs: refs("session"), policy_refs: refs("policy"), ..spec(input) }
}

#[tokio::test]
async fn calls_and_batches_with_large_records_are_told_within_a_message() {
    let world = World::new().await;
    world.fakes.deny_paths((0..600).map(|n| format!("./{n:03}{}", "d".repeat(95))).collect());
    let api = world.api();
    let call = |n: usize| v1::BatchCall {
        spec: Some(wordy(&json!({ "path": format!("{n}") }).to_string())),
        ..Default::default()
    };
    let batch = v1::BatchSpec { calls: (0..64).map(call).collect(), ..Default::default() };
    let request = v1::SubmitBatchRequest { spec: Some(batch) };
    let answer = api.submit_batch(Request::new(request)).await.unwrap().into_inner();
    assert!(answer.encoded_len() < MESSAGE_BYTES, "{} bytes", answer.encoded_len());
    let batch = answer.batch.unwrap();
    assert!(!answer.invocations.is_empty() && batch.members.len() == 64);

    // The rest is in the list, by the id of the batch and without it.
    for batch_id in [batch.batch_id.clone(), String::new()] {
        let request = v1::ListInvocationsRequest { batch_id, page_size: 1000, ..Default::default() };
        let found = pages!(api, list_invocations, request);
        let listed: Vec<_> = found.iter().flat_map(|page| &page.invocations).map(|one| &one.invocation_id).collect();
        let ids: BTreeSet<_> = listed.iter().copied().collect();
        assert_eq!((found.len() > 1, listed.len(), ids.len()), (true, 64, 64));
        assert!(batch.members.iter().all(|member| ids.contains(&member.invocation_id)));
    }
    let request = v1::GetBatchRequest { batch_id: batch.batch_id.clone(), ..Default::default() };
    let got = api.get_batch(Request::new(request)).await.unwrap().into_inner();
    let request = v1::CancelBatchRequest { batch_id: batch.batch_id, ..Default::default() };
    let canceled = api.cancel_batch(Request::new(request)).await.unwrap().into_inner();
    assert!(got.encoded_len().max(canceled.encoded_len()) < MESSAGE_BYTES / 16);
}

#[tokio::test]
async fn many_workers_with_much_to_say_are_pages() {
    let (world, count) = (World::new().await, 60);
    for number in 0..count {
        let info = WorkerInfo {
            image: String::new(),
            credentials: None,
            worker_id: WorkerId::from_trusted(format!("w{number:03}")),
            incarnation: "first".into(),
            version: String::new(),
            slots: 4,
            pools: vec![],
            native_tools: (0..1_000).map(|n| format!("tool{n}.{}", "t".repeat(100))).collect(),
            gaps: vec![],
            posture: None,
            connected_at: world.parts.calls.now().await.unwrap(),
            actor: None,
        };
        world.parts.workers.connect(Arc::new(WorkerLink::new(info, mpsc::unbounded_channel().0)));
    }
    let found = pages!(world.api(), list_workers, v1::ListWorkersRequest::default());
    let listed: Vec<_> = found.iter().flat_map(|page| &page.workers).map(|one| one.worker_id.clone()).collect();
    assert_eq!((found.len() > 1, listed.len(), listed.is_sorted()), (true, count, true));
    assert!(found.iter().all(|page| page.workers.iter().all(|worker| worker.scheduler == page.scheduler)));
}

#[tokio::test]
async fn many_batches_are_pages() {
    let world = World::new().await;
    let api = world.api();
    for _ in 0..40 {
        let call = |n: usize| v1::BatchCall {
            spec: Some(spec(&json!({ "path": format!("{n}") }).to_string())),
            depends_on: (0..n as u32).collect(),
            ..Default::default()
        };
        let batch = v1::BatchSpec { calls: (0..64).map(call).collect(), ..Default::default() };
        api.submit_batch(Request::new(v1::SubmitBatchRequest { spec: Some(batch) })).await.unwrap();
    }
    let request = v1::ListBatchesRequest { page_size: 15, ..Default::default() };
    let found = pages!(api, list_batches, request);
    let ids: BTreeSet<_> = found.iter().flat_map(|page| &page.batches).map(|one| &one.batch_id).collect();
    assert_eq!((found.len() > 1, ids.len()), (true, 40));
}

fn outcome(text: String) -> toolplane_lifecycle::ReportedOutcome {
    let content = vec![ContentBlock::Text { text }];
    toolplane_lifecycle::ReportedOutcome {
        status: ResultStatus::Succeeded,
        model_facing_content: content.clone(),
        content,
        structured_content: None,
        ui_facing_summary: String::new(),
        error: None,
        persistence: Vec::new(),
        resource_refs: vec![],
        artifact_refs: vec![],
        evidence_refs: vec![],
        context_modifiers: vec![],
        hooks: vec![],
        undeclared_modifiers: 0,
        redaction_state: None,
        cleaned: Vec::new(),
        rendering_hints: None,
        taints: Vec::new(),
        execution: None,
    }
}

/// Inputs just below the bound on them, and a result as large as any may be configured to be.
#[tokio::test]
async fn a_call_with_large_inputs_and_a_large_result_is_told_within_a_message() {
    let world = World::new().await;
    let mut free = tool();
    free["declaration"]["input_contract"] =
        json!({ "model_input_schema": { "type": "object" }, "defaults": { "depth": 1 } });
    world.change(|fakes| fakes.declare(Some(free))).await;
    let mut messages = world.worker().await;
    world.call(&json!({ "path": "a", "note": "n".repeat(550_000) }).to_string()).await;
    let (record, lease, _) = offered(&mut messages).await;
    let done = Box::new(outcome("r".repeat(MESSAGE_BYTES / 8)));
    let complete = |_: &Invocation| Command::Complete { lease: lease.clone(), outcome: done.clone() };
    world.parts.calls.command(&record.key(), complete).await.unwrap();

    let (api, invocation_id) = (world.api(), record.invocation_id.to_string());
    let view = v1::RecordView::Json.into();
    let request = v1::GetInvocationRequest {
        invocation_id: invocation_id.clone(),
        view,
        include_inputs: true,
        ..Default::default()
    };
    let got = api.get_invocation(Request::new(request)).await.unwrap().into_inner();
    assert!(got.encoded_len() < MESSAGE_BYTES, "{} bytes", got.encoded_len());
    let call = got.invocation.unwrap();
    assert!(call.model_input.is_some() && call.call_input_ref.is_some(), "what the model said is shown first");
    assert!(got.result.is_some() && got.result_json.is_some());
    let got = api
        .get_result(Request::new(v1::GetResultRequest { invocation_id, view, ..Default::default() }))
        .await
        .unwrap()
        .into_inner();
    assert!(got.encoded_len() < MESSAGE_BYTES, "{} bytes", got.encoded_len());
}

#[tokio::test]
async fn a_report_that_says_too_much_beside_its_outputs_cannot_be_read() {
    let world = World::new().await;
    let mut messages = world.worker().await;
    for bytes in [200_000, 300_000] {
        let record = world.call(r#"{"path":"a"}"#).await;
        let (_, lease, _) = offered(&mut messages).await;
        let error = v1::ToolError {
            error_code: "tool.broken".into(),
            error_class: "execution_failed".into(),
            recoverability: "not_retryable".into(),
            message: "m".repeat(bytes),
            ..Default::default()
        };
        let reported = v1::ExecutionOutcome {
            status: "failed".into(),
            status_code: v1::ResultStatus::Failed.into(),
            is_error: true,
            error: Some(error),
            ..Default::default()
        };
        world.endings.take(&lease, Some(Box::new(reported)), None, 0).await.unwrap();
        let code = world.code(&record.invocation_id).await;
        assert_eq!(code, if bytes == 200_000 { "tool.broken" } else { "result.mapping_failed" });
    }
}
