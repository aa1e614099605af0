//! The section of the permission role.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::error::ConfigError;

/// The permission role. Everything here but the time and the counts is read again while the role runs: on SIGHUP, when a
/// file changes, and on `ReloadRules`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct PermissionConfig {
    /// The rules, each a table as the permission role reads it. No rule means: ask.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>"))]
    pub rules: Vec<toml::Table>,
    /// Files with further rules (TOML or JSON), also the `settings.json` of coding agents.
    pub rules_files: Vec<PathBuf>,
    /// Cedar policies of the organisation.
    pub cedar_policies: Vec<PathBuf>,
    /// Cedar schema the policies are checked against; the built-in one when absent.
    pub cedar_schema: Option<PathBuf>,
    /// Mode of calls that name none: `default`, `accept_edits`, `plan`, `dont_ask`, or `bypass` when that is allowed.
    pub default_mode: String,
    /// Whether the mode `bypass` means anything. Denies and questions for people still apply in it.
    pub allow_bypass: bool,
    /// Whether a caller may approve its own calls.
    pub allow_self_approval: bool,
    /// How long a question waits for an answer.
    pub approval_ttl_ms: u64,
    /// How long an approved call may wait for its start; later it has to be asked about again.
    pub approval_holds_ms: u64,
    /// Most questions of one tenant that wait at a time.
    pub max_pending_per_tenant: u64,
    /// Most stored rules of one tenant that are in force at a time.
    pub max_rules_per_tenant: u64,
    /// Which calls go to the review queue because their agent was not sure.
    pub review: ReviewConfig,
    /// Namespaces whose tools are not trusted: what they leave unsaid about themselves is asked about.
    pub untrusted_namespaces: Vec<String>,
    /// Where tools see the workspace; paths beneath it are inside.
    pub workspace: String,
    /// Whether version control may run the programs that repositories of the workspace name (filters, text conversions). Without
    /// it, commands that may run them (`git status`, `git diff`) are asked about even if a rule allows them.
    pub trust_repositories: bool,
}

/// Which calls go to the review queue because their agent was not sure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct ReviewConfig {
    /// Calls made with less confidence than this; from 0, which is none, to 1.
    pub confidence_below: f64,
    /// Calls made with one of these verdicts.
    pub verdicts: Vec<String>,
}

impl Default for ReviewConfig {
    fn default() -> Self {
        Self { confidence_below: 0.8, verdicts: vec!["uncertain".to_owned()] }
    }
}

impl Default for PermissionConfig {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            rules_files: Vec::new(),
            cedar_policies: Vec::new(),
            cedar_schema: None,
            default_mode: "default".to_owned(),
            allow_bypass: false,
            allow_self_approval: false,
            approval_ttl_ms: 24 * 60 * 60 * 1000,
            approval_holds_ms: 60 * 60 * 1000,
            max_pending_per_tenant: 10_000,
            max_rules_per_tenant: 10_000,
            review: ReviewConfig::default(),
            untrusted_namespaces: vec!["mcp".to_owned()],
            workspace: "/workspace".to_owned(),
            trust_repositories: false,
        }
    }
}

impl PermissionConfig {
    /// Checks the ranges of this section.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let below = self.review.confidence_below;
        if !(0.0..=1.0).contains(&below) {
            let rule = format!("`{below}` is not between 0 and 1");
            return Err(ConfigError::value("permission.review.confidence_below", rule));
        }
        for (key, count) in [
            ("permission.max_pending_per_tenant", self.max_pending_per_tenant),
            ("permission.max_rules_per_tenant", self.max_rules_per_tenant),
        ] {
            if count == 0 {
                return Err(ConfigError::value(key, "must be at least 1".to_owned()));
            }
        }
        if !self.workspace.starts_with('/') {
            let rule = format!("`{}` does not start with `/`", self.workspace);
            return Err(ConfigError::value("permission.workspace", rule));
        }
        Ok(())
    }
}
