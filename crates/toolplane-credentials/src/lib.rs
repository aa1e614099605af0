//! Secrets on the worker's side: where they come from, who they are for, where they are put, and how they are kept out of outputs.
//!
//! A [`Broker`] is made from the worker's `[[credentials]]`. An adapter asks it for a [`Credential`] by name when a call is about to
//! start, puts it where the tool's declaration wants it ([`Credential::place`], [`put_into_request`]), and masks everything that comes
//! back with the broker's [`Mask`]. What a call needs and cannot get ends it with a code of `toolplane_records::codes` and no secret.
//!
//! This crate knows no leases, no stores and no kinds of tools. It reads files, runs programs and asks token servers, through a client
//! that is handed in ([`TokenClient`]).

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
    )
)]

pub mod broker;
mod clock;
pub mod config;
mod credential;
mod error;
#[cfg(test)]
mod fuzz;
pub mod mask;
mod placement;
mod scope;
mod secret;
mod source;
mod tokens;
mod value;
mod way;

pub use broker::{Broker, BrokerOptions, CredentialStatus, Request, ScopeTexts};
pub use clock::Clock;
pub use config::{ConfigFault, CredentialConfig, CredentialKind};
pub use credential::Credential;
pub use error::{CredentialError, SourceFault};
pub use mask::{Mask, MaskStream, NotJson};
pub use placement::{Injection, ProxyHeader, Unfit, put_into_request};
pub use scope::OutOfScope;
pub use secret::{MAX_SECRET_BYTES, MIN_SECRET_BYTES, Secret};
pub use source::Environment;
pub use tokens::{HttpTokens, MAX_ANSWER_BYTES, NoTokens, TokenAnswer, TokenClient, TokenClientError, TokenRequest};
pub use way::is_private;
