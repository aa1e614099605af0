//! The bounds within which a document is read.

/// Bounds on one document and on what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLimits {
    /// Most bytes of the document.
    pub max_bytes: usize,
    /// Most values (members and elements at all levels, each use of a YAML alias counted in full).
    pub max_nodes: usize,
    /// Deepest nesting.
    pub max_depth: usize,
    /// Most operations.
    pub max_operations: usize,
    /// Most parameters of one operation.
    pub max_parameters: usize,
    /// Most characters of the description of an operation, without what is added to it.
    pub max_description_chars: usize,
    /// Most characters of a description inside a schema.
    pub max_schema_text_chars: usize,
    /// Longest tool name, in characters; what is longer is cut, and has a part of a digest at its end.
    pub max_name_chars: usize,
}

impl Default for DocumentLimits {
    /// 32 MiB, 2,000,000 values, 100 levels, 20,000 operations of 600 parameters, descriptions of 4,000 characters (in schemas
    /// 600), names of 56 characters.
    fn default() -> Self {
        Self {
            max_bytes: 32 * 1024 * 1024,
            max_nodes: 2_000_000,
            max_depth: 100,
            max_operations: 20_000,
            max_parameters: 600,
            max_description_chars: 4_000,
            max_schema_text_chars: 600,
            // Providers take 64 characters for `namespace__name`; this leaves six for the namespace.
            max_name_chars: 56,
        }
    }
}
