//! What keeps tools from being used for a time: rules that deny them to everybody, credentials that no worker has, and what
//! providers keep from being called. It is no matter of the catalog or of a surface, and has no revision.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use toolplane_records::codes::Code;
use toolplane_records::ids::ToolId;
use toolplane_records::vocabulary::HiddenReason;

use super::difference::{ShownTool, Sight};
use crate::catalog::{Catalog, CatalogEntry};
use crate::traits::Traits;

/// What keeps tools from being used at this moment, beside the catalog and the surface, in words.
#[derive(Clone, Copy)]
pub struct Shut<'a> {
    /// What keeps tools of some traits: credentials that nobody has.
    pub by_traits: &'a dyn Fn(&Traits) -> Option<String>,
    /// Tools that nobody may call, whatever the call.
    pub denied: &'a BTreeMap<ToolId, String>,
    /// Why no tool of some traits is called, which is shown all the same: its provider is away, or out of use.
    pub by_provider: &'a dyn Fn(&Traits) -> Option<Uncallable>,
    /// Single tools of which that is so: their provider does not have them any more, or they wait for a person.
    pub uncallable: &'a BTreeMap<ToolId, Uncallable>,
}

/// Why no call is let through of a tool that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncallable {
    /// What such a call ends with.
    pub code: Code,
    /// For people.
    pub message: String,
}

impl Shut<'_> {
    /// Nothing does.
    pub const NOTHING: Shut<'static> =
        Shut { by_traits: &|_| None, denied: &BTreeMap::new(), by_provider: &|_| None, uncallable: &BTreeMap::new() };

    /// The same without the tools that nobody may call.
    pub(super) fn with_denied_ones(self) -> Self {
        Self { denied: Shut::NOTHING.denied, ..self }
    }

    /// Why the tool is not to be used.
    pub(super) fn why(self, entry: &CatalogEntry) -> Option<(HiddenReason, String)> {
        self.why_by(entry.tool_id(), &entry.traits)
    }

    /// Whether it is not to be used.
    pub fn is_shut(&self, entry: &CatalogEntry) -> bool {
        self.denied.contains_key(entry.tool_id()) || (self.by_traits)(&entry.traits).is_some()
    }

    /// What a surface makes of a tool at a revision of the catalog, where this keeps it from being used.
    pub(super) fn over(self, entry: &CatalogEntry, at: u64, sight: Sight) -> Sight {
        let Sight::Shown(tool) = sight else { return sight };
        // Which credentials it needed is known of the moment; whether a rule denied it is told by its id.
        let traits = entry.traits_at(at).unwrap_or(&entry.traits);
        match self.why_by(entry.tool_id(), traits) {
            Some((reason, message)) => Sight::NotShown { reason, message },
            None => {
                let uncallable = (self.by_provider)(traits).or_else(|| self.uncallable.get(entry.tool_id()).cloned());
                Sight::Shown(ShownTool { uncallable, ..tool })
            }
        }
    }

    /// Whether tools of these traits are not to be used, and what their provider lets through.
    fn of(self, traits: &Traits) -> (bool, Option<Uncallable>) {
        ((self.by_traits)(traits).is_some(), (self.by_provider)(traits))
    }

    fn why_by(self, id: &ToolId, traits: &Traits) -> Option<(HiddenReason, String)> {
        let denied = self.denied.get(id).map(|why| (HiddenReason::PolicyBlocked, why.clone()));
        denied.or_else(|| Some((HiddenReason::CredentialMissing, (self.by_traits)(traits)?)))
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

    /// Adds the tools that are shut, or not called, in one of both alone; false where there are more than `most`.
    pub(super) fn collect(self, catalog: &Catalog, most: usize, tools: &mut BTreeSet<ToolId>) -> bool {
        if self.is_none {
            return true;
        }
        let (before, now) = (self.before.denied, self.now.denied);
        let either = before.keys().filter(|id| !now.contains_key(id));
        tools.extend(either.chain(now.keys().filter(|id| !before.contains_key(id))).cloned());
        let (before, now) = (self.before.uncallable, self.now.uncallable);
        let either = before.iter().chain(now).filter(|(id, _)| before.get(*id) != now.get(*id));
        tools.extend(either.map(|(id, _)| id.clone()));
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
