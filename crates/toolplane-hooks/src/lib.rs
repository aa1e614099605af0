//! Hooks: what an operator hangs into the life of a call, and what it may do there.
//!
//! [`Hooks`] are the hooks of one process, opened from its configuration. [`Hooks::run`] asks every hook of one point, in
//! order, and gives back one [`Folded`] answer. Hooks are programs in the sandbox or services behind `HookService`; both
//! are told a [`HookInput`] and answer with a [`HookOutput`].
//!
//! Three rules hold everywhere:
//!
//! - **A hook that fails counts as a refusal**: no answer in time, a wrong exit code, an answer that cannot be read.
//!   Before a call that is a deny, after it the output is withheld.
//! - **A hook tightens, and never loosens.** Adding a hook to a fold leaves it as strict or makes it stricter; what an
//!   `allow` is worth is decided by the permission rules.
//! - **Hooks see the observable copy of an input.** [`restore`](restore::restore) puts the real values back where a hook
//!   left the mark of a redacted field.
//!
//! Everything but the two ways of asking ([`Hooks`]) is pure.

pub mod bounds;
pub mod error;
pub mod failure;
pub mod fold;
#[cfg(test)]
mod fuzz;
mod hook_meta;
mod hooks;
pub mod input;
pub mod output;
mod program;
mod record;
pub mod replacement;
pub mod restore;
mod run;
mod service;
mod told;

pub use error::HooksError;
pub use failure::HookFailure;
pub use fold::{Folded, fold};
pub use hook_meta::HookMeta;
pub use hooks::Hooks;
pub use input::{HookInput, HookOutcome};
pub use output::HookOutput;
pub use replacement::Replacement;
pub use restore::{RestoreError, restore};
pub use run::HookRun;
