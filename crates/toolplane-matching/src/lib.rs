//! What the texts mean that name tools, commands, paths and hosts: one reading for rules, hooks, the catalogue, tools and limits.
//!
//! A [`Matcher`] is the pattern in a rule, `Bash(git diff:*)`; [`Matchers`] are several of them, as a hook takes them.
//! Both are compared with a call by [`MatchTarget`]. The parts of it have their own modules: [`tools`] for names and
//! families, [`pattern`] for the text in brackets, [`command`] for what a shell text runs, [`path`] and [`url`] for
//! what an input names, [`glob`] for texts with `*` in them, [`host`] for hosts and addresses.
//!
//! This crate knows no store, no clock, no network, no async runtime and no rule: it says what fits, never what follows.
//!
//! ```
//! use toolplane_matching::{MatchTarget, Matchers, ToolFacts, ToolMatching as _, subject::Workspace};
//! use toolplane_records::{ids::ToolId, vocabulary::ToolKind};
//!
//! let mut tool = ToolFacts::named(ToolId::from_trusted("tool:sh"), "demo.sh", "demo");
//! tool.kind = Some(ToolKind::ShellCommand);
//! let fits = |matchers: &str, command: &str| {
//!     let subjects = tool.subjects(&serde_json::json!({ "command": command }), &Workspace::default());
//!     Ok::<_, toolplane_matching::InvalidMatchers>(matchers.parse::<Matchers>()?.fit(&MatchTarget::new(&tool, &subjects)))
//! };
//! assert!(fits("Bash(git push:*)", "cd repo && git push --force")?);
//! assert!(!fits("Bash(git push:*)", "git pull")?);
//! // A slip is refused, with the word that may have been meant.
//! assert!(fits("Bsh", "ls").is_err());
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

pub mod command;
pub mod fit;
#[cfg(test)]
mod fuzz;
pub mod glob;
pub mod host;
pub mod matcher;
mod near;
pub mod path;
pub mod pattern;
mod sandbox;
pub mod spelling;
pub mod subject;
pub mod target;
pub mod tool;
pub mod tools;
pub mod url;

pub use fit::{Certainty, Fit};
pub use matcher::{InvalidMatchers, Matcher, Matchers, SubjectPattern};
pub use near::near;
pub use sandbox::may_speak_of_sandbox;
pub use target::MatchTarget;
pub use tool::ToolMatching;
pub use toolplane_records::tool_facts::ToolFacts;
pub use tools::{Family, ToolPattern};
