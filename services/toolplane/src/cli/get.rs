//! `toolplane get`: one record, by its kind or by its id alone.

use clap::Args;
use toolplane_proto::v1;

use super::connection::Connection;
use super::failure::Failure;
use super::form::{self, FormArgs};
use super::outcome::CommandOutcome;
use super::output::{Output, payload_text, readable};
use super::{approvals, hooks, result, surface, tools};

pub(super) mod invocation;
pub(super) mod pages;

/// Which record.
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// The kind (invocation, result, decision, mutations, hooks, persistence, surface, tool, approval), or an id when no second
    /// word follows.
    #[arg(value_name = "KIND|ID")]
    kind_or_id: String,
    /// The id: of the call for a result, its decisions, mutations or hooks, and a name for a tool.
    id: Option<String>,
    /// With a call: its four inputs, each with its digest.
    #[arg(long, conflicts_with = "view")]
    inputs: bool,
    #[command(flatten)]
    form: FormArgs,
}

/// Kinds of records, in the order they are tried for an id that does not say.
const KINDS: [(&str, &str); 4] =
    [("invocation", "inv_"), ("surface", "surf_"), ("approval", APPROVAL), ("tool", "tool_")];

/// How the id of a decision starts: `perm_<id of the call>_<digest>`.
const DECISION: &str = "perm_";
/// How the id of a question starts.
const APPROVAL: &str = "appr_";

/// Shows the record.
pub(crate) async fn run(args: GetArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    if let Some(form) = args.form.spec() {
        return formed(args.kind_or_id, args.id, form, connection, out).await;
    }
    let Some(id) = args.id else {
        return match args.kind_or_id.starts_with(DECISION) {
            true => decisions(args.kind_or_id, connection, out).await,
            false => any(args.kind_or_id, args.inputs, connection, out).await,
        };
    };
    one(&args.kind_or_id, id, args.inputs, connection, out).await
}

/// A call or a question in a form; an id alone is that of a call, unless it begins like that of a question.
async fn formed(
    kind_or_id: String,
    id: Option<String>,
    wanted: v1::FormSpec,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match (kind_or_id.as_str(), id) {
        ("invocation" | "inv" | "result", Some(id)) => form::call(id, wanted, connection, out).await,
        ("approval", Some(id)) => form::approval(id, wanted, connection, out).await,
        (kind, Some(_)) => Err(Failure::Usage(format!("`{kind}` has no forms; invocation, result and approval have"))),
        (id, None) if id.starts_with(APPROVAL) => form::approval(kind_or_id, wanted, connection, out).await,
        (_, None) => form::call(kind_or_id, wanted, connection, out).await,
    }
}

async fn one(
    kind: &str,
    id: String,
    inputs: bool,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match kind {
        "invocation" | "inv" => invocation::show(id, inputs, connection, out).await,
        "result" => result(id, connection, out).await,
        "decision" => decisions(id, connection, out).await,
        "mutations" => mutations(id, connection, out).await,
        "hooks" => hooks::list(id, connection, out).await,
        "persistence" => persistence(id, connection, out).await,
        "surface" => surface::show(id, connection, out).await,
        "approval" => approvals::show(id, connection, out).await,
        "tool" => tools::show(id, connection, out).await,
        other => Err(Failure::Usage(format!(
            "`{other}` is no kind of record; there are invocation, result, decision, mutations, hooks, persistence, surface, tool and \
             approval"
        ))),
    }
}

/// Looks for an id everywhere, first where its beginning points to.
async fn any(id: String, inputs: bool, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut kinds = KINDS;
    kinds.sort_by_key(|(_, prefix)| !id.starts_with(prefix));
    let mut hidden = None;
    for (kind, _) in kinds {
        match one(kind, id.clone(), inputs, connection, out).await {
            Err(failure) if failure.is_not_found() => {}
            // What this key may not look at may be it, but only that: the other kinds are looked at first.
            Err(failure) if failure.is_denied() => hidden = hidden.or(Some(kind)),
            outcome => return outcome,
        }
    }
    if let Some(kind) = hidden {
        let rule = format!("nothing this key may look at is called `{id}`, and it may not look at every {kind}");
        return Err(Failure::Usage(rule));
    }
    Err(Failure::Usage(format!("no invocation, surface, approval or tool is called `{id}`")))
}

async fn result(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::GetResultRequest { invocation_id: id, view: v1::RecordView::Json.into(), ..Default::default() };
    let answer = connection.invocations().get_result(request).await?.into_inner();
    if out.json() {
        out.payload(answer.json)?;
    } else {
        let outcome = answer.result.ok_or_else(|| Failure::Answer("the result is missing".to_owned()))?;
        result::show(&outcome, result::Beside::Nothing, connection, out).await?;
    }
    Ok(CommandOutcome::Done)
}

/// One decision, or every decision of a call: a question and its answer are two.
async fn decisions(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let call = id.strip_prefix(DECISION).and_then(|rest| rest.rsplit_once('_'));
    let invocation_id = call.map_or(id.as_str(), |(call, _)| call).to_owned();
    let found = pages::decisions(invocation_id, v1::RecordView::Json, connection).await?;
    let mut shown = 0;
    for (decision, json) in found.decisions.iter().zip(&found.jsons) {
        if call.is_none() || decision.decision_id == id {
            let text = payload_text(Some(json)).unwrap_or_default();
            print_json(&text, out)?;
            shown += 1;
        }
    }
    match shown {
        0 if found.left_out > 0 => Err(Failure::Usage(format!(
            "no decision is called `{id}`, or it is one of the {} that are no longer kept; the log of the call names it",
            found.left_out
        ))),
        0 => Err(Failure::Usage(format!("no decision is called `{id}`"))),
        _ => {
            if call.is_none() {
                pages::left_out("decisions", found.left_out, out)?;
            }
            Ok(CommandOutcome::Done)
        }
    }
}

/// Every change of the inputs of a call.
async fn mutations(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    for json in pages::mutations(id, v1::RecordView::Json, connection).await?.jsons {
        print_json(&payload_text(Some(&json)).unwrap_or_default(), out)?;
    }
    Ok(CommandOutcome::Done)
}

async fn persistence(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request =
        v1::GetPersistenceRequest { invocation_id: id, view: v1::RecordView::Json.into(), ..Default::default() };
    let answer = connection.invocations().get_persistence(request).await?.into_inner();
    for json in answer.jsons {
        let text = payload_text(Some(&json)).unwrap_or_default();
        print_json(&text, out)?;
    }
    Ok(CommandOutcome::Done)
}

fn print_json(text: &str, out: &mut Output) -> Result<(), Failure> {
    if out.json() { out.value(text) } else { out.block(&readable(text)) }
}
