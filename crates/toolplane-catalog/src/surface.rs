//! What an agent sees of the catalog in one context, and what it may call.

mod indexed;
mod load;
mod misnamed;
mod now;
mod request;
mod resolve;
mod select;
#[cfg(test)]
mod tests;
mod visibility;

pub use indexed::IndexedSurface;
pub use load::{LoadOutcome, load};
pub use misnamed::Misnamed;
pub use request::{BlockedName, DeferPolicy, ModelCapabilities, RoleConstraints, SurfaceRequest};
pub(crate) use resolve::{Availability, lookup, standing};
pub use resolve::{Resolution, resolve, similar_in};
pub(crate) use select::deferred_ref;
pub use select::select;
