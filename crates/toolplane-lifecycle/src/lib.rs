//! The life of one invocation as pure functions: (record, command, now) → (new record, events, effects).
//!
//! The rules are those of the semantics contract: one acceptance, one terminal result, at most one start of a
//! non-idempotent tool, every worker report fenced by its lease. Nothing here reads a clock, a random number, a file or
//! a socket, and nothing is asynchronous: the caller of [`accept`] and [`apply`] hands in the time and stores the
//! outcome in one atomic commit. This crate must not know how records are stored, sent or shown.

mod accept;
mod acceptance;
mod apply;
mod approval;
mod backoff;
pub mod batch;
mod cancel;
mod command;
mod data;
mod decided;
mod draft;
mod edit;
pub mod fairness;
mod finish;
mod hold;
mod hooks;
mod input;
mod invariant;
mod late;
mod lease;
mod legal;
mod lock_set;
pub mod locks;
mod loss;
mod message;
mod original;
mod partial;
mod permit;
mod post_hooks;
mod released;
mod scope;
mod shown;
mod stages;
mod synthetic;
mod times;
mod transition;

#[cfg(test)]
mod tests;

pub use apply::{Unclaimed, apply, claim};

pub use times::{CANCEL_BACKSTOP_MS, INPUT_TTL_MS, MAX_INPUT_TTL_MS, QUARANTINE_MS, TIMEOUT_BACKSTOP_MS};

pub use accept::accept;
pub use acceptance::{Acceptance, Preparation};
pub use command::{
    Command, Holder, InputRequest, LeaseGrant, LeaseKey, Permit, ReportedOutcome, ReportedPartial, ResultQuestion,
    SiblingCause,
};
pub use edit::{Edit, EditedInput, Replan};
pub use hooks::hooks_ran;
pub use invariant::{Invariant, check, check_batch, check_change, check_locks};
pub use late::{is_kept, is_taken, late_report};
pub use legal::is_legal;
pub use message::{LeaseMessage, unheard};
pub use original::original_read;
pub use post_hooks::RESULT_QUESTION;
pub use scope::{InvalidScope, Known, Scope, scopes_of};
pub use transition::{Effect, Refusal, Terminal, Timer, Transition};
