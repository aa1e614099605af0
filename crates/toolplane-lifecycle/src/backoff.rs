//! How long a call waits before it is executed again.

use toolplane_records::ids::InvocationId;
use toolplane_records::payload::Digest;

/// Bound of the wait before the second execution; doubles with every further one.
const BASE_MS: u64 = 200;
/// Longest wait that is chosen here.
const MAX_MS: u64 = 30_000;
/// Longest wait a tool can ask for: it keeps its place before others for as long.
const MAX_ASKED_MS: u64 = 300_000;

/// Milliseconds from the end of execution `attempt` (from 1) to the next one.
///
/// What the tool asks for wins, up to 5 minutes. Otherwise anything from nothing to 200 ms, doubled with every attempt,
/// up to 30 s: calls that failed together come back apart. The choice follows from id and attempt, so that a second
/// decision gives the same.
pub(crate) fn wait_ms(id: &InvocationId, attempt: u32, retry_after_ms: Option<u64>) -> i64 {
    let wait = match retry_after_ms {
        Some(asked) => asked.min(MAX_ASKED_MS),
        None => {
            let bound = (BASE_MS << attempt.saturating_sub(1).min(16)).min(MAX_MS);
            draw(id, attempt) % (bound + 1)
        }
    };
    i64::try_from(wait).unwrap_or_default()
}

/// An even choice that is the same for the same call and attempt.
fn draw(id: &InvocationId, attempt: u32) -> u64 {
    let digest = Digest::of(format!("{id}#{attempt}").as_bytes());
    digest.as_bytes().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}
