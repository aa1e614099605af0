//! One rule as people write it in a configuration or a rules file.

use serde::Deserialize;
use serde_json::Value;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::{ArgumentCondition, PermissionRule, RulePin, RuleScope};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, RuleSource};

/// One rule, e.g. `{ behavior = "allow", tool = "Bash(git diff:*)", reason = "reading is fine" }`. Unknown keys are
/// refused: a misspelt condition would make a rule wider than it was meant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleText {
    /// Name of the rule; made from its place when left out.
    #[serde(default, alias = "rule_id")]
    id: String,
    behavior: Behavior,
    /// Which calls: `*`, `files.*`, `Bash(git diff:*)`, `mcp__server__tool`, ...
    #[serde(alias = "matcher")]
    tool: String,
    #[serde(default)]
    facts: Vec<String>,
    #[serde(default)]
    arguments: Vec<ConditionText>,
    #[serde(default)]
    scope: ScopeText,
    #[serde(default = "project_settings")]
    source: RuleSource,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    author: String,
    #[serde(default)]
    expires_at: Option<Timestamp>,
    #[serde(default, rename = "match")]
    matches: Vec<Value>,
    #[serde(default, rename = "not_match")]
    not_matches: Vec<Value>,
    #[serde(default)]
    shadow: bool,
    /// `sha256:<hex>` of the declaration an allow is bound to.
    #[serde(default)]
    declaration: Option<Digest>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionText {
    pointer: String,
    op: String,
    #[serde(default)]
    value: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ScopeText {
    tenant: String,
    namespace: String,
    actor: String,
    role: String,
    session: String,
    surface: String,
}

fn project_settings() -> RuleSource {
    RuleSource::ProjectSettings
}

impl RuleText {
    /// The rule, kept at `origin`; `fallback` is its name when it has none.
    pub(crate) fn into_record(self, origin: &str, fallback: String) -> PermissionRule {
        let ScopeText { tenant, namespace, actor, role, session, surface } = self.scope;
        let condition = |condition: ConditionText| ArgumentCondition {
            pointer: condition.pointer,
            op: condition.op,
            value: condition.value.as_ref().map(JsonPayload::of),
        };
        PermissionRule {
            rule_id: if self.id.is_empty() { fallback } else { self.id },
            source: self.source,
            behavior: self.behavior,
            matcher: self.tool,
            facts: self.facts,
            arguments: self.arguments.into_iter().map(condition).collect(),
            scope: RuleScope { tenant, namespace, actor, role, session, surface },
            reason: self.reason,
            author: self.author,
            created_at: None,
            expires_at: self.expires_at,
            matches: self.matches.iter().map(JsonPayload::of).collect(),
            not_matches: self.not_matches.iter().map(JsonPayload::of).collect(),
            shadow: self.shadow,
            origin: origin.to_owned(),
            revoked_at: None,
            revoked_by: String::new(),
            pin: self.declaration.map(|declaration_digest| RulePin { declaration_digest, registration: None }),
        }
    }
}

/// A rule of which only its pattern is known, as in the settings of coding agents.
pub(crate) fn bare(
    rule_id: String,
    behavior: Behavior,
    matcher: &str,
    source: RuleSource,
    origin: &str,
) -> PermissionRule {
    PermissionRule { origin: origin.to_owned(), ..PermissionRule::new(rule_id, source, behavior, matcher) }
}
