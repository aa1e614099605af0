//! Tests of the lifecycle, by topic.

mod ambiguity;
mod batches;
mod cancels;
mod fairness;
pub(crate) mod fixtures;
mod gates;
mod inputs;
mod lives;
mod locks;
mod partials;
mod permits;
mod post_hooks;
mod results;
mod retries;
