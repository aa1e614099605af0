//! Surfaces in memory: read from the store once, and again when another process has changed them.
//!
//! A surface that is in use is never dropped from the cache, so at any time there is at most one copy of it, and each
//! request for it sees the last change.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use toolplane_records::ids::{SurfaceId, TenantId};
use toolplane_records::surface::ToolSurface;
use toolplane_runtime::ApiError;
use toolplane_store::{Store, StoreError};

use crate::view::View;
use crate::{error, keys};

/// Most tools of all cached surfaces together.
const MAX_WEIGHT: usize = 500_000;
/// Most cached surfaces.
const MAX_SURFACES: usize = 4_096;

/// One surface: what it is now, and whose turn it is to change it.
#[derive(Debug)]
pub(crate) struct Held {
    view: ArcSwap<View>,
    /// Held while the surface, or its log, is changed.
    pub(crate) turn: tokio::sync::Mutex<()>,
}

impl Held {
    /// A surface that is in no store.
    pub(crate) fn of(surface: ToolSurface) -> Self {
        Self::at(surface, 0)
    }

    fn at(surface: ToolSurface, version: u64) -> Self {
        Self { view: ArcSwap::from_pointee(View::new(surface, version)), turn: tokio::sync::Mutex::new(()) }
    }

    pub(crate) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// Shows the surface as it was stored at `version`, unless a newer one is shown.
    pub(crate) fn show(&self, surface: ToolSurface, version: u64) {
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
    held: HashMap<Key, (Arc<Held>, u64)>,
    weight: usize,
    clock: u64,
}

impl Cache {
    /// The surface, from memory or from the store.
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
        let record = keys::surface(tenant, id);
        let stored = store.get(&record).await.map_err(error::of_store)?;
        let stored = stored.ok_or_else(|| ApiError::not_found("surface", id.as_str()))?;
        let surface = serde_json::from_slice(&stored.bytes).map_err(error::unreadable)?;
        let held = Arc::new(Held::at(surface, stored.version));
        self.slots.lock().keep(key, Arc::clone(&held));
        Ok(held)
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
        match stored.and_then(|stored| Some((serde_json::from_slice(&stored.bytes).ok()?, stored.version))) {
            Some((surface, version)) => held.show(surface, version),
            None => self.slots.lock().remove(&key),
        }
        Ok(())
    }

    /// Drops every surface: the next request reads anew.
    pub(crate) async fn clear(&self) {
        let _alone = self.loading.lock().await;
        *self.slots.lock() = Slots::default();
    }
}

impl Slots {
    fn find(&mut self, key: &Key) -> Option<Arc<Held>> {
        self.clock += 1;
        let (held, used) = self.held.get_mut(key)?;
        *used = self.clock;
        Some(Arc::clone(held))
    }

    fn keep(&mut self, key: Key, held: Arc<Held>) {
        self.clock += 1;
        self.weight += held.view.load().weight();
        self.held.insert(key, (held, self.clock));
        while (self.weight > MAX_WEIGHT || self.held.len() > MAX_SURFACES) && self.drop_oldest() {}
    }

    /// Drops the surface that was not used for longest among those not in use; false when there is none.
    fn drop_oldest(&mut self) -> bool {
        // New holders only come in through this cache, whose lock is held: a count of one stays one.
        let idle = self.held.iter().filter(|(_, (held, _))| Arc::strong_count(held) == 1);
        let Some(oldest) = idle.min_by_key(|(_, (_, used))| *used).map(|(key, _)| key.clone()) else { return false };
        self.remove(&oldest);
        true
    }

    fn remove(&mut self, key: &Key) {
        if let Some((held, _)) = self.held.remove(key) {
            // Loading a tool moves it between lists, so a surface weighs the same all its life.
            self.weight = self.weight.saturating_sub(held.view.load().weight());
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
        let held = Arc::new(Held::at(serde_json::from_str(&json).unwrap(), 1));
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
