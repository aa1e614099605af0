//! Clients of HTTP whose connections go only where an allow list says.
//!
//! What an allow list is, and which URLs are in it, says `toolplane_catalog::values::Egress`. Here is what happens when a request is
//! sent: a name is looked up, every address it stands for is decided on, and only such an address is connected to. Proxies of the
//! environment are not used, and no redirect is followed.
//!
//! Tools of workers and the endpoints an operator names for the platform itself go through it alike.

mod clients;
#[cfg(test)]
mod tests;

pub use clients::{Clients, DeniedAddress, Lookup, SystemLookup, allows_address, denied, innermost};
