//! `toolplane watch`: every event of a call, from any of them on.

use clap::Args;
use toolplane_proto::v1;
use toolplane_records::event::ToolEvent;

use super::connection::Connection;
use super::failure::Failure;
use super::follow::{self, CallUpdate};
use super::form::{self, FormArgs};
use super::outcome::CommandOutcome;
use super::output::{Output, instant, payload_text};
use super::result;

/// What is followed.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The call.
    id: String,
    /// The first event to show.
    #[arg(long, default_value_t = 1, value_name = "N")]
    from_seq: u64,
    #[command(flatten)]
    form: FormArgs,
}

/// Prints events until the call has ended, then its result.
pub(crate) async fn run(args: WatchArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let wanted = args.form.spec();
    let mut printed = Ok(());
    let mut on_step = |step: CallUpdate<'_>| {
        // In a form, what is told in it is all that is printed.
        let is_wanted = wanted.is_none() || !matches!(step, CallUpdate::Event(_));
        if printed.is_ok() && is_wanted {
            printed = print(&step, out);
        }
    };
    let outcome = follow::watch(connection, &args.id, args.from_seq.max(1), wanted.clone(), &mut on_step).await;
    printed?;
    let outcome = outcome?;
    if !out.json() && wanted.is_none() {
        result::show(&outcome, result::Beside::OwnLines, connection, out).await?;
    }
    Ok(result::ending(&outcome))
}

fn print(step: &CallUpdate<'_>, out: &mut Output) -> Result<(), Failure> {
    match step {
        CallUpdate::Event(event) if out.json() => out.record::<ToolEvent, v1::Event>((*event).clone()),
        CallUpdate::Event(event) => {
            let data = payload_text(event.data.as_ref()).unwrap_or_default();
            out.line(format!("{:>4}  {}  {}  {data}", event.sequence, instant(event.time.as_ref()), event.event_type))
        }
        CallUpdate::Broken(status) => out.note(&format!("connection lost ({}); following again", status.message())),
        CallUpdate::Formed(formed) => form::print_step(formed, out),
        CallUpdate::Accepted(_) => Ok(()),
    }
}
