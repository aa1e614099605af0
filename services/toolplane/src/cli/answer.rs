//! `toolplane input`: answer the question of a call that needs input.

use clap::Args;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;

use super::advised;
use super::calls::print_record;
use super::connection::Connection;
use super::failure::Failure;
use super::invoke::input;
use super::outcome::CommandOutcome;
use super::output::{Output, payload_text, readable};

/// An answer. Without one, the question is shown.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// The call.
    id: String,
    /// The answer: JSON, `@file`, or `-` for standard input.
    #[arg(allow_hyphen_values = true)]
    answer: Option<String>,
    /// Which question, when it must be that one.
    #[arg(long, default_value = "")]
    question: String,
    /// Decline to answer: the tool continues without an answer.
    #[arg(long, conflicts_with = "answer")]
    decline: bool,
    /// Who answers; counts only where the credential names no actor.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
}

/// Shows the question, or answers it.
pub(crate) async fn run(args: InputArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let input = match &args.answer {
        Some(answer) => Some(input::read(answer, "the answer")?),
        None if args.decline => None,
        None => return show(args.id, connection, out).await,
    };
    let request = v1::ProvideInputRequest {
        invocation_id: args.id,
        input_id: args.question,
        input: input.map(|input| v1::JsonPayload { body: Some(Body::Inline(input)), ..Default::default() }),
        declined: args.decline,
        provided_by: args.who,
    };
    let answer = connection.invocations().provide_input(request).await?.into_inner();
    let call = answer.invocation.ok_or_else(|| Failure::Answer("the invocation is missing".to_owned()))?;
    if out.json() {
        print_record(call, out)?;
    } else {
        out.line(format!("{}  {}", call.invocation_id, call.status))?;
    }
    Ok(CommandOutcome::Done)
}

async fn show(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::GetInvocationRequest { invocation_id: id, ..Default::default() };
    let call = connection.invocations().get_invocation(request).await?.into_inner().invocation;
    let call = call.ok_or_else(|| Failure::Answer("the invocation is missing".to_owned()))?;
    let Some(question) = &call.pending_input else {
        return Err(Failure::Local(format!("`{}` asks nothing; it is {}", call.invocation_id, call.status)));
    };
    if out.json() {
        print_record(call, out)?;
        return Ok(CommandOutcome::Done);
    }
    out.block(&question.prompt)?;
    if let Some(schema) = payload_text(question.schema.as_ref()) {
        out.gap()?;
        out.line("the answer has to fit:")?;
        out.block(&readable(&schema))?;
    }
    out.note(&format!("answer it with `{}`", advised::command(format_args!("input {} JSON", call.invocation_id))))?;
    Ok(CommandOutcome::Done)
}
