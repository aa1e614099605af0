//! `toolplane batch` and `toolplane batches`: several calls under one policy.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolplane_proto::v1;

use super::advised;
use super::connection::{Connection, PRODUCER};
use super::failure::Failure;
use super::invoke::waits_for_a_person;
use super::kept::KeptOutputs;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age, note};
use super::result;
use super::waiting::{WaitArgs, WaitTimer};

mod file;
mod follow;

use follow::BatchUpdate;

/// A batch.
#[derive(Debug, Args)]
pub(crate) struct BatchArgs {
    /// The calls: a JSON file, or `-` for standard input; see `deploy/examples/batches`.
    file: PathBuf,
    /// The scheduler policy: JSON, `@file`, or only what a failed call does to the others: `ignore`, `cancel_siblings` or
    /// `cancel_dependent`. Replaces what the file says.
    #[arg(long)]
    policy: Option<String>,
    /// The surface to call in; the default one, of every tool as it is now, when absent.
    #[arg(long, env = "TOOLPLANE_SURFACE")]
    surface: Option<String>,
    /// The session the calls belong to: calls that must not run beside others exclude each other within it.
    #[arg(long)]
    session: Option<String>,
    /// An idempotency key: the same key and the same batch within a day run once.
    #[arg(long)]
    key: Option<String>,
    /// Only submit; do not wait for the results.
    #[arg(long)]
    detach: bool,
    /// Print whole results instead of one line for each call.
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    wait: WaitArgs,
}

/// What can be done with batches.
#[derive(Debug, Subcommand)]
pub(crate) enum BatchesCommand {
    /// Show a batch: its policy, and where each of its calls stands.
    Get {
        /// The batch.
        id: String,
    },
    /// List batches, newest first.
    Ls {
        /// Only batches of this session.
        #[arg(long, default_value = "")]
        session: String,
        /// Most batches listed.
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Follow a batch to its end and print its results.
    Watch {
        /// The batch.
        id: String,
        /// Print whole results instead of one line for each call.
        #[arg(long)]
        full: bool,
    },
    /// Ask every call that has not ended to stop.
    Cancel {
        /// The batch.
        id: String,
        /// Why, for the record.
        #[arg(long, default_value = "")]
        reason: String,
        /// Who asks; counts only where the credential names no actor.
        #[arg(long = "as", env = "USER", default_value = "")]
        who: String,
    },
}

/// Makes the calls; the ending says whether all of them succeeded.
pub(crate) async fn run(args: BatchArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut batch = file::read(&args.file)?;
    if let Some(policy) = &args.policy {
        file::override_policy(&mut batch, policy)?;
    }
    file::finish(&mut batch, args.surface.as_deref().unwrap_or_default());
    batch.session_ref = args.session.unwrap_or(batch.session_ref);
    batch.idempotency_key = args.key.unwrap_or_default();
    match args.detach {
        true => submit(batch, connection, out).await,
        false => invoke(batch, (args.full, args.wait), connection, out).await,
    }
}

/// Runs one of the commands.
pub(crate) async fn batches(
    command: BatchesCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        BatchesCommand::Get { id } => {
            let answer =
                connection.invocations().get_batch(v1::GetBatchRequest { batch_id: id, ..Default::default() }).await?;
            show(answer.into_inner().batch, out)
        }
        BatchesCommand::Ls { session, limit } => list(session, limit, connection, out).await,
        BatchesCommand::Watch { id, full } => {
            let answer = connection
                .invocations()
                .get_batch(v1::GetBatchRequest { batch_id: id.clone(), ..Default::default() })
                .await?;
            let batch = answer.into_inner().batch.unwrap_or_default();
            let names = batch.members.into_iter().map(|member| member.tool_name).collect();
            let mut printer = Printer::new(names, full, WaitTimer::new(None), out);
            follow::watch(connection, id, &mut |step| printer.step(step)).await?;
            printer.end()
        }
        BatchesCommand::Cancel { id, reason, who } => {
            let request = v1::CancelBatchRequest {
                batch_id: id,
                reason,
                requested_by: who,
                request_id: uuid::Uuid::now_v7().to_string(),
            };
            show(connection.invocations().cancel_batch(request).await?.into_inner().batch, out)
        }
    }
}

async fn submit(batch: v1::BatchSpec, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::SubmitBatchRequest { spec: Some(batch) };
    let answer = connection.invocations().submit_batch(request).await?.into_inner();
    let id = answer.accepted.as_ref().map(|accepted| accepted.batch_id.clone()).unwrap_or_default();
    if out.json() {
        return show(answer.batch, out);
    }
    out.line(&id)?;
    let again = if answer.accepted.unwrap_or_default().duplicate { " (it was already there)" } else { "" };
    let count = answer.invocations.len();
    let watch = advised::command(format_args!("batches watch {id}"));
    out.note(&format!("{count} calls accepted{again}; follow them with `{watch}`"))?;
    Ok(CommandOutcome::Done)
}

/// Follows the batch; the first Ctrl-C asks it to stop, the second leaves it alone. Ends early when nothing goes on because
/// persons are waited for too long.
async fn invoke(
    batch: v1::BatchSpec,
    (full, wait): (bool, WaitArgs),
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let names = file::names(&batch);
    let known = tokio::sync::watch::channel(String::new()).0;
    let waiting = WaitTimer::new(wait.bound(std::io::stderr().is_terminal()));
    let mut printer = Printer::new(names, full, waiting.clone(), out);
    let mut left = false;
    {
        let mut on_step = |step: BatchUpdate<'_>| {
            if let BatchUpdate::Accepted(accepted) = &step {
                known.send_replace(accepted.batch_id.clone());
            }
            printer.step(step)
        };
        let following = follow::invoke(connection, batch, &mut on_step);
        tokio::pin!(following);
        let mut asked = false;
        loop {
            tokio::select! {
                outcome = &mut following => { outcome?; break }
                () = waiting.too_long() => { left = true; break }
                _ = tokio::signal::ctrl_c() => {
                    let id = known.borrow().clone();
                    if asked || id.is_empty() {
                        return Err(left_alone(&id));
                    }
                    asked = true;
                    note("asking the batch to stop; Ctrl-C again leaves it alone")?;
                    tokio::select! {
                        answer = ask_to_stop(&id, connection) => answer?,
                        // Also while the answer stays away.
                        _ = tokio::signal::ctrl_c() => return Err(left_alone(&id)),
                    }
                }
            }
        }
    }
    if !left {
        return printer.end();
    }
    let id = known.borrow().clone();
    printer.out.note("no person answered; the calls go on waiting")?;
    let [watch, cancel] = ["watch", "cancel"].map(|what| advised::command(format_args!("batches {what} {id}")));
    printer.out.note(&format!("  follow them: `{watch}`; end them: `{cancel}`"))?;
    Ok(CommandOutcome::StillWaiting)
}

async fn ask_to_stop(batch_id: &str, connection: &Connection) -> Result<(), Failure> {
    let request = v1::CancelBatchRequest {
        batch_id: batch_id.to_owned(),
        reason: "interrupted at the command line".to_owned(),
        requested_by: PRODUCER.to_owned(),
        request_id: uuid::Uuid::now_v7().to_string(),
    };
    connection.invocations().cancel_batch(request).await?;
    Ok(())
}

/// The batch is followed no longer, and does what it does.
fn left_alone(batch_id: &str) -> Failure {
    if batch_id.is_empty() {
        return Failure::Local("left before the batch was known to be accepted; it may have been".to_owned());
    }
    let watch = advised::command(format_args!("batches watch {batch_id}"));
    Failure::Local(format!("left; the calls go on: `{watch}`"))
}

/// Prints results as they are released.
struct Printer<'a> {
    names: Vec<String>,
    /// Whole results, rather than a line for each.
    full: bool,
    waiting: WaitTimer,
    /// Calls that wait for a person.
    asked: BTreeSet<u32>,
    out: &'a mut Output,
    results: usize,
    failed: usize,
}

impl<'a> Printer<'a> {
    fn new(names: Vec<String>, full: bool, waiting: WaitTimer, out: &'a mut Output) -> Self {
        Self { names, full, waiting, asked: BTreeSet::new(), out, results: 0, failed: 0 }
    }

    fn step(&mut self, step: BatchUpdate<'_>) -> Result<(), Failure> {
        match step {
            BatchUpdate::Accepted(accepted) => {
                let again = if accepted.duplicate { ", accepted before under this key" } else { "" };
                self.out.note(&format!("{} accepted ({}{again})", accepted.batch_id, accepted.durability))
            }
            BatchUpdate::Broken(status) => {
                self.out.note(&format!("connection lost ({}); following again", status.message()))
            }
            BatchUpdate::Event(index, call, event) => {
                let name = self.names.get(index as usize).map(String::as_str).unwrap_or_default();
                let mut waits = waits_for_a_person(event, call);
                match waits.is_empty() {
                    true => drop(self.asked.remove(&index)),
                    false => {
                        if self.asked.is_empty() {
                            waits.extend(self.waiting.notice());
                        }
                        self.asked.insert(index);
                    }
                }
                self.waiting.set(!self.asked.is_empty());
                waits.iter().try_for_each(|line| self.out.note(&format!("[{index}] {name} {line}")))
            }
            BatchUpdate::Result(index, result) => {
                self.results += 1;
                self.failed += usize::from(result.is_error);
                let name = self.names.get(index as usize).map(String::as_str).unwrap_or_default();
                if self.out.json() || self.full {
                    self.out.note(&format!("[{index}] {name}"))?;
                    return result::print(result, result::Beside::Nothing, &KeptOutputs::unasked(result), self.out);
                }
                self.out.line(result::one_line(&format!("[{index}]"), name, result))
            }
        }
    }

    fn end(self) -> Result<CommandOutcome, Failure> {
        let Self { out, results, failed, .. } = self;
        out.note(&format!("{results} results: {} succeeded, {failed} did not", results - failed))?;
        Ok(if failed == 0 { CommandOutcome::Done } else { CommandOutcome::ToolFailed })
    }
}

fn show(batch: Option<v1::Batch>, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let batch = batch.ok_or_else(|| Failure::Answer("the batch is missing".to_owned()))?;
    if out.json() {
        out.record::<toolplane_records::batch::Batch, _>(batch)?;
        return Ok(CommandOutcome::Done);
    }
    out.note(&format!("{}: {} of {} results released", batch.batch_id, batch.yields, batch.members.len()))?;
    let mut table = Table::new(&["#", "CALL", "TOOL", "STATE", "RELEASED AS", "CANCELED BY"]);
    for (index, member) in batch.members.iter().enumerate() {
        let state = match (member.ended.as_str(), member.released) {
            ("", true) => "let run",
            ("", false) => "held",
            (ended, _) => ended,
        };
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        table.row([
            index.to_string(),
            member.invocation_id.clone(),
            member.tool_name.clone(),
            state.to_owned(),
            number(member.yield_seq),
            number(member.canceled_by.map(u64::from)),
        ]);
    }
    out.table(&table, "no calls")?;
    Ok(CommandOutcome::Done)
}

async fn list(
    session: String,
    limit: usize,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let page_size = i32::try_from(limit.min(200)).unwrap_or(200);
    let mut request = v1::ListBatchesRequest { session_ref: session, page_size, ..Default::default() };
    let mut table = Table::new(&["BATCH", "CALLS", "RELEASED", "AGE", "SESSION"]);
    let mut left = limit;
    while left > 0 {
        let page = connection.invocations().list_batches(request.clone()).await?.into_inner();
        for batch in page.batches.into_iter().take(left) {
            left -= 1;
            if out.json() {
                out.record::<toolplane_records::batch::Batch, _>(batch)?;
                continue;
            }
            table.row([
                batch.batch_id.clone(),
                batch.members.len().to_string(),
                batch.yields.to_string(),
                age(batch.created_at.as_ref()),
                batch.session_ref.clone().unwrap_or_default(),
            ]);
        }
        super::surface::left_out(&page.damaged_ids, out)?;
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if !out.json() {
        out.table(&table, &advised::in_text("no batches; make one with `toolplane batch FILE`"))?;
    }
    Ok(CommandOutcome::Done)
}
