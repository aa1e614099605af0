//! Following a surface. Whoever follows holds no queue: what it knows is a moment, and what is new is found when it can take more.
//!
//! The log of a surface that is followed is told what the catalog changes about it, at once and then at most every ten seconds; that of
//! another one when it is next changed or followed.

use std::future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use toolplane_catalog::{DifferencePart, Moment, Progress, SurfaceWatcher};
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_runtime::ApiError;

use super::shut::ToldShut;
use super::{Edits, Surfaces};
use crate::cache::Held;
use crate::error::is_parent_gone;
use crate::providers::{KnownCredentials, UncallableChanges};
use crate::registry::Registry;
use crate::retention::NOTED_EVERY;

/// Most tools of one part of a difference.
const MAX_TOOLS: usize = 200;
/// How long what the catalog changed is gathered before a log is told more of it.
const GATHERED: Duration = Duration::from_secs(10);

/// From where on a surface is followed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum From {
    Now,
    Moment(Moment),
    Revision(u64),
}

/// What is told to who follows a surface.
#[derive(Debug)]
pub(crate) enum Told {
    Part(DifferencePart),
    /// The surface is deleted: nothing else is told.
    Deleted,
    /// A surface that it is within is not there any more: nothing else is told.
    ParentGone,
}

/// Somebody who follows a surface.
#[derive(Debug)]
pub(crate) struct Following {
    by: Watches,
    tenant: TenantId,
    id: SurfaceId,
    /// Held, so that it stays in memory as long as it is followed.
    held: Arc<Held>,
    watcher: SurfaceWatcher,
    shut: ToldShut,
    revisions: watch::Receiver<u64>,
    /// What keeps tools from being used may be something else.
    denials: watch::Receiver<()>,
    credentials: watch::Receiver<KnownCredentials>,
    uncallable: UncallableChanges,
    /// When the log is to be told what was told to who follows; nothing where it was.
    to_note: Option<Instant>,
    /// When it was last told.
    noted: Option<Instant>,
}

/// Following surfaces. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Watches {
    registry: Registry,
    surfaces: Surfaces,
    edits: Edits,
}

impl Watches {
    pub(crate) fn new(registry: Registry, surfaces: Surfaces, edits: Edits) -> Self {
        Self { registry, surfaces, edits }
    }

    /// Begins to follow a surface. Nothing that comes after this is missed.
    pub(crate) async fn follow(&self, tenant: TenantId, id: SurfaceId, from: From) -> Result<Following, ApiError> {
        let revisions = self.registry.revisions();
        let (denials, credentials) = (self.registry.tenants().denials().judged(), self.surfaces.credentials.changes());
        let uncallable = self.surfaces.providers.uncallable_changes();
        let held = match from {
            From::Moment(moment) => self.surfaces.held_at(&tenant, &id, moment).await?,
            From::Now | From::Revision(_) => self.surfaces.held(&tenant, &id).await?,
        };
        let (watcher, shut) = {
            let (surface, owner) = (Arc::clone(held.view().shared()), self.registry.tenant(&tenant));
            let catalog = owner.catalog.read();
            let now = self.surfaces.shut(&tenant);
            match from {
                From::Now => (SurfaceWatcher::from_now(surface, &catalog), ToldShut::of(now)),
                From::Moment(moment) => {
                    let mark = self.surfaces.mark_of(&tenant, &now);
                    match ToldShut::of_moment(moment, now, mark) {
                        (shut, true) => (SurfaceWatcher::from_moment(surface, &catalog, moment), shut),
                        (shut, false) => (SurfaceWatcher::from_nothing(surface, &catalog), shut),
                    }
                }
                // What could not be used then is told as if it could have been: no revision says it.
                From::Revision(revision) => {
                    let watcher = SurfaceWatcher::from_revision(surface, &catalog, revision);
                    (watcher, ToldShut::of_revision(now))
                }
            }
        };
        let (by, to_note, noted) = (self.clone(), Some(Instant::now()), None);
        Ok(Following {
            by,
            tenant,
            id,
            held,
            watcher,
            shut,
            revisions,
            denials,
            credentials,
            uncallable,
            to_note,
            noted,
        })
    }
}

impl Following {
    /// The moment it begins at, with the surface's revision then; nothing where all is to be told.
    pub(crate) fn begins(&self) -> Option<(Moment, u64)> {
        (!self.watcher.is_underway()).then(|| self.marked(self.watcher.reached()))
    }

    fn marked(&self, (moment, revision): (Moment, u64)) -> (Moment, u64) {
        (moment.with_shut(self.by.surfaces.mark_of(&self.tenant, self.shut.told())), revision)
    }

    /// What is to be told next, when there is something. Safe to drop while waiting.
    pub(crate) async fn next(&mut self) -> Result<Told, ApiError> {
        loop {
            self.revisions.mark_unchanged();
            self.denials.mark_unchanged();
            self.credentials.mark_unchanged();
            self.uncallable.mark_unchanged();
            match self.by.surfaces.held(&self.tenant, &self.id).await {
                Ok(held) => self.held = held,
                Err(ApiError::NotFound { .. }) => return Ok(Told::Deleted),
                Err(gone) if is_parent_gone(&gone) => return Ok(Told::ParentGone),
                Err(error) => return Err(error),
            }
            let progress = {
                let owner = self.by.registry.tenant(&self.tenant);
                let catalog = owner.catalog.read();
                let now = self.by.surfaces.shut(&self.tenant);
                self.shut.step(&mut self.watcher, self.held.view().shared(), &catalog, now, MAX_TOOLS)
            };
            match progress {
                Progress::Part(mut part) => {
                    part.leads_to = part.leads_to.map(|reached| self.marked(reached));
                    let next = self.noted.map_or_else(Instant::now, |noted| noted + GATHERED);
                    self.to_note.get_or_insert(next);
                    return Ok(Told::Part(part));
                }
                Progress::Looking => tokio::task::yield_now().await,
                Progress::Current => self.changed().await,
            }
        }
    }

    /// Waits for a change, and tells the log meanwhile when it is time.
    async fn changed(&mut self) {
        let due = async {
            match self.to_note {
                Some(due) => tokio::time::sleep_until(due).await,
                None => future::pending().await,
            }
        };
        // The hub outlives whoever follows, so it only answers with a change. To follow is to use: what is followed is looked for now and
        // then, also where nothing changes.
        tokio::select! {
            _ = self.revisions.changed() => return,
            _ = self.denials.changed() => return,
            _ = self.credentials.changed() => return,
            _ = self.uncallable.changed() => return,
            () = tokio::time::sleep(NOTED_EVERY) => return,
            () = due => {}
        }
        let due = self.to_note.take();
        match self.by.edits.note_catalog(self.tenant.clone(), self.id.clone()).await {
            Ok(is_told) => self.noted = due.filter(|_| is_told).or(self.noted),
            // It is told with the next change, or to the next who follows.
            Err(error) => tracing::debug!(%error, surface = %self.id, "the log does not tell what the catalog changed"),
        }
    }
}
