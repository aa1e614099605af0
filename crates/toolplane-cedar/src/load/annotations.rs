//! Annotations: what a policy says beside its condition.

use cedar_policy::{Effect, Policy};

use crate::policies::Meaning;

/// A misspelt `@ask` would make an allow of a question, so every annotation must be known.
const KNOWN: [&str; 5] = ["id", "ask", "reason", "description", "owner"];
/// Most characters of `@ask` and `@reason`.
const MAX_CHARS: usize = 400;

/// The id, when there is one, and the meaning; or every rule that is broken.
pub(super) fn read(policy: &Policy) -> Result<(Option<String>, Meaning), Vec<String>> {
    let mut rules = Vec::new();
    for (name, value) in policy.annotations() {
        if !KNOWN.contains(&name) {
            rules.push(format!("the annotation `@{name}` is not one of @{}", KNOWN.join(", @")));
        }
        if matches!(name, "ask" | "reason") && value.chars().count() > MAX_CHARS {
            rules.push(format!("the annotation `@{name}` has more than {MAX_CHARS} characters"));
        }
    }
    let id = policy.annotation("id").map(str::to_owned);
    if let Some(id) = &id
        && let Err(rule) = toolplane_records::ids::check_id(id)
    {
        rules.push(format!("the id {rule}"));
    }
    let meaning = Meaning {
        forbids: policy.effect() == Effect::Forbid,
        ask: policy.annotation("ask").map(str::to_owned),
        reason: policy.annotation("reason").unwrap_or_default().to_owned(),
    };
    if rules.is_empty() { Ok((id, meaning)) } else { Err(rules) }
}
