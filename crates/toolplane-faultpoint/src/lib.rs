//! Places in the code where a fault test may strike, and mutants: switches that break one promise on purpose.
//!
//! Both work in development builds only. In a release build [`point`] is nothing and [`fails`] and [`mutant`] are `false`,
//! so the compiler removes the call, the branch and the name.
//!
//! - `TOOLPLANE_FAULT=scheduler.after_claim:3` ends the process, as SIGKILL would, when it passes that point the third time.
//!   `:delay=250` sleeps that many milliseconds instead, at this and every later time; `:err` makes [`fails`] say yes, once.
//!   Several are separated by commas. `TOOLPLANE_FAULT=@file` reads them from a file that may change while the process runs;
//!   counting starts anew with each change.
//! - `TOOLPLANE_MUTANT=drop_fence` switches on one [`Mutant`]: a test suite that stays green with it proves nothing.
//!
//! This crate knows nothing of what it interrupts.

mod arm;
mod mutant;

pub use arm::{Action, Arm, BadArm};
pub use mutant::{Mutant, UnknownMutant};

/// The variable that arms points.
pub const FAULT_VARIABLE: &str = "TOOLPLANE_FAULT";
/// The variable that switches on a mutant.
pub const MUTANT_VARIABLE: &str = "TOOLPLANE_MUTANT";

/// Ends or delays the process when this point is armed and due. Blocks the thread while it delays.
#[cfg(debug_assertions)]
#[inline]
pub fn point(name: &'static str) {
    live::point(name);
}

/// Nothing: this is a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn point(_name: &'static str) {}

/// Whether what follows is to fail, once, as if the machine had refused it.
#[cfg(debug_assertions)]
#[inline]
pub fn fails(name: &'static str) -> bool {
    live::fails(name)
}

/// `false`: this is a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn fails(_name: &'static str) -> bool {
    false
}

/// Whether this process is the given mutant.
#[cfg(debug_assertions)]
#[inline]
pub fn mutant(mutant: Mutant) -> bool {
    live::mutant(mutant)
}

/// `false`: this is a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn mutant(_mutant: Mutant) -> bool {
    false
}

#[cfg(debug_assertions)]
mod live;
