//! Whether what was decided about accepted calls still holds, and the answers of people they wait for.
//!
//! One way only: what is in force is heard ([`DecisionsInForce`]); calls that it no longer covers are decided about again
//! ([`Rechecker`]); answers are brought to the calls that wait for them ([`Approvals`]), also those about results
//! ([`crate::result_questions`]). Questions that no call waits for are taken back (`strays`).

mod approvals;
mod edit;
mod in_force;
mod rechecker;
mod run;
mod strays;

pub(crate) use approvals::Approvals;
pub(crate) use in_force::DecisionsInForce;
pub(crate) use rechecker::{CaseLookup, Rechecker};
pub(crate) use run::RecheckLoop;
