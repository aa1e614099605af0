//! Native protocol identities a tool keeps (specification, "External mappings").

use serde::{Deserialize, Serialize};

use crate::payload::JsonPayload;

/// A reference to a native MCP, OpenAPI, provider, CLI, browser or peer-agent operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExternalMapping {
    /// The native source: `mcp`, `openapi`, `function_calling`, `a2a`, `cli`, `browser`, `native`, ...
    pub source: String,
    /// The native identity in that source, e.g. an MCP tool name or an `operationId`.
    pub native_id: String,
    /// Further native fields, exactly as the source names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<crate::schema::Object>"))]
    pub fields: Option<JsonPayload>,
}
