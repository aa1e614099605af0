//! Deleting calls before their time is over.

use toolplane_records::ids::{InvocationKey, TenantId};
use toolplane_results::payload::key::PayloadKey;
use toolplane_store::ScoreRange;

use super::removal::Removal;
use super::tombstone::Tombstone;
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Written, keys};

/// Deletions whose outputs are removed at once.
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
    /// Deletes an ended call: everything of it goes in one commit, which leaves its tombstone; its kept outputs go right after, or with the
    /// next round of retention should this process die in between.
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
            let tombstone = Tombstone::of(&call.record, result, (request.by, request.reason), now);
            let mut builder = Builder::default();
            if !self.removal.take_out(&mut builder, &call, now).await? {
                return Err(Undeleted::Held);
            }
            builder.put_json(keys::deleted(id), &tombstone).map_err(RecordError::from)?;
            builder.enter(keys::deletions(&id.tenant), id.to_string(), score(now));
            if !tombstone.outputs.is_empty() {
                builder.enter(keys::UNREMOVED, id.to_string(), score(now));
            }
            if matches!(calls.storage().write(builder.done(true)).await?, Written::Applied) {
                let entry = calls.lock(id).await;
                calls.forget(id, entry);
                self.remove_outputs(id, &tombstone).await;
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

    /// Removes the kept outputs of deletions that broke off; at most a page of them.
    pub(crate) async fn finish(&self) -> Result<(), RecordError> {
        let storage = self.removal.calls.storage();
        for entry in storage.scan(keys::UNREMOVED, ScoreRange::all(), PAGE).await? {
            let Ok(id) = InvocationKey::parse(&entry.member) else { continue };
            if let Some(tombstone) = self.tombstone(&id).await? {
                self.remove_outputs(&id, &tombstone).await;
            }
        }
        Ok(())
    }

    /// Removes kept outputs; what cannot be removed now is tried again by [`Deletions::finish`].
    async fn remove_outputs(&self, id: &InvocationKey, tombstone: &Tombstone) {
        if tombstone.outputs.is_empty() {
            return;
        }
        for output in &tombstone.outputs {
            let Ok(key) = output.uri.parse::<PayloadKey>() else { continue };
            if let Err(error) = self.removal.objects.remove(&key).await {
                tracing::warn!(invocation_id = %id, %error, "an output of a deleted call is still kept; trying again later");
                return;
            }
        }
        let mut builder = Builder::default();
        builder.leave(keys::UNREMOVED, id.to_string());
        if let Err(error) = self.removal.calls.storage().write(builder.done(true)).await {
            tracing::warn!(invocation_id = %id, %error, "outputs of a deleted call will be looked for again");
        }
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
