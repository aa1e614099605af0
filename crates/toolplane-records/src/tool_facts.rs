//! What is known of a tool beside its schemas: its names, its kind and its risk facts (ours).

use crate::ids::ToolId;
use crate::profile::PermissionProfile;
use crate::vocabulary::{AccessKind, RiskLevel, ToolKind};

/// A tool, as rules, hooks and people are told of it. What its names and kinds mean to a pattern is said by
/// `toolplane_matching` alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Its id.
    pub tool_id: ToolId,
    /// Its full name, `namespace.name`.
    pub full_name: String,
    /// Its namespace.
    pub namespace: String,
    /// Every other name that leads to it. Deny and ask rules may use them; allow rules may not.
    pub aliases: Vec<String>,
    /// Its kind; none when it is not said.
    pub kind: Option<ToolKind>,
    /// How patterns match its input, e.g. `shell_pattern`; empty when its interface does not say.
    pub permission_matcher: String,
    /// Its risk facts.
    pub profile: Option<PermissionProfile>,
}

impl ToolFacts {
    /// A tool of which nothing is known but its names.
    pub fn named(tool_id: ToolId, full_name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            tool_id,
            full_name: full_name.into(),
            namespace: namespace.into(),
            aliases: Vec::new(),
            kind: None,
            permission_matcher: String::new(),
            profile: None,
        }
    }

    /// What it declares to touch; none when it declares nothing.
    pub fn access_kinds(&self) -> Option<&[AccessKind]> {
        self.profile.as_ref().map(|profile| profile.access_kinds.as_slice()).filter(|kinds| !kinds.is_empty())
    }

    /// Its declared risk.
    pub fn risk(&self) -> Option<RiskLevel> {
        self.profile.as_ref().map(|profile| profile.risk_level)
    }
}
