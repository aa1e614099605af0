//! The policy from outside: the golden tables, an evaluator written another way round that must always agree, hostile commands,
//! and the real shell.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its helpers")]

mod bash;
mod corpus;
mod generate;
mod naive;
mod properties;
mod table;
mod world;
