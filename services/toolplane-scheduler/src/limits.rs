//! How much one tenant and one tool may have: running calls, waiting calls, calls per second.

mod bounds;
mod bucket;
mod pushback;
mod rates;

pub(crate) use bounds::{CallLimits, ConfiguredBounds, ToolBound};
pub(crate) use rates::Rates;
