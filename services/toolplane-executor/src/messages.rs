//! What a worker and a scheduler tell each other, as this crate thinks of it. How it travels is known to [`crate::wire`] alone.

mod call;
mod command;
mod ended;
mod lease;
mod report;

pub(crate) use call::{Call, CallTraits, OfferedCall, OutputBounds};
pub(crate) use command::{SchedulerCommand, Welcome};
pub(crate) use ended::{Ended, ExecutionReport};
pub(crate) use lease::Lease;
pub(crate) use report::{Hello, InputRequest, ReleaseReason, WorkerReport};
