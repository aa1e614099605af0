//! Which worker this is, and what it serves.

mod capabilities;
mod egress;
mod identity;

use std::sync::Arc;

use toolplane_execution::CredentialSource;

pub use capabilities::{Capabilities, PoolGap};
pub(crate) use egress::Egress;
pub(crate) use identity::Identity;

/// What a worker says of its earlier starts: the holder of its directory's lock knows that none of them lives, and that
/// their tools died with them.
pub(crate) const PREVIOUS_INCARNATION_DEAD: bool = true;

/// How a worker introduces itself. Every part that acts in its name holds this, and with it the lock of its directory.
#[derive(Debug)]
pub(crate) struct Introduction {
    pub(crate) identity: Identity,
    /// Image it runs in, as its operator names it; empty when that is not said.
    pub(crate) image: String,
    /// Calls it runs at once.
    pub(crate) slots: u32,
    pub(crate) capabilities: Capabilities,
    /// Its secrets, of which it tells the names.
    pub(crate) credentials: Arc<CredentialSource>,
}

impl Introduction {
    /// The names of the credentials it can put into calls now, as far as is known.
    pub(crate) fn credential_names(&self) -> Vec<String> {
        let all = self.credentials.broker().map(|broker| broker.names()).unwrap_or_default();
        all.into_iter().filter(|one| one.available).map(|one| one.name).collect()
    }
}
