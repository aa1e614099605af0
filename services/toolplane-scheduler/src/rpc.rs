//! The gRPC services of the scheduler: handlers decode, call one method, and encode.

mod accept;
mod answer;
mod batches;
mod beat;
mod cancel;
mod encode;
mod export;
mod find;
mod follow;
mod forms;
mod hello;
mod in_turn;
mod in_work;
mod invocations;
mod keep;
mod list;
mod news;
mod offer;
mod original;
mod partial;
mod patience;
mod payload;
mod read;
mod report;
mod session;
mod sight;
mod speaker;
mod status;
mod stream_limit;
mod tainted;
mod trails;
mod whole;
mod wire;
mod worker;
mod worker_parts;

pub(crate) use beat::answer as heartbeat;
pub(crate) use invocations::{InvocationApi, InvocationParts};
pub(crate) use session::Session;
#[cfg(test)]
pub(crate) use sight::may_read;
pub(crate) use stream_limit::StreamLimit;
pub(crate) use wire::command as worker_command;
pub(crate) use worker::WorkerApi;
pub(crate) use worker_parts::{WorkerParts, WorkerTerms};
