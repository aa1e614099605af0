//! Names of the book's records and indexes in the store.
//!
//! Parts are joined with `|`, which no identifier contains, so no two tenants share a name; `*` is no tenant either.

use toolplane_records::approval::Approval;
use toolplane_records::decision_request::DecisionRequest;
use toolplane_records::ids::{ApprovalId, InvocationId, TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ApprovalState;
use toolplane_store::{Family, IndexOp, RecordKey};

/// Pending approvals by the moment they expire.
pub(super) const EXPIRY: &str = "approvals-expiry";

/// Everything one question is about. The same question has the same id, and any difference makes another question.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// Owner of the call.
    pub tenant: &'a TenantId,
    /// The call.
    pub invocation: &'a InvocationId,
    /// The authenticated caller; empty without authentication.
    pub caller: &'a str,
    /// The tool.
    pub tool: &'a ToolId,
    /// Digest of its registration.
    pub declaration: &'a Digest,
    /// Digest of what the executor would get.
    pub call_input: &'a Digest,
    /// Digest of the rules that asked.
    pub policy: &'a str,
    /// The approval of this call that came before, when it does not stand for this question; empty for the first.
    pub after: &'a str,
}

impl<'a> Binding<'a> {
    /// What is asked about by `request` under `policy`, after the approval it has already.
    pub fn of(request: &'a DecisionRequest, policy: &'a str) -> Self {
        Self {
            tenant: &request.caller.tenant,
            invocation: &request.invocation_id,
            caller: &request.caller.caller_ref,
            tool: &request.tool.facts.tool_id,
            declaration: &request.tool.declaration_digest,
            call_input: &request.input.call_digest,
            policy,
            after: request.approval_ref.as_ref().map(ApprovalId::as_str).unwrap_or_default(),
        }
    }

    /// The id of the question.
    pub fn approval_id(&self) -> ApprovalId {
        let Self { tenant, invocation, caller, tool, declaration, call_input, policy, after } = self;
        // Quoted, so that no text can reach into the next one.
        let bound =
            format!("{:?}", (tenant, invocation, caller, tool, declaration.hex(), call_input.hex(), policy, after));
        ApprovalId::from_trusted(format!("appr_{}", &Digest::of(bound.as_bytes()).hex()[..32]))
    }
}

/// The record of an approval by the names a stored rule keeps.
pub(crate) fn record_of(tenant: &str, id: &str) -> RecordKey {
    record_of_member(&format!("{tenant}|{id}"))
}

pub(super) fn record(tenant: &TenantId, id: &ApprovalId) -> RecordKey {
    RecordKey::new(Family::Approval, member(tenant, id))
}

/// The id of an approval, from the key of its record.
pub(super) fn id_of(key: &RecordKey) -> &str {
    key.id.split_once('|').map_or(&*key.id, |(_, id)| id)
}

/// What a repeatable answer is remembered under.
pub(super) fn request(tenant: &TenantId, request_id: &str) -> RecordKey {
    RecordKey::new(Family::Meta, format!("approval-answer|{tenant}|{request_id}"))
}

/// The approval's name in every index.
pub(super) fn member(tenant: &TenantId, id: &ApprovalId) -> String {
    format!("{tenant}|{id}")
}

/// The record a name of [`member`] belongs to.
pub(super) fn record_of_member(member: &str) -> RecordKey {
    RecordKey::new(Family::Approval, member)
}

/// The approvals of a tenant (every one when absent), in one state (any when absent), of one queue (any when absent), by
/// the moment they were asked.
pub(super) fn list(tenant: Option<&TenantId>, state: Option<ApprovalState>, queue: Option<&str>) -> String {
    let tenant = tenant.map_or("*", TenantId::as_str);
    let state = state.map_or("all", ApprovalState::as_str);
    match queue {
        None => format!("approvals|{tenant}|{state}"),
        Some(queue) => format!("approvals|{tenant}|{state}|{queue}"),
    }
}

/// The approvals about one call.
pub(super) fn about(tenant: &TenantId, call: &InvocationId) -> String {
    format!("approvals-about|{tenant}|{call}")
}

/// The index change that takes `member` out.
pub(super) fn leaves(index: impl Into<String>, member: &str) -> IndexOp {
    IndexOp::Remove { index: index.into(), member: member.to_owned() }
}

/// The index changes that take an approval out of all lists.
pub(super) fn gone(approval: &Approval) -> Vec<IndexOp> {
    let Approval { tenant, state, queue, .. } = approval;
    let member = member(tenant, &approval.approval_id);
    let mut changes = vec![leaves(EXPIRY, &member), leaves(about(tenant, &approval.invocation_id), &member)];
    for tenant in [None, Some(tenant)] {
        for queue in [None, Some(queue.as_str())] {
            changes.extend([None, Some(*state)].map(|state| leaves(list(tenant, state, queue), &member)));
        }
    }
    changes
}

/// The index changes that bring an approval from one state (none: new) into its present one.
pub(super) fn moved(before: Option<ApprovalState>, now: &Approval) -> Vec<IndexOp> {
    let member = member(&now.tenant, &now.approval_id);
    let score = asked_at(now);
    let mut changes = Vec::with_capacity(10);
    if before.is_none() {
        changes.push(IndexOp::Put { index: about(&now.tenant, &now.invocation_id), score, member: member.clone() });
    }
    for tenant in [None, Some(&now.tenant)] {
        for queue in [None, Some(now.queue.as_str())] {
            let mut put =
                |state| changes.push(IndexOp::Put { index: list(tenant, state, queue), score, member: member.clone() });
            put(Some(now.state));
            if before.is_none() {
                put(None);
            }
            if let Some(before) = before {
                changes.push(IndexOp::Remove { index: list(tenant, Some(before), queue), member: member.clone() });
            }
        }
    }
    let index = EXPIRY.to_owned();
    changes.push(match now.state {
        ApprovalState::Pending => IndexOp::Put { index, score: score_of(now.expires_at), member },
        _ => IndexOp::Remove { index, member },
    });
    changes
}

pub(super) fn asked_at(approval: &Approval) -> u64 {
    score_of(approval.created_at)
}

pub(super) fn score_of(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default()
}
