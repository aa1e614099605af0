//! Removing what was asked about calls that are not kept any more.

use toolplane_records::ids::{ApprovalId, InvocationId, TenantId};
use toolplane_store::{Expect, ScoreRange, StoreError, Write};

use super::{ATTEMPTS, Book, BookError, contended, keys};
use crate::ledger::{Change, Done};

/// Most questions of one call that are read at once.
const PAGE: usize = 64;

impl Book {
    /// Removes every question about these calls of `tenant`, and those of `ids`, whatever became of them; says how many there were.
    /// Done again it removes nothing.
    ///
    /// Fails with [`BookError::Store`] when the store does not answer or other writers get in between 64 times, and with
    /// [`BookError::Unreadable`] when a record is not an approval.
    pub async fn delete(
        &self,
        tenant: &TenantId,
        calls: &[InvocationId],
        ids: &[ApprovalId],
    ) -> Result<usize, BookError> {
        let mut deleted = 0;
        for call in calls {
            let index = keys::about(tenant, call);
            loop {
                let entries = self.ledger.store().scan(&index, ScoreRange::all(), PAGE).await?;
                for entry in &entries {
                    deleted += usize::from(self.delete_one(tenant, &entry.member, Some(&index)).await?);
                }
                if entries.len() < PAGE {
                    break;
                }
            }
        }
        for id in ids {
            deleted += usize::from(self.delete_one(tenant, &keys::member(tenant, id), None).await?);
        }
        Ok(deleted)
    }

    /// Removes one with all its entries; whether it was there. `about` is the index it was found in.
    async fn delete_one(&self, tenant: &TenantId, member: &str, about: Option<&str>) -> Result<bool, BookError> {
        let key = keys::record_of_member(member);
        for _ in 0..ATTEMPTS {
            let change = match self.read(&key).await {
                Ok(Some(stored)) if stored.approval.tenant == *tenant => Change {
                    compare: vec![(key.clone(), Expect::Version(stored.version))],
                    writes: vec![Write::Delete { key: key.clone() }],
                    index: keys::gone(&stored.approval),
                    essential: true,
                    ..Change::default()
                },
                Ok(_) => match about {
                    // The entry is all there is.
                    Some(index) => Change {
                        compare: vec![(key.clone(), Expect::Absent)],
                        index: vec![keys::leaves(index, member)],
                        essential: true,
                        ..Change::default()
                    },
                    None => return Ok(false),
                },
                // An operator takes it out (`store forget`), and its question with it.
                Err(BookError::Store(StoreError::Damaged(damage))) => {
                    tracing::error!(approval = member, %damage, "a damaged approval of a deleted call stays");
                    return Ok(false);
                }
                Err(error) => return Err(error),
            };
            let was_there = !change.writes.is_empty();
            match self.ledger.apply(change).await? {
                Done::Applied => return Ok(was_there),
                Done::Lost | Done::Full(_) => {}
            }
        }
        Err(contended())
    }
}
