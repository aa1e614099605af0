//! An offer, read: what to run, within which bounds, in which trace.

use std::time::Duration;

use toolplane_execution as execution;
use toolplane_proto::convert::field;
use toolplane_proto::convert::payload::ingest;
use toolplane_proto::v1;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{InvocationId, ToolId};
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};
use toolplane_runtime::config::Workspaces;
use toolplane_runtime::telemetry::CarriedContext;
use toolplane_runtime::telemetry::spans::CallFacts;

/// Wall time of a call whose offer names none.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// One call and everything about it that its tool does not need to know.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: execution::Call,
    pub(crate) timeout: Duration,
    pub(crate) tenant: String,
    pub(crate) tool_id: ToolId,
    pub(crate) native_call_id: String,
    /// The copy of its input that may be shown.
    pub(crate) shown: JsonPayload,
    /// Nobody may see what it gives before hooks have.
    pub(crate) hooks_follow: bool,
    pub(crate) limits: v1::OutputLimits,
    pub(crate) queued_in: CarriedContext,
}

impl Call {
    /// Reads what an offer asks for. A call that cannot be read has not run, and the error says so.
    ///
    /// `shown`: somebody may be shown its input, so the copy for that is read too.
    pub(crate) fn read(dispatch: v1::Dispatch, max_input_bytes: usize, shown: bool) -> Result<Self, Box<ToolError>> {
        let timeout = match dispatch.timeout_ms {
            0 => DEFAULT_TIMEOUT,
            millis => Duration::from_millis(millis),
        };
        let limits = dispatch.output_limits.unwrap_or_default();
        let input = input(dispatch.call_input.clone(), max_input_bytes)?;
        let observable = match &dispatch.observable_input {
            Some(observable) if shown => self::input(Some(observable.clone()), max_input_bytes)?,
            _ => input.clone(),
        };
        let invocation_id = field::id::<InvocationId>("invocation_id", &dispatch.invocation_id).map_err(unreadable)?;
        let tool_id = field::id("tool_id", &dispatch.tool_id).map_err(unreadable)?;
        let binding = field::required::<_, ExecutionBinding>("binding", dispatch.binding).map_err(unreadable)?;
        check_sandbox(dispatch.sandboxed, &binding)?;
        Ok(Self {
            tool: execution::Call {
                invocation_id,
                tool_name: dispatch.tool_name,
                binding,
                input,
                timeout: Some(timeout),
                sandbox_profile: Some(dispatch.sandbox_profile).filter(|name| !name.is_empty()),
                workspace: None,
                max_output_bytes: limits.max_output_bytes,
                idempotency_key: dispatch.idempotency_key,
                fence: dispatch.fence,
                lock_fence: dispatch.lock_fence,
                attempt: dispatch.attempt,
                context_modifiers: dispatch.supports_context_modifiers,
                denied: dispatch.denied_paths.unwrap_or_default().into(),
            },
            timeout,
            tenant: dispatch.tenant,
            tool_id,
            native_call_id: dispatch.native_call_id,
            shown: observable,
            hooks_follow: dispatch.hooks_follow,
            limits,
            queued_in: CarriedContext { traceparent: dispatch.traceparent, tracestate: dispatch.tracestate },
        })
    }

    /// Gives the call the workspace of its tenant.
    pub(crate) fn settle(&mut self, workspaces: &Workspaces) -> Result<(), Box<ToolError>> {
        if Workspaces::is_default(&self.tenant) {
            return Ok(());
        }
        let opened = workspaces.open(&self.tenant).map_err(|error| {
            let message = format!("the workspace of the tenant cannot be made or opened: {error}");
            let class = ErrorClass::DependencyUnavailable;
            nothing_done(ToolError::new(codes::WORKSPACE_UNAVAILABLE, class, Recoverability::CompleteSetup, message))
        });
        self.tool.workspace = Some(opened?);
        Ok(())
    }

    /// What the spans of the call share.
    pub(crate) fn facts(&self) -> CallFacts<'_> {
        CallFacts {
            invocation_id: self.tool.invocation_id.as_str(),
            tool_name: &self.tool.tool_name,
            tool_id: self.tool_id.as_str(),
            tenant: &self.tenant,
            native_call_id: &self.native_call_id,
        }
    }
}

/// A tool that may run only in a sandbox must be one that has one. File tools count: they cannot leave the workspace.
fn check_sandbox(sandboxed: bool, binding: &ExecutionBinding) -> Result<(), Box<ToolError>> {
    let native = matches!(binding, ExecutionBinding::Native { .. }) && binding.pool() != "files";
    if !sandboxed || !native && !matches!(binding, ExecutionBinding::Http(_)) {
        return Ok(());
    }
    let message =
        format!("the tool is declared to run in a sandbox, and tools of the kind `{}` never do", binding.pool());
    let class = ErrorClass::CapabilityGap;
    Err(nothing_done(ToolError::new(codes::NO_SANDBOX_FOR_KIND, class, Recoverability::CompleteSetup, message)))
}

/// The scheduler has checked the input; its digest is checked again because the bytes have travelled.
fn input(message: Option<v1::JsonPayload>, max_bytes: usize) -> Result<JsonPayload, Box<ToolError>> {
    let limits = JsonLimits { max_bytes, max_nodes: usize::MAX, ..JsonLimits::default() };
    let message = message.ok_or_else(|| unreadable("`call_input` is required"))?;
    ingest(message, &limits).map_err(|error| unreadable(error.within("call_input")))
}

fn unreadable(rule: impl std::fmt::Display) -> Box<ToolError> {
    let message = format!("the worker cannot read this call: {rule}");
    let class = ErrorClass::CapabilityGap;
    nothing_done(ToolError::new(codes::DISPATCH_UNREADABLE, class, Recoverability::NotRetryable, message))
}

fn nothing_done(error: ToolError) -> Box<ToolError> {
    Box::new(ToolError { side_effects: Some("none".to_owned()), ..error })
}
