//! Rules as people write them.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolplane_records::error::FieldViolation;
use toolplane_records::vocabulary::{Behavior, RuleSource};

use crate::matcher::{FactCondition, Matcher, ToolPattern};
use crate::rules::Rule;

/// Most rules of one configuration.
const MAX_RULES: usize = 10_000;
/// Most characters of a reason.
const MAX_REASON_CHARS: usize = 400;

/// The rules of a deployment. Unknown keys are refused: a misspelt condition would make a rule wider than it was meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyConfig {
    /// The rules. Their order never changes what is decided, only which of several equal rules is named as the deciding one.
    #[serde(default)]
    pub rules: Vec<RuleConfig>,
}

/// One rule, e.g. `{ behavior = "allow", tool = "files.*", facts = ["read_only"], reason = "reading is fine" }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// Name of the rule in decisions; made from its place and source when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `allow`, `ask` or `deny`.
    #[schemars(with = "String")]
    pub behavior: Behavior,
    /// Which tools: `*`, a name or id, the beginning of one with `*` at its end, or `namespace:<namespace>`.
    pub tool: String,
    /// Facts that must hold, with `!` in front must not: `read_only`, `destructive`, `open_world`, `sensitive_sink`,
    /// `approval_required`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// Where the rule comes from; `project_settings` when left out.
    #[serde(default = "default_source")]
    #[schemars(with = "String")]
    pub source: RuleSource,
    /// Why the rule is there; shown with every decision it makes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

fn default_source() -> RuleSource {
    RuleSource::ProjectSettings
}

impl PolicyConfig {
    /// Checks every rule; all violations are reported, each with a path such as `rules[3].tool`.
    ///
    /// One wrong rule refuses the whole configuration: a deny rule that is skipped is a hole.
    pub fn rules(&self) -> Result<Vec<Rule>, Vec<FieldViolation>> {
        let mut faults = Vec::new();
        let mut rules: Vec<Rule> = Vec::with_capacity(self.rules.len());
        if self.rules.len() > MAX_RULES {
            faults
                .push(violation("rules", format!("has {} entries; at most {MAX_RULES} are allowed", self.rules.len())));
        }
        for (index, config) in self.rules.iter().enumerate().take(MAX_RULES) {
            let place = format!("rules[{index}]");
            let rule = config.check(index, &place, &mut faults);
            if let Some(rule) = rule {
                if let Some(other) = rules.iter().find(|other| other.id == rule.id) {
                    faults.push(violation(format!("{place}.id"), format!("`{}` is given twice", other.id)));
                }
                rules.push(rule);
            }
        }
        if faults.is_empty() { Ok(rules) } else { Err(faults) }
    }
}

impl RuleConfig {
    fn check(&self, index: usize, place: &str, faults: &mut Vec<FieldViolation>) -> Option<Rule> {
        let before = faults.len();
        let id = self.id.clone().unwrap_or_else(|| format!("{}/{index}", self.source));
        if let Err(rule) = toolplane_records::ids::check_id(&id) {
            faults.push(violation(format!("{place}.id"), rule));
        }
        if self.behavior == Behavior::Passthrough {
            faults.push(violation(format!("{place}.behavior"), "must be `allow`, `ask` or `deny`"));
        }
        let tool = self.tool.parse::<ToolPattern>();
        if let Err(rule) = &tool {
            faults.push(violation(format!("{place}.tool"), rule));
        }
        let mut facts: Vec<FactCondition> = Vec::new();
        for (position, text) in self.facts.iter().enumerate() {
            let field = format!("{place}.facts[{position}]");
            match text.parse::<FactCondition>() {
                Err(rule) => faults.push(violation(field, rule)),
                Ok(condition) if facts.iter().any(|other| other.name == condition.name) => {
                    faults.push(violation(field, format!("`{}` is asked for twice", condition.name)));
                }
                Ok(condition) => facts.push(condition),
            }
        }
        let length = self.reason.chars().count();
        if length > MAX_REASON_CHARS {
            let rule = format!("has {length} characters; at most {MAX_REASON_CHARS} are allowed");
            faults.push(violation(format!("{place}.reason"), rule));
        }
        if faults.len() > before {
            return None;
        }
        let matcher = Matcher { tool: tool.ok()?, facts };
        Some(Rule { id, source: self.source, behavior: self.behavior, matcher, reason: self.reason.clone() })
    }
}

fn violation(field: impl Into<String>, rule: impl ToString) -> FieldViolation {
    FieldViolation { field: field.into(), description: rule.to_string() }
}
