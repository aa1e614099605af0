//! Names of the book's records, indexes and stream in the store.
//!
//! Parts are joined with `|`, which no identifier contains, so no two tenants share a name.

use toolplane_records::approval::Approval;
use toolplane_records::ids::{ApprovalId, InvocationId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ApprovalState;
use toolplane_store::{Family, RecordKey};

/// Every change of every approval, in order; its sequence is the revision watchers follow.
pub(super) const CHANGES: &str = "approvals";

/// Pending approvals by the moment they expire.
pub(super) const EXPIRY: &str = "approvals-expiry";

/// The id of the question about one input of one call under one declaration: the same question has the same id.
pub(super) fn approval_id(
    tenant: &TenantId,
    invocation: &InvocationId,
    declaration: &Digest,
    input: &Digest,
) -> ApprovalId {
    let bound = format!("{tenant}|{invocation}|{declaration}|{input}");
    ApprovalId::from_trusted(format!("appr_{}", &Digest::of(bound.as_bytes()).hex()[..32]))
}

pub(super) fn record(tenant: &TenantId, id: &ApprovalId) -> RecordKey {
    RecordKey::new(Family::Approval, member(tenant, id))
}

/// What a repeatable answer is remembered under.
pub(super) fn request(tenant: &TenantId, request_id: &str) -> RecordKey {
    RecordKey::new(Family::Meta, format!("approval-answer|{tenant}|{request_id}"))
}

/// The approval's name where tenants are mixed.
pub(super) fn member(tenant: &TenantId, id: &ApprovalId) -> String {
    format!("{tenant}|{id}")
}

/// The record a name of [`member`] belongs to.
pub(super) fn record_of_member(member: &str) -> RecordKey {
    RecordKey::new(Family::Approval, member)
}

/// All approvals of a tenant by the moment they were asked.
pub(super) fn all(tenant: &TenantId) -> String {
    format!("approvals|{tenant}|all")
}

/// A tenant's approvals in one state by the moment they were asked.
pub(super) fn in_state(tenant: &TenantId, state: ApprovalState) -> String {
    format!("approvals|{tenant}|{state}")
}

pub(super) fn asked_at(approval: &Approval) -> u64 {
    score(approval.created_at)
}

pub(super) fn score(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default()
}
