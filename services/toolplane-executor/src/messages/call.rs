//! A call as a worker runs it: what to run, within which bounds, in which trace.

use std::time::Duration;

use toolplane_execution as execution;
use toolplane_records::error::ToolError;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::JsonPayload;
use toolplane_runtime::telemetry::CarriedContext;
use toolplane_runtime::telemetry::spans::CallFacts;

/// What may be done with a call and what may be done to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallTraits {
    /// It may be repeated, so it starts without asking and can be given back while it runs.
    pub(crate) idempotent: bool,
    pub(crate) supports_cancel: bool,
    /// It holds an exclusive lock: it must be dead before its lease can end.
    pub(crate) exclusive_lock: bool,
}

/// A call that was offered and has not been read: its input may be large, so it is read where it runs.
pub(crate) struct OfferedCall {
    pub(crate) traits: CallTraits,
    read: Box<dyn FnOnce() -> Result<Call, Box<ToolError>> + Send>,
}

impl OfferedCall {
    /// A call that `read` reads; its error says that the call has not run.
    pub(crate) fn new(
        traits: CallTraits,
        read: impl FnOnce() -> Result<Call, Box<ToolError>> + Send + 'static,
    ) -> Self {
        Self { traits, read: Box::new(read) }
    }

    /// Reads it, or says why this worker cannot.
    pub(crate) fn read(self) -> Result<Call, Box<ToolError>> {
        (self.read)()
    }
}

impl std::fmt::Debug for OfferedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OfferedCall").field("traits", &self.traits).finish_non_exhaustive()
    }
}

/// Bounds on what is shown of the output of a call; those of the stream where absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutputBounds {
    pub(crate) max_inline_chars: Option<u64>,
    pub(crate) max_inline_bytes: Option<u64>,
}

/// One call, and everything about it that its tool does not need to know.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: execution::Call,
    pub(crate) timeout: Duration,
    pub(crate) tenant: String,
    pub(crate) tool_id: ToolId,
    pub(crate) native_call_id: String,
    /// The tool may run only in a sandbox.
    pub(crate) sandboxed: bool,
    /// The copy of its input that may be shown.
    pub(crate) shown: JsonPayload,
    /// Hooks are asked about its ending, and before they answered nothing of it may be seen elsewhere.
    pub(crate) hooks_follow: bool,
    pub(crate) bounds: OutputBounds,
    pub(crate) queued_in: CarriedContext,
}

impl Call {
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
