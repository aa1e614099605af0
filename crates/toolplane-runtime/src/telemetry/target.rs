//! The target of the spans of the tree.

/// Target of every span of the tree.
pub const SPAN_TARGET: &str = "toolplane_trace";
