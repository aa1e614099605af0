//! What an agent sees of the catalog in one context, and what it may call.

mod load;
mod request;
mod resolve;
mod select;
mod similar;
#[cfg(test)]
mod tests;
mod visibility;

pub use load::{LoadOutcome, load};
pub use request::{BlockedName, DeferPolicy, ModelCapabilities, RoleConstraints, SurfaceRequest};
pub use resolve::{Resolution, resolve};
pub(crate) use resolve::{hidden_in, lookup};
pub(crate) use select::deferred_ref;
pub use select::select;
