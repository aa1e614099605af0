//! The bounds within which declarations and inputs are accepted.

use toolplane_records::json::JsonLimits;

/// Bounds on what one tool may declare and on what one input may cost to check.
///
/// Every bound protects the gateway from a declaration or an input that is cheap to send and expensive to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogLimits {
    /// One JSON Schema.
    pub schema: SchemaLimits,
    /// One input, held to its schema.
    pub input: InputLimits,
    /// Everything else a tool declares.
    pub declaration: DeclarationLimits,
}

/// Bounds on one JSON Schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaLimits {
    /// Its size, nesting and number of values.
    pub json: JsonLimits,
    /// Most ways to get from its root to its parts, counting each route through `$ref` separately.
    pub max_paths: u64,
    /// Most regular expressions in it.
    pub max_patterns: usize,
    /// Most bytes one compiled regular expression may take.
    pub max_pattern_bytes: usize,
}

impl Default for SchemaLimits {
    /// 256 KiB, 5,000 values, 64 levels, 10,000 paths.
    fn default() -> Self {
        Self {
            json: JsonLimits { max_bytes: 256 * 1024, max_depth: 64, max_nodes: 5_000 },
            max_paths: 10_000,
            max_patterns: 100,
            max_pattern_bytes: 512 * 1024,
        }
    }
}

/// Bounds on one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputLimits {
    /// Its size, nesting and number of values.
    pub json: JsonLimits,
    /// Most steps it may cost to validate; see [`crate::schema::CostProfile`].
    pub max_validation_cost: u64,
    /// Most violations reported for it.
    pub max_violations: usize,
}

impl Default for InputLimits {
    /// 1 MiB, 100,000 values, 64 levels.
    fn default() -> Self {
        Self { json: JsonLimits::default(), max_validation_cost: 5_000_000, max_violations: 20 }
    }
}

/// Bounds on what a tool declares beside its schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationLimits {
    /// Size, nesting and number of values of any other JSON value (annotations, defaults, examples ...).
    pub value: JsonLimits,
    /// Most characters of a description.
    pub max_description_chars: usize,
    /// Most characters of a title, a search hint, a summary and other short texts.
    pub max_short_text_chars: usize,
    /// Most entries of any list (aliases, capabilities, examples ...).
    pub max_list_entries: usize,
    /// Longest wall time one execution may declare, milliseconds.
    pub max_timeout_ms: u64,
}

impl Default for DeclarationLimits {
    /// JSON values: 64 KiB, 5,000 values, 64 levels.
    fn default() -> Self {
        Self {
            value: JsonLimits { max_bytes: 64 * 1024, max_depth: 64, max_nodes: 5_000 },
            max_description_chars: 16 * 1024,
            max_short_text_chars: 400,
            max_list_entries: 64,
            max_timeout_ms: 24 * 60 * 60 * 1000,
        }
    }
}
