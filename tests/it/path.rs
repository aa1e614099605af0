//! The whole way of calls that run.

use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_records::result::ToolResult;
use toolplane_testkit::clients::payload_bytes;
use toolplane_testkit::tools::TestTool;

use crate::bed::{Bed, assert_gapless, kinds, register, surface};

/// Arguments arrive byte for byte, whatever numbers are in them.
#[tokio::test]
async fn arguments_survive_exactly() {
    let bed = Bed::start().await;
    let input = r#"{ "big": 18446744073709551615, "odd": 9007199254740993, "z": 1.50e2, "a": [1,2 , 3], "text": "zäöü \u0041" }"#;
    let (events, result) = bed.followed(bed.spec("native.echo", input)).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Succeeded, "{}", result.summary);
    assert_gapless(&events, 1);
    let echoed = payload_bytes(result.structured_content.as_ref());
    assert!(String::from_utf8_lossy(&echoed).contains("18446744073709551615"), "{echoed:?}");
    assert!(String::from_utf8_lossy(&echoed).contains("9007199254740993"), "{echoed:?}");

    let request = v1::GetInvocationRequest {
        invocation_id: result.invocation_id.clone(),
        view: v1::RecordView::Json.into(),
        include_inputs: true,
        ..Default::default()
    };
    let answer = bed.clients.invocations().get_invocation(request).await.unwrap().into_inner();
    let invocation = answer.invocation.unwrap();
    assert_eq!(payload_bytes(invocation.model_input.as_ref()), input.as_bytes(), "the model's own bytes were changed");
    // The JSON views are the standard's records.
    let record: Value = serde_json::from_slice(&payload_bytes(answer.json.as_ref())).unwrap();
    for field in ["schema_version", "invocation_id", "tool_id", "status", "model_input_ref", "status_transitions"] {
        assert!(record.get(field).is_some(), "no `{field}` in {record}");
    }
    let record: ToolResult = serde_json::from_slice(&payload_bytes(answer.result_json.as_ref())).unwrap();
    assert_eq!(record.result_id.as_str(), result.result_id);
}

/// A watcher that comes late, or again, sees the same events.
#[tokio::test]
async fn events_can_be_replayed_from_anywhere() {
    let bed = Bed::start().await;
    std::fs::write(bed.cluster.workspace().join("some.txt"), "one two\nthree\n").unwrap();
    let (live, result) = bed.followed(bed.spec("text.word_count", r#"{"path":"some.txt"}"#)).await;
    assert!(!result.is_error, "{:?}", result.error);
    let text = result.content.iter().find_map(|block| match &block.block {
        Some(Block::Text(text)) => Some(text.text.clone()),
        _ => None,
    });
    assert_eq!(text.unwrap().split_whitespace().collect::<Vec<_>>(), ["2", "3", "14", "some.txt"]);
    for expected in [
        "tool.invocation.planned",
        "tool.permission.decided",
        "tool.invocation.queued",
        "tool.invocation.started",
        "tool.invocation.progress",
        "tool.invocation.succeeded",
        "tool.result.created",
    ] {
        assert!(kinds(&live).contains(&expected), "{expected} is not among {:?}", kinds(&live));
    }
    let (replayed, again) = bed.replay(&result.invocation_id, 0).await;
    assert_eq!((kinds(&live), &result), (kinds(&replayed), &again));
    assert_gapless(&replayed, 1);
    let (tail, _) = bed.replay(&result.invocation_id, 4).await;
    assert_eq!(kinds(&tail), kinds(&replayed)[3..]);
}

/// A large output comes as preview and reference; its bytes come back whole and in parts.
#[tokio::test]
async fn large_results_are_kept_and_read_by_range() {
    let bed = Bed::start().await;
    let tool = TestTool {
        name: "test.count".to_owned(),
        schema: serde_json::json!({ "type": "object" }),
        argv: ["/usr/bin/seq", "1", "200000"].map(str::to_owned).to_vec(),
        idempotent: true,
        read_only: true,
        timeout_ms: 20_000,
    };
    register(&bed.clients, vec![tool.registration().unwrap()]).await;
    let spec = v1::InvocationSpec { surface_id: surface(&bed.clients).await, ..bed.spec("test.count", "{}") };
    let (_, result) = bed.followed(spec).await;
    assert!(!result.is_error, "{:?}", result.error);
    let expected: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    let kept = result.content.iter().find_map(|block| match &block.block {
        Some(Block::PersistedOutputRef(kept)) => Some(kept.clone()),
        _ => None,
    });
    let kept = kept.expect("a reference to the whole output");
    assert_eq!(kept.size_bytes, expected.len() as u64);
    assert_eq!(kept.digest, format!("sha256:{}", hex::encode(Sha256::digest(expected.as_bytes()))));

    for (offset, limit) in [(0, 0), (0, 10), (777_777, 4_096), (kept.size_bytes - 5, 100)] {
        let bytes = read(&bed, &result.invocation_id, Selector::Uri(kept.uri.clone()), offset, limit).await;
        let start = usize::try_from(offset).unwrap();
        let length = if limit == 0 { expected.len() } else { usize::try_from(limit).unwrap() };
        let end = start.saturating_add(length).min(expected.len());
        assert!(bytes == expected.as_bytes()[start..end], "bytes {offset}+{limit} differ");
    }
    let by_digest = read(&bed, &result.invocation_id, Selector::Digest(kept.digest), 0, 7).await;
    assert_eq!(by_digest, expected.as_bytes()[..7]);
    let request = v1::GetPersistenceRequest { invocation_id: result.invocation_id, ..Default::default() };
    let decisions = bed.clients.invocations().get_persistence(request).await.unwrap().into_inner().decisions;
    let kept = decisions[0].persisted_ref.clone().expect("a decision that says where the output is");
    let bytes = read(&bed, &decisions[0].invocation_id, Selector::Uri(kept.uri), 0, 0).await;
    assert_eq!(format!("sha256:{}", hex::encode(Sha256::digest(&bytes))), kept.digest);
}

async fn read(bed: &Bed, invocation_id: &str, selector: Selector, offset: u64, limit: u64) -> Vec<u8> {
    let invocation_id = invocation_id.to_owned();
    let request = v1::ReadPayloadRequest { invocation_id, offset, limit, selector: Some(selector) };
    let mut stream = bed.clients.invocations().read_payload(request).await.unwrap().into_inner();
    let mut bytes = Vec::new();
    while let Some(part) = stream.message().await.unwrap() {
        bytes.extend_from_slice(&part.data);
    }
    bytes
}

fn sleeper(seconds: u32, timeout_ms: u64) -> TestTool {
    TestTool {
        name: format!("test.sleep_{timeout_ms}"),
        schema: serde_json::json!({ "type": "object" }),
        argv: vec!["/usr/bin/sleep".to_owned(), seconds.to_string()],
        idempotent: true,
        read_only: true,
        timeout_ms,
    }
}

/// A running process is stopped, by its caller or by its time limit, long before it would have ended.
#[tokio::test]
async fn running_calls_are_canceled_and_timed_out() {
    let bed = Bed::start().await;
    let (long, short) = (sleeper(120, 100_000), sleeper(120, 1_000));
    register(&bed.clients, vec![long.registration().unwrap(), short.registration().unwrap()]).await;
    let surface_id = surface(&bed.clients).await;
    let start = Instant::now();

    let spec = v1::InvocationSpec { surface_id: surface_id.clone(), ..bed.spec(&long.name, "{}") };
    let call = bed.submit(spec).await.invocation_id;
    bed.until(&call, v1::InvocationStatus::Running).await;
    let request = v1::CancelInvocationRequest {
        invocation_id: call.clone(),
        reason: "enough".to_owned(),
        requested_by: "test".to_owned(),
        request_id: uuid::Uuid::new_v4().to_string(),
        ..Default::default()
    };
    bed.clients.invocations().cancel_invocation(request).await.unwrap();
    let (events, result) = bed.replay(&call, 1).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Canceled, "{:?}", result.error);
    assert!(kinds(&events).contains(&"ext.invocation.cancel_requested"), "{:?}", kinds(&events));
    assert!(start.elapsed() < Duration::from_secs(30), "took {:?}: {:?}", start.elapsed(), kinds(&events));

    let start = Instant::now();
    let (events, result) = bed.followed(v1::InvocationSpec { surface_id, ..bed.spec(&short.name, "{}") }).await;
    assert_eq!(result.status_code(), v1::ResultStatus::TimedOut, "{:?}", result.error);
    assert_eq!(result.error.unwrap().error_class_code(), v1::ErrorClass::Timeout);
    assert!(start.elapsed() < Duration::from_secs(30), "took {:?}: {:?}", start.elapsed(), kinds(&events));
}

/// What is found by search can be loaded and then called by the name that was found.
#[tokio::test]
async fn search_leads_to_a_call() {
    let bed = Bed::start().await;
    let request = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let surface = bed.clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap();
    let request = v1::SearchToolsRequest {
        surface_id: surface.surface_id.clone(),
        query: "list files in a directory".to_owned(),
        ..Default::default()
    };
    let found = bed.clients.surfaces().search_tools(request).await.unwrap().into_inner().result.unwrap();
    assert_eq!(found.next_action, "load_schema_then_call");
    let name = found.refs[0].name.clone();
    assert_eq!(name, "files.list_dir");
    let request = v1::LoadToolsRequest {
        surface_id: surface.surface_id.clone(),
        names: vec![name.clone()],
        ..Default::default()
    };
    let loaded = bed.clients.surfaces().load_tools(request).await.unwrap().into_inner();
    let Some(v1::load_outcome::Outcome::Loaded(schema)) = &loaded.outcomes[0].outcome else { panic!("{loaded:?}") };
    assert!(!payload_bytes(schema.model_input_schema.as_ref()).is_empty());
    std::fs::write(bed.cluster.workspace().join("here.txt"), "x").unwrap();
    let spec = v1::InvocationSpec { surface_id: surface.surface_id, ..bed.spec(&name, r#"{"path":"."}"#) };
    let (_, result) = bed.followed(spec).await;
    assert!(!result.is_error, "{:?}", result.error);
    let structured = payload_bytes(result.structured_content.as_ref());
    assert!(String::from_utf8_lossy(&structured).contains("here.txt"), "{structured:?}");
}
