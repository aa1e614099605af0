//! The catalogue from outside, through its public interface.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its helpers")]

mod dialects;
mod hostile;
