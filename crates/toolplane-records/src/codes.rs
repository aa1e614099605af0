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
