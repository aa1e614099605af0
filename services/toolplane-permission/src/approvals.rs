//! The book of approvals: questions to people, kept durably until each has its one final answer.

mod error;
mod keys;
mod listing;
mod settle;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{Mutex, watch};
use toolplane_records::approval::Approval;
use toolplane_records::ids::{ApprovalId, InvocationId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_store::{Append, Commit, CommitOutcome, Expect, IndexOp, RecordKey, Store, StoreError, Write};

pub use error::BookError;
pub use listing::{Changes, Filter, Place};
pub use settle::Answer;

/// How often a change that met another writer is decided again before the book gives up.
const ATTEMPTS: usize = 16;

/// All approvals of a store. Changes go one after the other, because all of them extend one stream.
pub struct Book {
    store: Arc<dyn Store>,
    lane: Mutex<()>,
    revision: watch::Sender<u64>,
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book").field("revision", &*self.revision.borrow()).finish_non_exhaustive()
    }
}

/// A record as it was read.
struct Stored {
    version: u64,
    approval: Approval,
}

/// What a change makes of an approval.
enum Step {
    /// It stays as it is.
    Keep,
    /// It takes this final form; the further records are written with it if they are absent.
    Settle(Box<Approval>, Option<(RecordKey, Bytes)>),
}

impl Book {
    /// The book kept in `store`.
    pub async fn open(store: Arc<dyn Store>) -> Result<Self, BookError> {
        let head = store.events(keys::CHANGES, u64::MAX, 1).await?.head_seq;
        Ok(Self { store, lane: Mutex::new(()), revision: watch::Sender::new(head) })
    }

    /// The id of the question about one input of one call under one declaration.
    pub fn id_of(tenant: &TenantId, invocation: &InvocationId, declaration: &Digest, input: &Digest) -> ApprovalId {
        keys::approval_id(tenant, invocation, declaration, input)
    }

    /// The clock approvals expire by.
    pub async fn now(&self) -> Result<Timestamp, BookError> {
        Ok(self.store.now().await?)
    }

    /// Writes the question down, unless it was asked before, and returns it as it stands: durable when this answers.
    pub async fn ask(&self, question: Approval) -> Result<Approval, BookError> {
        let key = keys::record(&question.tenant, &question.approval_id);
        let _turn = self.lane.lock().await;
        for _ in 0..ATTEMPTS {
            if let Some(standing) = self.read(&key).await? {
                return Ok(standing.approval);
            }
            if self.commit(&key, None, &question, None).await? {
                return Ok(question);
            }
        }
        Err(contended())
    }

    /// The approval as it stands.
    pub async fn get(&self, tenant: &TenantId, id: &ApprovalId) -> Result<Approval, BookError> {
        let stored = self.read(&keys::record(tenant, id)).await?;
        stored.map(|stored| stored.approval).ok_or_else(|| BookError::NotFound(id.clone()))
    }

    /// Applies `decide` to the record until no other writer gets in between. Nothing when there is no such record.
    async fn change(
        &self,
        key: &RecordKey,
        decide: impl Fn(&Approval, Timestamp) -> Step,
    ) -> Result<Option<Approval>, BookError> {
        let _turn = self.lane.lock().await;
        for _ in 0..ATTEMPTS {
            let Some(stored) = self.read(key).await? else { return Ok(None) };
            let now = self.store.now().await?;
            match decide(&stored.approval, now) {
                Step::Keep => return Ok(Some(stored.approval)),
                Step::Settle(settled, beside) => {
                    if self.commit(key, Some(&stored), &settled, beside).await? {
                        return Ok(Some(*settled));
                    }
                }
            }
        }
        Err(contended())
    }

    async fn read(&self, key: &RecordKey) -> Result<Option<Stored>, BookError> {
        let Some(found) = self.store.get(key).await? else { return Ok(None) };
        Ok(Some(Stored { version: found.version, approval: serde_json::from_slice(&found.bytes)? }))
    }

    /// Writes a new or settled approval; false when another writer was faster.
    async fn commit(
        &self,
        key: &RecordKey,
        before: Option<&Stored>,
        after: &Approval,
        beside: Option<(RecordKey, Bytes)>,
    ) -> Result<bool, BookError> {
        let head = self.head().await?;
        let bytes = Bytes::from(serde_json::to_vec(after)?);
        let expected = before.map_or(Expect::Absent, |stored| Expect::Version(stored.version));
        let mut compare = vec![(key.clone(), expected)];
        let mut writes = vec![Write::Put { key: key.clone(), bytes: bytes.clone() }];
        if let Some((key, bytes)) = beside {
            compare.push((key.clone(), Expect::Absent));
            writes.push(Write::Put { key, bytes });
        }
        let events = vec![Append { stream: keys::CHANGES.to_owned(), first_seq: head + 1, events: vec![bytes] }];
        let index = match before {
            None => asked(after),
            Some(stored) => settled(&stored.approval, after),
        };
        match self.store.commit(Commit { compare, writes, index, events, ..Commit::default() }).await {
            Ok(CommitOutcome::Applied | CommitOutcome::Replayed) => {
                self.revision.send_replace(head + 1);
                Ok(true)
            }
            Ok(CommitOutcome::Lost { .. } | CommitOutcome::Full { .. }) | Err(StoreError::SequenceGap { .. }) => {
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn asked(question: &Approval) -> Vec<IndexOp> {
    let member = question.approval_id.to_string();
    let score = keys::asked_at(question);
    let put = |index, score, member| IndexOp::Put { index, score, member };
    vec![
        put(keys::all(&question.tenant), score, member.clone()),
        put(keys::in_state(&question.tenant, question.state), score, member),
        put(
            keys::EXPIRY.to_owned(),
            keys::score(question.expires_at),
            keys::member(&question.tenant, &question.approval_id),
        ),
    ]
}

fn settled(before: &Approval, after: &Approval) -> Vec<IndexOp> {
    let member = after.approval_id.to_string();
    vec![
        IndexOp::Remove { index: keys::in_state(&before.tenant, before.state), member: member.clone() },
        IndexOp::Put { index: keys::in_state(&after.tenant, after.state), score: keys::asked_at(after), member },
        IndexOp::Remove { index: keys::EXPIRY.to_owned(), member: keys::member(&after.tenant, &after.approval_id) },
    ]
}

fn contended() -> BookError {
    let reason = "too many writers change the approvals at once".to_owned();
    BookError::Store(StoreError::Unavailable { reason })
}
