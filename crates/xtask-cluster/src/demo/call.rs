//! One call on the timeline: every event, live progress, and the approval when one is asked for.

use serde_json::Value;
use toolplane_proto::v1;
use toolplane_records::progress::ToolProgress;
use toolplane_testkit::Problem;
use toolplane_testkit::clients::{Clients, payload, payload_bytes};
use toolplane_testkit::trace::AgentTrace;

use super::timeline::Timeline;

/// Calls of one surface.
#[derive(Debug)]
pub(crate) struct Calls<'a> {
    pub(crate) clients: &'a Clients,
    pub(crate) surface_id: &'a str,
    pub(crate) agent: &'a AgentTrace,
    pub(crate) timeline: &'a mut Timeline,
}

impl Calls<'_> {
    /// Makes a call and follows it to its result.
    pub(crate) async fn make(&mut self, tool: &str, input: &str) -> Result<v1::ToolResult, Problem> {
        let spec = v1::InvocationSpec {
            surface_id: self.surface_id.to_owned(),
            tool_name: tool.to_owned(),
            model_input: Some(payload(input.as_bytes().to_vec())),
            idempotency_key: format!("demo-{}", uuid::Uuid::new_v4()),
            actor_ref: "demo-agent".to_owned(),
            ..Default::default()
        };
        let shown: String = input.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(70).collect();
        self.timeline.did("invoke", &format!("{tool} {shown}"));
        let request = self.agent.request(v1::InvokeRequest { spec: Some(spec), ..Default::default() });
        let mut stream = self.clients.invocations().invoke(request).await?.into_inner();
        while let Some(message) = stream.message().await? {
            if let Some(accepted) = message.accepted {
                self.timeline.detail(&format!("accepted   {} ({})", accepted.invocation_id, accepted.durability));
            }
            for event in &message.events {
                self.event(event).await?;
            }
            if let Some(result) = message.result {
                self.result(&result);
                return Ok(*result);
            }
        }
        Err(Problem::Missing("a result at the end of the stream".to_owned()))
    }

    async fn event(&mut self, event: &v1::Event) -> Result<(), Problem> {
        use v1::EventClass as Class;
        let bytes = payload_bytes(event.data.as_ref());
        let data: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match event.event_class() {
            Class::ToolPermissionDecided => {
                let reason = data.pointer("/reason/message").and_then(Value::as_str).unwrap_or_default();
                self.timeline.detail(&format!("decide     {}: {reason}", text("behavior")));
            }
            Class::ExtInvocationAwaitingApproval => self.approve(text("approval_id")).await?,
            Class::ToolInvocationQueued => self.timeline.detail(&format!("queue      pool {}", text("pool"))),
            Class::ToolInvocationStarted => {
                self.timeline.detail(&format!("execute    on worker {}", text("worker_id")));
            }
            Class::ToolInvocationProgress => {
                if let Ok(progress) = serde_json::from_slice::<ToolProgress>(&bytes) {
                    self.timeline.moving(&describe(&progress));
                }
            }
            Class::ToolResultPersisted => self.timeline.detail("persist    the whole output is in the object store"),
            _ => {}
        }
        Ok(())
    }

    async fn approve(&mut self, approval_id: String) -> Result<(), Problem> {
        self.timeline.detail(&format!("ask        parked as {approval_id}; it would survive a restart"));
        let request = v1::ResolveApprovalRequest {
            approval_id,
            behavior: v1::Behavior::Allow.into(),
            feedback: "read the command; it only reads".to_owned(),
            resolved_by: "demo-operator".to_owned(),
            ..Default::default()
        };
        self.clients.permissions().resolve_approval(request).await?;
        self.timeline.detail("approve    by demo-operator: read the command; it only reads");
        Ok(())
    }

    fn result(&mut self, result: &v1::ToolResult) {
        let summary = match &result.error {
            Some(error) => format!("{} ({}): {}", error.error_class, error.error_code, error.message),
            None => result.ui_facing_summary.clone(),
        };
        self.timeline.detail(&format!("result     {}  {summary}", result.status));
    }
}

fn describe(progress: &ToolProgress) -> String {
    let seconds = std::time::Duration::from_millis(progress.elapsed_ms.unwrap_or_default()).as_secs_f64();
    let size = indicatif::BinaryBytes(progress.bytes_written.unwrap_or_default());
    let lines = progress.line_count.unwrap_or_default();
    format!("progress   #{} {}: {seconds:.1} s, {size}, {lines} lines", progress.sequence, progress.status)
}
