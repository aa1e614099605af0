//! The client alone: one session with a program over its standard streams.

use std::process::Stdio;
use std::sync::Arc;

use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;
use toolplane_mcp::{Session, SessionOptions, ToolCall, TraceContext, Transport, Unwatched};
use toolplane_records::payload::JsonPayload;
use toolplane_testkit::Problem;

use super::{INPUT, TOOL};

/// A session, and the program at its other end, which is killed with it.
pub(super) struct Client {
    session: Arc<Session>,
    tool: Arc<str>,
    _server: Child,
}

/// Makes calls of the session.
#[derive(Clone)]
pub(super) struct Caller {
    session: Arc<Session>,
    tool: Arc<str>,
}

impl Client {
    pub(super) async fn start(argv: &[String]) -> Result<Self, Problem> {
        let failed = |said: String| Problem::Program { what: "start an MCP server".to_owned(), said };
        let (program, arguments) = argv.split_first().ok_or_else(|| failed("no program".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut server = command.spawn().map_err(|error| failed(error.to_string()))?;
        let (Some(read), Some(write)) = (server.stdout.take(), server.stdin.take()) else {
            return Err(failed("it has no standard streams".to_owned()));
        };
        let session = Session::start(Transport::pipes(read, write), SessionOptions::default());
        let session = session.await.map_err(|error| failed(error.to_string()))?;
        let list = session.list_tools(&CancellationToken::new()).await.map_err(|error| failed(error.to_string()))?;
        // A proxy may put the name of its server before that of the tool.
        let named = list.tools.iter().find(|tool| tool.name == TOOL || tool.name.ends_with(&format!("_{TOOL}")));
        let tool = named.ok_or_else(|| failed(format!("it has no tool `{TOOL}`")))?.name.as_str().into();
        Ok(Self { session: Arc::new(session), tool, _server: server })
    }

    pub(super) fn caller(&self) -> Caller {
        Caller { session: self.session.clone(), tool: self.tool.clone() }
    }
}

impl Caller {
    /// One call; its answer must be no error.
    pub(super) async fn make(self) -> Result<(), Problem> {
        let call = ToolCall {
            tool: &self.tool,
            arguments: &JsonPayload::from_checked(INPUT),
            headers: &[],
            deadline: None,
            cancel: &CancellationToken::new(),
            watch: &Unwatched,
            trace: &TraceContext::default(),
        };
        match self.session.call_tool(call).await {
            Ok(answer) if !answer.is_error => Ok(()),
            Ok(_) => Err(Problem::Missing("an answer without an error".to_owned())),
            Err(failure) => Err(Problem::Missing(format!("an answer: {failure}"))),
        }
    }
}
