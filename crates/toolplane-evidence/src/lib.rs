//! Exports of records that prove by themselves what they are: a chain of lines, signed at its end.
//!
//! Each line holds one record, its number and the sum of the line before it; the last one, the seal, is signed. So nothing can be changed,
//! taken out, put in or moved without it being seen, and [`Verifier`] says where. A further export begins where the seal of the one before
//! it ends. Pure: lines go in and come out, and how they are read and written is known elsewhere.

mod chain;
#[cfg(test)]
mod fuzz;
mod key;
mod line;
#[cfg(test)]
mod tests;
mod verify;

pub use chain::{Begin, Chain, Head, Seal};
pub use key::{KeyError, PublicKey, SigningKey};
pub use line::{BadLine, Line, MAX_LINE_BYTES};
pub use verify::{Fault, Verified, Verifier, Wrong};
