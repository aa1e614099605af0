//! Deleting calls before their time is over.

use toolplane_faultpoint::point;
use toolplane_records::ids::{InvocationKey, TenantId};
use toolplane_store::ScoreRange;

use super::removal::Removal;
use super::tombstone::Tombstone;
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Written, keys};

/// Tombstones read at once.
const PAGE: usize = 64;
/// How often a deletion is tried while the call changes.
const TRIES: usize = 5;

/// Who asks for a deletion, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) by: &'a str,
    pub(crate) reason: &'a str,
}

/// Why a call is not deleted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Undeleted {
    /// It has not ended.
    #[error("it is {0}: only ended calls are deleted")]
    Living(toolplane_records::vocabulary::InvocationStatus),
    /// A hold is on it.
    #[error("a hold is on it")]
    Held,
    /// There is none.
    #[error("there is no such call")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Record(#[from] RecordError),
}

/// Deletes calls. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Deletions {
    pub(crate) removal: Removal,
}

impl Deletions {
    /// Deletes an ended call: everything of it goes in one commit, which leaves its tombstone; its kept outputs and the questions about it go
    /// right after, or with the next round of retention should this process die in between.
    pub(crate) async fn delete(&self, id: &InvocationKey, request: Request<'_>) -> Result<Tombstone, Undeleted> {
        let calls = &self.removal.calls;
        for _ in 0..TRIES {
            let now = calls.now().await?;
            let call = match calls.records().load(id).await {
                Err(RecordError::NotFound) => return Err(Undeleted::NotFound),
                loaded => loaded?,
            };
            if !call.record.status.is_terminal() {
                return Err(Undeleted::Living(call.record.status));
            }
            let terminal = calls.records().result(id).await?;
            let result = terminal.as_ref().map(|terminal| &terminal.result);
            let asked = self.removal.approvals_of(&call.record).await?;
            let tombstone = Tombstone::of(&call.record, (result, asked), (request.by, request.reason), now);
            let mut builder = Builder::default();
            if !self.removal.take_out(&mut builder, &call, tombstone.outputs.clone(), now).await? {
                return Err(Undeleted::Held);
            }
            builder.put_json(keys::deleted(id), &tombstone).map_err(RecordError::from)?;
            builder.enter(keys::deletions(&id.tenant), id.to_string(), score(now));
            if matches!(calls.storage().write(builder.done(true)).await?, Written::Applied) {
                let entry = calls.lock(id).await;
                calls.forget(id, entry);
                point("scheduler.after_delete");
                // It is deleted; what could not be removed elsewhere is tried again with each round of retention.
                if let Err(error) = self.removal.unfinished.finish_one(id).await {
                    tracing::warn!(invocation_id = %id, %error, "what a deleted call left elsewhere is removed later");
                }
                return Ok(tombstone);
            }
        }
        Err(Undeleted::Record(RecordError::OutcomeUnknown(toolplane_store::StoreError::Unavailable {
            reason: "the call changes all the time".to_owned(),
        })))
    }

    /// The tombstone of a deleted call.
    pub(crate) async fn tombstone(&self, id: &InvocationKey) -> Result<Option<Tombstone>, RecordError> {
        let stored = self.removal.calls.storage().get(&keys::deleted(id)).await?;
        Ok(stored.map(|stored| serde_json::from_slice(&stored.bytes)).transpose()?)
    }

    /// Tombstones of deletions of `tenant` from one instant until another, oldest first, after a place among them; at most a page.
    pub(crate) async fn page(
        &self,
        tenant: &TenantId,
        range: ScoreRange,
    ) -> Result<(Vec<Tombstone>, Option<toolplane_store::IndexEntry>), RecordError> {
        let storage = self.removal.calls.storage();
        let entries = storage.scan(&keys::deletions(tenant), range, PAGE).await?;
        let ids: Vec<_> = entries.iter().filter_map(|entry| InvocationKey::parse(&entry.member).ok()).collect();
        let found = storage.get_many(&ids.iter().map(keys::deleted).collect::<Vec<_>>()).await?;
        let read = found.into_iter().flatten().map(|stored| serde_json::from_slice(&stored.bytes));
        let next = entries.last().cloned().filter(|_| entries.len() == PAGE);
        Ok((read.collect::<Result<_, _>>()?, next))
    }
}
