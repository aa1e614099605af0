//! A surface as it is stored, at one version.

use std::sync::Arc;

use toolplane_catalog::IndexedSurface;

/// A surface at one version.
#[derive(Debug)]
pub(crate) struct View {
    indexed: Arc<IndexedSurface>,
    /// The record's version in the store; 0 where there is no record.
    version: u64,
}

impl View {
    pub(crate) fn new(indexed: IndexedSurface, version: u64) -> Self {
        Self { indexed: Arc::new(indexed), version }
    }

    /// The same surface below this one.
    pub(crate) fn below(&self, above: &Arc<IndexedSurface>) -> Self {
        let indexed = IndexedSurface::clone(&self.indexed).within(Some(Arc::clone(above)));
        Self { indexed: Arc::new(indexed), version: self.version }
    }

    pub(crate) fn indexed(&self) -> &IndexedSurface {
        &self.indexed
    }

    /// The surface, for who keeps it.
    pub(crate) fn shared(&self) -> &Arc<IndexedSurface> {
        &self.indexed
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// What keeping it in memory costs.
    pub(crate) fn weight(&self) -> usize {
        self.indexed.weight()
    }
}
