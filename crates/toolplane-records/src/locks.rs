//! Lock domains: who waits for and who holds the resource locks of one session, batch or tenant (ours).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{InvocationId, TenantId};
use crate::scheduling::ResourceLock;
use crate::time::Timestamp;

/// All tickets of one lock domain, in the order they were drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockDomain {
    /// Name of the domain, e.g. `session:s-1`.
    pub domain: SmolStr,
    /// Owner.
    pub tenant: TenantId,
    /// The next ticket to be drawn; tickets count from 1 and are never given twice.
    pub next_ticket: u64,
    /// Waiting and granted tickets, in order.
    #[serde(default)]
    pub tickets: Vec<Ticket>,
}

/// One call's claim to its locks: all of them at once, or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// Its number: earlier tickets go first. It is the fence of the grant too: a call that gets a key after another
    /// that excludes it has the larger number.
    pub ticket: u64,
    /// The call.
    pub invocation_id: InvocationId,
    /// What it needs.
    pub locks: Vec<ResourceLock>,
    /// It holds all of them.
    #[serde(default)]
    pub granted: bool,
    /// The call has ended, but its execution may still be running somewhere: the locks stay held until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linger_until: Option<Timestamp>,
}

impl LockDomain {
    /// A domain without tickets.
    pub fn new(tenant: TenantId, domain: impl Into<SmolStr>) -> Self {
        Self { domain: domain.into(), tenant, next_ticket: 1, tickets: Vec::new() }
    }
}
