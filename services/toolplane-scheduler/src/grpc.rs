//! The gRPC face of the scheduler: handlers decode, call one method, and encode.

mod encode;
mod invocations;
mod offer;
mod outcome;
mod payload;
mod session;
mod status;
mod worker;

pub(crate) use invocations::InvocationApi;
pub(crate) use session::WorkerTerms;
pub(crate) use worker::WorkerApi;
