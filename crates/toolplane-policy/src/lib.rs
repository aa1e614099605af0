//! Permission rules as pure values: what a rule says, which rules a call matches, what follows from them and why.
//!
//! Deny is stronger than ask, ask is stronger than allow, and no rule at all means ask. A fact nobody vouches for never
//! helps a call: it satisfies no allow, and it does not get past a deny. This crate knows no store, no clock, no network,
//! no async runtime and no tool: it sees the facts of one call and nothing else.

pub mod config;
pub mod evaluate;
pub mod facts;
pub mod matcher;
pub mod rules;
pub mod verdict;

pub use config::{PolicyConfig, RuleConfig};
pub use evaluate::evaluate;
pub use facts::{Certainty, FactName, Facts};
pub use matcher::{FactCondition, Fit, Matcher, ToolPattern};
pub use rules::{Rule, RuleSet};
pub use verdict::Verdict;
