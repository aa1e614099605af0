//! What a surface was before its last own changes: enough to say what is different since, to who saw it then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::ToolId;
use toolplane_records::surface::LoadedTool;

use super::LiveSurface;
use super::stored::{FORM, Stored};
use crate::surface::extend::Added;
use crate::surface::selection::Selection;

/// Most tools that the remembered changes together are about.
const MAX_TOOLS: usize = 500;

/// One own change of a surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    /// Which change it is: what [`LiveSurface::changes`] says after it.
    number: u64,
    /// What the surface had of each tool the change is about, before it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<ToolId, Before>,
    /// The namespaces it brought.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    namespaces: BTreeSet<String>,
    /// The tools it brought by what they are.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    selections: BTreeSet<Selection>,
    /// It gave the surface a budget that had none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    first_budget: bool,
}

/// What a surface had of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Before {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loaded: Option<LoadedTool>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    unloaded: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    added: bool,
}

impl Step {
    fn len(&self) -> usize {
        self.tools.len() + self.namespaces.len() + self.selections.iter().map(Selection::len).sum::<usize>()
    }
}

/// The steps of a surface after it changed from `before` to `after`, the oldest first. A change that is about too many tools, and what
/// was before it, is not remembered.
pub(super) fn after(before: &LiveSurface, after: &Stored) -> Vec<Step> {
    let Added { namespaces, selections, .. } = after.added.since(&before.added);
    let tools = touched(before, after).into_iter().map(|id| {
        let had = Before {
            loaded: before.asked(&id).cloned(),
            unloaded: before.unloaded.contains(&id),
            added: before.added.tools.contains(&id),
        };
        (id, had)
    });
    let first_budget = before.account.is_none() && after.account.is_some();
    let step = Step { number: after.changes, tools: tools.collect(), namespaces, selections, first_budget };
    let mut left = MAX_TOOLS;
    let newest_first = std::iter::once(&step).chain(before.steps.iter().rev());
    let mut kept: Vec<Step> = newest_first
        .take_while(|step| {
            let fits = step.len() <= left;
            left = left.saturating_sub(step.len());
            fits
        })
        .cloned()
        .collect();
    kept.reverse();
    kept
}

/// The tools that a surface has in another way than before.
fn touched(before: &LiveSurface, after: &Stored) -> BTreeSet<ToolId> {
    let loads: BTreeMap<&ToolId, &LoadedTool> = after.loads.iter().map(|tool| (&tool.tool_id, tool)).collect();
    let gone = before.places.keys().filter(|id| !loads.contains_key(id));
    let come = loads.iter().filter(|(id, tool)| before.asked(id) != Some(**tool)).map(|(id, _)| *id);
    let unloaded = before.unloaded.symmetric_difference(&after.unloaded);
    let added = before.added.tools.symmetric_difference(&after.added.tools);
    gone.chain(come).chain(unloaded).chain(added).cloned().collect()
}

impl LiveSurface {
    /// The surface as it was after so many own changes; nothing where that is not remembered.
    pub(in crate::surface) fn at(&self, changes: u64) -> Option<Self> {
        if changes == self.changes {
            return Some(self.clone());
        }
        self.undone(changes).map(|undone| self.without(&undone, changes))
    }

    /// Its steps since it had so many own changes, the newest first; nothing where one of them is not remembered.
    fn undone(&self, changes: u64) -> Option<Vec<&Step>> {
        let undone: Vec<&Step> = self.steps.iter().rev().take_while(|step| step.number > changes).collect();
        let numbers = undone.iter().map(|step| step.number);
        // Of a change that a process of an earlier version made nothing is remembered.
        let all = changes < self.changes && numbers.eq((changes + 1..=self.changes).rev());
        all.then_some(undone)
    }

    fn without(&self, undone: &[&Step], changes: u64) -> Self {
        let (mut unloaded, mut added) = (self.unloaded.clone(), Added::clone(&self.added));
        let mut loads: BTreeMap<ToolId, LoadedTool> =
            self.loads.iter().map(|tool| (tool.tool_id.clone(), tool.clone())).collect();
        for step in undone {
            added.namespaces.retain(|namespace| !step.namespaces.contains(namespace));
            added.selections.retain(|selection| !step.selections.contains(selection));
            for (id, had) in &step.tools {
                match &had.loaded {
                    Some(tool) => drop(loads.insert(id.clone(), tool.clone())),
                    None => drop(loads.remove(id)),
                }
                put(&mut unloaded, id, had.unloaded);
                put(&mut added.tools, id, had.added);
            }
        }
        Self::from(Stored {
            form: FORM,
            made: Arc::clone(&self.made),
            changes,
            loads: loads.into_values().collect(),
            unloaded,
            added: Arc::new(added),
            account: self.account.clone().filter(|_| !undone.iter().any(|step| step.first_budget)),
            noted: self.noted,
            noted_above: self.noted_above.as_slice().to_vec(),
            steps: self.steps.iter().filter(|step| step.number <= changes).cloned().collect(),
        })
        .within(self.above.clone())
    }

    /// The tools that this surface names in another way than `before`, one that it was; nothing where it got its first budget since, and it is
    /// not remembered any more of which tools that was.
    pub(in crate::surface) fn named_otherwise(&self, before: &Self) -> Option<BTreeSet<ToolId>> {
        let mut tools = touched(self, &Stored::from(before.clone()));
        if before.account.is_none() && self.account.is_some() {
            // What the rules loaded then, and no longer, may be named neither there nor here: the steps between tell of it.
            tools.extend(self.undone(before.changes)?.into_iter().flat_map(|step| step.tools.keys().cloned()));
        }
        Some(tools)
    }

    /// What it was extended by, and `before` was not, beside tools by name.
    pub(in crate::surface) fn brought_since(&self, before: &Self) -> Added {
        self.added.since(&before.added)
    }
}

fn put(set: &mut BTreeSet<ToolId>, id: &ToolId, is_in: bool) {
    if is_in {
        set.insert(id.clone());
    } else {
        set.remove(id);
    }
}
