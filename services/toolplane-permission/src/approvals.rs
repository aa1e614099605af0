//! The book of approvals: questions to people, kept durably until each has its one final answer.
//!
//! Any number of processes may open the book over one store: the process that commits first decides, and all others
//! find that.

mod answer;
mod delete;
pub(crate) mod edit;
mod error;
pub(crate) mod keys;
mod listing;
mod offer;
mod settle;
#[cfg(test)]
mod tests;
mod told;

use std::sync::Arc;

use bytes::Bytes;
use toolplane_records::approval::Approval;
use toolplane_records::ids::{ApprovalId, TenantId};
use toolplane_records::rule::PermissionRule;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ApprovalState;
use toolplane_store::{Bound, Expect, RecordKey, StoreError, Write};

use crate::ledger::{Change, Done, Ledger, Stream};
use crate::rules::stored;

use told::ToldChange;

pub use answer::{Answer, Resolver};
pub use error::BookError;
pub use keys::Binding;
pub use listing::{Changes, Filter, Listed, Place};
pub(crate) use offer::{accepted_rules, options};

/// How often a change that lost to another writer is decided again before the book gives up.
const ATTEMPTS: usize = 64;

/// What the book is bounded by.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most pending questions of one tenant.
    pub max_pending: u64,
    /// Most stored rules of one tenant.
    pub max_rules: u64,
    /// How long an approved call may wait for its start, milliseconds; later it has to be asked about again.
    pub holds_ms: u64,
}

/// All approvals of a store.
#[derive(Clone, Debug)]
pub struct Book {
    ledger: Arc<Ledger>,
    limits: Limits,
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
    /// It takes this final form.
    Settle(Box<Settlement>),
}

/// The end of a question, and what is stored with it or not at all.
struct Settlement {
    approval: Approval,
    /// A further record that must not be there yet.
    remember: Option<(RecordKey, Bytes)>,
    /// Rules that come into force with the answer.
    rules: Vec<PermissionRule>,
}

impl Book {
    pub(crate) fn new(ledger: Arc<Ledger>, limits: Limits) -> Self {
        Self { ledger, limits }
    }

    /// The clock approvals expire by. Fails with [`BookError::Store`] when the store does not answer.
    pub async fn now(&self) -> Result<Timestamp, BookError> {
        Ok(self.ledger.now().await?)
    }

    /// Writes the question down, unless it was asked before, and returns it as it is stored: durable when this answers.
    ///
    /// # Errors
    ///
    /// - [`BookError::TooMany`] when the tenant has [`Limits::max_pending`] pending questions already.
    /// - [`BookError::Store`] when the store does not answer or refuses, and when other writers get in between 64
    ///   times.
    /// - [`BookError::Unreadable`] when the record that is there cannot be read back.
    pub async fn ask(&self, question: Approval) -> Result<Approval, BookError> {
        let key = keys::record(&question.tenant, &question.approval_id);
        for _ in 0..ATTEMPTS {
            if let Some(standing) = self.read(&key).await? {
                return Ok(standing.approval);
            }
            let bytes = Bytes::from(serde_json::to_vec(&question)?);
            let pending = keys::list(Some(&question.tenant), Some(ApprovalState::Pending), None);
            let change = Change {
                compare: vec![(key.clone(), Expect::Absent)],
                bounds: vec![Bound { index: pending, below: self.limits.max_pending }],
                writes: vec![Write::Put { key: key.clone(), bytes }],
                index: keys::moved(None, &question),
                events: vec![(Stream::Approvals, vec![ToldChange::of(&question)?])],
                essential: false,
            };
            match self.ledger.apply(change).await? {
                Done::Applied => return Ok(question),
                Done::Lost => {}
                Done::Full(_) => return Err(self.full("pending approvals", &question.tenant, self.limits.max_pending)),
            }
        }
        Err(contended())
    }

    /// The approval as it is stored. Fails with [`BookError::NotFound`] when `tenant` has no such approval, with
    /// [`BookError::Store`] when the store does not answer or the record is damaged, and with [`BookError::Unreadable`]
    /// when it is not an approval.
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
        for _ in 0..ATTEMPTS {
            let Some(stored) = self.read(key).await? else { return Ok(None) };
            let now = self.ledger.now().await?;
            let settlement = match decide(&stored.approval, now) {
                Step::Keep => return Ok(Some(stored.approval)),
                Step::Settle(settlement) => settlement,
            };
            match self.ledger.apply(self.settled(key, &stored, &settlement)?).await? {
                Done::Applied => return Ok(Some(settlement.approval)),
                Done::Lost => {}
                Done::Full(_) => {
                    return Err(self.full("stored rules", &stored.approval.tenant, self.limits.max_rules));
                }
            }
        }
        Err(contended())
    }

    fn settled(&self, key: &RecordKey, before: &Stored, settlement: &Settlement) -> Result<Change, BookError> {
        let Settlement { approval, remember, rules } = settlement;
        let bytes = Bytes::from(serde_json::to_vec(approval)?);
        let mut change = Change {
            compare: vec![(key.clone(), Expect::Version(before.version))],
            writes: vec![Write::Put { key: key.clone(), bytes }],
            index: keys::moved(Some(before.approval.state), approval),
            events: vec![(Stream::Approvals, vec![ToldChange::of(approval)?])],
            essential: true,
            ..Change::default()
        };
        if let Some((key, bytes)) = remember.clone() {
            change.compare.push((key.clone(), Expect::Absent));
            change.writes.push(Write::Put { key, bytes });
        }
        match rules.is_empty() {
            true => Ok(change),
            false => Ok(change.with(stored::addition(&approval.tenant, rules, self.limits.max_rules)?)),
        }
    }

    async fn read(&self, key: &RecordKey) -> Result<Option<Stored>, BookError> {
        let Some(found) = self.ledger.get(key).await? else { return Ok(None) };
        Ok(Some(Stored { version: found.version, approval: serde_json::from_slice(&found.bytes)? }))
    }

    fn full(&self, what: &'static str, tenant: &TenantId, limit: u64) -> BookError {
        BookError::TooMany { what, tenant: tenant.clone(), limit }
    }
}

fn contended() -> BookError {
    let reason = "too many writers change the same approval at once".to_owned();
    BookError::Store(StoreError::Unavailable { reason })
}
