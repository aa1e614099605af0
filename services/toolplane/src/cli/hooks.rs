//! `toolplane hooks`: what hooks did about a call.

use clap::Subcommand;
use toolplane_proto::v1;
use toolplane_records::hook::ToolHook;

use super::connection::Connection;
use super::failure::Failure;
use super::get::pages::{self, left_out};
use super::outcome::CommandOutcome;
use super::output::{Output, Table, duration, payload_text};
use super::spelled::{behavior, word};

/// What can be done with the records of hooks.
#[derive(Debug, Subcommand)]
pub(crate) enum HooksCommand {
    /// List every run of a hook about one call, oldest first.
    Ls {
        /// The call.
        id: String,
    },
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: HooksCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let HooksCommand::Ls { id } = command;
    list(id, connection, out).await
}

/// Lists the hooks of a call; shared with `toolplane get`.
pub(crate) async fn list(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let found = pages::hooks(id, connection).await?;
    if out.json() {
        found.hooks.into_iter().try_for_each(|hook| out.record::<ToolHook, _>(hook))?;
    } else if found.hooks.is_empty() {
        out.note("no hook ran about this call")?;
    } else {
        table(&found.hooks, out)?;
    }
    left_out("hook runs", found.left_out, out)?;
    Ok(CommandOutcome::Done)
}

/// Hook records as a table.
pub(crate) fn table(hooks: &[v1::ToolHook], out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new(&["HOOK", "AT", "TOOK", "DID"]);
    for hook in hooks {
        table.row([
            hook.hook_id.clone(),
            word(hook.hook_event().as_str_name(), "HOOK_EVENT_"),
            took(hook),
            did(hook).join("; "),
        ]);
    }
    out.table(&table, "")
}

/// What a run did, in order of weight.
pub(crate) fn did(hook: &v1::ToolHook) -> Vec<String> {
    let mut did = Vec::new();
    if let Some(stop) = &hook.stop {
        did.push(format!("stopped the call: {}", stop.reason));
    }
    if let Some(permission) = &hook.permission_result {
        did.push(format!("would {}: {}", behavior(permission.behavior()), permission.message));
    }
    if hook.updated_input.is_some() {
        did.push("changed the input".to_owned());
    }
    if hook.updated_output.is_some() {
        did.push("replaced the output".to_owned());
    }
    if !hook.additional_context.is_empty() {
        did.push("added context".to_owned());
    }
    did.extend(hook.outputs.iter().filter_map(|output| payload_text(Some(output))));
    if did.is_empty() {
        did.push("nothing".to_owned());
    }
    did
}

pub(crate) fn took(hook: &v1::ToolHook) -> String {
    let (Some(from), Some(to)) = (hook.started_at, hook.ended_at) else { return "-".to_owned() };
    let millis = (to.seconds - from.seconds) * 1000 + i64::from(to.nanos - from.nanos) / 1_000_000;
    duration(std::time::Duration::from_millis(u64::try_from(millis).unwrap_or_default()))
}
