//! Words that mean the same when tools are searched: those of the configuration, and what tenants add while processes run.
//!
//! What a tenant added is one record, in the memory of every process; a change of it is told in the list of changes that tools
//! use, so whoever asks any process after it was answered is answered by it.

mod book;
mod known;

pub(crate) use book::{Book, Group, Refused, TakenOut, keys_of};
pub(crate) use known::Thesauri;

use bytes::Bytes;
use toolplane_backend::let_others_through;
use toolplane_records::ids::TenantId;
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, Expect, Found, IndexOp, ScoreRange, StoreError, Versioned, Write};

use crate::changes::Made;
use crate::error::{lost, of_store, unreadable};
use crate::keys;
use crate::registry::{Registry, to_the_end};
use crate::sync::Subject;

/// How often another process may get in between.
const ATTEMPTS: u32 = 16;
/// How many tenants are read at once.
const READ_PAGE: usize = 100;

impl Registry {
    /// Changes what was added to a tenant as `decide` says; whether it did is said beside what it says. Answered when every process
    /// knows.
    pub(crate) async fn change_synonyms<T: Send + 'static>(
        &self,
        tenant: TenantId,
        decide: impl Fn(&mut Book) -> Result<(T, bool), ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let registry = self.clone();
        to_the_end(async move {
            let key = keys::synonyms(&tenant);
            for tries in 1..=ATTEMPTS {
                let found = registry.store().get(&key).await.map_err(of_store)?;
                let version = found.as_ref().map_or(0, |found| found.version);
                let mut book = found.map(|found| read(&found)).transpose().map_err(unreadable)?.unwrap_or_default();
                let (answer, changes) = decide(&mut book)?;
                if !changes {
                    return Ok(answer);
                }
                let bytes = Bytes::from(serde_json::to_vec(&book).map_err(unreadable)?);
                let expected = if version == 0 { Expect::Absent } else { Expect::Version(version) };
                let member = tenant.to_string();
                let commit = Commit {
                    compare: vec![(key.clone(), expected)],
                    writes: vec![Write::Put { key: key.clone(), bytes }],
                    index: vec![IndexOp::Put { index: keys::SYNONYMS.to_owned(), score: 0, member }],
                    ..Commit::default()
                };
                let changed = [Subject::Synonyms(tenant.clone())];
                let made = registry.0.changes.make(commit, &changed, None).await.map_err(of_store)?;
                let Made::At(head) = made else {
                    let_others_through(tries).await;
                    continue;
                };
                let apply = || registry.0.thesauri.put(&tenant, version + 1, book);
                let revision = registry.take_in(head, &changed, apply).await?;
                registry.settled(revision).await;
                return Ok(answer);
            }
            Err(lost())
        })
        .await
    }

    /// Reads what was added to all tenants.
    pub(crate) async fn read_synonyms(&self) -> Result<(), StoreError> {
        let mut range = ScoreRange::all();
        loop {
            let page = self.store().scan(keys::SYNONYMS, range.clone(), READ_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            range = range.after(last);
            let tenants: Vec<_> = page.iter().filter_map(|entry| TenantId::parse(&entry.member).ok()).collect();
            self.read_synonyms_of(&tenants).await?;
        }
    }

    /// Reads what was added to these tenants. What cannot be read is in no search until it is mended; all else goes on.
    pub(crate) async fn read_synonyms_of(&self, tenants: &[TenantId]) -> Result<(), StoreError> {
        let records: Vec<_> = tenants.iter().map(keys::synonyms).collect();
        for (tenant, found) in tenants.iter().zip(self.store().get_each(&records).await?) {
            match found_book(found) {
                Ok(Some((version, book))) => self.0.thesauri.put(tenant, version, book),
                Ok(None) => self.0.thesauri.forget(tenant),
                Err(error) => tracing::warn!(%error, %tenant, "synonyms that were added cannot be read"),
            }
        }
        Ok(())
    }
}

fn found_book(found: Found) -> Result<Option<(u64, Book)>, StoreError> {
    let Some(found) = found.map_err(StoreError::Damaged)? else { return Ok(None) };
    let reason = |error: serde_json::Error| StoreError::Corrupt { reason: error.to_string() };
    Ok(Some((found.version, read(&found).map_err(reason)?)))
}

fn read(found: &Versioned) -> Result<Book, serde_json::Error> {
    serde_json::from_slice(&found.bytes)
}
