//! Names in the store: which record, index and stream holds what.

use toolplane_lifecycle::Timer;
use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_store::{Family, RecordKey};

/// Living invocations that wait for an answer of a person.
pub(crate) const AWAITING: &str = "awaiting";

/// What every ready queue's name starts with.
pub(crate) const QUEUES: &str = "queue/";

pub(crate) fn invocation(id: &InvocationId) -> RecordKey {
    RecordKey::new(Family::Invocation, id.as_str())
}

pub(crate) fn result(id: &InvocationId) -> RecordKey {
    RecordKey::new(Family::Result, id.as_str())
}

pub(crate) fn decision(decision_id: &str) -> RecordKey {
    RecordKey::new(Family::Decision, decision_id)
}

pub(crate) fn plan(digest: &Digest) -> RecordKey {
    RecordKey::new(Family::Plan, digest.hex())
}

/// Inputs of one invocation are kept under their digest: equal inputs once.
pub(crate) fn payload(id: &InvocationId, digest: &Digest) -> RecordKey {
    RecordKey::new(Family::Payload, format!("{id}/{}", digest.hex()))
}

/// The reference under which a payload of [`payload`] is named in records.
pub(crate) fn payload_uri(id: &InvocationId, digest: &Digest) -> String {
    format!("payload:{id}/{}", digest.hex())
}

/// The log of one invocation.
pub(crate) fn stream(id: &InvocationId) -> String {
    format!("invocation/{id}")
}

/// Every invocation of a tenant by time of acceptance.
pub(crate) fn listing(tenant: &TenantId) -> String {
    format!("invocations/{tenant}")
}

/// Calls of one tenant that are ready to be claimed by workers of one pool, by time of acceptance.
pub(crate) fn queue(pool: &str, tenant: &TenantId) -> String {
    format!("{QUEUES}{pool}/{tenant}")
}

/// Due instants of one kind of timer; the member is the invocation.
pub(crate) fn timers(timer: Timer) -> String {
    format!("timers/{}", timer.as_str())
}
