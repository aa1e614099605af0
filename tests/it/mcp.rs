//! Tools of an MCP server that somebody declared: from the call to the kept result.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_testkit::clients::{payload, payload_bytes};
use toolplane_testkit::tools::registration;
use toolplane_testkit::trace::AgentTrace;
use toolplane_testkit::{Cluster, Options};

use crate::bed::{Bed, kinds, register, surface};

const SERVER: &str = include_str!("../../crates/toolplane-execution/tests/it/mcp/server.py");

const CONFIG: &str = r#"
[[permission.rules]]
behavior = "allow"
tool = "*"
reason = "the server is a small one"
"#;

/// The declaration of one tool of the server.
fn declared(tool: &str) -> v1::ToolRegistration {
    let (name, id) = (format!("small.{tool}"), format!("tool_small_{tool}"));
    let document = json!({
        "declaration": {
            "tool_id": id, "namespace": "small", "name": name, "description": "A tool of the small server.",
            "lifecycle": "available", "tool_kind": "mcp_tool",
            "input_contract": { "model_input_schema": { "type": "object" } },
        },
        "interface": {
            "interface_id": format!("iface_{tool}"), "tool_id": id, "is_read_only": true, "is_concurrency_safe": true,
            "is_destructive": false, "is_open_world": false, "is_idempotent": true, "interrupt_behavior": "cancel",
        },
        "execution_profile": {
            "execution_profile_id": format!("exec_{tool}"), "execution_kind": "mcp_server", "supports_progress": true,
            "supports_cancel": true, "sandboxed": true, "timeout_ms": 30_000,
            "binding": {
                "type": "mcp", "provider_id": "small", "tool": tool,
                "server": { "transport": "stdio", "argv": ["/usr/bin/python3", "-c", SERVER] },
            },
        },
        "permission_profile": { "permission_profile_id": format!("perm_{tool}"), "risk_level": "low" },
    });
    registration(&document.to_string()).unwrap()
}

async fn bed(tools: &[&str]) -> Bed {
    let cluster = Cluster::start(Options::new(CONFIG)).await.unwrap();
    let clients = cluster.clients().clone();
    register(&clients, tools.iter().map(|tool| declared(tool)).collect()).await;
    let surface_id = surface(&clients).await;
    Bed { cluster, clients, surface_id }
}

fn texts(result: &v1::ToolResult) -> Vec<&str> {
    let mut texts = Vec::new();
    for block in &result.content {
        if let Some(Block::Text(text)) = &block.block {
            texts.push(text.text.as_str());
        }
    }
    texts
}

#[tokio::test]
async fn a_declared_tool_of_a_server_is_called_like_any_other() {
    let bed = bed(&["echo", "fail", "steps", "image"]).await;
    let input = r#"{ "text": "hello", "n": 12345678901234567890 }"#;
    let result = bed.call("small.echo", input).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Succeeded, "{result:?}");
    assert_eq!(texts(&result), ["hello"]);
    assert_eq!(&payload_bytes(result.structured_content.as_ref())[..], br#"{"said": "hello"}"#);
    let named = |name: &str| result.evidence_refs.iter().any(|kept| kept.starts_with(name));
    assert!(named("mcp.server:small/1.2") && named("mcp.request:"), "{:?}", result.evidence_refs);

    let result = bed.call("small.fail", "{}").await;
    let error = result.error.clone().unwrap();
    assert_eq!((error.error_code.as_str(), texts(&result)), ("mcp.tool_failed", vec!["it is broken"]));

    let (events, result) = bed.followed(bed.spec("small.steps", "{}")).await;
    assert!(!result.is_error && kinds(&events).contains(&"tool.invocation.progress"), "{:?}", kinds(&events));
}

/// A picture is kept byte for byte, and stands where the server put it.
#[tokio::test]
async fn bytes_of_a_result_are_kept_exactly() {
    let bed = bed(&["image"]).await;
    let result = bed.call("small.image", r#"{"times":1024}"#).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Succeeded, "{result:?}");
    let said = texts(&result);
    assert_eq!((said.first(), said.last()), (Some(&"before"), Some(&"after")), "{said:?}");
    let whole: Vec<u8> = (0..1024).flat_map(|_| 0..=255u8).collect();
    let kept = result.content.iter().find_map(|block| match &block.block {
        Some(Block::Image(picture)) => picture.payload.clone(),
        _ => None,
    });
    let kept = kept.unwrap_or_else(|| panic!("a reference to the picture: {result:?}"));
    assert_eq!((kept.media_type.as_str(), kept.size_bytes), ("image/png", whole.len() as u64));
    assert_eq!(kept.digest, format!("sha256:{}", hex::encode(Sha256::digest(&whole))));
    let selector = Some(Selector::Uri(kept.uri));
    let request =
        v1::ReadPayloadRequest { invocation_id: result.invocation_id.clone(), selector, ..Default::default() };
    let mut parts = bed.clients.invocations().read_payload(request).await.unwrap().into_inner();
    let mut read = Vec::new();
    while let Some(part) = parts.message().await.unwrap() {
        read.extend_from_slice(&part.data);
    }
    assert!(read == whole, "{} bytes came back", read.len());
}

/// A question of the server waits for a person like that of any tool.
#[tokio::test]
async fn a_question_of_a_server_needs_input() {
    let bed = bed(&["ask"]).await;
    let call = bed.submit(bed.spec("small.ask", "{}")).await;
    let waiting = bed.until(&call.invocation_id, v1::InvocationStatus::NeedsInput).await;
    let asked = waiting.pending_input.unwrap();
    assert_eq!(asked.prompt, "Which color?");
    let request = v1::ProvideInputRequest {
        invocation_id: call.invocation_id.clone(),
        input: Some(payload(r#"{"color":"green"}"#)),
        provided_by: "tester".to_owned(),
        ..Default::default()
    };
    bed.clients.invocations().provide_input(request).await.unwrap();
    let (_, result) = bed.replay(&call.invocation_id, 1).await;
    assert_eq!(texts(&result), ["accept green"], "{result:?}");
}

/// A server is told the trace its call is part of, also where nothing is recorded.
#[tokio::test]
async fn a_server_is_told_the_place_of_its_call_in_a_trace() {
    let bed = bed(&["meta"]).await;
    let agent = AgentTrace::start();
    let request = agent.request(v1::CallRequest {
        spec: Some(bed.spec("small.meta", "{}")),
        wait_ms: 60_000,
        ..Default::default()
    });
    let result = bed.clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
    let meta: Value = serde_json::from_str(texts(&result)[0]).unwrap();
    let told = meta["traceparent"].as_str().unwrap_or_default();
    assert_eq!(told.split('-').nth(1), Some(agent.trace_id()), "{meta}");
}
