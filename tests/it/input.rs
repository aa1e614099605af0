//! Questions of running tools: they wait for an answer, also over a restart of the scheduler.

use std::time::Duration;

use serde_json::json;
use tonic::Code;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, payload, payload_bytes};
use toolplane_testkit::tools::registration;
use toolplane_testkit::{Layout, Processes};

use crate::bed::{PATIENCE, kinds, register, surface};

const CONFIG: &str = r#"
[scheduler]
lease_ms = 6000
heartbeat_ms = 500
tick_ms = 100

[[permission.rules]]
behavior = "allow"
tool = "native.ask"
reason = "asking is harmless"
"#;

fn asking() -> v1::ToolRegistration {
    let document = json!({
        "declaration": {
            "tool_id": "tool_native_ask", "namespace": "native", "name": "native.ask", "description": "Asks a question.",
            "lifecycle": "available", "tool_kind": "native_tool",
            "input_contract": { "strict": true, "model_input_schema": { "type": "object" } },
        },
        "interface": {
            "interface_id": "iface_ask", "tool_id": "tool_native_ask",
            "is_read_only": true, "is_concurrency_safe": true, "is_destructive": false,
            "is_open_world": false, "is_idempotent": true, "interrupt_behavior": "cancel",
        },
        "execution_profile": {
            "execution_profile_id": "exec_ask", "execution_kind": "embedded_runtime",
            "supports_progress": true, "supports_cancel": true, "sandboxed": false, "timeout_ms": 2000,
            "binding": { "type": "native", "name": "native.ask" },
        },
        "permission_profile": { "permission_profile_id": "perm_ask", "risk_level": "low" },
    });
    registration(&document.to_string()).unwrap()
}

struct Room {
    processes: Processes,
    clients: Clients,
    surface_id: String,
}

impl Room {
    async fn open() -> Self {
        let processes = Processes::start(Layout::new(1, 1, CONFIG)).await.unwrap();
        let clients = processes.clients().unwrap().clone();
        register(&clients, vec![asking()]).await;
        let surface_id = surface(&clients).await;
        Self { processes, clients, surface_id }
    }

    fn spec(&self, input: serde_json::Value) -> v1::InvocationSpec {
        v1::InvocationSpec {
            surface_id: self.surface_id.clone(),
            tool_name: "native.ask".to_owned(),
            model_input: Some(payload(input.to_string())),
            ..Default::default()
        }
    }

    async fn ask(&self, input: serde_json::Value) -> String {
        let request = v1::SubmitInvocationRequest { spec: Some(self.spec(input)) };
        let accepted = self.clients.invocations().submit_invocation(request).await.unwrap().into_inner();
        accepted.invocation.unwrap().invocation_id
    }

    async fn until(&self, id: &str, status: v1::InvocationStatus) -> v1::Invocation {
        let start = std::time::Instant::now();
        loop {
            let request = v1::GetInvocationRequest { invocation_id: id.to_owned(), ..Default::default() };
            let call =
                self.clients.invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
            if call.status_code() == status {
                return call;
            }
            assert!(start.elapsed() < PATIENCE, "still {} instead of {status:?}", call.status);
            toolplane_wait::look_again().await;
        }
    }

    async fn answer(&self, id: &str, json: &str) -> Result<v1::Invocation, tonic::Status> {
        let request = v1::ProvideInputRequest {
            invocation_id: id.to_owned(),
            input: Some(payload(json.to_owned())),
            provided_by: "tester".to_owned(),
            ..Default::default()
        };
        self.clients.invocations().provide_input(request).await.map(|answer| answer.into_inner().invocation.unwrap())
    }

    async fn result(&self, id: &str) -> (Vec<v1::Event>, v1::ToolResult) {
        let request = v1::WatchInvocationRequest { invocation_id: id.to_owned(), from_seq: 1, ..Default::default() };
        let mut stream = self.clients.invocations().watch_invocation(request).await.unwrap().into_inner();
        let mut events = Vec::new();
        while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
            events.extend(message.events);
            if let Some(result) = message.result {
                return (events, *result);
            }
        }
        panic!("the stream ended without a result");
    }
}

#[tokio::test]
async fn whoever_waits_for_the_result_hears_of_the_question_at_once() {
    let room = Room::open().await;
    let spec = room.spec(json!({ "prompt": "really?" }));
    let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() };
    let asked = room.clients.invocations().call(request).await.unwrap().into_inner();
    let call = asked.invocation.unwrap();
    assert_eq!((asked.result, call.status_code()), (None, v1::InvocationStatus::NeedsInput));
    assert_eq!(call.pending_input.unwrap().prompt, "really?");
    room.answer(&call.invocation_id, "true").await.unwrap();
    assert!(!room.result(&call.invocation_id).await.1.is_error);
}

#[tokio::test]
async fn a_question_waits_over_a_restart_and_its_answer_reaches_the_running_tool() {
    let mut room = Room::open().await;
    let schema = json!({ "type": "object", "required": ["city"], "properties": { "city": { "type": "string" } } });
    let id = room.ask(json!({ "prompt": "which city?", "schema": schema })).await;
    let call = room.until(&id, v1::InvocationStatus::NeedsInput).await;
    let question = call.pending_input.unwrap();
    assert_eq!(question.prompt, "which city?");

    let scheduler = room.processes.names_of(toolplane_testkit::ClusterRole::Scheduler).remove(0);
    room.processes.kill(&scheduler).unwrap();
    // Longer than the tool's own time: its clock is paused while it waits.
    toolplane_wait::pause(Duration::from_millis(2_500), "longer than the time of the tool, whose clock stands still")
        .await;
    room.processes.start_again(&scheduler).await.unwrap();

    let call = room.until(&id, v1::InvocationStatus::NeedsInput).await;
    assert_eq!(call.pending_input.unwrap().input_id, question.input_id);
    let refused = room.answer(&id, "{\"town\":1}").await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
    room.answer(&id, "{\"city\":\"Ulm\"}").await.unwrap();
    // The same answer again is the same answer; another one comes too late.
    let again = room.answer(&id, "{\"city\":\"Ulm\"}").await;
    assert!(again.is_ok() || again.as_ref().unwrap_err().code() == Code::FailedPrecondition, "{again:?}");
    let other = room.answer(&id, "{\"city\":\"Bonn\"}").await.unwrap_err();
    assert_eq!(other.code(), Code::FailedPrecondition, "{other:?}");

    let (events, result) = room.result(&id).await;
    assert!(!result.is_error, "{:?}", result.error);
    let content = payload_bytes(result.structured_content.as_ref());
    let content: serde_json::Value = serde_json::from_slice(&content).unwrap();
    assert_eq!(content, json!({ "outcome": "answered", "answer": { "city": "Ulm" } }));
    let count = |kind: &str| kinds(&events).iter().filter(|seen| **seen == kind).count();
    assert_eq!((count("ext.invocation.needs_input"), count("ext.invocation.input_provided")), (1, 1));
    assert_eq!(count("tool.invocation.started"), 1, "the tool went on where it was: {:?}", kinds(&events));
}

#[tokio::test]
async fn a_declined_and_an_expired_question_are_results() {
    let room = Room::open().await;
    let id = room.ask(json!({ "prompt": "really?" })).await;
    room.until(&id, v1::InvocationStatus::NeedsInput).await;
    let declined = v1::ProvideInputRequest { invocation_id: id.clone(), declined: true, ..Default::default() };
    let wrong = v1::ProvideInputRequest { input: Some(payload("1")), ..declined.clone() };
    let mut invocations = room.clients.invocations();
    assert_eq!(invocations.provide_input(wrong).await.unwrap_err().code(), Code::InvalidArgument);
    let wrong = v1::ProvideInputRequest { input_id: "another".into(), ..declined.clone() };
    assert_eq!(invocations.provide_input(wrong).await.unwrap_err().code(), Code::FailedPrecondition);
    invocations.provide_input(declined).await.unwrap();
    let outcome = |result: v1::ToolResult| {
        let content = payload_bytes(result.structured_content.as_ref());
        let content: serde_json::Value = serde_json::from_slice(&content).unwrap();
        content["outcome"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(outcome(room.result(&id).await.1), "declined");

    let id = room.ask(json!({ "prompt": "anybody?", "ttl_ms": 300 })).await;
    assert_eq!(outcome(room.result(&id).await.1), "expired");

    let id = room.ask(json!({ "prompt": "still?" })).await;
    room.until(&id, v1::InvocationStatus::NeedsInput).await;
    let cancel = v1::CancelInvocationRequest { invocation_id: id.clone(), ..Default::default() };
    invocations.cancel_invocation(cancel).await.unwrap();
    assert_eq!(room.result(&id).await.1.status, "canceled");
}
