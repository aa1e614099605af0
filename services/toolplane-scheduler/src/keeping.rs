//! How long ended calls stay, what may not be removed, and what is left of what was: the one place that removes a call.
//!
//! A call goes with all that belongs to it, in one commit: because its time is over, or because somebody deleted it. Neither happens to a
//! call a hold is on: the commit compares the holds of its tenant, so a hold that was set counts from then on. A deletion leaves a
//! tombstone, which says what was there and who removed it, and nothing of what it said.

mod deletion;
mod holds;
mod originals;
mod removal;
mod times;
mod tombstone;

pub(crate) use deletion::{Deletions, Request as DeletionRequest, Undeleted};
pub(crate) use holds::{HoldScope, Holds, LegalHold};
pub(crate) use removal::Removal;
pub(crate) use times::KeepTimes;
