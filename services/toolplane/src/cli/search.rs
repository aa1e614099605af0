//! `toolplane search`, `toolplane load` and `unload`: from a need to a tool that can be called.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_proto::v1::unload_outcome::Outcome as Unloaded;

use super::advised;
use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, payload_text, readable};
use super::spelled::word;
use super::surface::went;

/// What is searched for.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The surface; `default` is the one of every tool.
    surface: String,
    /// `select:a,b`, or words: `+must`, `begin*`, `"a phrase"`, `namespace:x`, `kind:x`, `risk:x`, `provider:x`, `tag:x`,
    /// `capability:x`; behind `--` also `-not`. May be left out where an option below chooses.
    #[arg(num_args = 0.., required_unless_present_any = ["namespace", "kind", "risk", "provider", "tag", "capability"])]
    query: Vec<String>,
    /// Most matches of a page.
    #[arg(long, default_value_t = 10)]
    limit: u32,
    /// Say why each tool was found, and what it scores.
    #[arg(long)]
    explain: bool,
    /// Where to go on: the token of the page before.
    #[arg(long, value_name = "TOKEN", default_value = "")]
    page: String,
    /// Only tools of this namespace, or of one below it. May be given several times.
    #[arg(long)]
    namespace: Vec<String>,
    /// Only tools of this kind, e.g. `shell_command`. May be given several times.
    #[arg(long)]
    kind: Vec<String>,
    /// Only tools that declare this risk. May be given several times.
    #[arg(long)]
    risk: Vec<String>,
    /// Only tools of this provider. May be given several times.
    #[arg(long)]
    provider: Vec<String>,
    /// Only tools with this tag. May be given several times.
    #[arg(long)]
    tag: Vec<String>,
    /// Only tools with this capability. May be given several times.
    #[arg(long)]
    capability: Vec<String>,
    /// Without what use has taught, and without teaching anything.
    #[arg(long)]
    without_use: bool,
    /// What it is asked for, where the surface is for one: `session:ID`, `task:ID`, ..., `role:NAME`. May be repeated.
    #[arg(long = "ref", value_name = "REF")]
    refs: Vec<String>,
}

/// What is loaded, or unloaded.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// The surface.
    surface: String,
    /// Names, aliases or ids.
    #[arg(required = true)]
    names: Vec<String>,
    /// What it is asked for, where the surface is for one: `session:ID`, `task:ID`, ..., `role:NAME`. May be repeated.
    #[arg(long = "ref", value_name = "REF")]
    refs: Vec<String>,
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
        page_token: args.page,
        namespaces: args.namespace,
        kinds: args.kind,
        risk_levels: args.risk,
        providers: args.provider,
        tags: args.tag,
        capabilities: args.capability,
        without_use: args.without_use,
        runtime_refs: args.refs.clone(),
    };
    let answer = connection.surfaces().search_tools(request).await?.into_inner();
    if out.json() {
        out.payload(answer.json)?;
        return Ok(CommandOutcome::Done);
    }
    let result = answer.result.unwrap_or_default();
    out.table(&table(&result, args.explain), "nothing found")?;
    if result.total_matches > result.matches.len() as u64 {
        let more = if result.more_matches { "more than " } else { "" };
        out.note(&format!("{} of {more}{} matches", result.matches.len(), result.total_matches))?;
    }
    for name in &result.ambiguous_names {
        out.note(&format!("`{}` could be any of {}", name.name, name.candidates.join(", ")))?;
    }
    if !result.missing_names.is_empty() {
        out.note(&format!("not here: {}", result.missing_names.join(", ")))?;
    }
    for tool in result.refs.iter().filter(|tool| tool.loading_state() == v1::LoadingState::Unavailable) {
        out.note(&format!("`{}` cannot be called now: {}", tool.name, tool.reason))?;
    }
    let states = result.provider_states.iter().map(|one| (one.provider_id.as_str(), one.state()));
    let states: BTreeMap<&str, v1::ProviderState> = states.collect();
    let connecting = result.pending_providers.iter().map(String::as_str);
    let connecting: Vec<&str> =
        connecting.filter(|id| states.get(id).is_none_or(|state| *state == v1::ProviderState::Pending)).collect();
    if !connecting.is_empty() {
        out.note(&format!("still connecting: {}", connecting.join(", ")))?;
    }
    for (id, state) in states.iter().filter(|(id, _)| !connecting.contains(id)) {
        out.note(&format!("provider `{id}` is {}", word(state.as_str_name(), "PROVIDER_STATE_")))?;
    }
    match result.meaning.as_str() {
        "partial" => out.note("not all tools are read for what they mean yet: more may be found by it later")?,
        "away" => out.note("the model or endpoint that says what texts mean does not answer: found by words alone")?,
        _ => {}
    }
    if result.reranked == "away" {
        out.note("the reranker does not answer: the order is that of the search")?;
    }
    if !result.next_page_token.is_empty() {
        out.note(&format!("go on with `--page {}`", result.next_page_token))?;
    }
    out.note(&next_step(&result.next_action, &args.surface, &args.refs))?;
    Ok(CommandOutcome::Done)
}

fn table(result: &v1::SearchResult, explain: bool) -> Table {
    let about = |hint: &str, found: Option<&v1::FoundTool>| {
        let told = found.map(|found| if found.title.is_empty() { &found.description } else { &found.title });
        if hint.is_empty() { told.cloned().unwrap_or_default() } else { hint.to_owned() }
    };
    let mut table =
        if explain { Table::new(&["NAME", "STATE", "SCORE", "WHY"]) } else { Table::new(&["NAME", "STATE", "HINT"]) };
    for (at, tool) in result.refs.iter().enumerate() {
        let state = word(tool.loading_state().as_str_name(), "LOADING_STATE_");
        let found = result.found.get(at);
        if explain {
            let score = found.map(|found| format!("{:.3}", f64::from(found.score) / 1000.0)).unwrap_or_default();
            let why = found.map(|found| found.why.iter().map(reason).collect::<Vec<_>>().join("; "));
            table.row([tool.name.clone(), state, score, why.unwrap_or_default()]);
        } else {
            table.row([tool.name.clone(), state, about(&tool.search_hint, found)]);
        }
    }
    table
}

/// A reason in words: `sned: a slip of send, in name, title`.
fn reason(why: &v1::MatchReason) -> String {
    let (asked, found) = (&why.asked, &why.found);
    let what = match why.how.as_str() {
        "name" => return "its name".to_owned(),
        "meaning" => return "what it means".to_owned(),
        "reranked" => return format!("the reranker gave it {:.3}", f64::from(why.score) / 1000.0),
        "name_within" => return "its name is in the query".to_owned(),
        "use" if why.times > 1 => return format!("{asked}: led here {} times", why.times),
        "use" => return format!("{asked}: led here once"),
        "word" => asked.clone(),
        "prefix" => format!("{asked}: the beginning of {found}"),
        "joined" => format!("{asked}: written as {found}"),
        "synonym" => format!("{asked}: means {found}"),
        "typo" => format!("{asked}: a slip of {found}"),
        other => format!("{asked}: {other} {found}"),
    };
    format!("{what}, in {}", why.fields.join(", "))
}

/// What to do next, with the references that a surface of a narrower scope wants of whoever uses it.
fn next_step(action: &str, surface: &str, refs: &[String]) -> String {
    let refs: String = refs.iter().map(|one| format!(" --ref {}", advised::word(one))).collect();
    let invoke = || advised::command(format_args!("invoke NAME --surface {surface}{refs}"));
    match action {
        "load_schema_then_call" => {
            let load = advised::command(format_args!("load {surface} NAME{refs}"));
            format!("next: `{load}`, then `{}`", invoke())
        }
        "call" => format!("next: `{}`", invoke()),
        "refine_query" => format!("next: use other words, or `{}`", advised::command("tools ls")),
        "wait_for_provider" => "next: wait for the provider and search again".to_owned(),
        "not_available" => {
            let show = advised::command(format_args!("surface show {surface}"));
            format!("next: `{show}` says why a tool is hidden")
        }
        other => format!("next: {other}"),
    }
}

/// Loads deferred tools. A name that cannot be loaded is a failure of the command, after all others were loaded.
pub(crate) async fn load(args: LoadArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::LoadToolsRequest { surface_id: args.surface, names: args.names, runtime_refs: args.refs };
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
    for tool in &answer.unloaded {
        match out.json() {
            true => out.serialized(&json!({
                "name": tool.name, "tool_id": tool.tool_id, "state": "unloaded", "reason": tool.reason,
                "schema_tokens": tool.schema_tokens, "schema_bytes": tool.schema_bytes,
            }))?,
            false => out.note(&went(tool))?,
        }
    }
    Ok(ending)
}

/// Makes loaded tools deferred. A name that leads to none is a failure of the command, after all others were unloaded.
pub(crate) async fn unload(
    args: LoadArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::UnloadToolsRequest { surface_id: args.surface, names: args.names, runtime_refs: args.refs };
    let answer = connection.surfaces().unload_tools(request).await?.into_inner();
    let mut ending = CommandOutcome::Done;
    for v1::UnloadOutcome { name, outcome } in answer.outcomes {
        match outcome {
            Some(Unloaded::DeferredToolId(id)) if out.json() => {
                out.serialized(&json!({ "name": name, "tool_id": id, "state": "deferred" }))?;
            }
            Some(Unloaded::DeferredToolId(_)) => out.line(format!("{name}  deferred"))?,
            Some(Unloaded::Failure(failure)) => {
                ending = CommandOutcome::ToolFailed;
                refused(&name, &failure, out)?;
            }
            None => return Err(Failure::Answer(format!("nothing is said about `{name}`"))),
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
            "shortage": failure.shortage.as_ref().map(|short| json!({
                "field": short.field, "need": short.need, "free": short.free, "budget": short.budget,
            })),
        }));
    }
    let near = match failure.similar_names.as_slice() {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    };
    out.line(format!("{name}  {kind}: {}{near}", failure.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_words() {
        let check = |how: &str, times: u32, told: &str| {
            let (asked, found) = ("sned".to_owned(), "send".to_owned());
            let fields = vec!["name".to_owned(), "title".to_owned()];
            assert_eq!(
                reason(&v1::MatchReason { asked, found, how: how.to_owned(), fields, times, score: -250 }),
                told
            );
        };
        check("word", 0, "sned, in name, title");
        check("typo", 0, "sned: a slip of send, in name, title");
        check("use", 1, "sned: led here once");
        check("use", 12, "sned: led here 12 times");
        check("name", 0, "its name");
        check("reranked", 0, "the reranker gave it -0.250");
    }

    #[test]
    fn an_advised_command_is_one_for_a_shell() {
        let advised = |one: &str| next_step("call", "s", &[one.to_owned()]);
        assert_eq!(advised("session:a-1"), "next: `toolplane invoke NAME --surface s --ref session:a-1`");
        assert_eq!(advised("session:a b'c"), r"next: `toolplane invoke NAME --surface s --ref 'session:a b'\''c'`");
        assert_eq!(advised("$(x)"), "next: `toolplane invoke NAME --surface s --ref '$(x)'`");
        assert_eq!(advised(""), "next: `toolplane invoke NAME --surface s --ref ''`");
    }
}
