//! What a process that is told to stop does about those who wait in it: one rule for gRPC, HTTP and MCP.
//!
//! **What its caller can come back to is waited for no longer once the drain begins.** A call goes on without who waits for it, here while
//! the process drains and elsewhere after it, and its end may take longer than any drain:
//!
//! - who asked for the end of a call is answered with the call as it is, with its id and why ([`cut_short`]);
//! - a client of MCP is answered that its call has not ended, and how to come back;
//! - a stream that can be taken up again ends with [`last_words`], after what is there already. One that begins something anew says first
//!   what it began.
//!
//! What would be lost (a search, a download, an upload) may finish within the bound of the drain.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_records::codes;

use crate::status::ApiError;

/// Why a wait ended before its time.
const REASON: codes::Code = codes::DRAINING;
/// When to ask again: another process is there at once, this one needs a moment.
const COME_BACK: Duration = Duration::from_secs(1);

/// What who waited for the end of a call is told of the wait: the reason, and in how many milliseconds to ask again.
pub fn cut_short() -> (&'static str, u32) {
    (REASON.as_str(), u32::try_from(COME_BACK.as_millis()).unwrap_or(u32::MAX))
}

/// Waits for something its caller can come back to; `None` once the drain began (`drains`). What is there already counts first.
pub async fn wait<T>(drains: &CancellationToken, wait: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = wait => Some(done),
        () = drains.cancelled() => None,
    }
}

/// The end of a stream that can be taken up again.
pub fn last_words() -> ApiError {
    ApiError::Unavailable { reason: REASON, message: "this server is stopping".to_owned(), retry_after: COME_BACK }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn what_is_there_counts_and_nothing_else_is_waited_for() {
        let drains = CancellationToken::new();
        let waiting = tokio::spawn({
            let drains = drains.clone();
            async move { wait(&drains, pending::<()>()).await }
        });
        drains.cancel();
        assert_eq!(waiting.await.unwrap(), None);
        assert_eq!(wait(&drains, ready(1)).await, Some(1));
    }
}
