//! The only part that writes invocations: it loads a record, lets the lifecycle decide, commits what follows, and remembers it.
//!
//! It knows no workers, no watchers and no loops. What a change means for them is for the [`EffectHandler`] it was made with.

mod admit;
mod cache;
mod change;
mod dedupe;
mod effects;
mod handle;
mod list;
mod misplaced;
mod places;
mod plans;
mod read;
mod together;

pub(crate) use admit::{Admission, Admitted, AdmittedTogether, Attempt};
pub(crate) use cache::{CacheEntry, CachedCall, Moment};
pub(crate) use change::{Attached, is_race};
pub(crate) use dedupe::{Asked, Remembered, Tombstone};
pub(crate) use effects::{EffectHandler, Update};
pub(crate) use handle::Calls;
pub(crate) use list::CallFilter;
pub(crate) use places::{Expected, ExpectedScore, places_of};
pub(crate) use plans::Plans;
pub(crate) use read::Records;
pub(crate) use together::{CallsById, Claimed, Joint, Together};
