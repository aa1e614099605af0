//! Matching from outside: patterns against the real shell.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, also in its helpers")]

mod bash;
