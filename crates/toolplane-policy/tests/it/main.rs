//! The policy from outside: the golden tables, an evaluator written another way round that must always agree,
//! and hostile commands.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its helpers")]

mod corpus;
mod generate;
mod naive;
mod properties;
mod readings;
mod table;
mod world;
