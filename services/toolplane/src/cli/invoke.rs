//! `toolplane invoke`: call a tool and follow it to its result.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;

use super::advised;
use super::connection::{Connection, PRODUCER};
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::Output;
use super::waiting::{WaitArgs, WaitTimer};
use super::{calls, follow, result};

pub(crate) mod input;
mod live;
mod locks;
mod manner;

pub(crate) use live::{Live, waits_for_a_person};
pub(crate) use manner::Manner;

/// A call.
#[derive(Debug, Args)]
pub(crate) struct InvokeArgs {
    /// Name, alias or id of the tool.
    tool: String,
    /// The surface to call in; the default one, of every tool as it is now, when absent.
    #[arg(long, env = "TOOLPLANE_SURFACE")]
    surface: Option<String>,
    /// The moment of the surface the call goes by, as `toolplane surface show` and `surface watch` tell it: a tool that is another thing by
    /// now is not called.
    #[arg(long, value_name = "MOMENT", value_parser = NonEmptyStringValueParser::new())]
    moment: Option<String>,
    /// The arguments: JSON, `@file`, or `-` for standard input.
    #[arg(short = 'i', long, default_value = "{}", allow_hyphen_values = true)]
    input: String,
    /// An idempotency key: the same key and the same call within a day run once.
    #[arg(long)]
    key: Option<String>,
    /// Only submit; do not wait for the result.
    #[arg(long)]
    detach: bool,
    /// Let it go on in the background: as `--detach`, and each stage is told as progress. Only for tools that declare it.
    #[arg(long)]
    background: bool,
    /// Give up after this time, waiting for approval included.
    #[arg(long, value_name = "MS")]
    timeout_ms: Option<u64>,
    /// No person can answer: a call that needs an approval is denied at once.
    #[arg(long)]
    no_approver: bool,
    /// The session the call belongs to: calls that must not run beside others exclude each other within it.
    #[arg(long)]
    session: Option<String>,
    /// A lock the call needs before it runs: `key` for itself alone, `key:shared` beside other readers. May be repeated.
    #[arg(long = "lock", value_name = "KEY[:shared]", value_parser = locks::parse)]
    locks: Vec<v1::ResourceLock>,
    /// Where the locks apply; the session when absent, the whole tenant without one.
    #[arg(long)]
    lock_domain: Option<String>,
    /// `interactive`, `normal` or `background`.
    #[arg(long)]
    priority: Option<String>,
    #[command(flatten)]
    wait: WaitArgs,
    #[command(flatten)]
    manner: Manner,
}

/// Calls the tool; the ending says whether it succeeded.
pub(crate) async fn run(
    args: InvokeArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let model_input = input::read(&args.input, "--input")?;
    let mut spec = v1::InvocationSpec {
        surface_id: args.surface.unwrap_or_default(),
        surface_moment: args.moment.unwrap_or_default(),
        tool_name: args.tool,
        model_input: Some(v1::JsonPayload { body: Some(Body::Inline(model_input)), ..Default::default() }),
        idempotency_key: args.key.clone().unwrap_or_default(),
        // With a key the cluster says which call it is; without one an id of our own lets Ctrl-C name the call.
        invocation_id: match args.key {
            Some(_) => String::new(),
            None => format!("inv_{}", uuid::Uuid::now_v7().simple()),
        },
        timeout_ms: args.timeout_ms.unwrap_or_default(),
        no_approver: args.no_approver,
        background: args.background,
        session_ref: args.session.unwrap_or_default(),
        resource_locks: args.locks,
        lock_domain: args.lock_domain.unwrap_or_default(),
        priority: args.priority.unwrap_or_default(),
        ..Default::default()
    };
    args.manner.apply(&mut spec);
    match args.detach || args.background {
        true => submit(spec, connection, out).await,
        false => call(spec, args.wait, connection, out).await,
    }
}

async fn submit(
    spec: v1::InvocationSpec,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::SubmitInvocationRequest { spec: Some(spec) };
    let answer = connection.invocations().submit_invocation(request).await?.into_inner();
    let invocation = answer.invocation.ok_or_else(|| Failure::Answer("the invocation is missing".to_owned()))?;
    let (id, ended) = (invocation.invocation_id.clone(), invocation.ended_at.is_some());
    if out.json() {
        calls::print_record(*invocation, out)?;
    } else {
        out.line(&id)?;
        let again = if answer.accepted.unwrap_or_default().duplicate { " (it was already there)" } else { "" };
        let watch = advised::command(format_args!("watch {id}"));
        out.note(&format!("{}{again}; follow it with `{watch}`", invocation.status))?;
    }
    match ended {
        true => refused_at_once(id, connection, out).await,
        false => Ok(CommandOutcome::Done),
    }
}

/// The call was not followed, and has ended all the same. Where it failed, nobody would learn why.
async fn refused_at_once(
    invocation_id: String,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::GetResultRequest { invocation_id, ..Default::default() };
    let result = connection.invocations().get_result(request).await?.into_inner().result.unwrap_or_default();
    let Some(error) = result.error.as_ref().filter(|_| result.is_error) else { return Ok(CommandOutcome::Done) };
    out.note(&format!("{} ({}): {}", error.error_class, error.error_code, error.message))?;
    out.note(&format!("  see docs/errors.md#{}", error.error_code))?;
    Ok(result::ending(&result))
}

async fn call(
    spec: v1::InvocationSpec,
    wait: WaitArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let mut live = Live::new(&spec.tool_name, wait);
    let id = live.call();
    let outcome = until_result(spec, connection, &mut live).await;
    live.finish();
    let id = id.borrow().clone();
    if matches!(&outcome, Err(Failure::Api(status)) if follow::is_break(status)) && !id.is_empty() {
        let watch = advised::command(format_args!("watch {id}"));
        out.note(&format!("the call may have been accepted, and goes on then: `{watch}`"))?;
    }
    let Some(outcome) = outcome? else { return left_waiting(id, connection, out).await };
    result::show(&outcome, result::Beside::Nothing, connection, out).await?;
    Ok(result::ending(&outcome))
}

/// The call waits for a person, and this command waits for it no longer: says which it is, as `--detach` does, and how
/// to go on.
async fn left_waiting(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    if out.json() {
        let request = v1::GetInvocationRequest { invocation_id: id.clone(), ..Default::default() };
        let answer = connection.invocations().get_invocation(request).await?.into_inner();
        calls::print_record(answer.invocation.unwrap_or_default(), out)?;
    } else {
        out.line(&id)?;
    }
    out.note("no person answered; the call goes on waiting")?;
    let [watch, cancel] = ["watch", "cancel"].map(|what| advised::command(format_args!("{what} {id}")));
    out.note(&format!("  follow it: `{watch}`; end it: `{cancel}`"))?;
    Ok(CommandOutcome::StillWaiting)
}

/// Follows the call; the first Ctrl-C asks it to stop, the second leaves it alone. Nothing when a person was waited for too long.
async fn until_result(
    spec: v1::InvocationSpec,
    connection: &Connection,
    live: &mut Live,
) -> Result<Option<v1::ToolResult>, Failure> {
    let waiting: WaitTimer = live.waiting();
    let known = live.call();
    known.send_replace(spec.invocation_id.clone());
    let mut on_step = |step: follow::CallUpdate<'_>| live.step(&step);
    let following = follow::call(connection, spec, &mut on_step);
    tokio::pin!(following);
    let mut asked = false;
    loop {
        tokio::select! {
            outcome = &mut following => return outcome.map(Some),
            () = waiting.too_long() => return Ok(None),
            _ = tokio::signal::ctrl_c() => {
                let id = known.borrow().clone();
                if asked || id.is_empty() {
                    let watch = advised::command(format_args!("watch {id}"));
                    return Err(Failure::Local(format!("left; the call goes on: `{watch}`")));
                }
                asked = true;
                ask_to_stop(id, connection).await?;
            }
        }
    }
}

async fn ask_to_stop(invocation_id: String, connection: &Connection) -> Result<(), Failure> {
    let request = v1::CancelInvocationRequest {
        invocation_id,
        reason: "interrupted at the command line".to_owned(),
        requested_by: PRODUCER.to_owned(),
        request_id: uuid::Uuid::now_v7().to_string(),
        abort_reason: String::new(),
    };
    connection.invocations().cancel_invocation(request).await?;
    Ok(())
}
