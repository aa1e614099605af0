//! What happens because time passes: due timers, leases that are over, and the end of what is kept.

mod due;
mod retention;
mod sweep;
mod watchdog;

pub(crate) use due::DueTimers;
pub(crate) use retention::Retention;
pub(crate) use sweep::Timers;
pub(crate) use watchdog::LeaseWatchdog;
