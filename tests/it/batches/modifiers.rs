//! Context modifiers of tools that run in a batch: kept, kept until the end, or dropped and said so.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_testkit::Options;
use toolplane_testkit::clients::payload_bytes;
use toolplane_testkit::tools::registration;

use super::stream::{Follower, follow};
use crate::bed::{Bed, register, surface};

const CONFIG: &str = r#"
[[permission.rules]]
behavior = "allow"
tool = "context.*"
reason = "the test's own tools"
"#;

/// Asks to remember its argument.
fn remember() -> v1::ToolRegistration {
    let script = "printf '{\"said\":\"%s\",\"_context_modifiers\":[{\"remember\":\"%s\"}]}' \"$1\" \"$1\"";
    let document = json!({
        "declaration": {
            "tool_id": "tool_remember", "namespace": "context", "name": "context.remember", "description": "Remembers.",
            "lifecycle": "available", "tool_kind": "function",
            "input_contract": { "strict": true, "model_input_schema": {
                "type": "object", "properties": { "what": { "type": "string" } }, "required": ["what"] } },
        },
        "interface": {
            "interface_id": "iface_remember", "tool_id": "tool_remember", "is_read_only": true,
            "is_concurrency_safe": true, "is_destructive": false, "is_open_world": false, "is_idempotent": true,
        },
        "execution_profile": {
            "execution_profile_id": "exec_remember", "execution_kind": "local_process", "supports_cancel": true,
            "supports_context_modifiers": true, "sandboxed": true, "sandbox_profile": "workspace_read_only",
            "timeout_ms": 20_000,
            "binding": { "type": "process", "argv": ["/bin/sh", "-c", script, "sh", "{what}"], "json_output": true },
        },
        "permission_profile": {
            "permission_profile_id": "perm_remember", "risk_level": "low", "sandbox_profile": "workspace_read_only",
        },
    });
    registration(&document.to_string()).unwrap()
}

fn values(modifiers: &[v1::JsonPayload]) -> Vec<Value> {
    modifiers.iter().map(|one| serde_json::from_slice(&payload_bytes(Some(one))).unwrap()).collect()
}

/// Modifiers that came with the results, by position.
fn with_results(follower: &Follower) -> Vec<Vec<Value>> {
    follower.results.iter().map(|(_, result)| values(&result.context_modifiers)).collect()
}

#[tokio::test]
async fn modifiers_are_kept_deferred_or_dropped_as_the_policy_says() {
    use v1::{ContextModifierPolicy as Policy, OrderingPolicy as Order};
    let mut bed = Bed::with(Options::new(CONFIG)).await;
    register(&bed.clients, vec![remember()]).await;
    bed.surface_id = surface(&bed.clients).await;
    let spec = |policy: Policy, ordering: Order| v1::BatchSpec {
        calls: ["a", "b"]
            .iter()
            .map(|what| v1::BatchCall {
                spec: Some(bed.spec("context.remember", json!({ "what": what }).to_string())),
                ..Default::default()
            })
            .collect(),
        policy: Some(v1::SchedulerPolicy {
            context_modifier_policy: policy.into(),
            ordering_policy: ordering.into(),
            ..Default::default()
        }),
        ..Default::default()
    };
    let (a, b) = (json!({ "remember": "a" }), json!({ "remember": "b" }));

    let serial = follow(&bed, spec(Policy::AllowSerialOnly, Order::Serial)).await;
    assert_eq!(with_results(&serial), [vec![a.clone()], vec![b.clone()]]);
    assert!(serial.modifiers.is_empty());

    let deferred = follow(&bed, spec(Policy::DeferUntilBatchComplete, Order::PreserveTerminalOrder)).await;
    assert_eq!(with_results(&deferred), vec![Vec::<Value>::new(); 2], "nothing comes with the results");
    let last: Vec<(u32, Vec<Value>)> =
        deferred.modifiers.iter().map(|one| (one.index, values(&one.context_modifiers))).collect();
    assert_eq!(last, [(0, vec![a]), (1, vec![b])], "all of it comes at the end, in the declared order");

    for dropping in [spec(Policy::Forbid, Order::Serial), spec(Policy::AllowSerialOnly, Order::PreserveTerminalOrder)] {
        let dropped = follow(&bed, dropping).await;
        assert!(dropped.results.iter().all(|(_, result)| !result.is_error), "{:?}", dropped.results);
        assert_eq!((with_results(&dropped), dropped.modifiers.len()), (vec![Vec::<Value>::new(); 2], 0));
        for events in dropped.events.values() {
            let created = events.iter().find(|event| event.event_type == "tool.result.created").unwrap();
            let data: Value = serde_json::from_slice(&payload_bytes(created.data.as_ref())).unwrap();
            assert_eq!(data["context_modifiers_dropped"], json!({ "count": 1, "reason": "context_modifier_policy" }));
        }
    }
}
