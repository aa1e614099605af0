//! Cleaning: what tools give is looked through before anybody is shown it and before it is kept.
//!
//! A [`Cleaner`] finds five classes of things ([`Class`]): credentials, personal data, invisible characters, texts that read like
//! instructions to a model, and markup that does something by itself. A [`CleaningPolicy`] says what is done about each of them
//! ([`Treatment`]): it is left alone, marked, masked, or the whole output is dropped. Texts, JSON and bytes that come in pieces are cleaned
//! by the same rules ([`Cleaner::text`], [`Cleaner::json`], [`Cleaner::stream`]).
//!
//! What is found is known by patterns. A pattern misses what has no form of its own (a password in a sentence), and finds what only
//! looks like it; where the exact bytes of a secret are known, they are masked before this, by the worker that holds them.
//!
//! What callers send is shown without credentials too ([`sent`]).
//!
//! This crate knows no tool, no store, no clock and no async runtime; it says what is in a text, and never who may read it.
//!
//! ```
//! use toolplane_cleaning::{Cleaner, CleaningPolicy, Findings};
//!
//! let cleaner = Cleaner::new(&CleaningPolicy::default());
//! let mut found = Findings::default();
//! let text = cleaner.text("curl https://api.example/v1?access_token=9f2c44aa01be", &mut found);
//! assert_eq!(text, "curl https://api.example/v1?access_token=***");
//! assert_eq!(found.masked(), 1);
//! ```

mod cleaner;
mod declared;
mod detect;
pub mod fields;
mod findings;
#[cfg(test)]
mod fuzz;
mod invisible;
mod policy;
pub mod sent;
mod spelling;
mod stream;

pub use cleaner::Cleaner;
pub use declared::{Declared, DeclaredRule, MAX_RULES};
pub use detect::class_of;
pub use findings::{Findings, taints};
pub use policy::{Class, CleaningPolicy, PolicyError, Treatment};
pub use stream::CleanStream;
