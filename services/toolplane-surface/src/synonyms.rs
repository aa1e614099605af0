//! Words that mean the same when tools are searched: those of the configuration, and what tenants add while processes run.
//!
//! What a tenant added is one record, in the memory of every process; a change of it is told in the list of changes that tools
//! use, so whoever asks any process after it was answered is answered by it.

mod book;
mod kept;
mod known;

pub(crate) use book::{Book, Group, Refused, TakenOut, keys_of};
pub(crate) use known::Thesauri;

use bytes::Bytes;
use toolplane_backend::let_others_through;
use toolplane_records::ids::TenantId;
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, Expect, IndexOp, Write};

use kept::read;

use crate::changes::Made;
use crate::error::{lost, of_store, unreadable};
use crate::keys;
use crate::registry::{Registry, to_the_end};
use crate::sync::Subject;

/// How often another process may get in between.
const ATTEMPTS: u32 = 16;

/// What tenants added, and how they change it. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Books {
    registry: Registry,
    thesauri: Thesauri,
}

impl Books {
    pub(crate) fn new(registry: Registry, thesauri: Thesauri) -> Self {
        Self { registry, thesauri }
    }

    /// The words of all tenants as searches look at them.
    pub(crate) fn thesauri(&self) -> &Thesauri {
        &self.thesauri
    }

    /// Changes what was added to a tenant as `decide` says; whether it did is said beside what it says. Answered when every process
    /// knows.
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        tenant: TenantId,
        decide: impl Fn(&mut Book) -> Result<(T, bool), ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let Self { registry, thesauri } = self.clone();
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
                let made = registry.make_change(commit, &changed).await?;
                let Made::At(head) = made else {
                    let_others_through(tries).await;
                    continue;
                };
                let apply = || thesauri.put(&tenant, version + 1, book);
                let revision = registry.take_in(head, &changed, apply).await?;
                registry.settled(revision).await;
                return Ok(answer);
            }
            Err(lost())
        })
        .await
    }
}
