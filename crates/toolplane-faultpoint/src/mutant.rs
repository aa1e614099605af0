//! The mutants.

use std::str::FromStr;

/// One broken promise. Each must turn a check of the fault tests red.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutant {
    /// A report under an old lease is taken as if it came under the current one.
    DropFence,
    /// A call that must not run twice is treated as one that may.
    RerunNonIdempotent,
    /// An idempotency key that was used before makes a new call.
    SkipDedupe,
    /// One event of each log is kept from watchers.
    LoseEvent,
    /// A call does not wait for the locks it asked for.
    BargeLock,
    /// An upload is acknowledged before its bytes are kept, and the bytes are lost.
    RecordBeforePayload,
    /// The permit of a call is not given back at its end.
    LeakPermit,
    /// Leases are ended by the clock on the wall, also after a pause in which no worker could renew.
    HostClockLeases,
}

impl Mutant {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::DropFence,
        Self::RerunNonIdempotent,
        Self::SkipDedupe,
        Self::LoseEvent,
        Self::BargeLock,
        Self::RecordBeforePayload,
        Self::LeakPermit,
        Self::HostClockLeases,
    ];

    /// Its name in [`MUTANT_VARIABLE`](crate::MUTANT_VARIABLE).
    pub const fn name(self) -> &'static str {
        match self {
            Self::DropFence => "drop_fence",
            Self::RerunNonIdempotent => "rerun_non_idempotent",
            Self::SkipDedupe => "skip_dedupe",
            Self::LoseEvent => "lose_event",
            Self::BargeLock => "barge_lock",
            Self::RecordBeforePayload => "record_before_payload",
            Self::LeakPermit => "leak_permit",
            Self::HostClockLeases => "host_clock_leases",
        }
    }
}

/// There is no mutant of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMutant(pub String);

impl std::fmt::Display for UnknownMutant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no mutant `{}`", self.0)
    }
}

impl std::error::Error for UnknownMutant {}

impl FromStr for Mutant {
    type Err = UnknownMutant;

    fn from_str(name: &str) -> Result<Self, UnknownMutant> {
        Self::ALL.into_iter().find(|mutant| mutant.name() == name).ok_or_else(|| UnknownMutant(name.to_owned()))
    }
}
