//! Permission rules as pure values: what a rule says, which rules a call matches, what follows from them and why.
//!
//! Deny is stronger than ask, ask is stronger than allow, and no rule at all means ask. A fact nobody vouches for never
//! helps a call: it satisfies no allow, and it does not get past a deny. This crate knows no store, no clock, no network,
//! no async runtime and no tool: it sees the facts of one call and nothing else.

pub mod call;
pub mod command;
pub mod condition;
pub mod evaluate;
pub mod explain;
pub mod fit;
#[cfg(test)]
mod fuzz;
pub mod glob;
pub mod mode;
pub mod org;
pub mod path;
pub mod pattern;
pub mod policy;
pub mod rule;
mod scene;
pub mod set;
pub mod settings;
pub mod subject;
pub mod suggest;
pub mod tools;
pub mod url;
pub mod verdict;

pub use call::{CallFacts, FactName, SafetyFacts, ToolFacts};
pub use evaluate::evaluate;
pub use explain::explain;
pub use fit::{Certainty, Fit};
pub use mode::Mode;
pub use org::{OrgPolicy, OrgVerdict};
pub use policy::Policy;
pub use rule::Rule;
pub use set::RuleSet;
pub use settings::PolicySettings;
pub use suggest::{Preview, SuggestedUpdate, suggestions};
pub use tools::ToolPattern;
pub use verdict::Verdict;
