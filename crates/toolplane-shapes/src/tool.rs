//! What there is to know of a tool to offer it.

use serde_json::Value;
use toolplane_records::payload::JsonPayload;

/// A tool to be offered, as it is registered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tool {
    /// Its id.
    pub tool_id: String,
    /// Its full name.
    pub full_name: String,
    /// Its alias, of [`toolplane_records::alias`]: unique among the tools that are offered together.
    pub alias: String,
    /// Title for people; may be empty.
    pub title: String,
    /// What a model is told of it.
    pub description: String,
    /// A phrase for discovery; may be empty.
    pub hint: String,
    /// What a model's arguments have to satisfy; without one it takes none.
    pub input_schema: Option<JsonPayload>,
    /// What structured results satisfy.
    pub output_schema: Option<JsonPayload>,
    /// What is known of its safety.
    pub hints: Hints,
}

/// Facts about a tool's safety, where they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Leaves no trace.
    pub read_only: Option<bool>,
    /// May destroy something.
    pub destructive: Option<bool>,
    /// Twice is as good as once.
    pub idempotent: Option<bool>,
    /// Touches the uncontrolled outside.
    pub open_world: Option<bool>,
}

/// The schema of a tool that takes no arguments.
pub(crate) const NO_ARGUMENTS: &str = r#"{"type":"object","properties":{},"additionalProperties":false}"#;

impl Tool {
    /// The text of its input schema.
    pub(crate) fn schema_text(&self) -> &str {
        self.input_schema.as_ref().map_or(NO_ARGUMENTS, JsonPayload::text)
    }

    /// Its input schema as a tree.
    pub(crate) fn schema(&self) -> Value {
        serde_json::from_str(self.schema_text()).unwrap_or(Value::Bool(true))
    }
}
