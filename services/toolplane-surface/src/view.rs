//! A surface as it is stored, at one revision.

use toolplane_catalog::IndexedSurface;
use toolplane_records::surface::ToolSurface;

/// A surface at one revision.
#[derive(Debug)]
pub(crate) struct View {
    indexed: IndexedSurface,
    /// The record's version in the store.
    version: u64,
}

impl View {
    pub(crate) fn new(surface: ToolSurface, version: u64) -> Self {
        Self { indexed: IndexedSurface::new(surface), version }
    }

    pub(crate) fn surface(&self) -> &ToolSurface {
        self.indexed.surface()
    }

    pub(crate) fn indexed(&self) -> &IndexedSurface {
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
