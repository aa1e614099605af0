//! Permission rules as pure values: what a rule says, which rules a call matches, what follows from them and why.
//!
//! Deny is stronger than ask, ask is stronger than allow, and no rule at all means ask. A fact nobody vouches for never
//! helps a call: it satisfies no allow, and it does not get past a deny. What the text of a rule fits is said by
//! [`toolplane_matching`]. This crate knows no store, no clock, no network,
//! no async runtime and no tool: it sees the facts of one call and nothing else.

pub mod call;
pub mod condition;
pub mod evaluate;
pub mod explain;
#[cfg(test)]
mod fuzz;
pub mod org;
pub mod policy;
pub mod rule;
mod scene;
pub mod set;
pub mod settings;
pub mod suggest;
pub mod verdict;

pub use call::{CallFacts, FactName, SafetyFacts};
pub use evaluate::evaluate;
pub use explain::explain;
pub use org::{OrgPolicy, OrgVerdict};
pub use policy::Policy;
pub use rule::Rule;
pub use set::RuleSet;
pub use settings::PolicySettings;
pub use suggest::{MatchPreview, SuggestedUpdate, suggestions};
pub use verdict::Verdict;
