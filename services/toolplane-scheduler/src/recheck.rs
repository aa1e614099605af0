//! Whether what was decided about accepted calls still holds, and the answers of people they wait for.
//!
//! One way only: what is in force is heard ([`DecisionsInForce`]); calls that it no longer covers are decided about again
//! ([`Rechecker`]); answers are brought to the calls that wait for them ([`Approvals`]), also those about results
//! ([`ResultQuestions`]).

mod approvals;
mod edit;
mod in_force;
mod of_result;
mod rechecker;
mod run;

pub(crate) use approvals::Approvals;
pub(crate) use in_force::DecisionsInForce;
pub(crate) use of_result::{ResultQuestions, WaitingResults};
pub(crate) use rechecker::Rechecker;
pub(crate) use run::RecheckLoop;
