//! `toolplane surface`: the tools one session may see.

mod choosing;
pub(crate) mod shaped;
mod shown;
mod watch;

use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_records::surface::ToolSurface;

use super::advised;
use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age};
use shown::{held_above, print, whole};

/// What can be done with surfaces.
#[derive(Debug, Subcommand)]
pub(crate) enum SurfaceCommand {
    /// Make a surface.
    Create(Box<CreateArgs>),
    /// Show a surface: what is loaded, deferred, blocked and excluded, and why.
    Show {
        /// Its id.
        id: String,
    },
    /// List surfaces, newest first.
    Ls {
        /// Most surfaces listed.
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Add tools and namespaces to a surface. They are deferred, unless they are to be loaded.
    Extend(ExtendArgs),
    /// Follow what changes about a surface: tools that come, go, are loaded or declared anew.
    Watch(watch::WatchArgs),
    /// Delete surfaces, with their logs. Calls that were made in them stay.
    Rm {
        /// Their ids.
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Print the tools as a model's vendor takes them, or what was lost of each.
    Export(shaped::ExportArgs),
    /// Say which tools a model called, and with what: from its answer, as its vendor gives it.
    Calls(shaped::CallsArgs),
}

/// What the new surface holds.
#[derive(Debug, clap::Args)]
pub(crate) struct CreateArgs {
    /// Where it applies: session, task, turn, model_request, workspace, peer_agent, role, skill or tenant.
    #[arg(long, default_value = "session")]
    scope: String,
    /// What it is for, by its scope: `session:ID`, `task:ID`, `turn:ID`, `request:ID`, `workspace:ID`, `agent:ID`. Calls, searches and loads that
    /// name others or none are refused. May be repeated.
    #[arg(long = "ref", value_name = "REF")]
    refs: Vec<String>,
    /// These tools, by id or name, beside those that are chosen by what they are; every tool when nothing is given.
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    #[command(flatten)]
    chosen: ChosenArgs,
    /// Load these at once, also those the policy would defer.
    #[arg(long, value_name = "NAME")]
    load: Vec<String>,
    /// Keep these out.
    #[arg(long, value_name = "NAME")]
    block: Vec<String>,
    /// Which of the other tools are deferred.
    #[arg(long, value_enum, default_value_t = Defer::Auto)]
    defer: Defer,
    /// Who uses it, e.g. agent or subagent.
    #[arg(long, default_value = "agent")]
    role: String,
    /// Stay with the tools there are now; `surface show` says what it misses later.
    #[arg(long)]
    pinned: bool,
    /// Make it within this surface: it shows and calls nothing that one does not.
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    parent: Option<String>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// No person can answer questions in this surface.
    #[arg(long)]
    unattended: bool,
    #[command(flatten)]
    choosing: choosing::ChoosingArgs,
    /// Why, for the record.
    #[arg(long, default_value = "")]
    reason: String,
}

/// By what tools are chosen, beside their names: one of each option that is given is enough, and a tool has to fit each option.
#[derive(Debug, clap::Args)]
pub(crate) struct ChosenArgs {
    /// Tools of these namespaces, with those below them.
    #[arg(long = "namespace", value_name = "NAMESPACE")]
    namespaces: Vec<String>,
    /// Tools with one of these tags.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Tools with one of these capabilities.
    #[arg(long = "capability", value_name = "CAPABILITY")]
    capabilities: Vec<String>,
    /// Tools of one of these providers.
    #[arg(long = "provider", value_name = "PROVIDER")]
    providers: Vec<String>,
    /// Tools that declare one of these risks: low, medium, high, critical.
    #[arg(long = "risk", value_name = "RISK")]
    risks: Vec<String>,
    /// Tools of one of these kinds, e.g. shell_command.
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
}

/// What may be loaded at once. What does not fit is deferred; loading more unloads the least used.
#[derive(Debug, clap::Args)]
pub(crate) struct BudgetArgs {
    /// Most tools loaded at once.
    #[arg(long, value_name = "TOOLS")]
    max_tools: Option<u64>,
    /// Most tokens of what a model is told of them, estimated.
    #[arg(long, value_name = "TOKENS")]
    max_schema_tokens: Option<u64>,
    /// Most bytes of that.
    #[arg(long, value_name = "BYTES")]
    max_schema_bytes: Option<u64>,
}

impl BudgetArgs {
    /// The budget, where any of it is given.
    fn asked(&self) -> Option<v1::SurfaceBudget> {
        let Self { max_tools, max_schema_tokens, max_schema_bytes } = self;
        let any = max_tools.is_some() || max_schema_tokens.is_some() || max_schema_bytes.is_some();
        any.then(|| v1::SurfaceBudget {
            max_tools: max_tools.unwrap_or_default(),
            max_schema_tokens: max_schema_tokens.unwrap_or_default(),
            max_schema_bytes: max_schema_bytes.unwrap_or_default(),
        })
    }
}

/// What is added to a surface.
#[derive(Debug, clap::Args)]
pub(crate) struct ExtendArgs {
    /// Its id.
    id: String,
    /// These tools, by id or name.
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    #[command(flatten)]
    chosen: ChosenArgs,
    /// These tools, loaded at once.
    #[arg(long, value_name = "NAME")]
    load: Vec<String>,
    #[command(flatten)]
    budget: BudgetArgs,
}

/// Which of the other tools are deferred.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Defer {
    /// Deferred when there are many.
    Auto,
    /// All deferred that are not loaded by name.
    All,
    /// Only those that ask for it.
    None,
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: SurfaceCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        SurfaceCommand::Create(args) => create(*args, connection, out).await,
        SurfaceCommand::Show { id } => show(id, connection, out).await,
        SurfaceCommand::Ls { limit } => list(limit, connection, out).await,
        SurfaceCommand::Extend(args) => extend(args, connection, out).await,
        SurfaceCommand::Watch(args) => watch::run(args, connection, out).await,
        SurfaceCommand::Rm { ids } => delete(ids, connection, out).await,
        SurfaceCommand::Export(args) => shaped::export(args, connection, out).await,
        SurfaceCommand::Calls(args) => shaped::calls(args, connection, out).await,
    }
}

async fn create(args: CreateArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let policy = match args.defer {
        Defer::Auto => v1::DeferPolicy::Auto,
        Defer::All => v1::DeferPolicy::All,
        Defer::None => v1::DeferPolicy::None,
    };
    let mode = match args.unattended {
        true => v1::InteractionMode::NonInteractive,
        false => v1::InteractionMode::Interactive,
    };
    let request = v1::CreateSurfaceRequest {
        request_id: uuid::Uuid::now_v7().to_string(),
        scope: args.scope,
        runtime_refs: args.refs,
        tool_refs: args.tools,
        namespaces: args.chosen.namespaces,
        tags: args.chosen.tags,
        capabilities: args.chosen.capabilities,
        providers: args.chosen.providers,
        risk_levels: args.chosen.risks,
        kinds: args.chosen.kinds,
        load: args.load,
        defer_policy: policy.into(),
        blocked: args.block.into_iter().map(|name| v1::BlockedName { name, message: String::new() }).collect(),
        role: args.role,
        interaction_mode: mode.into(),
        producer: super::connection::PRODUCER.to_owned(),
        surface_reason: args.reason,
        pinned: args.pinned,
        parent_surface_id: args.parent.unwrap_or_default(),
        default_tool_choice: args.choosing.choice(),
        selection_policy: args.choosing.policy(),
        policy_refs: args.choosing.policies,
        budget: args.budget.asked(),
        ..Default::default()
    };
    let answer = connection.surfaces().create_surface(request).await?.into_inner();
    print(whole(answer.surface.ok_or_else(missing)?, connection).await?, &[], out)?;
    warn(&answer.warnings, out)?;
    Ok(CommandOutcome::Done)
}

/// Shows one surface; shared with `toolplane get`.
pub(crate) async fn show(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::GetSurfaceRequest { surface_id: id, view: v1::RecordView::Json.into() };
    let answer = connection.surfaces().get_surface(request).await?.into_inner();
    if out.json() && answer.json.is_some() {
        out.payload(answer.json)?;
    } else {
        let surface = whole(answer.surface.ok_or_else(missing)?, connection).await?;
        let above = if out.json() { Vec::new() } else { held_above(&surface, connection).await };
        print(surface, &above, out)?;
    }
    Ok(CommandOutcome::Done)
}

async fn list(limit: usize, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut table = Table::new(&["SURFACE", "SCOPE", "AGE", "LOADED", "DEFERRED", "HIDDEN", "MADE BY"]);
    let mut request = v1::ListSurfacesRequest { page_size: 200, ..Default::default() };
    let mut left = limit;
    while left > 0 {
        let page = connection.surfaces().list_surfaces(request.clone()).await?.into_inner();
        for surface in page.surfaces.into_iter().take(left) {
            left -= 1;
            if out.json() {
                out.record::<ToolSurface, _>(whole(surface, connection).await?)?;
                continue;
            }
            let counts = surface.counts.unwrap_or_default();
            table.row([
                surface.surface_id.clone(),
                surface.scope.clone(),
                age(surface.created_at.as_ref()),
                counts.loaded.to_string(),
                counts.deferred.to_string(),
                (counts.blocked + counts.excluded).to_string(),
                surface.producer.clone(),
            ]);
        }
        left_out(&page.damaged_ids, out)?;
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if !out.json() {
        out.table(&table, &advised::in_text("no surfaces yet; make one with `toolplane surface create`"))?;
    }
    Ok(CommandOutcome::Done)
}

async fn extend(args: ExtendArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let ExtendArgs { id, tools, chosen, load, budget } = args;
    let ChosenArgs { namespaces, tags, capabilities, providers, risks, kinds } = chosen;
    let request = v1::ExtendSurfaceRequest {
        surface_id: id,
        tool_refs: tools,
        namespaces,
        tags,
        capabilities,
        providers,
        risk_levels: risks,
        kinds,
        load,
        budget: budget.asked(),
    };
    let answer = connection.surfaces().extend_surface(request).await?.into_inner();
    print(whole(answer.surface.ok_or_else(missing)?, connection).await?, &[], out)?;
    warn(&answer.warnings, out)?;
    for tool in &answer.unloaded {
        out.note(&went(tool))?;
    }
    for v1::LoadOutcome { name, outcome } in &answer.not_loaded {
        if let Some(Outcome::Failure(failure)) = outcome {
            out.note(&format!("not loaded: {name}: {}", failure.message))?;
        }
    }
    Ok(if answer.not_loaded.is_empty() { CommandOutcome::Done } else { CommandOutcome::ToolFailed })
}

/// Says what of a selection led to no tool.
fn warn(warnings: &[v1::SelectionWarning], out: &Output) -> Result<(), Failure> {
    for v1::SelectionWarning { field, message, similar } in warnings {
        let place = if field.is_empty() { String::new() } else { format!("{field}: ") };
        let near = match similar.as_slice() {
            [] => String::new(),
            words => format!("; did you mean {}?", words.join(", ")),
        };
        out.note(&format!("{place}{message}{near}"))?;
    }
    Ok(())
}

async fn delete(ids: Vec<String>, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut failed = None;
    for surface_id in ids {
        let request = v1::DeleteSurfaceRequest { surface_id: surface_id.clone() };
        let answer = match connection.surfaces().delete_surface(request).await {
            Ok(answer) => answer.into_inner(),
            // The others are deleted all the same; the first refusal is how the command ends.
            Err(status) => {
                out.note(&format!("{surface_id}  not deleted: {}", status.message()))?;
                failed.get_or_insert(status);
                continue;
            }
        };
        if out.json() {
            out.serialized(&serde_json::json!({ "surface_id": surface_id, "revision": answer.revision }))?;
        } else {
            out.line(format!("{surface_id}  deleted, at revision {}", answer.revision))?;
        }
    }
    failed.map_or(Ok(CommandOutcome::Done), |status| Err(status.into()))
}

/// A tool that was unloaded for the budget, in one line.
pub(crate) fn went(tool: &v1::UnloadedTool) -> String {
    format!("unloaded for the {}, least used: {} ({} tokens)", tool.reason, tool.name, tool.schema_tokens)
}

/// Says which rows a list goes without.
pub(crate) fn left_out(damaged: &[String], out: &Output) -> Result<(), Failure> {
    match damaged.is_empty() {
        true => Ok(()),
        false => out.note(&format!("left out, because it is damaged in the store: {}", damaged.join(", "))),
    }
}

fn missing() -> Failure {
    Failure::Answer("the surface is missing".to_owned())
}
