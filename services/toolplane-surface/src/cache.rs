//! Surfaces in memory: read from the store once, and again when another process has changed them.
//!
//! A surface that is in use is never dropped from the cache, so at any time there is at most one copy of it, and each
//! request for it sees the last change. One that is within another holds that one, so what it is looked at by is what that one is now.

mod line;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::time::Instant;
use toolplane_catalog::IndexedSurface;
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_runtime::ApiError;
use toolplane_store::{Store, StoreError};

use crate::keys;
use crate::view::View;

/// Most tools that all cached surfaces together name themselves.
const MAX_WEIGHT: usize = 500_000;
/// Most tools of one surface whose last use is known.
const MAX_USES: usize = 2_000;
/// Most cached surfaces.
const MAX_SURFACES: usize = 4_096;

/// One surface: what it is now, and whose turn it is to change it.
#[derive(Debug)]
pub(crate) struct Held {
    view: ArcSwap<View>,
    /// The surface it is within.
    above: Option<Arc<Held>>,
    /// It is no longer in the cache: it is deleted, or another surface by now.
    dropped: AtomicBool,
    /// Held while the surface, or its log, is changed.
    pub(crate) turn: tokio::sync::Mutex<()>,
    /// When this process noted last that it is used.
    noted: Mutex<Option<Instant>>,
    /// When each of its tools was last used here, where it has a budget or may get one: what is used least goes first.
    used: Mutex<HashMap<ToolId, Instant>>,
}

impl Held {
    /// A surface that is in no store.
    pub(crate) fn of(surface: IndexedSurface) -> Self {
        Self::at(surface, 0, None)
    }

    fn at(surface: IndexedSurface, version: u64, above: Option<Arc<Self>>) -> Self {
        Self {
            view: ArcSwap::from_pointee(View::new(surface, version)),
            above,
            dropped: AtomicBool::new(false),
            turn: tokio::sync::Mutex::new(()),
            noted: Mutex::new(None),
            used: Mutex::default(),
        }
    }

    /// Whether its use is to be noted, which it was not for so long; the next who asks is told no.
    pub(crate) fn claim_note(&self, every: Duration) -> bool {
        let mut noted = self.noted.lock();
        let is_due = noted.is_none_or(|noted| noted.elapsed() >= every);
        if is_due {
            *noted = Some(Instant::now());
        }
        is_due
    }

    /// It could not be noted: the next use tries it again.
    pub(crate) fn give_note_back(&self) {
        *self.noted.lock() = None;
    }

    /// Takes note that one of its tools is used now.
    pub(crate) fn note_use_of(&self, tool_id: &ToolId) {
        let now = Instant::now();
        let mut used = self.used.lock();
        match used.get_mut(tool_id) {
            Some(at) => *at = now,
            None => {
                if used.len() >= MAX_USES
                    && let Some(oldest) = used.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone())
                {
                    used.remove(&oldest);
                }
                used.insert(tool_id.clone(), now);
            }
        }
    }

    /// How long ago each of its tools was last used here, as far as that is known.
    pub(crate) fn used(&self) -> Vec<(ToolId, Duration)> {
        self.used.lock().iter().map(|(id, at)| (id.clone(), at.elapsed())).collect()
    }

    /// The surface as it is now, below those above it as they are now.
    pub(crate) fn view(&self) -> Arc<View> {
        let shown = self.view.load_full();
        let Some(above) = &self.above else { return shown };
        let above = above.view();
        if shown.indexed().is_within(above.shared()) {
            return shown;
        }
        let below = Arc::new(shown.below(above.shared()));
        // Where somebody shows another one meanwhile, the next who looks puts that below.
        drop(self.view.compare_and_swap(&shown, Arc::clone(&below)));
        below
    }

    /// The surface it is within.
    pub(crate) fn above(&self) -> Option<&Arc<Self>> {
        self.above.as_ref()
    }

    /// Whether it and all above it are in the cache.
    fn is_whole(&self) -> bool {
        !self.dropped.load(Ordering::Acquire) && self.above.as_ref().is_none_or(|above| above.is_whole())
    }

    /// Shows the surface as it was stored at `version`, unless a newer one is shown.
    pub(crate) fn show(&self, surface: IndexedSurface, version: u64) {
        let newer = Arc::new(View::new(surface, version));
        self.view.rcu(|shown| Arc::clone(if shown.version() < version { &newer } else { shown }));
    }
}

type Key = (TenantId, SurfaceId);

#[derive(Debug, Default)]
pub(crate) struct Cache {
    slots: Mutex<Slots>,
    /// Held while a surface is read: of two readers the second finds what the first read.
    loading: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Slots {
    held: HashMap<Key, Slot>,
    weight: usize,
    clock: u64,
}

#[derive(Debug)]
struct Slot {
    held: Arc<Held>,
    used: u64,
    /// What it weighed when it came in; what is loaded later is little.
    weight: usize,
}

impl Cache {
    /// The surface, from memory or from the store, with those above it.
    pub(crate) async fn get(
        &self,
        store: &dyn Store,
        tenant: &TenantId,
        id: &SurfaceId,
    ) -> Result<Arc<Held>, ApiError> {
        let key = (tenant.clone(), id.clone());
        if let Some(held) = self.slots.lock().find(&key) {
            return Ok(held);
        }
        let _alone = self.loading.lock().await;
        if let Some(held) = self.slots.lock().find(&key) {
            return Ok(held);
        }
        self.read_line(store, tenant, id).await
    }

    /// Shows a surface as it is stored now, if it is here at all. One that cannot be read any more is dropped: the next
    /// request for it is told why.
    pub(crate) async fn refresh(&self, store: &dyn Store, tenant: &TenantId, id: &SurfaceId) -> Result<(), StoreError> {
        // A task that is reading it right now may be about to keep what was there before.
        let _alone = self.loading.lock().await;
        let key = (tenant.clone(), id.clone());
        let Some(held) = self.slots.lock().find(&key) else { return Ok(()) };
        let stored = match store.get(&keys::surface(tenant, id)).await {
            Err(StoreError::Damaged(_)) => None,
            stored => stored?,
        };
        match stored.and_then(|stored| Some((IndexedSurface::read(&stored.bytes).ok()?, stored.version))) {
            // One that was deleted and made again under the same id is another surface, and those within the first one are not within it.
            Some((surface, version)) if surface.is_as_old_as(held.view.load().indexed()) => held.show(surface, version),
            Some(_) | None => self.slots.lock().remove(&key),
        }
        Ok(())
    }

    /// Drops every surface: the next request reads anew.
    pub(crate) async fn clear(&self) {
        let _alone = self.loading.lock().await;
        let dropped = std::mem::take(&mut *self.slots.lock());
        dropped.held.values().for_each(|slot| slot.held.dropped.store(true, Ordering::Release));
    }
}

impl Slots {
    fn find(&mut self, key: &Key) -> Option<Arc<Held>> {
        self.clock += 1;
        let slot = self.held.get_mut(key)?;
        if !slot.held.is_whole() {
            self.remove(key);
            return None;
        }
        slot.used = self.clock;
        Some(Arc::clone(&slot.held))
    }

    fn keep(&mut self, key: Key, held: Arc<Held>) {
        self.clock += 1;
        let weight = held.view.load().weight();
        self.weight += weight;
        self.held.insert(key, Slot { held, used: self.clock, weight });
        while (self.weight > MAX_WEIGHT || self.held.len() > MAX_SURFACES) && self.drop_oldest() {}
    }

    /// Drops the surface that was not used for longest among those not in use; false when there is none.
    fn drop_oldest(&mut self) -> bool {
        // New holders only come in through this cache, whose lock is held: a count of one stays one.
        let idle = self.held.iter().filter(|(_, slot)| Arc::strong_count(&slot.held) == 1);
        let Some(oldest) = idle.min_by_key(|(_, slot)| slot.used).map(|(key, _)| key.clone()) else { return false };
        self.remove(&oldest);
        true
    }

    fn remove(&mut self, key: &Key) {
        if let Some(slot) = self.held.remove(key) {
            slot.held.dropped.store(true, Ordering::Release);
            self.weight = self.weight.saturating_sub(slot.weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::{SurfaceId, TenantId};

    use super::*;

    fn held(n: usize) -> (Key, Arc<Held>) {
        let id = SurfaceId::from_trusted(format!("surface_{n}"));
        let json = format!(r#"{{"surface_id":"{id}","scope":"session","tenant":"default"}}"#);
        let held = Arc::new(Held::at(IndexedSurface::read(json.as_bytes()).unwrap(), 1, None));
        ((TenantId::unauthenticated(), id), held)
    }

    #[test]
    fn the_oldest_idle_surface_makes_room_and_a_held_one_never_does() {
        let mut slots = Slots::default();
        let (first_key, first) = held(0);
        slots.keep(first_key.clone(), Arc::clone(&first));
        for n in 1..=MAX_SURFACES + 10 {
            let (key, surface) = held(n);
            slots.keep(key, surface);
        }
        assert_eq!((slots.held.len(), slots.weight), (MAX_SURFACES, MAX_SURFACES));
        assert!(slots.find(&first_key).is_some(), "somebody holds it");
        assert!(slots.find(&held(1).0).is_none(), "the oldest idle one");
        assert!(slots.find(&held(MAX_SURFACES).0).is_some());
    }
}
