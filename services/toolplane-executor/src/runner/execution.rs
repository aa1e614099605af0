//! Runs one tool until it ends, its time is up, or it is told to stop.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;
use toolplane_execution::{Context, Outcome, TraceContext};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::mcp::McpServer;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::provider::is_list_tool;
use toolplane_runtime::config::Workspaces;
use toolplane_runtime::telemetry::CarriedContext;

use super::ending::Ending;
use super::progress::ProgressReports;
use super::questions::Questions;
use super::{RunSettings, Runner};
use crate::assignments::{Assignment, StopReason};
use crate::messages::Call;

/// Tools keep their time themselves and may need a moment to end a tree of processes; after that we do not trust them.
const TIMEOUT_GRACE: Duration = Duration::from_secs(3);
/// How long a tool may take to end after it was asked to, before it is dropped (which kills it).
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// The same when the worker ends: its own report must still get out.
const SHUTDOWN_PATIENCE: Duration = Duration::from_millis(2500);
/// The same after the processes of the tool were killed.
const KILLED_PATIENCE: Duration = Duration::from_secs(1);

/// Narrows a call to what this worker allows and gives it the workspace of its tenant; an error says that nothing was done.
pub(super) fn prepare(call: &mut Call, settings: &RunSettings) -> Result<(), Box<ToolError>> {
    check_sandbox(call.sandboxed, &call.tool.binding)?;
    match is_list_tool(&call.tool.origin.tool.tool_id) {
        true => settings.egress.of_documents().narrow(&mut call.tool.binding)?,
        false => settings.egress.narrow(&mut call.tool.binding)?,
    }
    if Workspaces::is_default(&call.tenant) {
        return Ok(());
    }
    let opened = settings.workspaces.open(&call.tenant).map_err(|error| {
        let message = format!("the workspace of the tenant cannot be made or opened: {error}");
        nothing_done(ToolError::of(codes::WORKSPACE_UNAVAILABLE, message))
    });
    call.tool.place.workspace = Some(opened?);
    Ok(())
}

/// A tool that may run only in a sandbox must be one that has one. File tools count: they cannot leave the workspace.
fn check_sandbox(sandboxed: bool, binding: &ExecutionBinding) -> Result<(), Box<ToolError>> {
    let without = match binding {
        ExecutionBinding::Native { .. } => binding.pool() != "files",
        ExecutionBinding::Http(_) | ExecutionBinding::Operation(_) => true,
        ExecutionBinding::Mcp(mcp) => matches!(mcp.server, McpServer::Http(_)),
        ExecutionBinding::Shell { .. } | ExecutionBinding::Process(_) => false,
    };
    if !sandboxed || !without {
        return Ok(());
    }
    let message =
        format!("the tool is declared to run in a sandbox, and tools of the kind `{}` never do", binding.pool());
    Err(nothing_done(ToolError::of(codes::NO_SANDBOX_FOR_KIND, message)))
}

fn nothing_done(error: ToolError) -> Box<ToolError> {
    Box::new(ToolError { side_effects: Some("none".to_owned()), ..error })
}

impl Runner {
    /// Runs the tool of a call.
    pub(super) async fn ran(&self, assignment: &Arc<Assignment>, call: &Call) -> Ending {
        let stop = &assignment.stop;
        let cancel = CancellationToken::new();
        let context = Context {
            progress: Arc::new(ProgressReports { outbox: self.outbox.clone(), assignment: assignment.clone() }),
            cancel: cancel.clone(),
            kill: stop.kill.clone(),
            asker: Arc::new(Questions::new(self.outbox.clone(), assignment.clone())),
            trace: trace(&call.queued_in),
        };
        // The wait for a slot and a grant was not the tool's.
        assignment.clock.restart();
        let tool = AssertUnwindSafe(self.toolbox.execute(&call.tool, &context)).catch_unwind();
        let mut tool = std::pin::pin!(tool.map(|ended| ended.unwrap_or_else(|_| Outcome::failure(panicked()))));
        tokio::select! {
            biased;
            outcome = &mut tool => Ending::Ended(outcome),
            () = stop.given() => {
                let patience = match stop.reason() {
                    Some(StopReason::Shutdown) => SHUTDOWN_PATIENCE,
                    Some(StopReason::InDoubt) => KILLED_PATIENCE,
                    _ => STOP_PATIENCE,
                };
                Ending::Stopped(stopped(&cancel, patience, tool.as_mut()).await)
            }
            () = assignment.clock.reaches(call.timeout + TIMEOUT_GRACE) => {
                Ending::TimedOut(stopped(&cancel, STOP_PATIENCE, tool.as_mut()).await)
            }
        }
    }
}

/// Where this execution is in its trace: within the span of the tool, or where it was `queued_in` when nothing is recorded here.
fn trace(queued_in: &CarriedContext) -> TraceContext {
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    let current = CarriedContext::current();
    let CarriedContext { traceparent, tracestate } =
        if current.traceparent.is_empty() { queued_in.clone() } else { current };
    TraceContext { traceparent: given(traceparent), tracestate: given(tracestate) }
}

/// Asks the tool to stop and waits for it; nothing when it does not in time.
async fn stopped(
    cancel: &CancellationToken,
    patience: Duration,
    tool: Pin<&mut impl Future<Output = Outcome>>,
) -> Option<Outcome> {
    cancel.cancel();
    tokio::time::timeout(patience, tool).await.ok()
}

fn panicked() -> ToolError {
    let message = "the worker failed while it ran the tool; its effect may or may not have happened";
    let mut error = ToolError::of(codes::WORKER_FAULT, message);
    error.side_effects = Some("unknown".to_owned());
    error
}

#[cfg(test)]
mod tests {
    use toolplane_records::mcp::{McpBinding, McpHttpServer, McpSharing, McpStdioServer};
    use toolplane_records::profile::HttpBinding;

    use super::*;

    #[test]
    fn what_needs_a_sandbox_is_run_in_one_or_not_at_all() {
        let mcp = |server| {
            let (provider_id, sharing) = ("p".into(), McpSharing::Tenant);
            ExecutionBinding::Mcp(McpBinding {
                provider_id,
                server,
                tool: None,
                header_parameters: Vec::new(),
                sharing,
            })
        };
        let native = |name: &str| ExecutionBinding::Native { name: name.to_owned() };
        for (binding, has_one) in [
            (ExecutionBinding::Shell { shell: None }, true),
            (native("files.read_file"), true),
            (native("native.echo"), false),
            (ExecutionBinding::Http(HttpBinding::default()), false),
            (mcp(McpServer::Stdio(McpStdioServer::default())), true),
            (mcp(McpServer::Http(McpHttpServer::default())), false),
        ] {
            assert!(check_sandbox(false, &binding).is_ok());
            let refused = check_sandbox(true, &binding).err();
            assert_eq!(refused.is_none(), has_one, "{binding:?}");
            assert!(refused.is_none_or(|error| error.side_effects.as_deref() == Some("none")));
        }
    }
}
