//! `shell.exec`: a command line, run by a shell in the sandbox.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use toolplane_catalog::values;
use toolplane_records::error::ToolError;
use toolplane_records::profile::ExecutionBinding;
use toolplane_sandbox::{Profile, SandboxSpec};

use crate::adapter::Adapter;
use crate::call::{Call, Context};
use crate::failure::invalid_binding;
use crate::input;
use crate::outcome::Outcome;
use crate::sandboxed::{Rules, Sandboxed, asked_timeout};

const DEFAULT_SHELL: &str = "/bin/bash";

/// What the tool takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShellInput {
    /// The command line; up to 64 KiB, no NUL.
    command: String,
    /// Wall time in milliseconds, within what the tool allows.
    timeout_ms: Option<u64>,
    /// What the command is for; only for people.
    #[serde(default, rename = "description")]
    _description: serde::de::IgnoredAny,
}

/// Runs shell commands.
#[derive(Debug)]
pub(crate) struct Shell(pub(crate) Arc<Sandboxed>);

impl Shell {
    fn prepare(&self, call: &Call) -> Result<SandboxSpec, ToolError> {
        let ExecutionBinding::Shell { shell } = &call.binding else {
            return Err(invalid_binding("the tool is not bound to a shell"));
        };
        let shell = shell.as_deref().unwrap_or(DEFAULT_SHELL);
        if !shell.starts_with('/') {
            return Err(invalid_binding("the shell of the tool must be an absolute path"));
        }
        let ShellInput { command, timeout_ms, .. } = input::read(&call.input)?;
        values::command(&command).map_err(|error| *error)?;
        let argv = vec![shell.to_owned(), "-c".to_owned(), command];
        let mut spec = self.0.spec(call, argv, Profile::WorkspaceShellSandbox)?;
        spec.limits.wall = asked_timeout(timeout_ms, spec.limits.wall);
        Ok(spec)
    }
}

impl Adapter for Shell {
    fn pool(&self) -> &'static str {
        "shell"
    }

    fn needs_sandbox(&self) -> bool {
        true
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            match self.prepare(call) {
                Ok(spec) => self.0.run(spec, call, context, &Rules::default()).await,
                Err(error) => Outcome::failure(error),
            }
        })
    }
}
