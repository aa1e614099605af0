//! One call, as an adapter gets it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_mcp::TraceContext;
use toolplane_records::decision::DeniedPaths;
use toolplane_records::ids::InvocationId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::tool_facts::ToolFacts;

use crate::ask::{Answer, Asker, InputQuestion, NobodyToAsk};
use crate::kill::KillSwitch;
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
    /// Changes to the context of the conversation that a process returns are taken out of its output.
    pub context_modifiers: bool,
    /// What a program has written so far is shown while it runs.
    pub partial_results: bool,
    /// Patterns of files that are kept as artifacts when it leaves them in its workspace; none for a tool that leaves none.
    pub expected_files: Vec<String>,
    /// How much of it there may be.
    pub limits: CallLimits,
    /// Where it runs.
    pub place: CallPlace,
    /// Which execution of the call this is.
    pub attempt: CallAttempt,
    /// Whose call it is, and of which tool: who credentials are for.
    pub origin: CallOrigin,
}

/// Whose call it is, and of which tool. What is not known opens no credential that is for somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOrigin {
    /// The tenant. What is kept between calls is kept for one tenant.
    pub tenant: String,
    /// Who called; none when it is not said.
    pub actor: Option<String>,
    /// The tool.
    pub tool: ToolFacts,
}

impl CallOrigin {
    /// The provider the tool is of, as the id of the tool says it: no tool that is declared by hand has such an id.
    pub fn provider(&self) -> Option<&str> {
        let rest = self.tool.tool_id.as_str().strip_prefix("provider:")?;
        rest.split_once('/').map(|(provider, _)| provider)
    }
}

/// How much of a call there may be.
#[derive(Clone, Debug, Default)]
pub struct CallLimits {
    /// Wall time of the execution; the adapter's default when absent. Cut to the ceiling of the toolbox.
    pub timeout: Option<Duration>,
    /// Most bytes of output that are read; the adapter's default when absent.
    pub max_output_bytes: Option<u64>,
}

/// Where a call runs, and what it does not come to there.
#[derive(Clone, Debug, Default)]
pub struct CallPlace {
    /// Name of the sandbox profile; the adapter's default when absent.
    pub sandbox_profile: Option<String>,
    /// The workspace; that of the toolbox when absent.
    pub workspace: Option<PathBuf>,
    /// Paths of the workspace that what it runs must not come to.
    pub denied: DeniedPaths,
    /// The session of the tenant it belongs to, when it belongs to one.
    pub session_ref: Option<String>,
}

/// One execution of a call, and what tools with side effects are handed to tell it from the others.
#[derive(Clone, Debug)]
pub struct CallAttempt {
    /// Its number, from 1.
    pub number: u32,
    /// The same for every execution of this call.
    pub idempotency_key: String,
    /// Strictly increasing over all executions.
    pub fence: u64,
    /// Strictly increasing over the grants of the call's locks; 0 when it holds none.
    pub lock_fence: u64,
}

/// How a running call is watched and stopped.
#[derive(Clone)]
pub struct Context {
    /// Takes news of how far the call is.
    pub progress: Arc<dyn ProgressSink>,
    /// Cancelled when the call is to end early.
    pub cancel: CancellationToken,
    /// Kills what the call runs outside of this process.
    pub kill: KillSwitch,
    /// Takes the call's questions.
    pub asker: Arc<dyn Asker>,
    /// The place of the call in a trace, for tools that are told it.
    pub trace: TraceContext,
}

impl Context {
    /// A context without a person who can answer questions.
    pub fn new(progress: Arc<dyn ProgressSink>, cancel: CancellationToken) -> Self {
        let (kill, asker) = (KillSwitch::default(), Arc::new(NobodyToAsk));
        Self { progress, cancel, kill, asker, trace: TraceContext::default() }
    }

    /// Puts a question and waits for the final answer to it, without the call's time going on. `None` when the call is
    /// to end early.
    pub async fn ask(&self, question: InputQuestion) -> Option<Answer> {
        tokio::select! {
            // A call that is to end does not go on with an answer.
            biased;
            () = self.cancel.cancelled() => None,
            answer = self.asker.ask(question) => Some(answer),
        }
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("canceled", &self.cancel.is_cancelled()).finish_non_exhaustive()
    }
}
