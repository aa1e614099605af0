//! What keeps tools from being used for a time: rules that deny them to everybody, credentials that no worker has, and providers that do
//! not let them be called, or are away. It is no matter of the catalog or of a surface, and has no revision.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toolplane_records::codes::Code;
use toolplane_records::ids::ToolId;
use toolplane_records::surface::{DeferredToolRef, LoadedTool};
use toolplane_records::vocabulary::{HiddenReason, LoadingState};

use super::difference::{ShownTool, Sight};
use crate::catalog::{Catalog, CatalogEntry};
use crate::traits::Traits;

/// What keeps tools from being used at this moment, beside the catalog and the surface, in words.
#[derive(Clone, Copy)]
pub struct Shut<'a> {
    /// What keeps tools of some traits: credentials that nobody has, a provider that is out of use.
    pub by_traits: &'a dyn Fn(&Traits) -> Option<Why>,
    /// Tools that nobody may call, whatever the call: a rule denies them.
    pub denied: &'a BTreeMap<ToolId, String>,
    /// Tools that their provider does not have any more, or that wait for a person.
    pub withheld: &'a BTreeMap<ToolId, Why>,
    /// Why no tool of some traits is called, which is shown all the same: its provider is away.
    pub away: &'a dyn Fn(&Traits) -> Option<Uncallable>,
}

/// Why a tool is not shown, for machines and for people.
pub type Why = (HiddenReason, String);

/// Why no call is let through of a tool that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncallable {
    /// What such a call ends with.
    pub code: Code,
    /// For people.
    pub message: String,
}

impl<'a> Shut<'a> {
    /// Nothing does.
    pub const NOTHING: Shut<'static> =
        Shut { by_traits: &|_| None, denied: &BTreeMap::new(), withheld: &BTreeMap::new(), away: &|_| None };

    /// What keeps whole groups of tools, without single ones.
    pub(super) fn of_groups(self) -> Self {
        Self { denied: Shut::NOTHING.denied, withheld: Shut::NOTHING.withheld, ..self }
    }

    /// The single tools that are not to be used, some of them twice.
    pub(super) fn single(self) -> impl Iterator<Item = &'a ToolId> {
        self.denied.keys().chain(self.withheld.keys())
    }

    /// Whether it is one of these.
    pub(super) fn is_single(&self, id: &ToolId) -> bool {
        self.denied.contains_key(id) || self.withheld.contains_key(id)
    }

    /// Why the tool is not to be used.
    pub(crate) fn why(self, entry: &CatalogEntry) -> Option<Why> {
        self.why_by(entry.tool_id(), &entry.traits)
    }

    /// Whether it is not to be used.
    pub fn is_shut(&self, entry: &CatalogEntry) -> bool {
        self.is_single(entry.tool_id()) || (self.by_traits)(&entry.traits).is_some()
    }

    /// The loaded tool as it is told.
    pub(super) fn loaded(self, tool: LoadedTool, entry: &CatalogEntry) -> LoadedTool {
        match (self.away)(&entry.traits) {
            Some(Uncallable { code, message }) => {
                LoadedTool { uncallable: Some(code.as_str().to_owned()), message: Some(message), ..tool }
            }
            None => tool,
        }
    }

    /// The deferred tool as it is told.
    pub(super) fn deferred(self, tool: DeferredToolRef, entry: &CatalogEntry) -> DeferredToolRef {
        match (self.away)(&entry.traits) {
            Some(Uncallable { message, .. }) => {
                let pending_provider_or_server = entry.traits.provider.clone().unwrap_or_default();
                let (reason, loading_state) = (message, LoadingState::Unavailable);
                DeferredToolRef { reason, loading_state, pending_provider_or_server, ..tool }
            }
            None => tool,
        }
    }

    /// What a surface makes of a tool at a revision of the catalog, where this keeps it from being used.
    pub(super) fn over(self, entry: &CatalogEntry, at: u64, sight: Sight) -> Sight {
        let Sight::Shown(tool) = sight else { return sight };
        // Which credentials it needed is known of the moment; whether a rule denied it is told by its id.
        let traits = entry.traits_at(at).unwrap_or(&entry.traits);
        match self.why_by(entry.tool_id(), traits) {
            Some((reason, message)) => Sight::NotShown { reason, message },
            None => Sight::Shown(ShownTool { uncallable: (self.away)(traits), ..tool }),
        }
    }

    /// Whether tools of these traits are not to be used, and whether their provider is away.
    fn of(self, traits: &Traits) -> (bool, Option<Uncallable>) {
        ((self.by_traits)(traits).is_some(), (self.away)(traits))
    }

    fn why_by(self, id: &ToolId, traits: &Traits) -> Option<Why> {
        let denied = self.denied.get(id).map(|why| (HiddenReason::PolicyBlocked, why.clone()));
        denied.or_else(|| self.withheld.get(id).cloned()).or_else(|| (self.by_traits)(traits))
    }
}

impl fmt::Debug for Shut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shut").field("denied", self.denied).finish_non_exhaustive()
    }
}

/// What keeps tools from being used, to who follows a surface: as it is known to them, and as it is.
#[derive(Clone, Copy, Debug)]
pub struct ShutChange<'a> {
    /// What was told.
    pub before: Shut<'a>,
    /// What is to be told.
    pub now: Shut<'a>,
    /// These are surely the same.
    pub is_none: bool,
    /// Of tools declared behind this revision of the catalog it is not known whether a rule denied them before: `before` is from later.
    pub unsure_behind: Option<u64>,
}

impl ShutChange<'_> {
    /// Nothing keeps tools from being used, and nothing did.
    pub const NOTHING: ShutChange<'static> =
        ShutChange { before: Shut::NOTHING, now: Shut::NOTHING, is_none: true, unsure_behind: None };

    /// What was told of a tool that a surface showed, or did not, at a revision of the catalog.
    pub(super) fn told(self, entry: &CatalogEntry, at: u64, sight: Sight) -> Sight {
        let is_unsure = self.unsure_behind.is_some_and(|behind| entry.since.declared > behind);
        match sight {
            Sight::Shown(_) if is_unsure => Sight::Unknown,
            sight => self.before.over(entry, at, sight),
        }
    }

    /// Adds the tools that are shut, or whose provider is away, in one of both alone; false where there are more than `most`.
    pub(super) fn collect(self, catalog: &Catalog, most: usize, tools: &mut BTreeSet<ToolId>) -> bool {
        if self.is_none {
            return true;
        }
        let (before, now) = (self.before, self.now);
        let either = before.single().filter(|id| !now.is_single(id));
        tools.extend(either.chain(now.single().filter(|id| !before.is_single(id))).cloned());
        for group in catalog.groups() {
            if self.before.of(group.traits()) != self.now.of(group.traits()) {
                if tools.len() > most || group.tools().len() > most {
                    return false;
                }
                tools.extend(group.tools().iter().cloned());
            }
        }
        tools.len() <= most
    }
}

/// What is known of what kept tools from being used at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutThen {
    /// Nothing did.
    Nothing,
    /// What does now.
    Same,
    /// Something else did, and it is not known what.
    Unknown,
}

impl ShutThen {
    /// By the [marks](super::Moment::shut) of the moment and of now.
    pub fn of(then: u32, now: u32) -> Self {
        match then {
            0 => Self::Nothing,
            _ if then == now => Self::Same,
            _ => Self::Unknown,
        }
    }
}
