//! Reading the book: pages of approvals, and the changes watchers follow.

use tokio::sync::watch;
use toolplane_records::approval::Approval;
use toolplane_records::ids::TenantId;
use toolplane_records::vocabulary::ApprovalState;
use toolplane_runtime::page;
use toolplane_store::ScoreRange;

use super::{Book, BookError, ToldChange, keys};
use crate::ledger::Stream;

/// How many records are read at once. An approval can carry an input of a megabyte, so pages also end by size.
const CHUNK: usize = 2;
/// A page takes no further approvals once their records are this large together.
const FULL_BYTES: usize = page::FULL_BYTES;

/// Which approvals a list holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Their owner; every tenant when absent.
    pub tenant: Option<TenantId>,
    /// Their state; every one when absent.
    pub state: Option<ApprovalState>,
    /// Their queue; every one when absent.
    pub queue: Option<String>,
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The approvals.
    pub approvals: Vec<Approval>,
    /// Approvals of this page that are damaged, by id.
    pub damaged: Vec<String>,
    /// Where to go on when there are more.
    pub next: Option<Place>,
}

/// A place in a list: after this approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The moment it was asked, as the index keeps it.
    pub asked_at: u64,
    /// The approval, as the index names it.
    pub member: String,
}

/// Some changes in order.
#[derive(Clone, Debug)]
pub struct Changes {
    /// Approvals as they were after each change, with its revision.
    pub changes: Vec<(u64, Approval)>,
    /// The last revision that was looked at.
    pub seen: u64,
    /// The newest revision there is.
    pub head: u64,
}

impl Book {
    /// At most `limit` approvals, newest first. Large ones make the page shorter.
    ///
    /// Damaged records are no error: they are in [`Listed::damaged`]. Fails with [`BookError::Store`] when the store
    /// does not answer or the index is damaged, and with [`BookError::Unreadable`] when a record is not an approval.
    pub async fn list(&self, filter: &Filter, after: Option<Place>, limit: usize) -> Result<Listed, BookError> {
        let index = keys::list(filter.tenant.as_ref(), filter.state, filter.queue.as_deref());
        let mut range = ScoreRange::all().reversed();
        range.after = after.map(|place| (place.asked_at, place.member));
        let entries = self.ledger.store().scan(&index, range, limit.saturating_add(1)).await?;
        let (mut approvals, mut damaged, mut bytes, mut read) = (Vec::new(), Vec::new(), 0, 0);
        'page: for chunk in entries[..entries.len().min(limit)].chunks(CHUNK) {
            let wanted: Vec<_> = chunk.iter().map(|entry| keys::record_of_member(&entry.member)).collect();
            for (key, found) in wanted.iter().zip(self.ledger.store().get_each(&wanted).await?) {
                // An answer may have replaced a large input by another one: a single record more is all a message has room for.
                if bytes >= FULL_BYTES {
                    break 'page;
                }
                read += 1;
                let found = match found {
                    Ok(None) => continue,
                    Ok(Some(found)) => found,
                    Err(_) => {
                        damaged.push(keys::id_of(key).to_owned());
                        continue;
                    }
                };
                let approval: Approval = serde_json::from_slice(&found.bytes)?;
                // One that was settled between the two reads no longer belongs here.
                if filter.state.is_none_or(|state| state == approval.state) {
                    bytes += found.bytes.len();
                    approvals.push(approval);
                }
            }
        }
        let last = entries[..read].last().filter(|_| read < entries.len());
        let next = last.map(|entry| Place { asked_at: entry.score, member: entry.member.clone() });
        Ok(Listed { approvals, damaged, next })
    }

    /// Those of at most `limit` changes after the revision `after` whose approvals are still there and can be read, and how far that is.
    /// Fails with [`BookError::Store`] when the store does not answer or a change is damaged, and with [`BookError::Unreadable`] when one
    /// is none.
    pub async fn changes(&self, after: u64, limit: usize) -> Result<Changes, BookError> {
        let page = self.ledger.store().events(Stream::Approvals.name(), after.saturating_add(1), limit).await?;
        let seen = page.events.last().map_or(after, |(revision, _)| *revision);
        let read = |(revision, bytes): (u64, bytes::Bytes)| Ok((revision, serde_json::from_slice(&bytes)?));
        let told: Vec<(u64, ToldChange)> =
            page.events.into_iter().map(read).collect::<Result<_, serde_json::Error>>()?;
        let mut changes = Vec::with_capacity(told.len());
        for chunk in told.chunks(CHUNK) {
            let wanted: Vec<_> = chunk.iter().map(|(_, told)| told.record()).collect();
            // The store has named a damaged one in its log; that it changed is of use to nobody.
            let found = self.ledger.store().get_each(&wanted).await?.into_iter().map(|found| found.ok().flatten());
            for ((revision, told), found) in chunk.iter().zip(found) {
                let Some(found) = found else { continue };
                changes.extend(told.as_it_was(serde_json::from_slice(&found.bytes)?).map(|was| (*revision, was)));
            }
        }
        Ok(Changes { changes, seen, head: page.head_seq })
    }

    /// The newest revision there is. Fails with [`BookError::Store`] when the store does not answer.
    pub async fn head(&self) -> Result<u64, BookError> {
        Ok(self.ledger.head(Stream::Approvals).await?)
    }

    /// The newest revision, as it grows. A hint: another process may write without it.
    pub fn revisions(&self) -> watch::Receiver<u64> {
        self.ledger.heads(Stream::Approvals)
    }
}
