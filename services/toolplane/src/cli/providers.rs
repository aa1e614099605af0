//! `toolplane providers`: where tools come from that nobody declares by hand, and which of them may be called.

use clap::{Args, Subcommand};
use toolplane_proto::v1;
use toolplane_records::provider::{ProvidedTool, Provider, ProviderStatus};

use super::advised;
use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age};
use super::spelled::word;

mod add;
mod difference;
mod import;
mod review;
mod source;

/// What can be done with providers.
#[derive(Debug, Subcommand)]
pub(crate) enum ProvidersCommand {
    /// Make a provider, or change it, and ask it what it has: an MCP server, an OpenAPI document, a file of registrations.
    Add(Box<add::AddArgs>),
    /// Make a provider of each MCP server that a client's configuration file names (`mcpServers`), and ask it what it has. No secret of
    /// the file is taken.
    Import(Box<import::ImportArgs>),
    /// List providers, how they are, and how many of their tools may be called.
    Ls {
        /// With those that are out of use.
        #[arg(long)]
        all: bool,
    },
    /// Show a provider, or one of its tools as a model is given it.
    Show {
        /// The provider, or the id of a tool (`provider:NAME/TOOL`).
        name: String,
    },
    /// List the tools of a provider.
    Tools(ToolsArgs),
    /// Ask a provider what it has, and take the difference in.
    Refresh {
        /// The provider.
        name: String,
        /// Only say what would change.
        #[arg(long)]
        dry_run: bool,
    },
    /// Ask a provider what it has, and say how that went. Nothing is changed.
    Test {
        /// The provider.
        name: String,
    },
    /// Look at tools that wait, and let them be called, or not.
    Review(review::ReviewArgs),
    /// Take a provider out of use. It can be added again.
    Remove {
        /// The provider.
        name: String,
        /// Why, for the record.
        #[arg(long, default_value = "")]
        reason: String,
    },
}

/// Which tools are listed.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// The provider.
    name: String,
    /// Only those that wait for somebody to look at them.
    #[arg(long)]
    waiting: bool,
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: ProvidersCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        ProvidersCommand::Add(args) => add::run(*args, connection, out).await,
        ProvidersCommand::Import(args) => import::run(*args, connection, out).await,
        ProvidersCommand::Ls { all } => list(all, connection, out).await,
        ProvidersCommand::Show { name } if name.contains('/') => review::show(name, connection, out).await,
        ProvidersCommand::Show { name } => show(name, connection, out).await,
        ProvidersCommand::Tools(args) => tools(args, connection, out).await,
        ProvidersCommand::Refresh { name, dry_run } => refresh(name, dry_run, connection, out).await,
        ProvidersCommand::Test { name } => test(name, connection, out).await,
        ProvidersCommand::Review(args) => review::run(args, connection, out).await,
        ProvidersCommand::Remove { name, reason } => remove(name, reason, connection, out).await,
    }
}

async fn list(all: bool, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut request = v1::ListProvidersRequest { include_retired: all, page_size: 1000, ..Default::default() };
    let mut table = Table::new(&["PROVIDER", "KIND", "STATE", "CALLABLE", "WAITING", "REFUSED", "TRUST", "NOTES"]);
    loop {
        let page = connection.providers().list_providers(request.clone()).await?.into_inner();
        for one in page.providers {
            let (provider, status) = both(one.provider, one.status)?;
            if out.json() {
                out.record::<Provider, _>(provider)?;
                out.record::<ProviderStatus, _>(status)?;
                continue;
            }
            let counts = status.tools.unwrap_or_default();
            table.row([
                provider.provider_id.clone(),
                source::kind(&provider).to_owned(),
                state(&status),
                callable(&status).to_string(),
                counts.waiting.to_string(),
                counts.refused.to_string(),
                word(provider.trust().as_str_name(), "PROVIDER_TRUST_"),
                one.line.split_once("; ").map_or_else(String::new, |(_, rest)| rest.to_owned()),
            ]);
        }
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if !out.json() {
        out.table(&table, &advised::in_text("no providers yet; add one with `toolplane providers add NAME ...`"))?;
    }
    Ok(CommandOutcome::Done)
}

/// How it is, and whether calls are let through.
fn state(status: &v1::ProviderStatus) -> String {
    let state = word(status.state().as_str_name(), "PROVIDER_STATE_");
    match status.circuit() {
        v1::CircuitState::Open => format!("{state}, circuit open"),
        v1::CircuitState::HalfOpen => format!("{state}, circuit half open"),
        v1::CircuitState::Closed | v1::CircuitState::Unspecified => state,
    }
}

/// Whether its calls are held back for now.
fn is_away(status: &v1::ProviderStatus) -> bool {
    matches!(status.circuit(), v1::CircuitState::Open | v1::CircuitState::HalfOpen)
}

/// How many of its tools can be called now.
fn callable(status: &v1::ProviderStatus) -> u32 {
    let none = status.state() == v1::ProviderState::Retired || is_away(status);
    status.tools.as_ref().filter(|_| !none).map_or(0, |counts| counts.imported)
}

async fn show(name: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::GetProviderRequest { provider_id: name };
    let one = connection.providers().get_provider(request).await?.into_inner();
    let (provider, status) = both(one.provider, one.status)?;
    if out.json() {
        out.record::<Provider, _>(provider)?;
        out.record::<ProviderStatus, _>(status)?;
        return Ok(CommandOutcome::Done);
    }
    out.line(format!("{}  {}", provider.provider_id, one.line))?;
    for (what, text) in source::facts(&provider) {
        out.line(format!("  {what}: {text}"))?;
    }
    let counts = status.tools.unwrap_or_default();
    let callable = match (callable(&status), counts.imported) {
        (0, later) if later > 0 && is_away(&status) => format!("0 callable ({later} once it is back)"),
        (now, _) => format!("{now} callable"),
    };
    out.line(format!(
        "  tools: {} found, {callable}, {} waiting, {} rejected, {} refused, {} withdrawn",
        counts.found, counts.waiting, counts.rejected, counts.refused, counts.withdrawn
    ))?;
    if !status.server_name.is_empty() {
        out.line(format!("  calls itself: {} {}", status.server_name, status.server_version))?;
    }
    out.line(format!("  made: {} by {}", age(provider.created_at.as_ref()), or_nobody(&provider.created_by)))?;
    Ok(CommandOutcome::Done)
}

fn or_nobody(who: &str) -> &str {
    if who.is_empty() { "somebody" } else { who }
}

async fn tools(args: ToolsArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let states = match args.waiting {
        true => vec![v1::ReviewState::New.into(), v1::ReviewState::Changed.into()],
        false => Vec::new(),
    };
    let found = listed(&args.name, states, connection).await?;
    let mut table = Table::new(&["TOOL", "STATE", "CALLABLE", "SINCE", "WHY"]);
    for tool in found {
        let Some(record) = tool.tool else {
            table.row([tool.tool_id, "unreadable".to_owned(), "no".to_owned(), String::new(), String::new()]);
            continue;
        };
        if out.json() {
            out.record::<ProvidedTool, _>(record)?;
            continue;
        }
        let why = record.refusal.as_ref().map(|refusal| refusal.reason.clone());
        table.row([
            record.tool_id.clone(),
            word(record.state().as_str_name(), "REVIEW_STATE_"),
            if tool.callable { "yes" } else { "no" }.to_owned(),
            age(record.changed_at.as_ref()),
            why.unwrap_or_else(|| record.notes.join("; ")),
        ]);
    }
    if !out.json() {
        out.table(&table, "no tools")?;
    }
    Ok(CommandOutcome::Done)
}

/// The tools of a provider in these states; all of them without one.
async fn listed(name: &str, states: Vec<i32>, connection: &Connection) -> Result<Vec<v1::ListedTool>, Failure> {
    let mut request =
        v1::ListProvidedToolsRequest { provider_id: name.to_owned(), states, page_size: 1000, ..Default::default() };
    let mut tools = Vec::new();
    loop {
        let page = connection.providers().list_provided_tools(request.clone()).await?.into_inner();
        tools.extend(page.tools);
        if page.next_page_token.is_empty() {
            return Ok(tools);
        }
        request.page_token = page.next_page_token;
    }
}

/// Asks a provider and prints what has changed; shared with `add`.
async fn refresh(
    name: String,
    dry_run: bool,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::RefreshProviderRequest { provider_id: name.clone(), dry_run };
    let answer = connection.providers().refresh_provider(request).await?.into_inner();
    difference::print(&name, answer, dry_run, out)
}

async fn test(name: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::TestProviderRequest { provider_id: name.clone() };
    let answer = connection.providers().test_provider(request).await?.into_inner();
    if out.json() {
        let fault = answer.fault.as_ref().map(|fault| word(fault.code().as_str_name(), "PROVIDER_FAULT_"));
        out.serialized(&serde_json::json!({
            "ok": answer.ok, "found": answer.found, "refused": answer.refused, "took_ms": answer.took_ms,
            "server_name": answer.server_name, "server_version": answer.server_version, "fault": fault,
            "message": answer.fault.as_ref().map(|fault| fault.message.clone()),
        }))?;
    } else if let Some(fault) = &answer.fault {
        let code = word(fault.code().as_str_name(), "PROVIDER_FAULT_");
        out.line(format!("{name}: {code} after {} ms: {}", answer.took_ms, fault.message))?;
    } else {
        let (found, refused, took) = (answer.found, answer.refused, answer.took_ms);
        out.line(format!("{name}: {found} tools in {took} ms, {refused} of them cannot be tools here"))?;
    }
    Ok(if answer.ok { CommandOutcome::Done } else { CommandOutcome::ToolFailed })
}

async fn remove(
    name: String,
    reason: String,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::RemoveProviderRequest { provider_id: name, reason, by: add::user() };
    let answer = connection.providers().remove_provider(request).await?.into_inner();
    let (provider, _) = both(answer.provider, answer.status)?;
    if out.json() {
        out.record::<Provider, _>(provider)?;
    } else {
        out.line(format!("{}  out of use; its tools cannot be called any more", provider.provider_id))?;
    }
    Ok(CommandOutcome::Done)
}

fn both(
    provider: Option<v1::Provider>,
    status: Option<v1::ProviderStatus>,
) -> Result<(v1::Provider, v1::ProviderStatus), Failure> {
    provider.zip(status).ok_or_else(|| Failure::Answer("the provider is missing".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_a_provider_that_is_away_or_retired_are_not_callable_now() {
        let status = |state: v1::ProviderState, circuit: v1::CircuitState| v1::ProviderStatus {
            state: state.into(),
            circuit: circuit.into(),
            tools: Some(v1::ToolCounts { imported: 5, ..Default::default() }),
            ..Default::default()
        };
        let now = |state, circuit| callable(&status(state, circuit));
        assert_eq!(now(v1::ProviderState::Ready, v1::CircuitState::Closed), 5);
        assert_eq!(now(v1::ProviderState::Degraded, v1::CircuitState::Closed), 5);
        assert_eq!(now(v1::ProviderState::Degraded, v1::CircuitState::Open), 0);
        assert_eq!(now(v1::ProviderState::Degraded, v1::CircuitState::HalfOpen), 0);
        assert_eq!(now(v1::ProviderState::Retired, v1::CircuitState::Closed), 0);
    }
}
