//! The records of the Agent Tool v0.2.0 standard as plain Rust types.
//!
//! Every record serialises (serde) to the JSON shape the standard publishes: that form is both what leaves the cluster
//! as JSON and what the stores keep, so there is one definition of each field. Readers tolerate unknown fields and
//! missing optional ones; our own fields come beside the standard's and never change the type of a standard field.
//!
//! Beside them is what services ask each other in their terms and nobody stores: [`decision_request`].
//!
//! This crate knows no transport, no store, no clock and no async runtime.

pub mod alias;
pub mod approval;
pub mod assurance;
pub mod batch;
pub mod cluster;
pub mod codes;
pub mod contract;
pub mod credential;
pub mod decision;
pub mod decision_request;
pub mod declaration;
pub mod error;
pub mod event;
pub mod evidence;
pub mod explanation;
#[cfg(test)]
mod fuzz;
pub mod hook;
pub mod ids;
pub mod interface;
pub mod invocation;
pub mod json;
pub mod keeping;
pub mod locks;
pub mod mapping;
pub mod mcp;
pub mod mode;
pub mod mutation;
pub mod operation;
pub mod partial;
pub mod payload;
pub mod persistence;
pub mod profile;
pub mod progress;
pub mod provider;
pub mod refs;
pub mod result;
pub mod retention;
pub mod rule;
pub mod scheduling;
#[cfg(feature = "schema")]
pub mod schema;
pub mod search;
pub mod short_text;
pub mod stored;
pub mod surface;
pub mod taint;
pub mod time;
pub mod tool_facts;
pub mod trail;
pub mod visible;
pub mod vocabulary;
pub mod workspace;

/// The texts of records: cheap to clone, up to 23 bytes in place and longer ones shared.
pub use smol_str::SmolStr;

/// The version of the standard every record of this crate carries in `schema_version`.
pub const SCHEMA_VERSION: &str = "0.2.0";

/// The owned form of [`SCHEMA_VERSION`], used as the serde default so that a record without the field still reads.
pub fn schema_version() -> SmolStr {
    SmolStr::new_static(SCHEMA_VERSION)
}
