//! Lists of one tenant's invocations.

use std::sync::Arc;

use toolplane_records::SmolStr;
use toolplane_records::ids::{BatchId, TenantId, ToolId};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{InvocationStatus, QueueState};
use toolplane_runtime::page;
use toolplane_store::{Family, IndexEntry, RecordKey, ScoreRange};

use super::cache::CachedCall;
use super::read::Records;
use crate::storage::commit::score;
use crate::storage::{RecordError, keys};

/// Rows read at once.
const PAGE: usize = 256;

/// Which invocations to list.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallFilter {
    /// Only these statuses; all when empty.
    pub(crate) statuses: Vec<InvocationStatus>,
    /// Only this tool.
    pub(crate) tool_id: Option<ToolId>,
    /// Only calls of this surface.
    pub(crate) surface_id: Option<String>,
    /// Only calls accepted at or after this instant.
    pub(crate) created_after: Option<Timestamp>,
    /// Only calls accepted before this instant.
    pub(crate) created_before: Option<Timestamp>,
    /// Only calls of this batch.
    pub(crate) batch_id: Option<BatchId>,
    /// Only calls of this session.
    pub(crate) session_ref: Option<SmolStr>,
    /// Only this place in the queue.
    pub(crate) queue_state: Option<QueueState>,
    /// Only the call accepted under this key.
    pub(crate) idempotency_key: Option<SmolStr>,
}

impl CallFilter {
    pub(crate) fn admits(&self, record: &Invocation) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&record.status))
            && self.tool_id.as_ref().is_none_or(|tool| *tool == record.tool_id)
            && self
                .surface_id
                .as_ref()
                .is_none_or(|wanted| record.surface_id.as_ref().is_some_and(|surface| surface.as_str() == wanted))
            && self
                .batch_id
                .as_ref()
                .is_none_or(|wanted| record.batch.as_ref().is_some_and(|place| place.batch_id == *wanted))
            && self.session_ref.as_ref().is_none_or(|wanted| record.session_ref.as_ref() == Some(wanted))
            && self.queue_state.is_none_or(|wanted| record.queue_state == Some(wanted))
            && self.idempotency_key.as_ref().is_none_or(|wanted| record.idempotency_key.as_ref() == Some(wanted))
    }
}

/// One page of a list, newest first.
#[derive(Debug)]
pub(crate) struct CallPage {
    /// The records.
    pub(crate) records: Vec<Invocation>,
    /// Calls of this page whose records are damaged, by id: whether they pass the filter is not known.
    pub(crate) damaged: Vec<String>,
    /// Where the next page begins; absent at the end.
    pub(crate) next: Option<(u64, String)>,
}

impl Records {
    /// At most `limit` invocations of `tenant`, and fewer when they are large, that pass `filter`, newest first, after the place `after`.
    pub(crate) async fn list(
        &self,
        tenant: &TenantId,
        filter: &CallFilter,
        after: Option<(u64, String)>,
        limit: usize,
    ) -> Result<CallPage, RecordError> {
        let min = filter.created_after.map_or(0, score);
        let max = filter.created_before.map_or(u64::MAX, |before| score(before).saturating_sub(1));
        let mut place = after;
        let (mut records, mut damaged, mut bytes) = (Vec::new(), Vec::new(), 0);
        loop {
            let mut range = ScoreRange::between(min, max).reversed();
            if let Some((score, member)) = &place {
                range = range.after(&IndexEntry { score: *score, member: member.clone() });
            }
            let entries = self.storage().scan(&keys::listing(tenant), range, PAGE).await?;
            let ids: Vec<_> = entries.iter().map(|entry| RecordKey::new(Family::Invocation, &*entry.member)).collect();
            let found = self.storage().get_each(&ids).await?;
            for (entry, found) in entries.iter().zip(found) {
                place = Some((entry.score, entry.member.clone()));
                let (size, record) = match found {
                    Ok(Some(stored)) => (stored.bytes.len(), CachedCall::read(&stored).ok().map(|call| call.record)),
                    // A call may be removed between the two reads.
                    Ok(None) => continue,
                    Err(_) => (0, None),
                };
                match record {
                    Some(record) if filter.admits(&record) => {
                        bytes += size;
                        records.push(Arc::unwrap_or_clone(record));
                    }
                    Some(_) => {}
                    None => damaged.push(tenant.unscoped(&entry.member).to_owned()),
                }
                if records.len() + damaged.len() >= limit || bytes >= page::FULL_BYTES {
                    return Ok(CallPage { records, damaged, next: place });
                }
            }
            if entries.len() < PAGE {
                return Ok(CallPage { records, damaged, next: None });
            }
        }
    }
}
