//! Commands of a scheduler, read.

use std::time::Duration;

use toolplane_execution::Answer;
use toolplane_proto::convert::payload::ingest;
use toolplane_proto::convert::{ConvertError, word};
use toolplane_proto::v1;
use toolplane_proto::v1::worker_command::Command;
use toolplane_records::vocabulary::AbortReason;

use super::fields::{ReadBounds, lease};
use super::offered::{limits_of, offered};
use crate::messages::{SchedulerCommand, Welcome};

/// Reads commands. One that cannot be read is left out, and the log says so: the scheduler that sent it says it again,
/// or settles the call by its lease.
pub(super) fn commands(
    messages: impl IntoIterator<Item = v1::WorkerCommand>,
    bounds: ReadBounds,
) -> Vec<SchedulerCommand> {
    let known = messages.into_iter().filter_map(|message| message.command);
    known.filter_map(|message| readable(command(message, bounds))).collect()
}

/// What could be read; of the rest the log tells.
pub(super) fn readable<T>(read: Result<T, ConvertError>) -> Option<T> {
    read.inspect_err(|error| tracing::warn!(%error, "a command of the scheduler cannot be read")).ok()
}

fn command(message: Command, bounds: ReadBounds) -> Result<SchedulerCommand, ConvertError> {
    Ok(match message {
        Command::Welcome(message) => SchedulerCommand::Welcome(Welcome {
            heartbeat: positive_ms(message.heartbeat_ms),
            lease: positive_ms(message.lease_ms),
            inline_bytes: Some(message.max_inline_bytes).filter(|bytes| *bytes > 0),
        }),
        Command::Offer(message) => {
            let dispatch = message.dispatch.ok_or_else(|| ConvertError::missing("dispatch"))?;
            SchedulerCommand::Offer { lease: lease(message.lease.as_ref())?, call: offered(*dispatch, bounds) }
        }
        Command::StartGranted(message) => SchedulerCommand::StartGranted(lease(message.lease.as_ref())?),
        Command::StartRefused(message) => {
            SchedulerCommand::Lost { lease: lease(message.lease.as_ref())?, reason: message.reason }
        }
        Command::Fenced(message) => {
            SchedulerCommand::Lost { lease: lease(message.lease.as_ref())?, reason: "fenced".to_owned() }
        }
        Command::Cancel(message) => cancel(&message)?,
        Command::DoneAcknowledged(message) => SchedulerCommand::Acknowledged(lease(message.lease.as_ref())?),
        Command::GoAway(message) => SchedulerCommand::GoAway { reason: message.reason, schedulers: message.schedulers },
        Command::InputProvided(message) => answer(message, bounds)?,
        Command::ReportRefused(v1::ReportRefused { report, field, rule, .. }) => {
            SchedulerCommand::ReportRefused { report, field, rule }
        }
    })
}

pub(super) fn cancel(message: &v1::CancelExecution) -> Result<SchedulerCommand, ConvertError> {
    // A reason of a newer scheduler is no reason to go on.
    let reason = word::optional_open("abort_reason", &message.abort_reason, message.abort_reason_code);
    let reason = reason.ok().flatten().unwrap_or(AbortReason::UserInterruption);
    Ok(SchedulerCommand::Cancel { lease: lease(message.lease.as_ref())?, reason })
}

/// The answer, as a tool gets it. Its bytes have travelled, so they are checked again.
pub(super) fn answer(message: v1::InputProvided, bounds: ReadBounds) -> Result<SchedulerCommand, ConvertError> {
    let lease = lease(message.lease.as_ref())?;
    let answer = match message.input.filter(|_| !message.declined && !message.expired) {
        _ if message.expired => Answer::Expired,
        None => Answer::Declined,
        Some(input) => ingest(input, &limits_of(bounds.max_input_bytes)).map_or_else(
            |error| {
                tracing::warn!(input_id = message.input_id, %error, "an answer cannot be read; it counts as declined");
                Answer::Declined
            },
            Answer::Provided,
        ),
    };
    Ok(SchedulerCommand::Answer { lease, input_id: message.input_id, answer })
}

/// A span of time; none when it is left out.
pub(super) fn positive_ms(ms: u32) -> Option<Duration> {
    (ms > 0).then(|| Duration::from_millis(ms.into()))
}
