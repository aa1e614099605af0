//! The schema calls are described with.

/// The schema in force unless an operator brings another one.
pub const SCHEMA: &str = include_str!("../../../schemas/toolplane.cedarschema");
