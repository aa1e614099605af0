//! Permission rules as pure values: what a rule says, which rules a call matches, what follows from them and why.
//!
//! Deny is stronger than ask, ask is stronger than allow, and no rule at all means ask. A fact that no trusted source
//! states never helps a call: it satisfies no allow, and it does not get past a deny. What the text of a rule fits is
//! said by [`toolplane_matching`]. This crate knows no store, no clock, no network, no async runtime and no tool: it
//! sees the facts of one call and nothing else.
//!
//! ```
//! use toolplane_matching::ToolFacts;
//! use toolplane_policy::{CallFacts, Policy, RuleSet, evaluate};
//! use toolplane_records::{ids::ToolId, payload::JsonPayload, rule::PermissionRule, time::Timestamp};
//! use toolplane_records::vocabulary::{Behavior, ToolKind};
//!
//! let rules: Vec<PermissionRule> = serde_json::from_str(
//!     r#"[{ "rule_id": "pull", "source": "policy_settings", "behavior": "allow", "matcher": "Bash(git pull:*)" },
//!         { "rule_id": "push", "source": "policy_settings", "behavior": "deny", "matcher": "Bash(git push:*)" }]"#,
//! )?;
//! let policy = Policy::of(RuleSet::build(&rules).map_err(|faults| faults[0].description.clone())?);
//! let decide = |command: &str| {
//!     let mut tool = ToolFacts::named(ToolId::from_trusted("tool:sh"), "demo.sh", "demo");
//!     tool.kind = Some(ToolKind::ShellCommand);
//!     let call = CallFacts::new(tool, JsonPayload::of(&serde_json::json!({ "command": command })));
//!     evaluate(&policy, &call, Timestamp::from_millis(0)).behavior
//! };
//! assert_eq!(decide("git push --force"), Behavior::Deny);
//! // Every part of a command must be allowed; what no rule is about is asked.
//! assert_eq!(decide("git pull && make"), Behavior::Ask);
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

pub mod call;
pub mod condition;
pub mod evaluate;
pub mod explain;
#[cfg(test)]
mod fuzz;
mod looked_at;
pub mod org;
pub mod policy;
pub mod rule;
mod scene;
pub mod set;
pub mod settings;
pub mod suggest;
pub mod verdict;

pub use call::{CallFacts, CallerFacts, FactName, SafetyFacts};
pub use evaluate::{evaluate, evaluate_and_note};
pub use explain::explain;
pub use looked_at::LookedAt;
pub use org::{OrgPolicy, OrgVerdict};
pub use policy::Policy;
pub use rule::Rule;
pub use set::RuleSet;
pub use settings::PolicySettings;
pub use suggest::{MatchPreview, SuggestedUpdate, suggestions};
pub use verdict::Verdict;
