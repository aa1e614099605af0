//! What the stream of changes keeps of a change: which approval it was and how it stood then, and nothing of what it says. So a deleted
//! approval is in no stream either.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_records::approval::Approval;
use toolplane_records::ids::{ApprovalId, TenantId};
use toolplane_records::vocabulary::ApprovalState;

use super::keys;
use toolplane_store::RecordKey;

/// One entry of the stream. Earlier versions wrote the approval itself, which has these fields too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ToldChange {
    tenant: TenantId,
    approval_id: ApprovalId,
    state: ApprovalState,
}

impl ToldChange {
    /// The entry about `approval` as it is now.
    pub(super) fn of(approval: &Approval) -> Result<Bytes, serde_json::Error> {
        let Approval { tenant, approval_id, state, .. } = approval;
        let told = Self { tenant: tenant.clone(), approval_id: approval_id.clone(), state: *state };
        Ok(Bytes::from(serde_json::to_vec(&told)?))
    }

    /// The record it is about.
    pub(super) fn record(&self) -> RecordKey {
        keys::record(&self.tenant, &self.approval_id)
    }

    /// `now` as it was after this change. `None` of an end that is not the one that is stored.
    pub(super) fn as_it_was(&self, now: Approval) -> Option<Approval> {
        match self.state {
            state if state == now.state => Some(now),
            // An answer changes nothing of the question: without it, it is as it was asked.
            ApprovalState::Pending => Some(Approval {
                state: ApprovalState::Pending,
                resolution: None,
                resolved_by: String::new(),
                feedback: String::new(),
                resolved_at: None,
                chosen_option: None,
                updated_input: None,
                ..now
            }),
            _ => None,
        }
    }
}
