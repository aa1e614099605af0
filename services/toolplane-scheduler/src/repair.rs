//! What should never be needed, and what earlier versions left: indexes compared with their records, and records under
//! old names.
//!
//! It changes index entries and names, and no call.

mod audit;
mod migrate;

pub(crate) use audit::Audit;
pub(crate) use migrate::Migration;
