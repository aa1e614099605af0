//! Statuses the transport makes itself, put right: a request that cannot be decoded is the caller's mistake.

use std::time::Duration;
use toolplane_records::codes;

use tonic::{Code, Status};

use crate::status::ApiError;

/// What the transport says when prost cannot read a message.
const UNDECODABLE: &str = "failed to decode Protobuf message";
/// What it says when a message is over the limit.
const TOO_LONG: &str = "decoded message length too large";
const TOO_LONG_UNPACKED: &str = "Error decompressing: size limit";

/// The status a caller should see for an error that came out of its request stream; others pass unchanged.
///
/// Responses of handlers are put right by the server itself; handlers that read a request stream and answer its errors
/// in words of their own use this.
pub fn request_fault(status: Status) -> Status {
    corrected(&status).unwrap_or(status)
}

pub(super) fn corrected(status: &Status) -> Option<Status> {
    let text = status.message();
    match status.code() {
        Code::Internal if text.starts_with(UNDECODABLE) => {
            let detail = text[UNDECODABLE.len()..].trim_start_matches([':', ' ']);
            Some(ApiError::invalid_argument("request", format!("is not a valid message: {detail}")).into())
        }
        Code::OutOfRange | Code::ResourceExhausted
            if text.contains(TOO_LONG) || text.starts_with(TOO_LONG_UNPACKED) =>
        {
            let error = ApiError::Exhausted {
                reason: codes::MESSAGE_TOO_LARGE,
                subject: "message".to_owned(),
                message: text.trim_start_matches("Error, ").to_owned(),
                retry_after: None::<Duration>,
            };
            Some(error.into())
        }
        _ => None,
    }
}
