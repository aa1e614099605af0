//! `toolplane tools`: declare, list, show, check and retire tools.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::get_tool_request::Tool;

use super::advised;
use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, payload_text, readable};
use super::spelled::word;
use super::surface::shaped;

mod lint;
mod register;

/// What can be done with tools.
#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the declared tools.
    Ls {
        /// Only this namespace.
        #[arg(long)]
        namespace: Option<String>,
        /// Only tools whose name, title, hint or description holds this text.
        #[arg(long)]
        text: Option<String>,
    },
    /// Show everything declared for one tool.
    Show {
        /// Its id, full name, unique name or alias.
        name: String,
    },
    /// Tell of the tools in one line each, for a prompt, within a budget of tokens.
    Cards(shaped::CardsArgs),
    /// Find what keeps tools from being found: no words to find them by, the same words as another tool, a question that finds
    /// others. Ends with exit code 1 where there is something to mend.
    Lint(lint::LintArgs),
    /// Declare tools from JSON or TOML files: all of them, or none when one is wrong.
    Register {
        /// Files with one registration, a list of them, or `{"tools": [...]}`.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Only check; change nothing.
        #[arg(long)]
        check: bool,
    },
    /// Forget which words of searches led to tools: what use has taught, of these or of all.
    #[command(group = clap::ArgGroup::new("what").required(true).args(["names", "all"]))]
    ForgetUse {
        /// Names or ids.
        names: Vec<String>,
        /// Of all tools.
        #[arg(long)]
        all: bool,
    },
    /// Retire a tool for good: nothing can be registered under its id again. Its identity stays for old records.
    Retire {
        /// Its name or id.
        name: String,
        /// Why, for the record.
        #[arg(long, default_value = "")]
        reason: String,
    },
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: ToolsCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        ToolsCommand::Ls { namespace, text } => {
            let request = v1::ListToolsRequest {
                namespace: namespace.unwrap_or_default(),
                text: text.unwrap_or_default(),
                page_size: 1000,
                ..Default::default()
            };
            list(request, connection, out).await
        }
        ToolsCommand::Show { name } => show(name, connection, out).await,
        ToolsCommand::Cards(args) => shaped::cards(args, connection, out).await,
        ToolsCommand::ForgetUse { names, .. } => forget_use(names, connection, out).await,
        ToolsCommand::Lint(args) => lint::run(args, connection, out).await,
        ToolsCommand::Register { files, check } => register::run(&files, check, connection, out).await,
        ToolsCommand::Retire { name, reason } => retire(name, reason, connection, out).await,
    }
}

/// Forgets what use has taught: of tools by name or id, of all without any.
async fn forget_use(names: Vec<String>, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    use v1::forget_use_request::What;
    let all = names.is_empty().then_some(("all tools".to_owned(), What::Everything(true)));
    // A slip in one name forgets nothing of the others.
    for name in &names {
        find(name, connection).await?;
    }
    for (told, what) in names.into_iter().map(|name| (name.clone(), What::Name(name))).chain(all) {
        let request = v1::ForgetUseRequest { what: Some(what) };
        let answer = connection.surfaces().forget_use(request).await?.into_inner();
        if out.json() {
            out.serialized(&json!({ "name": told, "tools": answer.tools, "words": answer.words }))?;
        } else {
            out.line(format!("{told}  words forgotten: {}, of tools: {}", answer.words, answer.tools))?;
        }
    }
    Ok(CommandOutcome::Done)
}

async fn list(
    mut request: v1::ListToolsRequest,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let mut table = Table::new(&["NAME", "KIND", "RUNS AS", "RISK", "STATE", "HINT"]);
    loop {
        let page = connection.surfaces().list_tools(request.clone()).await?.into_inner();
        for tool in page.tools {
            if out.json() {
                out.serialized(&summary(&tool))?;
            } else {
                table.row([
                    tool.full_name.clone(),
                    tool.tool_kind.clone(),
                    tool.execution_kind.clone(),
                    word(tool.risk_level().as_str_name(), "RISK_LEVEL_"),
                    word(tool.lifecycle().as_str_name(), "TOOL_LIFECYCLE_"),
                    tool.search_hint.clone(),
                ]);
            }
        }
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if !out.json() {
        out.table(&table, &advised::in_text("no tools yet; declare some with `toolplane tools register FILE...`"))?;
    }
    Ok(CommandOutcome::Done)
}

fn summary(tool: &v1::ToolSummary) -> serde_json::Value {
    json!({
        "tool_id": tool.tool_id,
        "full_name": tool.full_name,
        "aliases": tool.aliases,
        "title": tool.title,
        "search_hint": tool.search_hint,
        "description": tool.description,
        "lifecycle": word(tool.lifecycle().as_str_name(), "TOOL_LIFECYCLE_"),
        "tool_kind": tool.tool_kind,
        "execution_kind": tool.execution_kind,
        "risk_level": word(tool.risk_level().as_str_name(), "RISK_LEVEL_"),
        "digest": tool.digest,
        "revision": tool.revision,
    })
}

/// A tool by its name or id.
pub(crate) async fn find(name: &str, connection: &Connection) -> Result<v1::GetToolResponse, Failure> {
    let request = |tool| v1::GetToolRequest { tool: Some(tool), view: v1::RecordView::Json.into() };
    let by_name = connection.surfaces().get_tool(request(Tool::Name(name.to_owned()))).await;
    Ok(match by_name {
        Err(status) if status.code() == tonic::Code::NotFound => {
            connection.surfaces().get_tool(request(Tool::ToolId(name.to_owned()))).await?
        }
        answer => answer?,
    }
    .into_inner())
}

/// Shows one tool; shared with `toolplane get`.
pub(crate) async fn show(name: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let tool = find(&name, connection).await?;
    let parts = [
        ("declaration", tool.declaration_json),
        ("interface", tool.interface_json),
        ("execution_profile", tool.execution_profile_json),
        ("permission_profile", tool.permission_profile_json),
    ];
    let texts: Vec<(&str, String)> =
        parts.into_iter().filter_map(|(name, json)| Some((name, payload_text(json.as_ref())?))).collect();
    if out.json() {
        let members: Vec<String> = texts.iter().map(|(name, json)| format!("\"{name}\":{json}")).collect();
        out.value(&format!("{{{}}}", members.join(",")))?;
        return Ok(CommandOutcome::Done);
    }
    let declaration = tool.registration.unwrap_or_default().declaration.unwrap_or_default();
    out.line(format!("{}  {}  revision {}", declaration.name, tool.digest, tool.revision))?;
    for (name, json) in texts {
        out.gap()?;
        out.line(format!("{name}:"))?;
        out.block(&readable(&json))?;
    }
    out.point_out(&format!("{} {} {}", declaration.name, declaration.title, declaration.description))?;
    Ok(CommandOutcome::Done)
}

async fn retire(
    name: String,
    reason: String,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let id = find(&name, connection).await?.registration.unwrap_or_default().declaration.unwrap_or_default().tool_id;
    let request = v1::RetireToolRequest { tool_id: id.clone(), reason };
    let answer = connection.surfaces().retire_tool(request).await?.into_inner();
    if out.json() {
        let declaration = answer.declaration.ok_or_else(|| Failure::Answer("the declaration is missing".to_owned()))?;
        out.record::<toolplane_records::declaration::ToolDeclaration, _>(declaration)?;
    } else {
        out.line(format!("{id}  retired (revision {})", answer.revision))?;
        out.note("that is for good: another version of the tool needs an id of its own")?;
    }
    Ok(CommandOutcome::Done)
}
