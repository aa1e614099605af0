//! Which parts of a call any policy looks at; what none looks at is not made.

use std::collections::HashSet;

use cedar_policy::Policy;
use serde_json::Value;

/// The names in the policies. A policy reaches an attribute by its name alone, so one whose name is nowhere is never missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Whatever there is of a call.
    Everything,
    /// Only what has one of these names.
    Names(HashSet<String>),
}

// === impl Wanted ===

impl Wanted {
    /// What these policies look at. The JSON form has names as they are, however they were escaped in the text.
    pub(crate) fn of(policies: &[Policy]) -> Self {
        let mut names = HashSet::new();
        for policy in policies {
            let Ok(json) = policy.to_json() else { return Self::Everything };
            // Two records are compared with everything in them, whatever it is called.
            if !collect(&json, &mut names) {
                return Self::Everything;
            }
        }
        Self::Names(names)
    }

    /// Whether any policy looks at something of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Names(names) => names.contains(name),
        }
    }

    /// Whether any policy looks at something of one of these names.
    pub(crate) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }
}

/// Takes in every name and text of a policy. Says whether its context is only asked for attributes.
fn collect(json: &Value, names: &mut HashSet<String>) -> bool {
    match json {
        Value::String(text) => {
            names.insert(text.clone());
            true
        }
        Value::Array(members) => members.iter().all(|member| collect(member, names)),
        Value::Object(fields) if is_context(json) => fields.is_empty(),
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            names.insert(name.clone());
            match (name.as_str(), value) {
                ("." | "has", Value::Object(access)) => {
                    access.iter().all(|(side, value)| (side == "left" && is_context(value)) || collect(value, names))
                }
                _ => collect(value, names),
            }
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn is_context(json: &Value) -> bool {
    json.get("Var").and_then(Value::as_str) == Some("context")
}
