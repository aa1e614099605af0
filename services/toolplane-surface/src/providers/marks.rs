//! Marking in answers what providers keep from being called.

use toolplane_catalog::Catalog;
use toolplane_catalog::search::next_action;
use toolplane_providers::names::of_tool_id;
use toolplane_records::ids::TenantId;
use toolplane_records::search::{FoundTool, ProviderStanding, SearchResult};
use toolplane_records::surface::DeferredToolRef;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{LoadingState, ProviderState};

use super::Gate;

impl Gate {
    /// Marks the tools of a search that cannot be called now, and names the providers that are still waited for, or are away.
    pub(crate) fn mark_search(&self, tenant: &TenantId, result: &mut SearchResult, now: Timestamp) {
        let own = self.shelf.of(tenant);
        let away = own.iter().filter(|held| held.status.state != ProviderState::Ready);
        let standing = away.map(|held| (held.provider.provider_id.to_string(), held.status.state));
        result.provider_states = standing.map(|(provider_id, state)| ProviderStanding { provider_id, state }).collect();
        result.provider_states.sort_by(|one, other| one.provider_id.cmp(&other.provider_id));
        let awaited =
            own.iter().filter(|held| matches!(held.status.state, ProviderState::Pending | ProviderState::Failed));
        let awaited = awaited.map(|held| held.provider.provider_id.to_string());
        result.pending_providers.extend(awaited);
        result.pending_providers.sort();
        result.pending_providers.dedup();
        let owner = self.registry.tenant(tenant);
        let catalog = owner.catalog.read();
        result.refs.iter_mut().for_each(|one| self.mark(tenant, &catalog, one, now));
        drop(catalog);
        // Both lists begin with the matches, in the same order.
        for (found, marked) in result.found.iter_mut().zip(&result.refs) {
            found.loading_state = marked.loading_state;
            FoundTool::action(marked.loading_state).clone_into(&mut found.next_action);
        }
        next_action(result).clone_into(&mut result.next_action);
    }

    fn mark(&self, tenant: &TenantId, catalog: &Catalog, one: &mut DeferredToolRef, now: Timestamp) {
        let Some(error) = catalog.get(&one.tool_id).and_then(|entry| self.obstacle(tenant, entry, now)) else { return };
        one.reason = error.message;
        one.loading_state = LoadingState::Unavailable;
        let Some((provider_id, _)) = of_tool_id(&one.tool_id) else { return };
        let held = self.shelf.get(tenant, &provider_id);
        let state = held.and_then(|held| toolplane_providers::health::loading_state(&held.status));
        if let Some(state) = state {
            one.loading_state = state;
            one.pending_provider_or_server = provider_id.to_string();
        }
    }
}
