//! One key, one call: what is remembered under ids that calls do not have, or not any more.
//!
//! A call without an id of its own has the id its idempotency key makes, so the same key meets the same record. A call with both
//! leaves a note under the id of its key, in the commit that accepts it: the key leads to it, whatever id comes with it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::{InvocationId, InvocationKey};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::InvocationStatus;
use toolplane_store::{Expect, RecordKey, Versioned};

use super::cache::CachedCall;
use super::read::Records;
use crate::identity::id_of_key;
use crate::storage::commit::Builder;
use crate::storage::{RecordError, keys};

/// What is stored under an id that no call has.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Remembered {
    /// The key that makes this id was used for a call, or a batch, with an id of its own.
    Key {
        /// That id.
        held_by: String,
    },
    /// The call is no longer kept.
    Call(Tombstone),
}

/// What is remembered of an invocation that is no longer kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    /// Digest of what the caller asked for.
    pub(crate) request_digest: Digest,
    /// How it ended.
    pub(crate) status: InvocationStatus,
    /// When it ended.
    pub(crate) ended_at: Option<Timestamp>,
}

/// What a caller asks for, as far as it tells whether that was asked for before.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// The call.
    pub(crate) call: InvocationKey,
    /// The id its key makes, when the call has another.
    pub(crate) key: Option<InvocationKey>,
    /// Digest of the request.
    pub(crate) digest: Digest,
}

impl Asked {
    /// The ids it is known by.
    fn names(&self) -> impl Iterator<Item = &InvocationKey> {
        std::iter::once(&self.call).chain(&self.key)
    }

    /// The commit fails when something was accepted, or is remembered, under one of these names; else its key leads to it.
    pub(super) fn claim(&self, commit: &mut Builder) -> Result<(), serde_json::Error> {
        for name in self.names() {
            commit.compare(keys::invocation(name), Expect::Absent);
            commit.compare(keys::tombstone(name), Expect::Absent);
        }
        match &self.key {
            Some(key) => commit.put_json(keys::tombstone(key), &Remembered::Key { held_by: self.call.id.to_string() }),
            None => Ok(()),
        }
    }
}

impl Records {
    /// What `record` asks for.
    pub(crate) fn asked(&self, record: &Invocation) -> Asked {
        let call = record.key();
        // The key of a call of a batch is the batch's.
        let key = record.idempotency_key.as_deref().filter(|_| record.batch.is_none());
        let key = key.and_then(|key| id_of_key(self.storage().shards(), &call, key));
        Asked { call, key, digest: record.request_digest }
    }

    /// The call that was accepted under one of the names of `asked`. Fails with [`RecordError::KeyExpired`] or
    /// [`RecordError::KeyReused`] when it is no longer kept, and when the store does.
    pub(crate) async fn accepted(&self, asked: &Asked) -> Result<Option<Arc<Invocation>>, RecordError> {
        let wanted: Vec<_> = asked.names().flat_map(|name| [keys::invocation(name), keys::tombstone(name)]).collect();
        let found = self.storage().get_many(&wanted).await?;
        self.accepted_of(asked, &wanted.into_iter().zip(found).collect::<Vec<_>>()).await
    }

    /// The same, from records that were read already.
    pub(super) async fn accepted_of(
        &self,
        asked: &Asked,
        current: &[(RecordKey, Option<Versioned>)],
    ) -> Result<Option<Arc<Invocation>>, RecordError> {
        let find = |key: &RecordKey| current.iter().find(|(at, _)| at == key).and_then(|(_, stored)| stored.as_ref());
        if let Some(stored) = asked.names().find_map(|name| find(&keys::invocation(name))) {
            return Ok(Some(CachedCall::read(stored)?.record));
        }
        let Some(stored) = asked.names().find_map(|name| find(&keys::tombstone(name))) else { return Ok(None) };
        match serde_json::from_slice(&stored.bytes)? {
            Remembered::Call(tombstone) => Err(tombstone.refuses(asked)),
            Remembered::Key { held_by } => self.holder(asked, InvocationId::from_trusted(held_by)).await.map(Some),
        }
    }

    /// The call `id`, which holds the key of `asked`.
    async fn holder(&self, asked: &Asked, id: InvocationId) -> Result<Arc<Invocation>, RecordError> {
        let holder = InvocationKey::new(&asked.call.tenant, &id);
        match self.get(&holder).await {
            Err(RecordError::NotFound) => {}
            found => return found,
        }
        match self.storage().get(&keys::tombstone(&holder)).await? {
            Some(stored) => match serde_json::from_slice(&stored.bytes)? {
                Remembered::Call(tombstone) => Err(tombstone.refuses(asked)),
                Remembered::Key { .. } => Err(RecordError::KeyReused { id }),
            },
            None => Err(RecordError::KeyExpired { id }),
        }
    }

    /// Whether the key of `asked` leads to its call.
    pub(crate) async fn holds_key(&self, asked: &Asked) -> Result<bool, RecordError> {
        let Some(key) = &asked.key else { return Ok(false) };
        let stored = self.storage().get(&keys::tombstone(key)).await?;
        let note = stored.map(|stored| serde_json::from_slice(&stored.bytes)).transpose()?;
        Ok(matches!(note, Some(Remembered::Key { held_by }) if held_by == asked.call.id.as_str()))
    }
}

impl Tombstone {
    /// Why `asked` cannot be accepted: a call of its id or key was, and is no longer kept.
    pub(crate) fn refuses(&self, asked: &Asked) -> RecordError {
        let id = asked.call.id.clone();
        match self.request_digest == asked.digest {
            true => RecordError::KeyExpired { id },
            false => RecordError::KeyReused { id },
        }
    }
}
