//! Encryption of connections: what can be wrong with it, said so that a person knows what to change.

mod check;
mod fault;
mod names;
mod plain;
mod probe;
mod serving;
#[cfg(test)]
mod tests;

pub use fault::TlsFault;
pub(crate) use names::alternative;
pub use names::{holds_certificate, names_in};
pub use plain::{HTTP2_PREFACE, is_of_tls};
pub use probe::Probe;

pub(crate) use check::check;
pub(crate) use plain::{answer_to_plain, is_plain};
pub(crate) use serving::of_server;
