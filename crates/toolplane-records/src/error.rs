//! Structured tool errors (contracts/errors-and-retries).

use serde::{Deserialize, Serialize};

use crate::codes::Code;
use crate::vocabulary::{AbortReason, ErrorClass, Recoverability};

/// Why a call did not succeed and what could help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolError {
    /// Stable, finer than the class, e.g. `exec.outcome_unknown`.
    pub error_code: String,
    /// Class of the standard.
    pub error_class: ErrorClass,
    /// For people and models; no secrets, no stack traces.
    pub message: String,
    /// What has to change before a retry can help.
    pub recoverability: Recoverability,
    /// Milliseconds to wait before a retry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// The native error, by reference or code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native_error_ref: Option<String>,
    /// Policies that led to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_refs: Vec<String>,
    /// Evidence for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_refs: Vec<String>,
    /// Why an execution was aborted, when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub abort_reason: Option<AbortReason>,
    /// `none` when nothing can have happened, `completed` when the effect is done, `unknown` when something may have happened
    /// (ours).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<String>,
    /// The path that was refused, when one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_path: Option<String>,
    /// The fields that were wrong, with the rule each broke.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub field_violations: Vec<FieldViolation>,
    /// What to do about it, in a sentence (ours): the tool's own words, else those the registry has for the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_suggestion: Option<String>,
    /// Tools that may help now, by their names in the surface of the call; none that it does not have (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
    /// Whether the same call may be made again as it is, now or after `retry_after_ms` (ours). Absent until the call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_retry: Option<bool>,
}

/// Whether the same call may be made again as it is: what [`advice`] left, as one word.
pub fn can_retry(given: Recoverability) -> bool {
    matches!(given, Recoverability::RetrySafe | Recoverability::RetryLater)
}

/// The advice that goes with what is known of effects, in any wording: no caller is told that repeating is safe where
/// an effect may have happened and would happen twice, and none is sent to check where there is nothing to find.
///
/// `idempotent`: running the call again does no harm. `side_effects`: as in [`ToolError::side_effects`]; nothing said
/// means that it is not known.
pub fn advice(wanted: Recoverability, idempotent: bool, side_effects: Option<&str>) -> Recoverability {
    let harmless = idempotent || side_effects == Some("none");
    match wanted {
        Recoverability::RetrySafe | Recoverability::RetryLater if !harmless => Recoverability::VerifyBeforeRetry,
        Recoverability::VerifyBeforeRetry if harmless => Recoverability::RetrySafe,
        wanted => wanted,
    }
}

/// One wrong field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FieldViolation {
    /// JSON pointer or field path.
    pub field: String,
    /// The rule it broke.
    pub description: String,
}

/// Violations within something that is called `name` where it is spoken of. A place in it is a pointer; the whole has none, and a
/// field without a name would say nothing.
pub fn named(name: &str, violations: Vec<FieldViolation>) -> Vec<FieldViolation> {
    let named = |violation: FieldViolation| match violation.field.as_str() {
        "" => FieldViolation { field: name.to_owned(), ..violation },
        _ => violation,
    };
    violations.into_iter().map(named).collect()
}

impl ToolError {
    /// An error with this code and text, of the class and with the advice the registry gives the code; nothing else set.
    pub fn of(error_code: Code, message: impl Into<String>) -> Self {
        let (class, advice) = error_code.of_call();
        Self::new(error_code, class, advice, message)
    }

    /// The same for the cases in which the class or the advice is another than usual: the caller says why.
    pub fn new(
        error_code: Code,
        error_class: ErrorClass,
        recoverability: Recoverability,
        message: impl Into<String>,
    ) -> Self {
        Self {
            error_code: error_code.into(),
            error_class,
            message: message.into(),
            recoverability,
            retry_after_ms: None,
            native_error_ref: None,
            policy_refs: Vec::new(),
            evidence_refs: Vec::new(),
            abort_reason: None,
            side_effects: None,
            blocked_path: None,
            field_violations: Vec::new(),
            recovery_suggestion: None,
            next_steps: Vec::new(),
            can_retry: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::advice;
    use crate::vocabulary::Recoverability::{self, NotRetryable, RetryLater, RetrySafe, VerifyBeforeRetry};

    #[test]
    fn advice_and_effects_never_contradict_each_other() {
        for &wanted in Recoverability::ALL {
            for side_effects in [None, Some("none"), Some("unknown"), Some("completed")] {
                let harmful = side_effects != Some("none");
                let given = advice(wanted, false, side_effects);
                assert!(!(harmful && matches!(given, RetrySafe | RetryLater)), "{wanted} {side_effects:?}");
                assert!(harmful || given != VerifyBeforeRetry, "{wanted}: there is nothing to find");
                assert_ne!(
                    advice(wanted, true, side_effects),
                    VerifyBeforeRetry,
                    "{wanted}: it may simply be repeated"
                );
            }
        }
        assert_eq!(advice(NotRetryable, true, Some("none")), NotRetryable);
        assert_eq!(advice(RetryLater, true, Some("unknown")), RetryLater);
    }
}
