//! How messages travel: the one place of this crate that knows protobuf and gRPC.

mod client;
mod command;
mod fields;
mod offered;
mod report;

pub(crate) use client::{CommandStream, HeartbeatAnswer, NoAnswer, Renewals, SchedulerClient, UploadError};
pub(crate) use fields::ReadBounds;
