//! The organisation's policies, written in Cedar: its voice of source `policy_settings` in every decision.
//!
//! A `forbid` that applies denies, a `permit` that applies allows as an allow rule would, and either of them with the
//! annotation `@ask("why")` asks. Without a policy that applies there is no opinion. A policy that cannot be evaluated never
//! makes an answer weaker: a `forbid` or an `@ask` then asks, a `permit` does nothing.
//!
//! Policies are checked against a schema when they are loaded, all of them or none: a policy that can never apply, names an
//! attribute that does not exist or may be absent, or carries an unknown annotation is refused with its place. [`SCHEMA`] says
//! what policies can look at. What is not known of a call is absent.
//!
//! This crate reads no files, knows no clock and no network: texts come in, opinions go out.

mod context;
mod decide;
mod fault;
mod input;
mod load;
mod names;
mod policies;
mod request;
mod schema;
mod slices;
mod subjects;
#[cfg(test)]
mod tests;
mod wanted;

pub use schema::SCHEMA;

pub use fault::{PolicyFault, PolicyText};
pub use policies::CedarPolicies;
