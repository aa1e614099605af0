//! Changing a surface: loading tools into it, unloading them, and adding others.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use toolplane_backend::let_others_through;
use toolplane_catalog::{
    Catalog, CatalogDifference, Counting, Extension, IndexedSurface, Loading, Lookup, MAX_LOADED, NameIndex,
    NoOtherBudget, NotExtended, Shortage, load, unload,
};
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::surface::LoadedTool;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, Expect, Write};

use super::budget::{Spent, size};
use super::found::Find;
use super::{ATTEMPTS, Loaded};
use crate::cache::Held;
use crate::changes::Made;
use crate::error::{lost, of_store, of_violations, unreadable};
use crate::events::{Log, facts};
use crate::keys;
use crate::registry::{Registry, to_the_end};
use crate::sync::Subject;
use crate::view::View;

/// How often at most a load loads what was declared anew while everybody was told of it.
const LOADS: u32 = 4;

/// A surface as it is to be, and what its log is told of that.
struct Change {
    after: IndexedSurface,
    told: Vec<(EventClass, JsonPayload)>,
}

impl Change {
    /// Adds a change of what it leads to.
    fn then(&mut self, next: impl FnOnce(&IndexedSurface) -> Self) {
        let Self { after, told } = next(&self.after);
        self.after = after;
        self.told.extend(told);
    }
}

impl Registry {
    /// Loads the tools behind `names`, as far as each can be. Answered when schedulers know. What is declared anew while they are told
    /// is loaded again.
    pub(crate) async fn load(&self, tenant: TenantId, id: SurfaceId, names: Vec<String>) -> Result<Loaded, ApiError> {
        let registry = self.clone();
        to_the_end(async move {
            let mut loaded = registry.load_once(&tenant, &id, &names).await?;
            for _ in 1..LOADS {
                if !loaded.is_behind() {
                    break;
                }
                loaded = loaded.then(registry.load_once(&tenant, &id, &names).await?);
            }
            Ok(loaded)
        })
        .await
    }

    async fn load_once(&self, tenant: &TenantId, id: &SurfaceId, names: &[String]) -> Result<Loaded, ApiError> {
        let held = self.held(tenant, id).await?;
        if id.is_default() {
            let now = self.now().await?;
            return Ok(self.loaded(tenant, &held, names.to_vec(), now));
        }
        let (uses, spent) = (held.uses(self.now().await?), Spent::default());
        let decide = |before: &Arc<IndexedSurface>, catalog: &Catalog, now: Timestamp| {
            spent.begin();
            let open = self.open_names(tenant, catalog, names, now);
            let counting = Counting { size: &size, used: &|id| uses.get(id).copied() };
            let made = load(before, catalog, &open, now, &counting);
            spent.note(&made);
            Ok((!made.is_nothing()).then(|| loading(before, catalog, &made)))
        };
        let held = self.change_surface(tenant, id, decide).await?;
        self.note_uses(tenant, &held, names);
        let now = self.now().await?;
        Ok(spent.tell(self.loaded(tenant, &held, names.to_vec(), now)))
    }

    /// Makes the tools behind `names` deferred, as far as they are loaded. Answered when schedulers know.
    pub(crate) async fn unload(&self, tenant: TenantId, id: SurfaceId, names: Vec<String>) -> Result<Loaded, ApiError> {
        if id.is_default() {
            let rule = "is the default surface, in which every tool is loaded: make a surface (CreateSurface)";
            return Err(ApiError::invalid_argument("surface_id", rule));
        }
        let registry = self.clone();
        to_the_end(async move {
            let decide = |before: &Arc<IndexedSurface>, catalog: &Catalog, _: Timestamp| {
                let gone = unload(before, catalog, &names);
                Ok((!gone.is_empty()).then(|| unloading(before, catalog, &gone)))
            };
            let held = registry.change_surface(&tenant, &id, decide).await?;
            Ok(registry.meanings(&tenant, &held.view(), names))
        })
        .await
    }

    /// Adds to a surface, and loads what is to be loaded, as far as it can be; with what each of these names means then. Answered when
    /// schedulers know.
    pub(crate) async fn extend(
        &self,
        tenant: TenantId,
        id: SurfaceId,
        by: Extension,
    ) -> Result<(Arc<Held>, Loaded), ApiError> {
        if id.is_default() {
            return Err(ApiError::invalid_argument("surface_id", "is the default surface, which has every tool"));
        }
        let registry = self.clone();
        to_the_end(async move {
            let held = registry.held(&tenant, &id).await?;
            let (uses, spent) = (held.uses(registry.now().await?), Spent::default());
            let decide = |before: &Arc<IndexedSurface>, catalog: &Catalog, now: Timestamp| {
                spent.begin();
                let counting = Counting { size: &size, used: &|id| uses.get(id).copied() };
                let mut change = Change { after: IndexedSurface::clone(before), told: Vec::new() };
                if let Some(extended) = before.after_extending(catalog, &by)? {
                    let data = facts(&json!({ "revision": extended.revision(catalog), "extended": true }));
                    change = Change { after: extended, told: vec![(EventClass::SurfaceUpdated, data)] };
                }
                if let Some(budget) = by.budget {
                    let made = change.after.within_other_budget(catalog, budget, &counting);
                    if let Some(made) = made.map_err(NotExtended::Budget)? {
                        spent.note(&made);
                        change.then(|before| loading(before, catalog, &made));
                    }
                }
                let open = registry.open_names(&tenant, catalog, &by.load, now);
                let made = load(&change.after, catalog, &open, now, &counting);
                spent.note(&made);
                if !made.is_nothing() {
                    change.then(|before| loading(before, catalog, &made));
                }
                Ok((change.after.changes() != before.changes()).then_some(change))
            };
            let held = registry.change_surface(&tenant, &id, decide).await?;
            registry.note_uses(&tenant, &held, &by.load);
            let now = registry.now().await?;
            let names = by.load.clone();
            let mut loaded = spent.tell(registry.loaded(&tenant, &held, by.load, now));
            if loaded.is_behind() {
                loaded = loaded.then(registry.load(tenant, id, names).await?);
            }
            Ok((held, loaded))
        })
        .await
    }

    /// Tells the surface's log what the catalog changed about it since the log was told last; whether there was anything.
    pub(crate) async fn note_catalog(&self, tenant: TenantId, id: SurfaceId) -> Result<bool, ApiError> {
        let view = self.held(&tenant, &id).await?.view();
        let owner = self.tenant(&tenant);
        if id.is_default() || CatalogDifference::since_noted(view.shared(), &owner.catalog.read()).is_none() {
            return Ok(false);
        }
        let registry = self.clone();
        to_the_end(async move {
            let decide = |before: &Arc<IndexedSurface>, catalog: &Catalog, _: Timestamp| {
                let is_told = CatalogDifference::since_noted(before, catalog).is_some();
                Ok(is_told.then(|| Change { after: IndexedSurface::clone(before), told: Vec::new() }))
            };
            registry.change_surface(&tenant, &id, decide).await.map(|_| true)
        })
        .await
    }

    /// Those of `names` that no provider keeps from being called.
    fn open_names(&self, tenant: &TenantId, catalog: &Catalog, names: &[String], now: Timestamp) -> Vec<String> {
        let is_open = |name: &&String| match catalog.find(name) {
            Lookup::One(entry) => self.obstacle(tenant, entry, now).is_none(),
            Lookup::Ambiguous(_) | Lookup::Unknown => true,
        };
        names.iter().filter(is_open).cloned().collect()
    }

    /// Changes a surface as `decide` says, anew each time another process got in between. Answered when schedulers know.
    async fn change_surface(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        decide: impl Fn(&Arc<IndexedSurface>, &Catalog, Timestamp) -> Result<Option<Change>, NotExtended> + Send,
    ) -> Result<Arc<Held>, ApiError> {
        for tries in 1..=ATTEMPTS {
            let held = self.held(tenant, id).await?;
            let turn = held.turn.lock().await;
            let (now, before) = (self.now().await?, held.view());
            let owner = self.tenant(tenant);
            let (decided, names) = {
                let catalog = owner.catalog.read();
                let decided = decide(before.shared(), &catalog, now);
                let decided = decided.map(|change| change.map(|change| noting(before.shared(), &catalog, change)));
                (decided, Arc::clone(catalog.similar()))
            };
            let Some(Change { after, told }) = decided.map_err(|why| not_extended(why, &names))? else {
                drop(turn);
                return Ok(held);
            };
            let changed = [Subject::Surface(tenant.clone(), id.clone())];
            // What searches found before comes first in the log.
            let place = (tenant.clone(), id.clone());
            let found = self.0.finds.take(&place);
            let told =
                found.iter().cloned().map(Find::entry).chain(told.into_iter().map(|(class, data)| (now, class, data)));
            let made = self.make_durable(tenant, &before, &after, told.collect(), &changed).await;
            if !matches!(made, Ok(Made::At(_))) {
                self.0.finds.put_back(&place, found);
            }
            let Made::At(head) = made? else {
                self.0.memory.surfaces.refresh(self.store(), tenant, id).await.map_err(of_store)?;
                drop(turn);
                let_others_through(tries).await;
                continue;
            };
            let version = before.version() + 1;
            let revision = self.take_in(head, &changed, || held.show(after, version)).await?;
            drop(turn);
            self.settled(revision).await;
            return Ok(held);
        }
        Err(lost())
    }

    /// Makes the change durable, which applies only to the surface as it was.
    async fn make_durable(
        &self,
        tenant: &TenantId,
        before: &View,
        after: &IndexedSurface,
        told: Vec<(Timestamp, EventClass, JsonPayload)>,
        changed: &[Subject],
    ) -> Result<Made, ApiError> {
        let id = after.id();
        let log = Log::Surface(tenant.clone(), id.clone());
        let key = keys::surface(tenant, id);
        let bytes = Bytes::from(after.write().map_err(unreadable)?);
        let commit = Commit {
            compare: vec![(key.clone(), Expect::Version(before.version()))],
            writes: vec![Write::Put { key, bytes }],
            events: vec![log.append_each(log.head(self.store()).await? + 1, told)?],
            ..Commit::default()
        };
        self.make_change(commit, changed).await
    }
}

fn not_extended(why: NotExtended, names: &NameIndex) -> ApiError {
    match why {
        NotExtended::Misnamed(misnamed) => of_violations(misnamed.violations(names)),
        NotExtended::Copied => {
            let rule = "is a copy that an earlier version made, and stays what it is: make a surface (CreateSurface)";
            ApiError::invalid_argument("surface_id", rule)
        }
        NotExtended::Pinned => {
            let rule = "is pinned to the tools there were when it was made: make a surface (CreateSurface)";
            ApiError::invalid_argument("surface_id", rule)
        }
        NotExtended::Budget(NoOtherBudget::Copied) => {
            let rule = "cannot be given to a copy that an earlier version made: make a surface (CreateSurface)";
            ApiError::invalid_argument("budget", rule)
        }
        NotExtended::Budget(NoOtherBudget::Crowd) => {
            let rule = format!(
                "cannot be given to a surface that has more than {MAX_LOADED} tools loaded: unload some of them first, or make a surface \
                 (CreateSurface)"
            );
            ApiError::invalid_argument("budget", rule)
        }
        NotExtended::Budget(NoOtherBudget::Short(Shortage { field, need, budget, .. })) => {
            let rule = format!("is {budget}, and tools that stay loaded need {need}: unload some of them first");
            ApiError::invalid_argument(format!("budget.{field}"), rule)
        }
        NotExtended::Full { most } => {
            let rule = format!("would be extended by more than {most} tools and words: make a surface (CreateSurface)");
            ApiError::invalid_argument("surface_id", rule)
        }
    }
}

/// What is loaded, and what is unloaded for the budget: told before that, since it made room.
fn loading(before: &IndexedSurface, catalog: &Catalog, made: &Loading) -> Change {
    let after = before.after_loading(made);
    let revision = after.revision(catalog);
    let mut told = Vec::new();
    let unloaded: Vec<&ToolId> = made.unloaded.iter().map(|tool| &tool.tool_id).collect();
    if !unloaded.is_empty() || made.fresh.is_empty() {
        let data = json!({ "revision": revision, "unloaded": unloaded, "reason": "budget" });
        told.push((EventClass::SurfaceUpdated, facts(&data)));
    }
    if made.fresh.is_empty() {
        return Change { after, told };
    }
    let fresh = &made.fresh;
    told.extend(fresh.iter().map(|tool| {
        let LoadedTool { tool_id, name, digest, .. } = tool;
        let data = json!({ "tool_id": tool_id, "name": name, "revision": revision, "digest": digest });
        (EventClass::DeferredLoaded, facts(&data))
    }));
    let new: Vec<&ToolId> = fresh.iter().map(|tool| &tool.tool_id).collect();
    told.push((EventClass::SurfaceUpdated, facts(&json!({ "revision": revision, "loaded": new }))));
    Change { after, told }
}

fn unloading(before: &IndexedSurface, catalog: &Catalog, gone: &[ToolId]) -> Change {
    let after = before.after_unloading(catalog, gone);
    let data = facts(&json!({ "revision": after.revision(catalog), "unloaded": gone }));
    Change { after, told: vec![(EventClass::SurfaceUpdated, data)] }
}

/// The change, and in its log before it what the catalog has changed about the surface since the log was told last. It costs no commit
/// of its own, so what many changes of the catalog made is one entry, when the surface is next changed or followed.
fn noting(before: &Arc<IndexedSurface>, catalog: &Catalog, change: Change) -> Change {
    let Change { after, mut told } = change;
    if let Some(difference) = CatalogDifference::since_noted(before, catalog) {
        let data = json!({ "revision": before.revision(catalog), "catalog": difference });
        told.insert(0, (EventClass::SurfaceUpdated, facts(&data)));
    }
    Change { after: after.noting(catalog), told }
}
