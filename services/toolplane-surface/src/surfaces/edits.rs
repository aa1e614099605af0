//! Changing a surface: loading tools into it, unloading them, and adding others.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use toolplane_backend::let_others_through;
use toolplane_catalog::{Catalog, CatalogDifference, Counting, Extension, IndexedSurface, NotExtended, load, unload};
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;
use toolplane_runtime::ApiError;
use toolplane_store::{Commit, Expect, Write};

use super::budget::{Spent, size};
use super::change::{Change, loading, not_extended, noting, unloading};
use super::found::Find;
use super::{ATTEMPTS, Finds, Loaded, SurfaceNames, Surfaces};
use crate::cache::Held;
use crate::changes::Made;
use crate::error::{lost, unreadable};
use crate::events::{Log, facts};
use crate::keys;
use crate::registry::{Registry, to_the_end};
use crate::sync::Subject;
use crate::view::View;

/// How often at most a load loads what was declared anew while everybody was told of it.
const LOADS: u32 = 4;

/// Changing surfaces. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Edits {
    registry: Registry,
    surfaces: Surfaces,
    /// What names mean after a change.
    names: SurfaceNames,
    /// What searches found, which goes into a log before a change does.
    finds: Finds,
}

impl Edits {
    pub(crate) fn new(registry: Registry, surfaces: Surfaces, names: SurfaceNames, finds: Finds) -> Self {
        Self { registry, surfaces, names, finds }
    }

    /// Loads the tools behind `names`, as far as each can be. Answered when schedulers know. What is declared anew while they are told
    /// is loaded again.
    pub(crate) async fn load(&self, tenant: TenantId, id: SurfaceId, names: Vec<String>) -> Result<Loaded, ApiError> {
        let edits = self.clone();
        to_the_end(async move {
            let mut loaded = edits.load_once(&tenant, &id, &names).await?;
            for _ in 1..LOADS {
                if !loaded.is_behind() {
                    break;
                }
                loaded = loaded.then(edits.load_once(&tenant, &id, &names).await?);
            }
            Ok(loaded)
        })
        .await
    }

    async fn load_once(&self, tenant: &TenantId, id: &SurfaceId, names: &[String]) -> Result<Loaded, ApiError> {
        let held = self.surfaces.held(tenant, id).await?;
        if id.is_default() {
            let now = self.registry.now().await?;
            return Ok(self.names.loaded(tenant, &held, names.to_vec(), now));
        }
        let (uses, spent) = (held.uses(self.registry.now().await?), Spent::default());
        let decide = |before: &Arc<IndexedSurface>, catalog: &Catalog, now: Timestamp| {
            spent.begin();
            let open = self.names.open(tenant, catalog, names, now);
            let made = self.surfaces.with_shut(tenant, |shut| {
                let counting = Counting { size: &size, used: &|id| uses.get(id).copied(), shut };
                load(before, catalog, &open, now, &counting)
            });
            spent.note(&made);
            Ok((!made.is_nothing()).then(|| loading(before, catalog, &made)))
        };
        let held = self.change(tenant, id, decide).await?;
        let now = self.registry.now().await?;
        self.note_uses(tenant, &held, names, now);
        Ok(spent.tell(self.names.loaded(tenant, &held, names.to_vec(), now)))
    }

    /// Takes note that tools are used in a surface; what is refused is no use.
    fn note_uses(&self, tenant: &TenantId, held: &Held, names: &[String], now: Timestamp) {
        let owner = self.registry.tenant(tenant);
        let catalog = owner.catalog.read();
        held.note_uses(&catalog, &self.names.open(tenant, &catalog, names, now));
    }

    /// Makes the tools behind `names` deferred, as far as they are loaded. Answered when schedulers know.
    pub(crate) async fn unload(&self, tenant: TenantId, id: SurfaceId, names: Vec<String>) -> Result<Loaded, ApiError> {
        if id.is_default() {
            let rule = "is the default surface, in which every tool is loaded: make a surface (CreateSurface)";
            return Err(ApiError::invalid_argument("surface_id", rule));
        }
        let edits = self.clone();
        to_the_end(async move {
            let decide = |before: &Arc<IndexedSurface>, catalog: &Catalog, _: Timestamp| {
                let gone = unload(before, catalog, &names);
                Ok((!gone.is_empty()).then(|| unloading(before, catalog, &gone)))
            };
            let held = edits.change(&tenant, &id, decide).await?;
            Ok(edits.names.meanings(&tenant, &held.view(), names))
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
        let edits = self.clone();
        to_the_end(async move {
            let held = edits.surfaces.held(&tenant, &id).await?;
            let (uses, spent) = (held.uses(edits.registry.now().await?), Spent::default());
            let decide = |before: &Arc<IndexedSurface>, catalog: &Catalog, now: Timestamp| {
                spent.begin();
                let used = |id: &ToolId| uses.get(id).copied();
                let mut change = Change { after: IndexedSurface::clone(before), told: Vec::new() };
                if let Some(extended) = before.after_extending(catalog, &by)? {
                    let data = facts(&json!({ "revision": extended.revision(catalog), "extended": true }));
                    change = Change { after: extended, told: vec![(EventClass::SurfaceUpdated, data)] };
                }
                if let Some(budget) = by.budget {
                    let made = edits.surfaces.with_shut(&tenant, |shut| {
                        let counting = Counting { size: &size, used: &used, shut };
                        change.after.within_other_budget(catalog, budget, &counting)
                    });
                    if let Some(made) = made.map_err(NotExtended::Budget)? {
                        spent.note(&made);
                        change.then(|before| loading(before, catalog, &made));
                    }
                }
                let open = edits.names.open(&tenant, catalog, &by.load, now);
                let made = edits.surfaces.with_shut(&tenant, |shut| {
                    load(&change.after, catalog, &open, now, &Counting { size: &size, used: &used, shut })
                });
                spent.note(&made);
                if !made.is_nothing() {
                    change.then(|before| loading(before, catalog, &made));
                }
                Ok((change.after.changes() != before.changes()).then_some(change))
            };
            let held = edits.change(&tenant, &id, decide).await?;
            let now = edits.registry.now().await?;
            edits.note_uses(&tenant, &held, &by.load, now);
            let names = by.load.clone();
            let mut loaded = spent.tell(edits.names.loaded(&tenant, &held, by.load, now));
            if loaded.is_behind() {
                loaded = loaded.then(edits.load(tenant, id, names).await?);
            }
            Ok((held, loaded))
        })
        .await
    }

    /// Tells the surface's log what the catalog changed about it since the log was told last; whether there was anything.
    pub(crate) async fn note_catalog(&self, tenant: TenantId, id: SurfaceId) -> Result<bool, ApiError> {
        let view = self.surfaces.held(&tenant, &id).await?.view();
        let owner = self.registry.tenant(&tenant);
        if id.is_default() || CatalogDifference::since_noted(view.shared(), &owner.catalog.read()).is_none() {
            return Ok(false);
        }
        let edits = self.clone();
        to_the_end(async move {
            let decide = |before: &Arc<IndexedSurface>, catalog: &Catalog, _: Timestamp| {
                let is_told = CatalogDifference::since_noted(before, catalog).is_some();
                Ok(is_told.then(|| Change { after: IndexedSurface::clone(before), told: Vec::new() }))
            };
            edits.change(&tenant, &id, decide).await.map(|_| true)
        })
        .await
    }

    /// Changes a surface as `decide` says, anew each time another process got in between. Answered when schedulers know.
    async fn change(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        decide: impl Fn(&Arc<IndexedSurface>, &Catalog, Timestamp) -> Result<Option<Change>, NotExtended> + Send,
    ) -> Result<Arc<Held>, ApiError> {
        for tries in 1..=ATTEMPTS {
            let held = self.surfaces.held(tenant, id).await?;
            let turn = held.turn.lock().await;
            let (now, before) = (self.registry.now().await?, held.view());
            let owner = self.registry.tenant(tenant);
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
            let found = self.finds.take(&place);
            let told =
                found.iter().cloned().map(Find::entry).chain(told.into_iter().map(|(class, data)| (now, class, data)));
            let made = self.make(tenant, &before, &after, told.collect(), &changed).await;
            if !matches!(made, Ok(Made::At(_))) {
                self.finds.put_back(&place, found);
            }
            let Made::At(head) = made? else {
                self.surfaces.refresh(tenant, id).await?;
                drop(turn);
                let_others_through(tries).await;
                continue;
            };
            let version = before.version() + 1;
            let revision = self.registry.take_in(head, &changed, || held.show(after, version)).await?;
            drop(turn);
            self.registry.settled(revision).await;
            return Ok(held);
        }
        Err(lost())
    }

    /// Makes the change durable, which applies only to the surface as it was.
    async fn make(
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
            events: vec![log.append_each(log.head(self.registry.store()).await? + 1, told)?],
            ..Commit::default()
        };
        self.registry.make_change(commit, changed).await
    }
}
