//! The tools of the index, by place. A place that became free is taken again.

use std::collections::HashMap;
use std::sync::Arc;

use toolplane_records::ids::ToolId;

use crate::catalog::CatalogEntry;

/// Places of a chunk.
const CHUNK: usize = 256;

/// The tools by place. A copy shares its chunks until one of them changes.
#[derive(Clone, Debug, Default)]
pub(in crate::search) struct Slots {
    chunks: Vec<Arc<Vec<Option<CatalogEntry>>>>,
    places: usize,
}

impl Slots {
    pub(in crate::search) fn get(&self, place: u32) -> Option<&CatalogEntry> {
        self.chunks.get(place as usize / CHUNK)?.get(place as usize % CHUNK)?.as_ref()
    }

    /// How many places there are, free ones included.
    pub(in crate::search) fn places(&self) -> usize {
        self.places
    }

    fn put(&mut self, place: u32, entry: Option<CatalogEntry>) {
        let (chunk, within) = (place as usize / CHUNK, place as usize % CHUNK);
        if chunk == self.chunks.len() {
            self.chunks.push(Arc::new(Vec::with_capacity(CHUNK)));
        }
        let Some(chunk) = self.chunks.get_mut(chunk).map(Arc::make_mut) else { return };
        if within == chunk.len() {
            chunk.push(entry);
            self.places += 1;
        } else if let Some(slot) = chunk.get_mut(within) {
            *slot = entry;
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.chunks.len() * (CHUNK * size_of::<Option<CatalogEntry>>() + 48)
    }
}

/// Which place a tool has, and which are free; for who changes the index alone.
#[derive(Debug, Default)]
pub(super) struct Places {
    by_id: HashMap<ToolId, u32>,
    free: Vec<u32>,
}

impl Places {
    pub(super) fn of(&self, tool_id: &ToolId) -> Option<u32> {
        self.by_id.get(tool_id).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Gives a tool a place.
    pub(super) fn take(&mut self, slots: &mut Slots, entry: CatalogEntry) -> u32 {
        // Beyond four thousand million tools there is no memory to hold them.
        let place = self.free.pop().unwrap_or(u32::try_from(slots.places).unwrap_or(u32::MAX));
        self.by_id.insert(entry.tool_id().clone(), place);
        slots.put(place, Some(entry));
        place
    }

    /// Puts another entry of the same tool in its place.
    pub(super) fn renew(slots: &mut Slots, place: u32, entry: CatalogEntry) {
        slots.put(place, Some(entry));
    }

    /// Frees the place of a tool.
    pub(super) fn give_back(&mut self, slots: &mut Slots, tool_id: &ToolId) {
        if let Some(place) = self.by_id.remove(tool_id) {
            slots.put(place, None);
            self.free.push(place);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let entry = size_of::<ToolId>() + size_of::<u32>() + 1;
        self.by_id.capacity() * entry * 8 / 7 + self.free.capacity() * size_of::<u32>()
    }
}
