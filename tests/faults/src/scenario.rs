//! What is done to a cluster, and what must follow from it.

mod approvals;
mod cases;
mod chance;
mod executor_points;
mod fair;
mod links;
mod mutants;
mod outcome;
mod pauses;
pub mod points;
mod poison;
mod races;
mod servers;
mod store_faults;
pub mod storm;
mod under_load;
mod watching;

pub use outcome::Outcome;
pub(crate) use outcome::wrong;

pub use cases::{CASES, Case};
pub use executor_points::executor_points;
pub use mutants::{killed, mutants};
pub use servers::servers;

pub(crate) use under_load::under_load;
