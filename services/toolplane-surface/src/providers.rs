//! Providers: where tools come from that nobody declares by hand.
//!
//! What a provider is, how it is and what is known of each of its tools are records in the role's store, with a copy in memory. What
//! follows from an answer of a provider, from a review or from an error is decided by `toolplane-providers`; here it is made durable,
//! entered into the catalogue, and told to schedulers before it is answered.
//!
//! ```text
//! rpc ──► put ─────────────► kept ◄── take_in ◄── look ◄── rounds (who is due) | rpc (refresh)
//!                             │                    │
//!      gate (may it be called?) ◄── shelf          └──► sources ──► document | file | calls ──► scheduler ──► a worker
//!                             ▲
//!      rpc (schedulers) ──► heard: how calls of its tools ended, and that its tools have changed
//! ```
//!
//! A tool that may be called is an ordinary registration of the catalogue. One that waits is kept beside its record, and no word of it
//! is in the catalogue. What its provider no longer has stays in the catalogue and is refused: an identity that was retired there could
//! never be used again.

mod calls;
mod change;
pub(crate) mod configured;
mod credentials;
mod documents;
mod enter;
mod found;
mod gate;
mod heard;
mod held;
mod hidden;
mod kept;
mod look;
mod looks;
mod marks;
mod put;
mod review;
mod rounds;
mod sources;
mod take_in;
#[cfg(test)]
mod tests;
mod trials;
mod turn;
mod uncallable;

pub(crate) use configured::Configured;
pub(crate) use credentials::{KnownCredentials, WorkerCredentials};
pub(crate) use documents::{Documents, Uploading};
pub(crate) use gate::{Gate, Passage, stands};
pub(crate) use heard::{Heard, HeardCall};
pub(crate) use held::{Held, Shelf};
pub(crate) use hidden::{HiddenTools, SURFACE as HIDDEN_SURFACE};
pub(crate) use looks::{Clock, Looks};
pub(crate) use review::Reviewed;
pub(crate) use sources::Sources;
pub(crate) use take_in::Taken;
pub(crate) use uncallable::{UncallableChanges, UncallableTools};

use std::sync::Arc;

use toolplane_catalog::Registration;
use toolplane_providers::Known;
use toolplane_records::ids::TenantId;
use toolplane_runtime::ApiError;

use enter::Entered;

use crate::registry::{Registry, Tenant};

/// Providers: putting them, taking them out of use, changing what is known of their tools. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Providers {
    /// Has the tools that may be called, and tells others of changes.
    registry: Registry,
    shelf: Arc<Shelf>,
    documents: Documents,
}

impl Providers {
    pub(crate) fn new(registry: Registry, shelf: Arc<Shelf>, documents: Documents) -> Self {
        Self { registry, shelf, documents }
    }

    /// Those in memory.
    pub(crate) fn shelf(&self) -> &Arc<Shelf> {
        &self.shelf
    }

    /// The tenant of a provider, with the tools that may be called.
    fn owner(&self, held: &Held) -> Arc<Tenant> {
        self.registry.tenant(&held.provider.tenant)
    }

    /// Enters approved tools into the catalogue, each as far as it can be. Answered when schedulers know.
    async fn enter(&self, tenant: &TenantId, tools: Vec<Arc<Registration>>) -> Result<Entered, ApiError> {
        enter::enter(&self.registry, tenant, tools).await
    }

    /// What is known of the tools of a provider.
    fn known(&self, held: &Held) -> Known {
        held.known(&self.owner(held).catalog.read())
    }
}
