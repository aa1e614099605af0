//! Providers in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use dashmap::DashMap;
use parking_lot::RwLock;
use toolplane_catalog::{Catalog, Registration};
use toolplane_metrics::{names, table};
use toolplane_providers::{Known, KnownTool, Record};
use toolplane_records::ids::{ProviderId, TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::provider::{Provider, ProviderStatus};
use toolplane_records::vocabulary::ProviderState;

use super::uncallable::{UncallableChanges, UncallableTools, Uncallables};

/// A provider with its tools, as they are stored. A change makes another one.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) provider: Provider,
    pub(crate) status: ProviderStatus,
    /// Version of the provider's record in the store.
    pub(crate) version: u64,
    pub(crate) tools: BTreeMap<ToolId, Arc<HeldTool>>,
}

/// One tool of a provider.
#[derive(Clone, Debug)]
pub(crate) struct HeldTool {
    pub(crate) record: Record,
    /// Version of its record in the store; none when the store cannot read it.
    pub(crate) version: Option<u64>,
    /// Digest of the exact registration in the catalogue that was approved.
    pub(crate) registered: Option<Digest>,
    /// What its provider says of it, as long as that is not in the catalogue.
    pub(crate) definition: Option<Arc<Registration>>,
}

impl HeldTool {
    /// Whether it would have that name in its namespace, once somebody has looked at it.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.definition.as_ref().is_some_and(|definition| definition.declaration.name == name)
    }
}

impl Held {
    /// What is known of its tools, with what each was approved as, for telling what has changed.
    pub(crate) fn known(&self, catalog: &Catalog) -> Known {
        let mut known = Known::default();
        for (tool_id, tool) in &self.tools {
            let was_approved = tool.record.read().is_some_and(|record| record.approved.is_some());
            let registered = catalog.get(tool_id).filter(|entry| Some(entry.tool.digest()) == tool.registered);
            let approved = registered.filter(|_| was_approved).map(|entry| Arc::clone(entry.tool.registration()));
            known.put(tool_id.clone(), KnownTool { record: tool.record.clone(), approved });
        }
        known
    }

    /// What its provider says of a tool now: what waits, or what is in the catalogue when that is it.
    pub(crate) fn definition(&self, tool_id: &ToolId, catalog: &Catalog) -> Option<Arc<Registration>> {
        let tool = self.tools.get(tool_id)?;
        if let Some(definition) = &tool.definition {
            return Some(Arc::clone(definition));
        }
        let record = tool.record.read()?;
        let entry = catalog.get(tool_id).filter(|entry| Some(entry.tool.digest()) == tool.registered)?;
        let is_it = record.digest.is_some() && record.approved.as_ref().map(|review| review.digest) == record.digest;
        is_it.then(|| Arc::clone(entry.tool.registration()))
    }

    /// Whether it is out of use.
    pub(crate) fn is_retired(&self) -> bool {
        self.status.state == ProviderState::Retired
    }
}

/// The providers of all tenants.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    all: RwLock<BTreeMap<TenantId, BTreeMap<ProviderId, Arc<Held>>>>,
    turns: DashMap<(TenantId, ProviderId), Arc<tokio::sync::Mutex<()>>>,
    asking: DashMap<(TenantId, ProviderId), Arc<tokio::sync::Mutex<()>>>,
    /// What they keep from being called.
    uncallable: Uncallables,
    /// Told whenever a provider changed: one may be due.
    pub(crate) changed: tokio::sync::Notify,
}

impl Shelf {
    /// The provider, retired ones too.
    pub(crate) fn get(&self, tenant: &TenantId, id: &ProviderId) -> Option<Arc<Held>> {
        self.all.read().get(tenant)?.get(id).cloned()
    }

    /// The providers of a tenant by id, retired ones too.
    pub(crate) fn of(&self, tenant: &TenantId) -> Vec<Arc<Held>> {
        self.all.read().get(tenant).map(|own| own.values().cloned().collect()).unwrap_or_default()
    }

    /// Every provider.
    pub(crate) fn all(&self) -> Vec<Arc<Held>> {
        self.all.read().values().flat_map(BTreeMap::values).cloned().collect()
    }

    /// What the providers of a tenant keep from being called.
    pub(crate) fn uncallable(&self, tenant: &TenantId) -> UncallableTools {
        self.uncallable.of(tenant)
    }

    /// Changes with that.
    pub(crate) fn uncallable_changes(&self) -> UncallableChanges {
        self.uncallable.changes()
    }

    /// Sets the levels of circuits, as they are now; of providers that are out of use, none.
    pub(crate) fn tell_levels(&self) {
        let all = self.all().into_iter().filter(|held| !held.is_retired());
        table::PROVIDER_CIRCUITS.replace(all.map(|held| {
            let provider = names::PROVIDERS.name(held.provider.provider_id.as_str());
            ([provider, held.status.circuit.as_str()], 1)
        }));
    }

    /// Shows a provider as it was stored.
    pub(crate) fn show(&self, held: Arc<Held>) {
        let Provider { tenant, provider_id, .. } = &held.provider;
        let mut all = self.all.write();
        all.entry(tenant.clone()).or_default().insert(provider_id.clone(), Arc::clone(&held));
        self.uncallable.tell(tenant, provider_id, Some(&held));
        drop(all);
        self.changed.notify_waiters();
    }

    /// Drops a provider that is not stored any more.
    pub(super) fn forget(&self, tenant: &TenantId, id: &ProviderId) {
        if let Some(own) = self.all.write().get_mut(tenant) {
            own.remove(id);
            self.uncallable.tell(tenant, id, None);
        }
    }

    /// Puts these in the place of all.
    pub(super) fn replace(&self, all: Vec<Held>) {
        let mut new: BTreeMap<TenantId, BTreeMap<ProviderId, Arc<Held>>> = BTreeMap::new();
        for held in all {
            let Provider { tenant, provider_id, .. } = &held.provider;
            new.entry(tenant.clone()).or_default().insert(provider_id.clone(), Arc::new(held));
        }
        let mut all = self.all.write();
        self.uncallable.tell_all(&new);
        *all = new;
        drop(all);
        self.changed.notify_waiters();
    }

    /// Held while a provider of that name is changed by this process.
    pub(crate) fn turn(&self, tenant: &TenantId, id: &ProviderId) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(&self.turns.entry((tenant.clone(), id.clone())).or_default())
    }

    /// Held while a provider is asked what it has: once at a time.
    pub(crate) fn asking(&self, tenant: &TenantId, id: &ProviderId) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(&self.asking.entry((tenant.clone(), id.clone())).or_default())
    }
}

#[cfg(test)]
mod tests {
    use toolplane_metrics::collect;
    use toolplane_providers::health::fresh;
    use toolplane_records::time::Timestamp;
    use toolplane_records::vocabulary::CircuitState;

    use super::super::tests::provider;
    use super::*;

    #[test]
    fn circuits_are_told_as_they_are_and_of_providers_in_use_alone() {
        let shelf = Shelf::default();
        let show = |id: &str, change: fn(&mut ProviderStatus)| {
            let provider = provider("acme", id, None);
            let mut status = fresh(&provider, Timestamp::from_millis(0));
            change(&mut status);
            shelf.show(Arc::new(Held { provider, status, version: 1, tools: BTreeMap::new() }));
        };
        show("well", |_| {});
        show("away", |status| status.circuit = CircuitState::Open);
        show("gone", |status| status.state = ProviderState::Retired);
        shelf.tell_levels();
        let families = collect();
        let told = families.iter().find(|family| family.about.name == "toolplane.provider.circuit").expect("told");
        let labels: Vec<_> = told.points.iter().map(|point| point.labels.clone()).collect();
        assert_eq!(labels, [["away", "open"], ["well", "closed"]]);
    }
}
