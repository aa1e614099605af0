//! Persistence decisions (contracts/result-persistence-and-rendering).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{DecisionId, InvocationId, ResultId};
use crate::payload::PayloadRef;
use crate::time::Timestamp;
use crate::vocabulary::{PersistenceStrategy, RedactionState};

/// The bound that led to a persistence decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PersistenceThreshold {
    /// Most characters kept inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_inline_chars: Option<u64>,
    /// Most bytes kept inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_inline_bytes: Option<u64>,
}

/// How the bytes of one output of a result are kept, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultPersistence {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the decision.
    pub decision_id: DecisionId,
    /// The call.
    pub invocation_id: InvocationId,
    /// The result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_id: Option<ResultId>,
    /// What was decided.
    pub strategy: PersistenceStrategy,
    /// The bound that applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<PersistenceThreshold>,
    /// Size of the whole output.
    #[serde(default)]
    pub original_size_bytes: u64,
    /// Size of the preview, when one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview_size_bytes: Option<u64>,
    /// Where the whole output is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persisted_ref: Option<PayloadRef>,
    /// Whether the kept bytes were redacted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redaction_state: Option<RedactionState>,
    /// Machine-readable reason, e.g. `result_exceeded_inline_limit`.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub reason: SmolStr,
    /// When it was decided.
    pub created_at: Timestamp,
    /// Which output of the result, e.g. `stdout`; empty when there is nothing to tell apart.
    #[serde(default, skip_serializing_if = "SmolStr::is_empty")]
    pub output: SmolStr,
    /// Until when the whole output is kept; without a limit when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl ResultPersistence {
    /// How many bytes there were in all of an output of which only the beginning is kept.
    pub fn cut_from(&self) -> Option<u64> {
        let kept = self.persisted_ref.as_ref()?;
        (kept.size_bytes < self.original_size_bytes).then_some(self.original_size_bytes)
    }
}
