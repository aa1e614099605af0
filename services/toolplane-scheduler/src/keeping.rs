//! How long ended calls stay, what may not be removed, and what is left of what was: the one place that removes a call.
//!
//! A call goes with all that belongs to it, in one commit: because its time is over, or because somebody deleted it. Neither happens to a
//! call a hold is on: the commit compares the holds of its tenant, so a hold that was set counts from then on. A deletion leaves a
//! tombstone, which says what was there and who removed it, and nothing of what it said. What lies elsewhere, kept outputs and questions to
//! people, is written down in the same commit and removed after it (`unfinished`).
//!
//! Some of what a call leaves may go before it, by class: then its record says what went and when.

mod agenda;
mod deletion;
mod holds;
mod originals;
mod removal;
mod stays;
mod times;
mod tombstone;
mod unfinished;

pub(crate) use agenda::Agenda;
pub(crate) use deletion::{Deletions, Request as DeletionRequest, Undeleted};
pub(crate) use holds::{HoldScope, Holds, LegalHold};
pub(crate) use removal::Removal;
pub(crate) use stays::{Stay, Stays};
pub(crate) use times::{Due, KeepRule, KeepTimes};
pub(crate) use unfinished::{NoQuestions, Questions, Unfinished};
