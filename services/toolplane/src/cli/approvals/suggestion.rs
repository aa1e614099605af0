//! Suggested updates: rules that would answer a question from then on, each with a preview of what it matches.

use serde::Deserialize;
use toolplane_proto::v1;
use toolplane_records::rule::{ArgumentCondition, RulePin, RuleScope};

use crate::cli::failure::Failure;
use crate::cli::output::{Output, payload_text};

/// One suggested update of a decision.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Suggestion {
    /// Its name, unique within its decision.
    pub(crate) suggestion_id: String,
    /// What its rules do.
    #[serde(default)]
    pub(crate) behavior: String,
    /// Where its rules go, e.g. `session` or `project_settings`.
    #[serde(default)]
    pub(crate) destination: String,
    #[serde(default)]
    rules: Vec<SuggestedRule>,
    #[serde(default)]
    preview: ShownPreview,
}

/// What is shown of a rule: all that says how far it reaches.
#[derive(Clone, Debug, Default, Deserialize)]
struct SuggestedRule {
    #[serde(default)]
    matcher: String,
    #[serde(default)]
    facts: Vec<String>,
    #[serde(default)]
    arguments: Vec<ArgumentCondition>,
    #[serde(default)]
    scope: RuleScope,
    #[serde(default)]
    pin: Option<RulePin>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct ShownPreview {
    #[serde(default)]
    description: String,
    #[serde(default)]
    matches: Vec<serde_json::Value>,
    #[serde(default)]
    does_not_match: Vec<serde_json::Value>,
}

impl Suggestion {
    /// Those that can be read; a newer cluster may know further kinds.
    pub(crate) fn all(payloads: &[v1::JsonPayload]) -> Vec<Self> {
        payloads.iter().filter_map(|payload| serde_json::from_str(&payload_text(Some(payload))?).ok()).collect()
    }

    /// The same with rules that do something else.
    pub(crate) fn turned(&self, behavior: &str) -> Self {
        Self { behavior: behavior.to_owned(), ..self.clone() }
    }

    /// Its rules in one line, e.g. `allow Bash(git diff:*)`.
    pub(crate) fn rules(&self) -> String {
        let rules: Vec<String> = self.rules.iter().map(SuggestedRule::describe).collect();
        format!("{} {}", self.behavior, rules.join(", "))
    }

    /// For whom its rules hold, and how long.
    fn reach(&self) -> Option<String> {
        let rule = self.rules.first()?;
        let RuleScope { tenant, namespace, actor, role, session, surface } = &rule.scope;
        let named = [
            ("tenant", tenant),
            ("namespace", namespace),
            ("actor", actor),
            ("role", role),
            ("session", session),
            ("surface", surface),
        ];
        let named = named.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name} {value}"));
        let scope = named.collect::<Vec<_>>().join(", ");
        let scope = if scope.is_empty() { "everybody".to_owned() } else { scope };
        Some(match &rule.pin {
            Some(pin) if self.behavior == "allow" => {
                format!("{scope}; as long as the tool is declared as now ({})", pin.declaration_digest)
            }
            _ => format!("{scope}; however the tool is declared"),
        })
    }

    /// What it adds, what that matches, and what it does not.
    pub(crate) fn print(&self, out: &mut Output) -> Result<(), Failure> {
        self.lines().iter().try_for_each(|line| out.line(line))
    }

    /// The same on standard error, beside the answer.
    pub(crate) fn note(&self, out: &Output) -> Result<(), Failure> {
        self.lines().iter().try_for_each(|line| out.note(line))
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("  {}  {}  in {}", self.suggestion_id, self.rules(), self.destination)];
        if !self.preview.description.is_empty() && self.behavior == "allow" {
            lines.push(format!("      {}", self.preview.description));
        }
        lines.extend(self.reach().map(|reach| format!("      for          {reach}")));
        let examples = |examples: &[serde_json::Value]| {
            let shown: Vec<String> = examples.iter().map(example).collect();
            shown.join("  ·  ")
        };
        if !self.preview.matches.is_empty() {
            lines.push(format!("      matches      {}", examples(&self.preview.matches)));
        }
        if !self.preview.does_not_match.is_empty() {
            lines.push(format!("      but not      {}", examples(&self.preview.does_not_match)));
        }
        lines
    }
}

impl SuggestedRule {
    fn describe(&self) -> String {
        let arguments = self.arguments.iter().map(|condition| match &condition.value {
            Some(value) => format!("{}={}:{}", condition.pointer, condition.op, value.text()),
            None => format!("{}={}", condition.pointer, condition.op),
        });
        std::iter::once(self.matcher.clone())
            .chain(self.facts.iter().cloned())
            .chain(arguments)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn example(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use toolplane_proto::v1::json_payload::Body;

    use super::*;

    fn payload(json: &'static str) -> v1::JsonPayload {
        v1::JsonPayload { body: Some(Body::Inline(json.as_bytes().into())), ..Default::default() }
    }

    #[test]
    fn a_suggestion_shows_what_it_would_match() {
        let given = [
            payload(
                r#"{"suggestion_id":"s2","type":"add_rules","behavior":"allow","destination":"project_settings",
                    "rules":[{"matcher":"Bash(git diff:*)","source":"project_settings","scope":{"tenant":"acme"},
                    "arguments":[{"pointer":"/n","op":"eq","value":1}]}],
                    "preview":{"description":"every git diff","matches":["git diff","git diff --stat"],
                    "does_not_match":["git push",{"input":{"command":"git diff; id"}}]}}"#,
            ),
            payload("[]"),
        ];
        let all = Suggestion::all(&given);
        assert_eq!(all.len(), 1);
        let text = all[0].lines().join("\n");
        assert_eq!(
            text,
            "  s2  allow Bash(git diff:*) /n=eq:1  in project_settings\n      every git diff\n      for          tenant acme; however the tool \
             is declared\n      matches      git diff  ·  git diff --stat\n      \
             but not      git push  ·  {\"input\":{\"command\":\"git diff; id\"}}"
        );
    }
}
