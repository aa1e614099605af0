//! One call, as an adapter gets it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_records::ids::InvocationId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;

use crate::progress::ProgressSink;

/// What is to be run. The input was checked against the tool's schema before; adapters check what they need again.
#[derive(Clone, Debug)]
pub struct Call {
    /// The call.
    pub invocation_id: InvocationId,
    /// Full name of the tool, for people.
    pub tool_name: String,
    /// What to do.
    pub binding: ExecutionBinding,
    /// With what.
    pub input: JsonPayload,
    /// Wall time of the execution; the adapter's default when absent. Cut to the ceiling of the toolbox.
    pub timeout: Option<Duration>,
    /// Name of the sandbox profile; the adapter's default when absent.
    pub sandbox_profile: Option<String>,
    /// The workspace; that of the toolbox when absent.
    pub workspace: Option<PathBuf>,
    /// Most bytes of output that are read; the adapter's default when absent.
    pub max_output_bytes: Option<u64>,
    /// The same for every execution of this call; handed to tools with side effects.
    pub idempotency_key: String,
    /// Strictly increasing over all executions; handed to tools with side effects.
    pub fence: u64,
    /// Which execution of the call this is, from 1.
    pub attempt: u32,
}

/// How a running call is watched and stopped.
#[derive(Clone)]
pub struct Context {
    /// Takes news of how far the call is.
    pub progress: Arc<dyn ProgressSink>,
    /// Cancelled when the call is to end early.
    pub cancel: CancellationToken,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("canceled", &self.cancel.is_cancelled()).finish_non_exhaustive()
    }
}
