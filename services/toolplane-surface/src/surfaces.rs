//! Making, reading and listing surfaces.

mod budget;
mod change;
mod default;
mod delete;
mod edits;
mod found;
mod held;
mod meant;
mod names;
mod search;
mod shown;
mod shut;
pub(crate) mod watch;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use toolplane_catalog::{Catalog, Counting, IndexedSurface, LiveSurface, MAX_DEPTH, Shut, SurfaceRequest};
use toolplane_records::codes;
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::vocabulary::{EventClass, SurfaceScope};
use toolplane_runtime::{ApiError, page};
use toolplane_store::{Commit, CommitOutcome, Expect, IndexOp, ScoreRange, Write};
use uuid::Uuid;

pub(crate) use edits::Edits;
pub(crate) use found::Finds;
pub(crate) use meant::{Meaning, Refusal, RefusalKind};
pub(crate) use names::{Called, Known, Loaded, Resolved, SurfaceNames};
pub(crate) use search::SurfaceSearch;
pub(crate) use shown::{LeftOut, Offered, Showing, Told};
pub(crate) use watch::Watches;

use default::Defaults;
use shut::ShutTools;

use crate::cache::Cache;
use crate::error::{is_parent_gone, lost, of_store, of_violations, unreadable};
use crate::events::{Log, facts};
use crate::keys;
use crate::providers::{Shelf, WorkerCredentials};
use crate::records::Creation;
use crate::registry::Registry;
use crate::retention::UseNotes;
use crate::view::View;

/// How often a change of a surface is decided anew when another process gets in between.
const ATTEMPTS: u32 = 16;
/// What counts in a surface that nobody has used yet.
const COUNTING: Counting<'static> = Counting { size: &budget::size, used: &|_| None, shut: Shut::NOTHING };
/// The field of a request that names the surface to make another one within.
const PARENT: &str = "parent_surface_id";
/// How many surfaces are read at once for a list.
const CHUNK: usize = 4;
/// A page takes no further surfaces once this much is read or told of them: a record of an earlier version is a copy of all
/// tools, and may have a megabyte.
const FULL_BYTES: usize = page::FULL_BYTES;

/// A surface to be made.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// What it is decided from.
    pub(crate) request: SurfaceRequest,
    /// The surface to make it within.
    pub(crate) parent: Option<SurfaceId>,
    /// Kept in the record exactly as given.
    pub(crate) model_capabilities: Option<JsonPayload>,
    /// The request's id, and the digest of the rest of it.
    pub(crate) repeatable: Option<(String, Digest)>,
}

/// What a page of a list leaves out, and where to go on.
#[derive(Debug)]
pub(crate) struct Listed {
    /// Surfaces of this page that are damaged, by id.
    pub(crate) damaged: Vec<String>,
    /// Where to go on when there are more.
    pub(crate) next: Option<Place>,
}

/// A place in a list: after this surface.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) created_at: u64,
    pub(crate) surface_id: String,
}

/// Surfaces: making, reading, listing and deleting them. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Surfaces {
    registry: Registry,
    /// Those in memory.
    cache: Arc<Cache>,
    /// Where their use is noted.
    uses: UseNotes,
    /// What keeps tools of providers from being used.
    credentials: WorkerCredentials,
    /// What providers keep from being called.
    providers: Arc<Shelf>,
    /// What callers see that name no surface.
    defaults: Arc<Defaults>,
}

impl Surfaces {
    pub(crate) fn new(
        registry: Registry,
        cache: Arc<Cache>,
        uses: UseNotes,
        credentials: WorkerCredentials,
        providers: Arc<Shelf>,
    ) -> Self {
        Self { registry, cache, uses, credentials, providers, defaults: Arc::default() }
    }

    /// What is made of a tenant's catalog and of what keeps its tools from being used at this moment.
    fn in_sight<T>(&self, tenant: &TenantId, look: impl FnOnce(&Catalog, Shut<'_>) -> T) -> T {
        let owner = self.registry.tenant(tenant);
        let catalog = owner.catalog.read();
        self.with_shut(tenant, |shut| look(&catalog, shut))
    }

    /// What is made of what keeps the tools of a tenant from being used at this moment.
    fn with_shut<T>(&self, tenant: &TenantId, look: impl FnOnce(Shut<'_>) -> T) -> T {
        self.shut(tenant).look(look)
    }

    /// What keeps the tools of a tenant from being used at this moment.
    fn shut(&self, tenant: &TenantId) -> ShutTools {
        let (credentials, uncallable) = (self.credentials.known(), self.providers.uncallable(tenant));
        ShutTools { denied: self.registry.tenant(tenant).denied(), credentials, uncallable }
    }

    /// Stands for what keeps the tools of a tenant from being used at this moment: 0 where nothing does. It goes with each moment that is told,
    /// and is asked for before what is told with it: who goes on from a moment of which more had changed is told anew.
    fn mark(&self, tenant: &TenantId) -> u32 {
        self.mark_of(tenant, &self.shut(tenant))
    }

    fn mark_of(&self, tenant: &TenantId, shut: &ShutTools) -> u32 {
        let marks = [shut.denied.mark, self.credentials.mark(tenant, &shut.credentials), shut.uncallable.mark()];
        let there = marks.into_iter().filter(|mark| *mark != 0);
        there.reduce(|all, mark| (all.rotate_left(1) ^ mark).max(1)).unwrap_or(0)
    }

    /// Makes a surface, or finds the one made by the same request before.
    pub(crate) async fn create(&self, wanted: &Wanted) -> Result<Arc<View>, ApiError> {
        if let Some(made) = self.made_before(wanted).await? {
            return Ok(made);
        }
        let now = self.registry.now().await?;
        let tenant = &wanted.request.tenant;
        let id = match &wanted.repeatable {
            Some((request_id, _)) => SurfaceId::of_request(request_id),
            None => SurfaceId::from_trusted(format!("surf_{}", Uuid::now_v7().simple())),
        };
        let above = match &wanted.parent {
            Some(parent) => Some(self.to_be_above(tenant, parent).await?),
            None => None,
        };
        let (made, names) = self.in_sight(tenant, |catalog, shut| {
            let made = LiveSurface::make_within(catalog, &wanted.request, id.clone(), now, above, shut);
            let made = made.map(|made| match &wanted.model_capabilities {
                Some(given) => made.with_model_capabilities(given.clone()),
                None => made,
            });
            let made = made.map(|made| {
                let made = made.loaded_within_budget(catalog, &Counting { shut, ..COUNTING });
                let counts = made.counts(catalog, shut);
                (IndexedSurface::from(made), counts)
            });
            (made, Arc::clone(catalog.similar()))
        });
        let (surface, counts) = made.map_err(|misnamed| of_violations(misnamed.violations(&names)))?;
        let created = json!({
            "revision": 1,
            "loaded": counts.loaded,
            "deferred": counts.deferred,
            "blocked": counts.blocked,
            "excluded": counts.excluded,
        });
        let log = Log::Surface(tenant.clone(), id.clone());
        let mut commit = Commit {
            events: vec![log.append(1, now, vec![(EventClass::SurfaceCreated, facts(&created))])?],
            ..Commit::default()
        };
        let stored = surface.write().map_err(unreadable)?;
        put_new(&mut commit, keys::surface(tenant, &id), stored);
        commit.writes.extend(self.uses.of_new(tenant, &id, now));
        if let Some((request_id, body)) = &wanted.repeatable {
            let creation = Creation { body: *body, surface_id: id.clone() };
            put_new(
                &mut commit,
                keys::creation(tenant, request_id),
                serde_json::to_vec(&creation).map_err(unreadable)?,
            );
        }
        for scope in [None, Some(wanted.request.scope)] {
            let (index, score) = (keys::surfaces(tenant, scope), keys::score(now));
            commit.index.push(IndexOp::Put { index, score, member: id.to_string() });
        }
        match self.registry.store().commit(commit).await.map_err(of_store)? {
            CommitOutcome::Applied | CommitOutcome::Replayed => Ok(Arc::new(View::new(surface, 1))),
            // The same request, sent twice at once: the other one was faster.
            CommitOutcome::Lost { .. } | CommitOutcome::Full { .. } => self.made_before(wanted).await?.ok_or_else(lost),
        }
    }

    /// The surface that another one is to be made within, which is a use of it.
    async fn to_be_above(&self, tenant: &TenantId, id: &SurfaceId) -> Result<Arc<IndexedSurface>, ApiError> {
        if id.is_default() {
            let rule = "is the default surface, which has every tool: leave it out";
            return Err(ApiError::invalid_argument(PARENT, rule));
        }
        let held = self.held(tenant, id).await.map_err(|error| match error {
            ApiError::NotFound { name, .. } => ApiError::NotFound { kind: "surface of `parent_surface_id`", name },
            error => error,
        })?;
        let surface = Arc::clone(held.view().shared());
        if surface.lineage().count() >= MAX_DEPTH {
            let rule = format!("is the lowest of {MAX_DEPTH} surfaces within each other, which are the most in a line");
            return Err(ApiError::invalid_argument(PARENT, rule));
        }
        Ok(surface)
    }

    async fn made_before(&self, wanted: &Wanted) -> Result<Option<Arc<View>>, ApiError> {
        let Some((request_id, body)) = &wanted.repeatable else { return Ok(None) };
        let tenant = &wanted.request.tenant;
        let found = self.registry.store().get(&keys::creation(tenant, request_id)).await.map_err(of_store)?;
        let Some(found) = found else { return Ok(None) };
        let creation: Creation = serde_json::from_slice(&found.bytes).map_err(unreadable)?;
        if creation.body != *body {
            let message = format!("request id `{request_id}` was used before with another body");
            return Err(ApiError::AlreadyExists { reason: codes::REQUEST_ID_REUSED, message });
        }
        Ok(Some(self.held(tenant, &creation.surface_id).await?.view()))
    }

    /// A surface that was read from the store, below the one it is within; where that is not there any more, it shows nothing.
    async fn below_its_parent(&self, tenant: &TenantId, surface: IndexedSurface) -> Result<IndexedSurface, ApiError> {
        let Some(parent) = surface.parent() else { return Ok(surface) };
        match self.cache.get(self.registry.store(), tenant, &parent.surface_id).await {
            Ok(held) => {
                let above = Arc::clone(held.view().shared());
                Ok(surface.within(Some(above)))
            }
            Err(ApiError::NotFound { .. } | ApiError::Damaged { .. }) => Ok(surface),
            Err(gone) if is_parent_gone(&gone) => Ok(surface),
            Err(error) => Err(error),
        }
    }

    /// Hands at most `limit` surfaces, newest first, to `tell`, which says how many bytes it took to tell. Large ones make the
    /// page shorter.
    pub(crate) async fn list(
        &self,
        tenant: &TenantId,
        scope: Option<SurfaceScope>,
        after: Option<Place>,
        limit: usize,
        mut tell: impl FnMut(IndexedSurface) -> usize,
    ) -> Result<Listed, ApiError> {
        let mut range = ScoreRange::all().reversed();
        range.after = after.map(|place| (place.created_at, place.surface_id));
        let index = keys::surfaces(tenant, scope);
        let entries = self.registry.store().scan(&index, range, limit.saturating_add(1)).await.map_err(of_store)?;
        let (mut damaged, mut bytes, mut read) = (Vec::new(), 0, 0);
        for chunk in entries[..entries.len().min(limit)].chunks(CHUNK) {
            if bytes >= FULL_BYTES {
                break;
            }
            let ids = chunk.iter().map(|entry| SurfaceId::from_trusted(entry.member.as_str()));
            let wanted: Vec<_> = ids.map(|id| keys::surface(tenant, &id)).collect();
            for (entry, found) in chunk.iter().zip(self.registry.store().get_each(&wanted).await.map_err(of_store)?) {
                let surface = match found {
                    Ok(None) => continue,
                    Ok(Some(found)) => {
                        bytes += found.bytes.len();
                        IndexedSurface::read(&found.bytes).ok()
                    }
                    Err(_) => None,
                };
                match surface {
                    Some(surface) => bytes += tell(self.below_its_parent(tenant, surface).await?),
                    None => damaged.push(entry.member.clone()),
                }
            }
            read += chunk.len();
        }
        let last = entries[..read].last().filter(|_| read < entries.len());
        let next = last.map(|entry| Place { created_at: entry.score, surface_id: entry.member.clone() });
        Ok(Listed { damaged, next })
    }
}

fn put_new(commit: &mut Commit, key: toolplane_store::RecordKey, bytes: Vec<u8>) {
    commit.compare.push((key.clone(), Expect::Absent));
    commit.writes.push(Write::Put { key, bytes: Bytes::from(bytes) });
}
