//! The machine's wall clock, for what is told to people and other processes: when something began, how old it is.
//!
//! What is decided goes by the clock of the store (`toolplane_store::MonotonicClock`, or the server's on Redis), which is
//! handed in; how long something took goes by [`std::time::Instant`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolplane_records::time::Timestamp;

/// The time now, by this machine.
pub fn now() -> Timestamp {
    Timestamp::from_millis(i64::try_from(since_epoch().as_millis()).unwrap_or(i64::MAX))
}

/// The time since 1970 in UTC, by this machine; nothing when its clock says that it is earlier.
#[expect(clippy::disallowed_methods, reason = "this is the clock others are told to use")]
pub fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
