//! `toolplane search` and `toolplane load`: from a need to a tool that can be called.

use clap::Args;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, payload_text, readable};
use super::spelled::word;

/// What is searched for.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The surface; `default` is the one of every tool.
    surface: String,
    /// `select:a,b` or keywords.
    #[arg(required = true, num_args = 1..)]
    query: Vec<String>,
    /// Most matches.
    #[arg(long, default_value_t = 10)]
    limit: u32,
}

/// What is loaded.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// The surface.
    surface: String,
    /// Names, aliases or ids.
    #[arg(required = true)]
    names: Vec<String>,
}

/// Searches in a surface.
pub(crate) async fn search(
    args: SearchArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::SearchToolsRequest {
        surface_id: args.surface.clone(),
        query: args.query.join(" "),
        limit: args.limit,
        view: v1::RecordView::Json.into(),
    };
    let answer = connection.surfaces().search_tools(request).await?.into_inner();
    if out.json() {
        out.payload(answer.json)?;
        return Ok(CommandOutcome::Done);
    }
    let result = answer.result.unwrap_or_default();
    let mut table = Table::new(&["NAME", "STATE", "HINT"]);
    for tool in &result.refs {
        let state = word(tool.loading_state().as_str_name(), "LOADING_STATE_");
        table.row([tool.name.clone(), state, tool.search_hint.clone()]);
    }
    out.table(&table, "nothing found")?;
    if !result.missing_names.is_empty() {
        out.note(&format!("not here: {}", result.missing_names.join(", ")))?;
    }
    if !result.pending_providers.is_empty() {
        out.note(&format!("still connecting: {}", result.pending_providers.join(", ")))?;
    }
    out.note(&next_step(&result.next_action, &args.surface))?;
    Ok(CommandOutcome::Done)
}

fn next_step(action: &str, surface: &str) -> String {
    match action {
        "load_schema_then_call" => format!("next: `toolplane load {surface} NAME`, then `toolplane invoke NAME`"),
        "call" => format!("next: `toolplane invoke NAME --surface {surface}`"),
        "refine_query" => "next: use other words, or `toolplane tools ls`".to_owned(),
        "wait_for_provider" => "next: wait for the provider and search again".to_owned(),
        "not_available" => format!("next: `toolplane surface show {surface}` says why a tool is hidden"),
        other => format!("next: {other}"),
    }
}

/// Loads deferred tools. A name that cannot be loaded is a failure of the command, after all others were loaded.
pub(crate) async fn load(args: LoadArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::LoadToolsRequest { surface_id: args.surface, names: args.names };
    let answer = connection.surfaces().load_tools(request).await?.into_inner();
    let mut ending = CommandOutcome::Done;
    for outcome in answer.outcomes {
        match &outcome.outcome {
            Some(Outcome::Loaded(schema)) => loaded(&outcome.name, schema, out)?,
            Some(Outcome::Failure(failure)) => {
                ending = CommandOutcome::ToolFailed;
                refused(&outcome.name, failure, out)?;
            }
            None => return Err(Failure::Answer(format!("nothing is said about `{}`", outcome.name))),
        }
    }
    Ok(ending)
}

fn loaded(name: &str, schema: &v1::LoadedSchema, out: &mut Output) -> Result<(), Failure> {
    let tool = schema.tool.clone().unwrap_or_default();
    let text = payload_text(schema.model_input_schema.as_ref());
    if out.json() {
        let parameters = text.as_deref().unwrap_or("null");
        let head = json!({ "name": tool.name, "tool_id": tool.tool_id, "description": schema.description }).to_string();
        return out.value(&format!("{},\"model_input_schema\":{parameters}}}", &head[..head.len() - 1]));
    }
    out.line(format!("{name}  loaded as {}", tool.name))?;
    out.block(&schema.description)?;
    match text {
        Some(text) => {
            out.line("arguments:")?;
            out.block(&readable(&text))?;
        }
        None => out.line("takes no arguments")?,
    }
    out.gap()
}

fn refused(name: &str, failure: &v1::NotCallable, out: &mut Output) -> Result<(), Failure> {
    let kind = word(failure.kind().as_str_name(), "NOT_CALLABLE_KIND_");
    if out.json() {
        return out.serialized(&json!({
            "name": name, "not_callable": kind, "reason": failure.reason, "message": failure.message,
            "similar_names": failure.similar_names,
        }));
    }
    let near = match failure.similar_names.as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    };
    out.line(format!("{name}  {kind}: {}{near}", failure.message))
}
