//! Reading the input of a call.

use serde::de::DeserializeOwned;
use toolplane_records::error::ToolError;
use toolplane_records::payload::JsonPayload;

use crate::failure::{excerpt, invalid_input};

/// The input as `T`. Text of the error names the field and the rule, never a type of this program.
pub(crate) fn read<T: DeserializeOwned>(input: &JsonPayload) -> Result<T, ToolError> {
    input.parse().map_err(|error: serde_json::Error| {
        let text = error.to_string();
        let rule = text.split(" at line ").next().unwrap_or_default();
        invalid_input("", format!("is not what this tool takes: {}", excerpt(rule)))
    })
}
