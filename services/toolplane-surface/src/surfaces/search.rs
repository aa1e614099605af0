//! Searching surfaces.

use serde_json::json;
use toolplane_catalog::search::{Answer, Question, Seen, search};
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::search::SearchResult;
use toolplane_records::vocabulary::LoadingState;
use toolplane_runtime::ApiError;

use super::found::Find;
use super::{Finds, Surfaces};
use crate::events::facts;
use crate::providers::Gate;
use crate::registry::Registry;

/// Searching surfaces. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceSearch {
    registry: Registry,
    surfaces: Surfaces,
    finds: Finds,
    /// Marks what cannot be called now.
    gate: Gate,
}

impl SurfaceSearch {
    pub(crate) fn new(registry: Registry, surfaces: Surfaces, finds: Finds, gate: Gate) -> Self {
        Self { registry, surfaces, finds, gate }
    }

    /// Searches a surface.
    pub(crate) async fn look(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        question: &Question<'_>,
    ) -> Result<Answer, ApiError> {
        let held = self.surfaces.held(tenant, id).await?;
        let now = self.registry.now().await?;
        let view = held.view();
        // Whoever changes tools does not wait for the search.
        let owner = self.registry.tenant(tenant);
        let answer = self.surfaces.with_shut(tenant, |shut| {
            let (seen, index) = {
                let catalog = owner.catalog.read();
                (Seen::of(view.indexed(), &catalog, shut), catalog.index().snapshot())
            };
            search(&seen, &index, question)
        });
        let Answer { mut result, next } = answer.map_err(|fault| ApiError::invalid_argument("query", fault.message))?;
        self.gate.mark_search(tenant, &mut result, now);
        Ok(Answer { result, next })
    }

    /// Notes deferred tools that somebody is told were found, for the surface's log.
    pub(crate) async fn note(&self, tenant: &TenantId, id: &SurfaceId, result: &SearchResult) -> Result<(), ApiError> {
        let deferred = |state| matches!(state, LoadingState::Discoverable | LoadingState::Deferred);
        let discovered: Vec<&ToolId> =
            result.refs.iter().filter(|found| deferred(found.loading_state)).map(|found| &found.tool_id).collect();
        if !discovered.is_empty() {
            let data = json!({ "query": result.query, "query_type": result.query_type, "tool_ids": discovered });
            let at = self.registry.now().await?;
            self.finds.note(tenant, id, Find { at, data: facts(&data) }).await?;
        }
        Ok(())
    }

    /// What a tool says about when it is to be looked for.
    pub(crate) fn hint(&self, tenant: &TenantId, id: &ToolId) -> String {
        let owner = self.registry.tenant(tenant);
        let catalog = owner.catalog.read();
        catalog.get(id).map(|entry| entry.tool.registration().declaration.search_hint.clone()).unwrap_or_default()
    }
}
