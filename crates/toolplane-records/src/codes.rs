//! Every code an error may have: of calls, of requests that are refused, and of processes that cannot go on.
//!
//! Code that makes an error takes its code from here, so no code means two things, and `docs/errors.md` has each of
//! them with its cause and its cure. A new code is one row of `codes/calls.rs`, `codes/refusals.rs` or
//! `codes/faults.rs`; `cargo xtask gen` writes the page anew.

mod calls;
mod code;
mod faults;
mod page;
mod refusals;
#[cfg(test)]
mod tests;

pub use calls::*;
pub use code::{Code, CodeEntry, Kind, Retry, Status};
pub use faults::*;
pub use page::page;
pub use refusals::*;

use crate::vocabulary::Recoverability;

impl Code {
    /// Every code, in the order of the page.
    pub fn all() -> impl Iterator<Item = Self> {
        [CALLS, REFUSALS, FAULTS].into_iter().flatten().copied()
    }

    /// The code of that text; for one of a family its family.
    pub fn find(text: &str) -> Option<Self> {
        let exact = Self::all().find(|code| code.as_str() == text);
        exact.or_else(|| {
            let family = |code: &Self| code.prefix().is_some_and(|prefix| text.starts_with(prefix));
            Self::all().find(family)
        })
    }
}

/// What to do about the error of a call, in a sentence or two: what the registry says of its code, unless the advice for this call is
/// another one than the code usually has.
pub fn cure_of(error_code: &str, advice: Recoverability) -> &'static str {
    let usual =
        Code::find(error_code).filter(|code| matches!(code.entry().kind, Kind::Call(_, usual) if usual == advice));
    match usual {
        Some(code) => code.entry().cure,
        None => by_advice(advice),
    }
}

fn by_advice(advice: Recoverability) -> &'static str {
    match advice {
        Recoverability::NotRetryable => {
            "Do not make the same call again: go on without it, or reach the goal another way."
        }
        Recoverability::RetrySafe => "Make the same call again; that does no harm.",
        Recoverability::RetryLater => {
            "Wait for a while, `retry_after_ms` where it is given, and make the same call again."
        }
        Recoverability::ChangeArguments => {
            "Change the arguments as the message and `field_violations` say, and call again."
        }
        Recoverability::ChangeArgumentsOrPolicy => {
            "Make another call that is allowed, or ask the operator to change the policy."
        }
        Recoverability::DiscoverToolFirst => "Search the tools of the surface, load the one that fits, and call that.",
        Recoverability::RequestApprovalAgain => {
            "Make the call again when a person can approve it, or go on without it."
        }
        Recoverability::CompleteSetup => {
            "The operator completes the setup the message names; until then no call of the tool can succeed."
        }
        Recoverability::VerifyBeforeRetry => "Find out whether the effect has happened before the call is made again.",
    }
}
