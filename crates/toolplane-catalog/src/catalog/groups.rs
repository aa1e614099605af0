//! The tools of a catalog by what surfaces look at: tools with the same traits are one group.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use toolplane_records::ids::ToolId;

use crate::traits::Traits;

/// All groups.
#[derive(Debug, Default)]
pub(super) struct Groups(HashMap<Arc<Traits>, Group>);

/// The tools that have the same traits.
#[derive(Debug)]
pub struct Group {
    traits: Arc<Traits>,
    tools: BTreeSet<ToolId>,
    /// The same tools by the revision of the catalog at which they got these traits. Always `Some`: `None` sorts before
    /// every id, which is where a range begins.
    joined: BTreeSet<(u64, Option<ToolId>)>,
}

impl Group {
    /// What they have in common.
    pub fn traits(&self) -> &Arc<Traits> {
        &self.traits
    }

    /// The tools, by id.
    pub fn tools(&self) -> &BTreeSet<ToolId> {
        &self.tools
    }

    /// The tools that got these traits after a revision of the catalog.
    pub fn joined_after(&self, revision: u64) -> impl Iterator<Item = &ToolId> {
        self.joined.range((revision.saturating_add(1), None)..).filter_map(|(_, id)| id.as_ref())
    }
}

impl Groups {
    /// Takes a tool in, which has these traits since a revision; the traits as the group shares them.
    pub(super) fn put(&mut self, traits: Traits, since: u64, id: &ToolId) -> Arc<Traits> {
        let traits = Arc::new(traits);
        let fresh = || Group { traits: Arc::clone(&traits), tools: BTreeSet::new(), joined: BTreeSet::new() };
        let group = self.0.entry(Arc::clone(&traits)).or_insert_with(fresh);
        group.tools.insert(id.clone());
        group.joined.insert((since, Some(id.clone())));
        Arc::clone(&group.traits)
    }

    /// Takes a tool out.
    pub(super) fn remove(&mut self, traits: &Arc<Traits>, since: u64, id: &ToolId) {
        let Some(group) = self.0.get_mut(traits) else { return };
        group.tools.remove(id);
        group.joined.remove(&(since, Some(id.clone())));
        if group.tools.is_empty() {
            self.0.remove(traits);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Group> {
        self.0.values()
    }
}
