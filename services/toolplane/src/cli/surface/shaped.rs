//! `toolplane surface export`, `toolplane surface calls` and `toolplane tools cards`: tools as models are told of them, and what models
//! called.

use clap::{Args, ValueEnum};
use serde_json::json;
use serde_json::value::RawValue;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::mapped_call::Outcome;
use toolplane_records::json::{elements, members};

use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::invoke::input;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::{Output, Table, payload_text};

/// What is exported, and how.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The surface; `default` is the one of every tool.
    #[arg(default_value = "default")]
    surface: String,
    /// Whom it is for.
    #[arg(long, value_enum)]
    shape: ShapeWord,
    /// Have the vendor hold its model to the schemas it can hold.
    #[arg(long)]
    strict: bool,
    /// Only these tools, in this order.
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// Most tokens of all definitions together, estimated; no bound when 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_tokens: u64,
    /// Instead of the tools, print what was lost of each.
    #[arg(long)]
    report: bool,
}

/// The shapes there are.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShapeWord {
    /// OpenAI's Responses API.
    #[value(name = "openai-responses")]
    OpenAiResponses,
    /// OpenAI's Chat Completions.
    #[value(name = "openai-chat")]
    OpenAiChat,
    /// Anthropic's Messages API.
    Anthropic,
    /// Gemini, with `parametersJsonSchema`.
    Gemini,
    /// Gemini, with `parameters`.
    #[value(name = "gemini-openapi")]
    GeminiOpenApi,
    /// The Model Context Protocol.
    Mcp,
    /// The JSON Schemas as they were declared.
    JsonSchema,
}

/// What a model said.
#[derive(Debug, Args)]
pub(crate) struct CallsArgs {
    /// The surface; `default` is the one of every tool.
    #[arg(default_value = "default")]
    surface: String,
    /// The model's answer, a list of its calls, or one: JSON, `@FILE`, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    said: String,
    /// The tools were exported with `--strict`.
    #[arg(long)]
    strict: bool,
}

/// Which cards.
#[derive(Debug, Args)]
pub(crate) struct CardsArgs {
    /// Only these tools, in this order.
    tools: Vec<String>,
    /// The surface; `default` is the one of every tool.
    #[arg(long, default_value = "default")]
    surface: String,
    /// Most tokens of all cards together, estimated.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    max_tokens: u64,
}

/// Prints the array a vendor takes, or what was lost.
pub(crate) async fn export(
    args: ExportArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let shape = args.shape.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let mut request = v1::ExportSurfaceRequest {
        surface_id: args.surface,
        shape,
        strict: args.strict,
        names: args.tools,
        max_tokens: args.max_tokens,
        page_size: 1_000,
        ..Default::default()
    };
    let (mut pages, mut tools, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let page = connection.surfaces().export_surface(request.clone()).await?.into_inner();
        pages.extend(payload_text(page.tools_json.as_ref()));
        tools.extend(page.tools);
        left_out.extend(page.left_out);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    match args.report {
        true => report(&tools, out)?,
        false => out.value(&together(&pages).ok_or_else(|| Failure::Answer("the tools are no list".to_owned()))?)?,
    }
    for tool in left_out {
        out.note(&why_left_out(&tool))?;
    }
    Ok(CommandOutcome::Done)
}

/// That a tool is left out, with why.
fn why_left_out(tool: &v1::LeftOutTool) -> String {
    let why = if tool.message.is_empty() { String::new() } else { format!(": {}", tool.message) };
    format!("left out: {} ({}{why})", tool.name, tool.reason)
}

/// The arrays of several pages as one. Of Gemini there is one element, which holds all tools.
fn together(pages: &[String]) -> Option<String> {
    if let [page] = pages {
        return Some(page.clone());
    }
    let (mut all, mut declared): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for page in pages {
        let page: &RawValue = serde_json::from_str(page).ok()?;
        for element in elements(page).ok()? {
            match &*members(element).ok()? {
                [(name, list)] if name == "functionDeclarations" => {
                    declared.extend(elements(list).ok()?.into_iter().map(RawValue::get));
                }
                _ => all.push(element.get()),
            }
        }
    }
    Some(match declared.is_empty() {
        true => format!("[{}]", all.join(",")),
        false => format!(r#"[{{"functionDeclarations":[{}]}}]"#, declared.join(",")),
    })
}

fn report(tools: &[v1::ExportedTool], out: &mut Output) -> Result<(), Failure> {
    for tool in tools {
        if out.json() {
            let loss = |loss: &v1::SchemaLoss| json!({ "pointer": loss.pointer, "rule": loss.rule, "done": loss.done, "note": loss.note });
            let losses: Vec<serde_json::Value> = tool.losses.iter().map(loss).collect();
            out.serialized(&json!({
                "alias": tool.alias, "tool_id": tool.tool_id, "name": tool.name, "digest": tool.digest, "strict": tool.strict,
                "tokens": tool.tokens, "losses": losses, "more_losses": tool.more_losses,
            }))?;
            continue;
        }
        let strict = if tool.strict { "  strict" } else { "" };
        out.line(format!("{}  {}  about {} tokens{strict}", tool.alias, tool.name, tool.tokens))?;
        for loss in &tool.losses {
            let place = if loss.pointer.is_empty() { "/" } else { &loss.pointer };
            let note = if loss.note.is_empty() { String::new() } else { format!(": {}", loss.note) };
            out.line(format!("  {place}  {} {}{note}", loss.rule, loss.done.replace('_', " ")))?;
        }
        if tool.more_losses > 0 {
            out.line(format!("  and {} more", tool.more_losses))?;
        }
    }
    Ok(())
}

/// Prints which tools a model called, and with what.
pub(crate) async fn calls(
    args: CallsArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let said =
        Some(v1::JsonPayload { body: Some(Body::Inline(input::read(&args.said, "--said")?)), ..Default::default() });
    let request = v1::MapCallsRequest { surface_id: args.surface, said, strict: args.strict, ..Default::default() };
    let answer = connection.surfaces().map_calls(request).await?.into_inner();
    let mut outcome = CommandOutcome::Done;
    for call in answer.calls {
        let head = (call.shape.as_str(), call.alias.as_str(), call.call_id.as_str());
        match call.outcome {
            Some(Outcome::Target(target)) => called(head, &target, out)?,
            Some(Outcome::Refusal(refusal)) => {
                outcome = CommandOutcome::ToolFailed;
                refused(head, &refusal, out)?;
            }
            None => return Err(Failure::Answer(format!("nothing is said of the call of `{}`", call.alias))),
        }
    }
    Ok(outcome)
}

fn called(head: (&str, &str, &str), target: &v1::CallTarget, out: &mut Output) -> Result<(), Failure> {
    let (shape, alias, call_id) = head;
    let arguments = payload_text(target.arguments.as_ref()).unwrap_or_default();
    if !out.json() {
        return out.line(format!("{alias}  {}  {arguments}", target.name));
    }
    let arguments = RawValue::from_string(arguments).map_err(|error| Failure::Answer(error.to_string()))?;
    out.serialized(&Target {
        shape,
        alias,
        call_id,
        name: &target.name,
        tool_id: &target.tool_id,
        digest: &target.digest,
        arguments: &arguments,
        left_out: &target.left_out,
    })
}

/// What a model called, as JSON: the arguments keep their spelling.
#[derive(serde::Serialize)]
struct Target<'a> {
    shape: &'a str,
    alias: &'a str,
    call_id: &'a str,
    name: &'a str,
    tool_id: &'a str,
    digest: &'a str,
    arguments: &'a RawValue,
    left_out: &'a [String],
}

fn refused(head: (&str, &str, &str), refusal: &v1::CallRefusal, out: &mut Output) -> Result<(), Failure> {
    let (shape, alias, call_id) = head;
    if out.json() {
        return out.serialized(&json!({
            "shape": shape, "alias": alias, "call_id": call_id, "code": refusal.code, "message": refusal.message,
            "similar_aliases": refusal.similar_aliases,
        }));
    }
    let similar = match &*refusal.similar_aliases {
        [] => String::new(),
        similar => format!("; similar: {}", similar.join(", ")),
    };
    out.line(format!("{alias}  {} [{}]{similar}", refusal.message, refusal.code))
}

/// Prints tool cards.
pub(crate) async fn cards(
    args: CardsArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::ListToolCardsRequest { surface_id: args.surface, names: args.tools, max_tokens: args.max_tokens };
    let answer = connection.surfaces().list_tool_cards(request).await?.into_inner();
    let mut table = Table::new(&["TOKENS", "CARD"]);
    for card in &answer.cards {
        if out.json() {
            out.serialized(&json!({
                "alias": card.alias, "tool_id": card.tool_id, "name": card.name, "text": card.text, "tokens": card.tokens,
                "deferred": card.deferred,
            }))?;
        } else {
            table.row([card.tokens.to_string(), card.text.clone()]);
        }
    }
    if !out.json() {
        out.table(&table, "no cards")?;
    }
    // That many do not fit is what a bound is for.
    for tool in answer.left_out.iter().filter(|tool| tool.reason != "budget") {
        out.note(&why_left_out(tool))?;
    }
    out.note(&format!("about {} tokens; {} tools left out", answer.tokens, answer.left_out_count))?;
    Ok(CommandOutcome::Done)
}

#[cfg(test)]
mod tests {
    use toolplane_proto::v1;

    use super::{together, why_left_out};

    #[test]
    fn a_tool_that_is_left_out_is_told_with_what_hides_it() {
        let tool = |reason: &str, message: &str| v1::LeftOutTool {
            name: "files.write".to_owned(),
            reason: reason.to_owned(),
            message: message.to_owned(),
            ..Default::default()
        };
        assert_eq!(why_left_out(&tool("deferred", "")), "left out: files.write (deferred)");
        let denied = "is denied by the rule `r`, whatever the call";
        assert_eq!(why_left_out(&tool("hidden", denied)), format!("left out: files.write (hidden: {denied})"));
    }

    #[test]
    fn pages_become_one_list() {
        let pages = |pages: [&str; 2]| together(&pages.map(str::to_owned));
        assert_eq!(pages([r#"[{"a":1.0}]"#, r#"[{"b":2}]"#]).as_deref(), Some(r#"[{"a":1.0},{"b":2}]"#));
        let gemini =
            pages([r#"[{"functionDeclarations":[{"name":"a"}]}]"#, r#"[{"functionDeclarations":[{"name":"b"}]}]"#]);
        assert_eq!(gemini.as_deref(), Some(r#"[{"functionDeclarations":[{"name":"a"},{"name":"b"}]}]"#));
    }
}
