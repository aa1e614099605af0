//! Trying again while a peer is away.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// How often and how long to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// First wait; doubled each time.
    pub first: Duration,
    /// Longest wait.
    pub most: Duration,
    /// Tries in all, at least one.
    pub tries: u32,
}

impl Default for Backoff {
    /// 50 ms doubling to 2 s, 6 tries: a peer that restarts within about 3 s is not noticed.
    fn default() -> Self {
        Self { first: Duration::from_millis(50), most: Duration::from_secs(2), tries: 6 }
    }
}

impl Backoff {
    /// Four tries within about a quarter of a second: for a call that a caller waits for, when the peer may have moved
    /// or its connection grown old.
    pub const BRIEF: Self = Self { first: Duration::from_millis(20), most: Duration::from_millis(150), tries: 4 };

    /// The wait after try number `tried` (from 1): the doubled first wait, or what the peer asked for when that is longer,
    /// between half and all of it by chance, never more than `most`.
    pub fn wait(&self, tried: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.first.saturating_mul(1 << tried.saturating_sub(1).min(16));
        let full = doubled.max(asked.unwrap_or_default()).min(self.most);
        // Callers that failed together must not come back together.
        let chance = RandomState::new().hash_one(tried) % 1000;
        full / 2 + full.mul_f64(chance as f64 / 2000.0)
    }
}

/// Calls until the answer is something else than `UNAVAILABLE`, or the tries are used up.
///
/// Only for calls that may be repeated: they carry an idempotency key, or change nothing.
///
/// Fails with the [`Status`] of the last call: the first error that is not `UNAVAILABLE`, or the `UNAVAILABLE` of the
/// last try.
pub async fn retry<T, C, F>(backoff: Backoff, mut call: C) -> Result<T, Status>
where
    C: FnMut() -> F,
    F: Future<Output = Result<T, Status>>,
{
    let mut tried = 1;
    loop {
        match call().await {
            Err(status) if status.code() == Code::Unavailable && tried < backoff.tries => {
                let asked = status.get_details_retry_info().and_then(|info| info.retry_delay);
                tokio::time::sleep(backoff.wait(tried, asked)).await;
                tried += 1;
            }
            outcome => return outcome,
        }
    }
}
