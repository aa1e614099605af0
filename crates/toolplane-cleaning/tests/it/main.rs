//! Cleaning from outside: how much is found of what should be, and how much of what should not.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in its helpers")]

mod corpus;
mod measure;
mod properties;
mod speed;
