//! `toolplane providers review`: looking at tools that wait, and letting them be called, or not.

use clap::Args;
use toolplane_proto::v1;

use super::super::connection::Connection;
use super::super::failure::Failure;
use super::super::outcome::CommandOutcome;
use super::super::output::Output;
use super::super::spelled::word;
use super::{add, listed};

/// Most tools of one request.
const AT_ONCE: usize = 500;

/// What is said about which tools. Without an answer they are only shown.
#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// The provider.
    name: String,
    /// Only these tools: what the provider calls them, or their ids; all that wait when absent.
    tools: Vec<String>,
    /// They may be called.
    #[arg(long, conflicts_with = "reject")]
    approve: bool,
    /// They may not.
    #[arg(long)]
    reject: bool,
    /// The digest that was shown: the answer counts only for exactly that. For one tool.
    #[arg(long)]
    digest: Option<String>,
    /// Why, for the record.
    #[arg(long, default_value = "")]
    comment: String,
}

/// Shows the tools, and answers.
pub(super) async fn run(
    args: ReviewArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let wanted = wanted(&args, connection).await?;
    if wanted.is_empty() {
        out.note("nothing waits")?;
        return Ok(CommandOutcome::Done);
    }
    if !args.approve && !args.reject {
        for tool in &wanted {
            print(&shown(&tool.tool_id, connection).await?, out)?;
        }
        out.note("answer with --approve or --reject, for those named or for all of them")?;
        return Ok(CommandOutcome::Done);
    }
    if args.digest.is_some() && wanted.len() != 1 {
        return Err(Failure::Usage("--digest is of one tool: name it".to_owned()));
    }
    let tools: Vec<v1::ReviewedTool> = wanted
        .into_iter()
        .map(|tool| v1::ReviewedTool { digest: args.digest.clone().unwrap_or(tool.digest), tool_id: tool.tool_id })
        .collect();
    let mut failed = false;
    for tools in tools.chunks(AT_ONCE) {
        let request = v1::ReviewToolsRequest {
            provider_id: args.name.clone(),
            approve: args.approve,
            tools: tools.to_vec(),
            comment: args.comment.clone(),
            by: add::user(),
        };
        let answer = connection.providers().review_tools(request).await?.into_inner();
        for outcome in answer.outcomes {
            failed |= outcome.tool.is_none();
            told(&outcome, out)?;
        }
    }
    Ok(if failed { CommandOutcome::ToolFailed } else { CommandOutcome::Done })
}

fn told(outcome: &v1::ReviewOutcome, out: &mut Output) -> Result<(), Failure> {
    let state = outcome.tool.as_ref().map(|tool| word(tool.state().as_str_name(), "REVIEW_STATE_"));
    if out.json() {
        return out.serialized(&serde_json::json!({
            "tool_id": outcome.tool_id, "state": state, "error_code": outcome.error_code, "message": outcome.message,
        }));
    }
    match state {
        Some(state) => out.line(format!("{}  {state}", outcome.tool_id)),
        None => out.line(format!(
            "{}  the answer does not count: {} ({})",
            outcome.tool_id, outcome.message, outcome.error_code
        )),
    }
}

/// The tools an answer is about, each with the definition it has now.
async fn wanted(args: &ReviewArgs, connection: &Connection) -> Result<Vec<v1::ProvidedTool>, Failure> {
    let waiting = vec![v1::ReviewState::New.into(), v1::ReviewState::Changed.into()];
    let states = if args.tools.is_empty() { waiting } else { Vec::new() };
    let found = listed(&args.name, states, connection).await?;
    let mut found: Vec<v1::ProvidedTool> = found.into_iter().filter_map(|tool| tool.tool).collect();
    if !args.tools.is_empty() {
        let is = |tool: &v1::ProvidedTool, name: &String| tool.native_id == *name || tool.tool_id == *name;
        if let Some(name) = args.tools.iter().find(|name| !found.iter().any(|tool| is(tool, name))) {
            return Err(Failure::Usage(format!("`{}` has no tool `{name}`", args.name)));
        }
        found.retain(|tool| args.tools.iter().any(|name| is(tool, name)));
    }
    Ok(found)
}

/// Shows one tool.
pub(super) async fn show(
    tool_id: String,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let answer = shown(&tool_id, connection).await?;
    print(&answer, out)?;
    Ok(CommandOutcome::Done)
}

async fn shown(tool_id: &str, connection: &Connection) -> Result<v1::ShowToolResponse, Failure> {
    let request = v1::ShowToolRequest { tool_id: tool_id.to_owned() };
    Ok(connection.providers().show_tool(request).await?.into_inner())
}

fn print(answer: &v1::ShowToolResponse, out: &mut Output) -> Result<(), Failure> {
    if out.json() {
        return out.payload(answer.registration.clone());
    }
    let tool = answer.tool.clone().unwrap_or_default();
    out.line(format!("{}  {}  {}", tool.tool_id, word(tool.state().as_str_name(), "REVIEW_STATE_"), answer.digest))?;
    for note in &tool.notes {
        out.line(format!("  note: {note}"))?;
    }
    if answer.changed {
        out.line("changed since it was approved:")?;
        answer.changes.iter().try_for_each(|change| out.line(format!("  * {change}")))?;
    }
    for text in &answer.texts {
        let unseen = match text.spelled_out {
            0 => String::new(),
            n => format!(" ({n} characters that are not seen are spelled out)"),
        };
        out.line(format!("{}{unseen}", text.kind))?;
        out.block(&text.lines.join("\n"))?;
        text.look_alikes.iter().try_for_each(|doubt| out.line(format!("  ! {doubt}")))?;
    }
    out.gap()
}
