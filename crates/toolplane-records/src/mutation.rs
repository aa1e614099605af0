//! Input mutations (contracts/hooks-and-input-mutation).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::InvocationId;
use crate::time::Timestamp;
use crate::vocabulary::MutationSource;

/// One recorded change of an input; `model_input` itself is never rewritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InputMutation {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier of the mutation.
    pub mutation_id: String,
    /// The call.
    pub invocation_id: InvocationId,
    /// Who changed it.
    pub source_type: MutationSource,
    /// Which hook, prompt or adapter.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source_ref: String,
    /// The input before.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from_input_ref: String,
    /// The input after.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to_input_ref: String,
    /// JSON pointers of what changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_fields: Vec<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// When.
    pub created_at: Timestamp,
}
