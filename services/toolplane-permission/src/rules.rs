//! The rules in force: those of the configuration and its files, and those people made while the role runs.

mod active;
mod book;
pub(crate) mod change;
mod error;
mod fault;
mod files;
pub(crate) mod follow;
mod offline;
mod organisation;
mod remarks;
mod source;
pub(crate) mod stored;
#[cfg(test)]
mod tests;
mod text;

pub use active::{Active, OrgPolicies, Settings};
pub use book::{Policy, RuleBook};
pub use change::Addition;
pub use error::RulesError;
pub use fault::{Fault, Faults};
pub use offline::read_file;
pub use remarks::remarks;
pub use source::Source;
pub use stored::{ORIGIN, PREFIX, rule_id};
pub(crate) use text::RuleText;
