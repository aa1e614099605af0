//! Records to messages and back, one module per family.
//!
//! Outward every record has `From<&Record>` for its message; inward every message has `TryFrom`, which checks each field
//! and names the first wrong one by its path. What only one side needs to know stays out: see [`invocation`].

mod approval;
mod assurance;
mod batch;
mod contract;
mod convert_error;
mod credential;
mod decision;
mod decision_request;
mod declaration;
mod error;
mod event;
mod evidence;
mod explanation;
pub mod field;
pub mod form;
mod hook;
mod interface;
pub mod invocation;
mod keeping;
mod mcp;
mod mutation;
mod operation;
pub mod payload;
mod persistence;
mod profile;
mod progress;
mod provider;
mod refs;
pub mod registration;
mod result;
mod rule;
mod running;
mod scheduling;
mod search;
mod surface;
mod vocabulary;
pub mod word;

pub use decision::denied_paths;

#[cfg(test)]
mod tests;

pub use convert_error::ConvertError;
