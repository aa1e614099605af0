//! From accepted calls to workers with free slots: workers and what they serve, ready queues, turns, claims, offers and starts.
//!
//! It knows no gRPC, and changes calls only through [`crate::calls::Calls`].

mod admissions;
mod claim;
mod fleet;
mod gate;
mod grant;
mod link;
pub(crate) mod lost;
mod message;
mod offer;
mod passed_over;
mod placement;
mod posture;
mod quarantine;
mod queues;
pub(crate) mod receipts;
mod roster;
mod rounds;
mod start;
mod workers;

pub(crate) use admissions::{Admissions, Granted, LocksAtOnce};
pub(crate) use claim::Claims;
pub(crate) use fleet::Fleet;
pub(crate) use gate::{Decisions, EveryDecisionHolds, StartGate};
pub(crate) use grant::Grants;
pub(crate) use link::{PoolGap, WorkerInfo, WorkerLink};
pub(crate) use message::WorkerMessage;
pub(crate) use offer::{AsksHooks, Offers};
pub(crate) use placement::{Placements, gap_error};
pub(crate) use quarantine::{Quarantine, kept_out_error};
pub(crate) use queues::ReadyQueues;
pub(crate) use roster::{RecordedWorker, Roster};
pub(crate) use rounds::Rounds;
pub(crate) use start::{Started, Starts};
pub(crate) use workers::{Placement, Workers};
