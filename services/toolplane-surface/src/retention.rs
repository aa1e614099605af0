//! Surfaces that nobody uses any more are deleted.
//!
//! A use is whatever asks for the surface: a call, a search, loading, reading, following it. It is noted at most twice a day, in a record
//! beside the surface, so that using one writes nothing. A deletion holds only as long as that record is what it was: a process that
//! notes a use in between keeps the surface, at any process.

mod notes;

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_records::time::Timestamp;
use toolplane_runtime::ApiError;
use toolplane_store::{Family, Store};

pub(crate) use notes::{NOTED_EVERY, UseNotes};

use notes::Used;

use crate::error::of_store;
use crate::keys;
use crate::surfaces::Surfaces;

/// How many surfaces are looked at in one go, and how long after that the next ones are.
const PAGE: usize = 100;
const PAGE_EVERY: Duration = Duration::from_secs(60);
/// How long after the last surface the first one is looked at again.
const ROUND_EVERY: Duration = Duration::from_secs(60 * 60);

/// Deletes the surfaces that nobody uses.
#[derive(Clone)]
pub(crate) struct Retention {
    store: Arc<dyn Store>,
    /// After how long; never where absent.
    unused_after: Option<Duration>,
    notes: UseNotes,
    surfaces: Surfaces,
}

impl Retention {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        unused_after: Option<Duration>,
        notes: UseNotes,
        surfaces: Surfaces,
    ) -> Self {
        Self { store, unused_after, notes, surfaces }
    }

    /// Deletes what nobody used for so long, a bounded number at a time, until `stop`.
    pub(crate) async fn follow(self, stop: CancellationToken) {
        let Some(after) = self.unused_after else { return };
        let (mut behind, mut pause): (Option<String>, _) = (None, PAGE_EVERY);
        while stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
            pause = PAGE_EVERY;
            let Ok(now) = self.store.now().await else { continue };
            match self.delete_behind(behind.as_deref(), after, now).await {
                Ok(next) => behind = next,
                Err(error) => tracing::warn!(%error, "surfaces that nobody uses cannot be looked for now"),
            }
            if behind.is_none() {
                pause = ROUND_EVERY;
            }
        }
    }

    /// Looks at the next surfaces; where to go on, until there are none.
    async fn delete_behind(
        &self,
        behind: Option<&str>,
        after: Duration,
        now: Timestamp,
    ) -> Result<Option<String>, ApiError> {
        let page = self.store.keys(Family::Surface, behind, PAGE).await.map_err(of_store)?;
        for (key, stored) in &page {
            let Some((tenant, id)) = keys::of_surface(key) else { continue };
            let found = self.store.get(&keys::surface_use(&tenant, &id)).await.map_err(of_store)?;
            match found {
                // Earlier versions noted nothing: it counts from here.
                None => {
                    self.notes.write(&tenant, &id, stored.version, now).await.map_err(of_store)?;
                }
                Some(found) if Used::read(&found, now).is_older_than(after, now) => {
                    match self.surfaces.delete_used_at(tenant.clone(), id.clone(), found.version).await {
                        Ok(true) => {
                            tracing::info!(%tenant, surface = %id, "deleted a surface that nobody used for long")
                        }
                        Ok(false) | Err(ApiError::NotFound { .. }) => {}
                        Err(error) => tracing::warn!(%error, %tenant, surface = %id, "cannot be deleted"),
                    }
                }
                Some(_) => {}
            }
        }
        Ok(page.last().map(|(key, _)| key.clone()))
    }
}

#[cfg(test)]
mod tests {
    use toolplane_catalog::SurfaceRequest;
    use toolplane_records::ids::{SurfaceId, TenantId};
    use toolplane_records::vocabulary::SurfaceScope;
    use toolplane_store::{Commit, MemoryStore, Write};

    use super::*;
    use crate::memory::Memory;
    use crate::parts::Parts;
    use crate::registry::Registry;
    use crate::surfaces::Wanted;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    const AFTER: Duration = Duration::from_secs(90 * 24 * 60 * 60);

    /// A process.
    struct Bed {
        parts: Parts,
        notes: UseNotes,
        retention: Retention,
    }

    impl Bed {
        async fn open(store: Arc<MemoryStore>) -> Self {
            let memory = Memory::default();
            let registry = Registry::open(store.clone(), Duration::from_millis(500), memory.clone()).await.unwrap();
            let notes = UseNotes::new(store.clone(), Some(AFTER));
            let parts = Parts::new(registry, &memory, &notes);
            let retention = Retention::new(store, Some(AFTER), notes.clone(), parts.surfaces.clone());
            Self { parts, notes, retention }
        }
    }

    /// Two processes on one store, the tenant, and the moment the test begins at.
    async fn bed() -> (Bed, Bed, TenantId, Timestamp) {
        let store = Arc::new(MemoryStore::new());
        let (one, other) = (Bed::open(store.clone()).await, Bed::open(store.clone()).await);
        let now = store.now().await.unwrap();
        (one, other, TenantId::unauthenticated(), now)
    }

    async fn make(bed: &Bed, tenant: &TenantId) -> SurfaceId {
        make_within(bed, tenant, None).await
    }

    async fn make_within(bed: &Bed, tenant: &TenantId, parent: Option<SurfaceId>) -> SurfaceId {
        let request = SurfaceRequest::new(tenant.clone(), SurfaceScope::Session);
        let wanted = Wanted { request, parent, model_capabilities: None, repeatable: None };
        bed.parts.surfaces.create(&wanted).await.unwrap().indexed().id().clone()
    }

    /// Which of the surface and the note of its use is in the store.
    async fn is_there(bed: &Bed, tenant: &TenantId, id: &SurfaceId) -> (bool, bool) {
        let (surface, used) = (keys::surface(tenant, id), keys::surface_use(tenant, id));
        let there = async |key| bed.parts.registry.store().get(&key).await.unwrap().is_some();
        (there(surface).await, there(used).await)
    }

    fn later(now: Timestamp, days: u32) -> Timestamp {
        Timestamp::from_millis(now.as_millis() + i64::try_from((DAY * days).as_millis()).unwrap())
    }

    #[tokio::test]
    async fn what_nobody_used_for_so_long_is_deleted_with_its_note() {
        let (one, other, tenant, now) = bed().await;
        let id = make(&one, &tenant).await;
        one.retention.delete_behind(None, AFTER, later(now, 89)).await.unwrap();
        assert_eq!(is_there(&one, &tenant, &id).await, (true, true));
        let next = one.retention.delete_behind(None, AFTER, later(now, 91)).await.unwrap();
        assert_eq!(is_there(&one, &tenant, &id).await, (false, false));
        assert_eq!(one.retention.delete_behind(next.as_deref(), AFTER, later(now, 91)).await.unwrap(), None);
        assert!(matches!(one.parts.surfaces.held(&tenant, &id).await, Err(ApiError::NotFound { .. })));
        // A process that hears of it too late leaves nothing behind.
        assert!(!other.notes.write(&tenant, &id, 1, later(now, 92)).await.unwrap());
        assert_eq!(is_there(&one, &tenant, &id).await, (false, false));
    }

    /// Whoever uses a surface uses what it is within, however long nobody asks for that by its own name.
    #[tokio::test]
    async fn a_use_of_a_surface_is_one_of_those_above_it() {
        let (one, other, tenant, now) = bed().await;
        let parent = make(&one, &tenant).await;
        let child = make_within(&one, &tenant, Some(parent.clone())).await;
        let gone = [&parent, &child].map(|id| Write::Delete { key: keys::surface_use(&tenant, id) });
        one.parts.registry.store().commit(Commit { writes: gone.into(), ..Commit::default() }).await.unwrap();
        other.parts.surfaces.held(&tenant, &child).await.unwrap();
        // Both notes are written in the background.
        for id in [&child, &parent] {
            while !is_there(&one, &tenant, id).await.1 {
                tokio::task::yield_now().await;
            }
        }
        for (days, left) in [(89, (true, true)), (91, (false, false))] {
            one.retention.delete_behind(None, AFTER, later(now, days)).await.unwrap();
            for id in [&child, &parent] {
                assert_eq!(is_there(&one, &tenant, id).await, left, "after {days} days");
            }
        }
    }

    #[tokio::test]
    async fn a_use_at_another_process_keeps_a_surface_also_in_the_last_moment() {
        let (one, other, tenant, now) = bed().await;
        let id = make(&one, &tenant).await;
        // This process has just read that nobody used it for long; then another one notes a use.
        let note = one.parts.registry.store().get(&keys::surface_use(&tenant, &id)).await.unwrap().unwrap();
        assert!(other.notes.write(&tenant, &id, 1, later(now, 90)).await.unwrap());
        assert!(!one.parts.surfaces.delete_used_at(tenant.clone(), id.clone(), note.version).await.unwrap());
        one.retention.delete_behind(None, AFTER, later(now, 91)).await.unwrap();
        assert_eq!(is_there(&one, &tenant, &id).await, (true, true));
        one.retention.delete_behind(None, AFTER, later(now, 181)).await.unwrap();
        assert_eq!(is_there(&one, &tenant, &id).await, (false, false));
    }

    #[tokio::test]
    async fn a_use_is_noted_twice_a_day_and_of_earlier_versions_it_counts_from_the_first_look() {
        let (one, other, tenant, now) = bed().await;
        let id = make(&one, &tenant).await;
        let version = async || {
            one.parts.registry.store().get(&keys::surface_use(&tenant, &id)).await.unwrap().map(|note| note.version)
        };
        let first = version().await;
        let soon = Timestamp::from_millis(now.as_millis() + 60_000);
        assert!(other.notes.write(&tenant, &id, 1, soon).await.unwrap());
        assert_eq!(version().await, first, "within twelve hours nothing is written");
        let gone = Commit { writes: vec![Write::Delete { key: keys::surface_use(&tenant, &id) }], ..Commit::default() };
        one.parts.registry.store().commit(gone).await.unwrap();
        one.retention.delete_behind(None, AFTER, later(now, 400)).await.unwrap();
        assert_eq!(is_there(&one, &tenant, &id).await, (true, true));
        one.retention.delete_behind(None, AFTER, later(now, 489)).await.unwrap();
        assert_eq!(is_there(&one, &tenant, &id).await, (true, true));
        one.retention.delete_behind(None, AFTER, later(now, 491)).await.unwrap();
        assert_eq!(is_there(&one, &tenant, &id).await, (false, false));
    }
}
