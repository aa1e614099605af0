//! What every kind of tool offers.

use futures_util::future::BoxFuture;

use crate::call::{Call, Context};
use crate::outcome::Outcome;

/// Runs the calls of one kind of binding.
pub trait Adapter: Send + Sync + std::fmt::Debug {
    /// The pool whose calls it runs.
    fn pool(&self) -> &'static str;

    /// Whether it runs nothing without a sandbox.
    fn needs_sandbox(&self) -> bool;

    /// Runs one call to its end, within the call's timeout, and soon after its cancellation.
    ///
    /// Never fails and never panics: a failure of any kind is an outcome. Dropping the future ends everything the call
    /// started.
    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome>;
}
