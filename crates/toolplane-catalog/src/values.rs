//! Values that a tool cannot take, even if a person approves them (pipeline phase `validate_values`).
//!
//! What a binding opens, runs or asks is known before anything runs. The same functions are asked before a person is,
//! and by the tool itself: whatever is refused here is never put as a question, and whatever passes is decided by
//! permission. Nothing here looks at a file system or a network.

mod egress;
mod files;
mod refusals;
mod template;
#[cfg(test)]
mod tests;

pub use refusals::{invalid_binding, invalid_input};

use serde_json::Value;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;

pub use egress::{Egress, egress_denied};
pub use files::{outside, readable, unprotected, writable};
pub use template::fill;

/// Most bytes of one command.
pub const MAX_COMMAND_BYTES: usize = 64 * 1024;

/// Refuses what no answer of a person makes runnable: a path of a file tool that leads out of the workspace or names what no
/// tool writes, a request its tool may not send, a command or command line that cannot be made of the values.
///
/// `input` fits the tool's schema. The error names the field and the rule. What is not known here (a tool of another worker,
/// a field of another kind) is let through: the tool says what it thinks of it.
pub fn check(binding: &ExecutionBinding, input: &JsonPayload) -> Result<(), Box<ToolError>> {
    match binding {
        ExecutionBinding::Native { name } => files::check(name, &input.to_value()),
        ExecutionBinding::Shell { .. } => match input.to_value().get("command").and_then(Value::as_str) {
            Some(text) => command(text),
            None => Ok(()),
        },
        ExecutionBinding::Process(process) => fill(&process.argv, input).map(drop),
        ExecutionBinding::Http(http) => {
            let input = input.to_value();
            let Some(url) = input.get("url").and_then(Value::as_str) else { return Ok(()) };
            let method = input.get("method").and_then(Value::as_str).unwrap_or("GET");
            Egress::of(http).check(url, method).map(drop)
        }
        // Its server says what it thinks of the values.
        ExecutionBinding::Mcp(_) => Ok(()),
        // Its request is made of the values by `toolplane_openapi`, which says what it thinks of them before it is sent.
        ExecutionBinding::Operation(_) => Ok(()),
    }
}

/// Checks the text of a command before a shell is started with it.
///
/// Fails with a [`ToolError`] of the code [`codes::INPUT_INVALID`](toolplane_records::codes::INPUT_INVALID) when the text is empty or only blanks, contains NUL,
/// or is longer than [`MAX_COMMAND_BYTES`].
pub fn command(text: &str) -> Result<(), Box<ToolError>> {
    if text.trim().is_empty() {
        return Err(invalid_input("command", "must not be empty"));
    }
    if text.contains('\0') {
        return Err(invalid_input("command", "must not contain NUL"));
    }
    if text.len() > MAX_COMMAND_BYTES {
        return Err(invalid_input("command", format!("is larger than {MAX_COMMAND_BYTES} bytes")));
    }
    Ok(())
}
