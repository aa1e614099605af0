//! Forgetting what use has taught, of one tool or of everything, in every process and before that is answered.
//!
//! Each notebook counts how often it was forgotten from (its era), and a lesson says which era it was learned in: what waits in any
//! process to be written, and what is being written there right now, does not come back.

use bytes::Bytes;
use toolplane_backend::let_others_through;
use toolplane_catalog::search::{Lesson, NOTEBOOKS, Notebook};
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, Expect, IndexOp, StoreError, Write};

use super::Learning;
use super::keep::read;
use crate::changes::Made;
use crate::error::{lost, of_store, unreadable};
use crate::keys;
use crate::registry::{Registry, to_the_end};
use crate::sync::Subject;

/// How often another process may get in between.
const ATTEMPTS: u32 = 16;

/// What was forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forgotten {
    /// Of how many tools.
    pub(crate) tools: usize,
    /// How many words led to them.
    pub(crate) words: usize,
}

impl Learning {
    /// Forgets what use has taught a tenant about a tool, or about all. Answered when every process has, which `registry` tells.
    pub(crate) async fn forget(
        &self,
        registry: &Registry,
        tenant: TenantId,
        tool: Option<ToolId>,
    ) -> Result<Forgotten, ApiError> {
        let (learning, registry) = (self.clone(), registry.clone());
        to_the_end(async move {
            let numbers: Vec<u8> = match &tool {
                Some(tool) => vec![Lesson::notebook_of(tool)],
                None => (0..NOTEBOOKS).collect(),
            };
            let changed = [Subject::Use(tenant.clone())];
            for tries in 1..=ATTEMPTS {
                let (commit, forgotten) = forgetting(&registry, &tenant, tool.as_ref(), &numbers).await?;
                let made = registry.make_change(commit, &changed).await?;
                let Made::At(head) = made else {
                    let_others_through(tries).await;
                    continue;
                };
                learning.read_again(registry.store(), &tenant).await.map_err(of_store)?;
                let revision = registry.take_in(head, &changed, || ()).await?;
                registry.settled(revision).await;
                return Ok(forgotten);
            }
            Err(lost())
        })
        .await
    }

    /// Something of what a tenant's use has taught was forgotten: reads what is left, and forgets which searches were made.
    pub(crate) async fn read_again(
        &self,
        store: &dyn toolplane_store::Store,
        tenant: &TenantId,
    ) -> Result<(), StoreError> {
        let Some(inner) = &self.0 else { return Ok(()) };
        let numbers: Vec<u8> = (0..NOTEBOOKS).collect();
        let records: Vec<_> = numbers.iter().map(|number| keys::learned(tenant, *number)).collect();
        for (number, found) in numbers.into_iter().zip(store.get_each(&records).await?) {
            inner.take_in(tenant, number, found);
        }
        inner.recent.lock().forget(tenant);
        inner.put_together(tenant);
        Ok(())
    }
}

/// The commit that empties notebooks, as they are now. One nobody has written yet is counted too: lessons may wait for it.
async fn forgetting(
    registry: &Registry,
    tenant: &TenantId,
    tool: Option<&ToolId>,
    numbers: &[u8],
) -> Result<(Commit, Forgotten), ApiError> {
    let records: Vec<_> = numbers.iter().map(|number| keys::learned(tenant, *number)).collect();
    let found = registry.store().get_many(&records).await.map_err(of_store)?;
    let score = keys::score(registry.now().await?);
    let (mut commit, mut forgotten) = (Commit::default(), Forgotten::default());
    for ((number, key), found) in numbers.iter().zip(records).zip(found) {
        let expected = found.as_ref().map_or(Expect::Absent, |found| Expect::Version(found.version));
        // What cannot be read is nothing that anybody goes by.
        let mut notebook: Notebook = found.and_then(|found| read(&found).ok()).unwrap_or_default();
        let (tools, words) = notebook.forget(tool);
        forgotten.tools += tools;
        forgotten.words += words;
        let bytes = Bytes::from(serde_json::to_vec(&notebook).map_err(unreadable)?);
        commit.compare.push((key.clone(), expected));
        commit.writes.push(Write::Put { key, bytes });
        let member = keys::learned_member(tenant, *number);
        commit.index.push(IndexOp::Put { index: keys::LEARNED.to_owned(), score, member });
    }
    Ok((commit, forgotten))
}
