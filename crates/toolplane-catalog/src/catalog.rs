//! The tools of one tenant, and the names that lead to them.

mod change;
mod entry;
mod groups;
mod lookup;
mod names;
mod prepared;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;

use toolplane_records::alias;
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::ToolId;
use toolplane_records::vocabulary::ToolLifecycle;

pub use self::change::{CatalogChange, ChangeKind, NotRestored, RetireRefusal};
pub use self::entry::CatalogEntry;
pub(crate) use self::entry::Then;
pub use self::groups::Group;
use self::groups::Groups;
pub use self::lookup::{Lookup, Sharing};
pub(crate) use self::names::own_names;
use self::names::{Claims, OwnNames, ToolNames};
pub use self::prepared::{Prepared, PreparedTools};
use crate::history::Since;
use crate::limits::CatalogLimits;
use crate::registration::Registration;
use crate::search::index::SearchIndex;
use crate::similar::NameIndex;
use crate::traits::Traits;
use crate::validate::{Checked, validate};
use crate::violations::Violations;

/// The registered tools of one tenant in memory.
///
/// Changes are planned first, so that a caller can make them durable before they are visible, and applied afterwards. A
/// plan is only valid for the catalog it was made from: plan and apply under one writer.
#[derive(Debug, Default)]
pub struct Catalog {
    limits: CatalogLimits,
    entries: BTreeMap<ToolId, CatalogEntry>,
    names: ToolNames,
    /// Behind an `Arc`, so that readers can look for similar names without keeping the catalog from changing.
    similar: Arc<NameIndex>,
    index: SearchIndex,
    groups: Groups,
    /// The tools by the revision at which their present declarations came. Always `Some`, like those of a group.
    declared: BTreeSet<(u64, Option<ToolId>)>,
    /// How many changes there were of all tools that are here.
    changes: u64,
    /// The newest revision that any tool names.
    newest: u64,
}

impl Catalog {
    /// An empty catalog that accepts tools within `limits`.
    pub fn new(limits: CatalogLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Checks registrations and decides what each would change: all or nothing.
    ///
    /// Violations carry the index of the registration, e.g. `tools[2].declaration.name`. Every name a tool answers to (id, full
    /// name, provider name, alias) must be its own within the tenant; bare names may be shared between namespaces.
    ///
    /// # Errors
    ///
    /// The violations of all registrations, when at least one registration does not pass [`validate`], has a name that
    /// another tool answers to, has the id of another one of `registrations`, or brings a retired id back without being
    /// retired itself.
    pub fn plan_register(&self, registrations: &[Registration]) -> Result<Vec<CatalogChange>, Vec<FieldViolation>> {
        let mut faults = Violations::default();
        let mut changes = Vec::with_capacity(registrations.len());
        let mut claims = Claims::over(&self.names);
        for registration in registrations {
            claims.release(&registration.declaration.tool_id);
        }
        let mut seen = HashSet::new();
        let mut revision = self.revision();
        for (index, registration) in registrations.iter().enumerate() {
            let place = format!("tools[{index}]");
            let tool_id = &registration.declaration.tool_id;
            if !seen.insert(tool_id) {
                faults.add(format!("{place}.declaration.tool_id"), format!("`{tool_id}` is given twice"));
                continue;
            }
            if self.is_retired(tool_id) && registration.lifecycle() != ToolLifecycle::Retired {
                let rule = format!("`{tool_id}` is retired; a retired identity is never used again");
                faults.add(format!("{place}.declaration.tool_id"), rule);
            }
            match validate(registration, &self.limits) {
                Ok(tool) => {
                    let change = self.change(tool, revision + 1);
                    revision += u64::from(change.kind != ChangeKind::Unchanged);
                    changes.push(change);
                }
                Err(found) => faults.extend_under(&place, found),
            }
            faults.extend_under(&place, claims.claim(registration));
        }
        faults.into_result().map(|()| changes)
    }

    /// Decides the retirement of a tool. Its names stay taken.
    ///
    /// # Errors
    ///
    /// [`RetireRefusal::Unknown`] when no tool has this id, [`RetireRefusal::AlreadyRetired`] when the tool is retired.
    pub fn plan_retire(&self, tool_id: &ToolId) -> Result<CatalogChange, RetireRefusal> {
        let entry = self.entries.get(tool_id).ok_or(RetireRefusal::Unknown)?;
        if self.is_retired(tool_id) {
            return Err(RetireRefusal::AlreadyRetired);
        }
        let retired = entry.tool.with_lifecycle(ToolLifecycle::Retired);
        let traits = Traits::of(retired.registration());
        let history = Arc::new(entry.history.after(entry, &traits));
        let since = entry.since.declared(self.revision() + 1, &entry.traits, &traits);
        let (tool, revision) = (Arc::new(retired), entry.revision + 1);
        Ok(CatalogChange { kind: ChangeKind::Retired, tool, revision, history, since })
    }

    /// Puts a planned change into effect.
    pub fn apply(&mut self, change: impl Into<Prepared>) {
        let Prepared { change, traits, words } = change.into();
        if change.kind == ChangeKind::Unchanged {
            return;
        }
        let own = own_names(change.tool.registration());
        let entry = self.enter(change, traits, own);
        Arc::make_mut(&mut self.similar).put(&entry.tool);
        self.index.put(entry, &words);
    }

    /// The catalog with tools that were registered before, and are not in it yet.
    ///
    /// # Errors
    ///
    /// The first tool that cannot be used here, with why: it is here already, or names of it lead to other tools.
    pub fn restored(mut self, stored: PreparedTools) -> Result<Self, NotRestored> {
        let PreparedTools { tools, words, names } = stored;
        let mut entries = Vec::with_capacity(tools.len());
        for (change, traits, own) in tools {
            let registration = change.tool.registration();
            let tool_id = &registration.declaration.tool_id;
            let mut faults = Claims::over(&self.names).taken(registration, &own);
            if self.entries.contains_key(tool_id) {
                let description = format!("`{tool_id}` is here already");
                faults.push(FieldViolation { field: "declaration.tool_id".to_owned(), description });
            }
            if !faults.is_empty() {
                return Err(NotRestored { tool_id: tool_id.clone(), faults });
            }
            entries.push(self.enter(change, traits, own));
        }
        Arc::make_mut(&mut self.similar).put_new(names);
        self.index.put_new(entries, words);
        Ok(self)
    }

    /// Puts a tool where it is found by its id, names and traits; what it was before is gone from there.
    fn enter(&mut self, change: CatalogChange, traits: Traits, own: OwnNames) -> CatalogEntry {
        let registration = change.tool.registration();
        let tool_id = registration.declaration.tool_id.clone();
        if let Some(before) = self.entries.get(&tool_id) {
            self.names.remove(before.tool.registration());
            self.groups.remove(&before.traits, before.since.traits, &tool_id);
            self.declared.remove(&(before.since.declared, Some(tool_id.clone())));
            self.changes = self.changes.saturating_sub(before.revision);
        }
        self.declared.insert((change.since.declared, Some(tool_id.clone())));
        self.names.insert(registration, own);
        self.changes += change.revision;
        self.newest = self.newest.max(change.since.declared);
        let traits = self.groups.put(traits, change.since.traits, &tool_id);
        let CatalogChange { kind: _, tool, revision, history, since } = change;
        let entry = CatalogEntry { tool, revision, history, since, traits };
        self.entries.insert(tool_id, entry.clone());
        entry
    }

    /// The tool with that id.
    pub fn get(&self, tool_id: &ToolId) -> Option<&CatalogEntry> {
        self.entries.get(tool_id)
    }

    /// Where `name` leads: by id, full name, provider name or alias, else by a bare name that only one tool has.
    pub fn find(&self, name: &str) -> Lookup<'_> {
        if let Some(entry) = self.names.own(name).and_then(|tool_id| self.entries.get(tool_id)) {
            return Lookup::One(entry);
        }
        let ids = self.names.called(name);
        match (ids.len(), ids.first().and_then(|id| self.entries.get(id))) {
            (1, Some(entry)) => Lookup::One(entry),
            (0, _) | (_, None) => Lookup::Unknown,
            _ => Lookup::Ambiguous(Sharing { catalog: self, ids }),
        }
    }

    /// The one tool that had this name or alias before it was given another name. All tools are gone through: for names that lead nowhere.
    pub fn once_named(&self, name: &str) -> Option<&CatalogEntry> {
        let had = |entry: &&CatalogEntry| {
            let (now, id) = (entry.tool.full_name(), entry.tool_id().as_str());
            entry.history.names().any(|before| before != now && (before == name || alias::of(before, id) == name))
        };
        let mut found = self.entries.values().filter(had);
        found.next().filter(|_| found.next().is_none())
    }

    /// Every tool, by id; retired ones included.
    pub fn entries(&self) -> impl Iterator<Item = &CatalogEntry> {
        self.entries.values()
    }

    /// How often any tool here was changed: the same in every process that knows the same tools, and after a restart.
    pub fn revision(&self) -> u64 {
        self.changes.max(self.newest)
    }

    /// The tools whose present declarations came behind this one, in the order in which they came.
    pub(crate) fn declared_behind(&self, last: (u64, Option<ToolId>)) -> impl Iterator<Item = &CatalogEntry> {
        let later = self.declared.range((Excluded(last), Unbounded));
        later.filter_map(|(_, id)| self.entries.get(id.as_ref()?))
    }

    /// Every tool behind one, by id.
    pub(crate) fn entries_behind(&self, last: Option<ToolId>) -> impl Iterator<Item = &CatalogEntry> {
        let behind = self.entries.range((last.map_or(Unbounded, Excluded), Unbounded));
        behind.map(|(_, entry)| entry)
    }

    /// The tools by what surfaces look at, in no order.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter()
    }

    /// How many tools there are, retired ones included.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no tool at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The names of the tools, for finding similar ones. Take it, release the catalog, and then look.
    pub fn similar(&self) -> &Arc<NameIndex> {
        &self.similar
    }

    /// The index over the tools' texts.
    pub fn index(&self) -> &SearchIndex {
        &self.index
    }

    fn is_retired(&self, tool_id: &ToolId) -> bool {
        let entry = self.entries.get(tool_id);
        entry.is_some_and(|entry| entry.tool.registration().lifecycle() == ToolLifecycle::Retired)
    }

    /// The change to `tool`; one that changes anything comes at the revision `at` of the catalog.
    fn change(&self, tool: Checked, at: u64) -> CatalogChange {
        let before = self.entries.get(&tool.registration().declaration.tool_id);
        let (kind, revision, history, since) = match before {
            None => (ChangeKind::Created, 1, Arc::default(), Since::created(at)),
            Some(before) if before.tool.digest() == tool.digest() => {
                (ChangeKind::Unchanged, before.revision, Arc::clone(&before.history), before.since)
            }
            Some(before) => {
                let traits = Traits::of(tool.registration());
                let history = before.history.after(before, &traits);
                let since = before.since.declared(at, &before.traits, &traits);
                (ChangeKind::Updated, before.revision + 1, Arc::new(history), since)
            }
        };
        CatalogChange { kind, tool: Arc::new(tool), revision, history, since }
    }
}
