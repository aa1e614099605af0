//! Where one tool is in a live surface, by what the catalog says of it now.

use toolplane_records::ids::ToolId;
use toolplane_records::surface::LoadedTool;

use super::LiveSurface;
use crate::catalog::CatalogEntry;
use crate::history::Drift;
use crate::surface::choosing::Choosing;
use crate::surface::difference::Sight;
use crate::surface::lineage::Outside;
use crate::surface::request::{SurfaceRequest, is_within};
use crate::surface::visibility::{Hidden, hidden, hidden_now};
use crate::traits::Traits;
use crate::validate::Checked;

/// What is said of a tool that the surface was not made for.
const OUTSIDE: &str = "is not part of this surface, which was made for other tools: add it (ExtendSurface), or make a surface with it (CreateSurface)";

/// The same of one that stays with the tools there were.
const OUTSIDE_PINNED: &str = "is not part of this surface, which is pinned to the tools there were when it was made: make a surface with it \
                              (CreateSurface)";

/// Where a tool is in a surface.
#[derive(Clone, Debug)]
pub(in crate::surface) enum Place<'s> {
    /// The surface, or one above it, was made for other tools.
    Outside(Outside<'s>),
    Hidden(Hidden),
    Deferred(Deferral<'s>),
    Loaded,
}

/// Why a tool is deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deferral<'s> {
    /// It is to be discovered.
    Discover,
    /// It waits for this provider.
    Provider(&'s str),
    /// It would be loaded, or was, and does not fit into the budget beside the others.
    Budget,
}

/// What the surface says of traits.
pub(super) enum Judged<'s> {
    Outside(Outside<'s>),
    Hidden(Hidden),
    Waiting(&'s str),
    Deferred,
    /// Loaded when it was there before the surface was made; with `regardless`, also otherwise.
    Loaded {
        regardless: bool,
    },
}

/// What the request says of a tool by name.
#[derive(Clone, Copy, Default)]
pub(super) struct ByName<'s> {
    named: bool,
    load: bool,
    /// It was added since.
    added: bool,
    blocked: Option<&'s str>,
}

impl ByName<'_> {
    /// Whether it says anything.
    fn is_any(self) -> bool {
        self.named || self.load || self.added || self.blocked.is_some()
    }
}

impl LiveSurface {
    /// Where the tool is.
    pub(in crate::surface) fn place(&self, entry: &CatalogEntry) -> Place<'_> {
        self.place_with(entry, &entry.traits)
    }

    /// Where the tool was when it had these traits.
    fn place_with(&self, entry: &CatalogEntry, traits: &Traits) -> Place<'_> {
        let id = entry.tool_id();
        match self.verdict(entry, traits, true) {
            Judged::Outside(who) => Place::Outside(who),
            Judged::Hidden(why) => Place::Hidden(why),
            Judged::Waiting(provider) => Place::Deferred(Deferral::Provider(provider)),
            Judged::Deferred | Judged::Loaded { .. } if self.places.contains_key(id) => Place::Loaded,
            Judged::Deferred | Judged::Loaded { .. } if self.went_for_budget(id) => Place::Deferred(Deferral::Budget),
            Judged::Loaded { .. } if self.unloaded.contains(id) => Place::Deferred(Deferral::Discover),
            Judged::Deferred => Place::Deferred(Deferral::Discover),
            Judged::Loaded { regardless } if regardless || self.had(entry) => self.by_rule(entry),
            Judged::Loaded { .. } => Place::Deferred(Deferral::Discover),
        }
    }

    /// Where a tool is that the rules load: where there is a budget, only what is in `loads` is loaded.
    fn by_rule(&self, entry: &CatalogEntry) -> Place<'_> {
        match &self.account {
            None => Place::Loaded,
            Some(account) if account.widened().is_some_and(|at| entry.since.created <= at) => {
                Place::Deferred(Deferral::Discover)
            }
            Some(_) => Place::Deferred(Deferral::Budget),
        }
    }

    /// Where the tool would be if the surface named it nowhere, and nobody had loaded or unloaded it.
    pub(super) fn place_with_group(&self, entry: &CatalogEntry) -> Place<'_> {
        match self.verdict(entry, &entry.traits, false) {
            Judged::Outside(who) => Place::Outside(who),
            Judged::Hidden(why) => Place::Hidden(why),
            Judged::Waiting(provider) => Place::Deferred(Deferral::Provider(provider)),
            Judged::Deferred => Place::Deferred(Deferral::Discover),
            Judged::Loaded { regardless } if regardless || self.had(entry) => self.by_rule(entry),
            Judged::Loaded { .. } => Place::Deferred(Deferral::Discover),
        }
    }

    /// Whether the rules alone load the tool, so that it has its place among those they load.
    pub(super) fn loads_by_rule(&self, entry: &CatalogEntry) -> bool {
        if self.account.is_some() {
            return false;
        }
        let id = entry.tool_id();
        match self.verdict(entry, &entry.traits, true) {
            Judged::Loaded { .. } if self.unloaded.contains(id) => false,
            Judged::Loaded { regardless } => regardless || self.had(entry),
            _ => false,
        }
    }

    /// Whether the tool was there, and loaded by the rules, when the surface was made: what came later is discovered
    /// first, so that no prompt grows by itself.
    fn had(&self, entry: &CatalogEntry) -> bool {
        let as_of = self.made.remembered_up_to();
        if entry.has_same_traits_since(as_of) {
            return true;
        }
        // A pinned one has it by its name alone where it is not known what it was.
        let Some(then) = entry.traits_at(as_of) else { return self.is_pinned() };
        let own = self.judge(then, ByName::default());
        matches!(self.below(own, |above| above.leaves(entry, then, true)), Judged::Loaded { .. })
    }

    pub(super) fn by_name(&self, id: &ToolId) -> ByName<'_> {
        let made = &*self.made;
        ByName {
            named: made.named.contains(id),
            load: made.load.contains(id),
            added: self.added.tools.contains(id),
            blocked: made.blocked.get(id).map(String::as_str),
        }
    }

    /// What the surface and those above it say of a tool when it has these traits; `named`, if also what they say of it by name.
    fn verdict(&self, entry: &CatalogEntry, traits: &Traits, named: bool) -> Judged<'_> {
        let by_name = if named { self.by_name(entry.tool_id()) } else { ByName::default() };
        let own = self.own_verdict(entry, traits, by_name);
        self.below(own, |above| above.leaves(entry, traits, named))
    }

    /// What the surface and those above it say of tools with these traits that none of them names.
    pub(super) fn verdict_of_group(&self, traits: &Traits) -> Judged<'_> {
        self.below(self.judge(traits, ByName::default()), |above| above.leaves_group(traits))
    }

    /// What the surface itself says of a tool when it has these traits. A pinned one says what it said of it when it was made, as long as the tool
    /// can be used at all.
    pub(super) fn own_verdict<'s>(&'s self, entry: &CatalogEntry, traits: &Traits, by_name: ByName<'s>) -> Judged<'s> {
        if !self.is_pinned() {
            return self.judge(traits, by_name);
        }
        let as_of = self.begins_at();
        if entry.since.created > as_of {
            return Judged::Outside(Outside::Own);
        }
        // Of one that was declared anew too often to know what it was, only its name says that it was meant.
        let Some(then) = entry.traits_at(as_of).or_else(|| by_name.is_any().then_some(traits)) else {
            return Judged::Outside(Outside::Own);
        };
        match self.judge(then, by_name) {
            nowhere @ (Judged::Outside(_) | Judged::Hidden(_)) => nowhere,
            shown => hidden_now(traits).map_or(shown, Judged::Hidden),
        }
    }

    /// What the surface says of tools with these traits.
    ///
    /// An explicit load list is stronger than `always_load`, that is stronger than deferring on request, and that than the
    /// crowd rule. What the surface was extended by comes deferred.
    pub(super) fn judge(&self, traits: &Traits, by_name: ByName<'_>) -> Judged<'_> {
        let request = &self.made.request;
        let ByName { named, load, added, blocked } = by_name;
        let selected = named || load || self.chooses(traits);
        if !(selected || added || self.added.fits(traits)) {
            return Judged::Outside(Outside::Own);
        }
        if let Some(why) = hidden(traits, request, named || load || added, blocked) {
            return Judged::Hidden(why);
        }
        let mut pending = request.pending_providers.iter();
        if let Some((_, provider)) = pending.find(|(within, _)| is_within(&traits.namespace, within)) {
            return Judged::Waiting(provider);
        }
        // A model that cannot discover tools has no other way to any.
        let regardless = load || traits.always_load || request.model.deferred_tools == Some(false);
        if !regardless && (traits.should_defer || self.made.crowded || self.only_extended(traits, by_name)) {
            return Judged::Deferred;
        }
        Judged::Loaded { regardless: regardless || named }
    }

    /// Whether it has tools of these traits only because it was extended.
    pub(super) fn only_extended(&self, traits: &Traits, by_name: ByName<'_>) -> bool {
        let ByName { named, load, added, blocked: _ } = by_name;
        !self.is_pinned() && (!(named || load || self.chooses(traits)) || (added && !named))
    }

    /// Whether a tool may be shown: for suggesting names, where the catalog is not at hand.
    pub(in crate::surface) fn may_show(&self, tool: &Checked) -> bool {
        let registration = tool.registration();
        let by_name = self.by_name(&registration.declaration.tool_id);
        let own = !matches!(self.judge(&Traits::of(registration), by_name), Judged::Outside(_) | Judged::Hidden(_));
        own && match (self.parent(), self.above_it()) {
            (None, _) => true,
            (Some(_), above) => above.is_some_and(|above| above.may_show(tool)),
        }
    }

    /// The tool as it was loaded on demand.
    pub(super) fn asked(&self, id: &ToolId) -> Option<&LoadedTool> {
        self.places.get(id).and_then(|at| self.loads.get(*at))
    }

    /// What it says about choosing, and the tool that its choice names.
    pub(in crate::surface) fn choosing(&self) -> (Choosing, Option<&ToolId>) {
        let SurfaceRequest { default_tool_choice, selection_policy, .. } = &self.made.request;
        let choosing = Choosing::stored(default_tool_choice.as_ref(), selection_policy.as_ref());
        (choosing, self.made.chosen.as_ref())
    }

    /// Why a tool is no part of it, where it says so itself.
    pub(super) fn own_outside(&self) -> &'static str {
        if self.is_pinned() { OUTSIDE_PINNED } else { OUTSIDE }
    }

    /// What the surface makes of the tool at a revision of the catalog, which is not one before the surface.
    pub(in crate::surface) fn seen(&self, entry: &CatalogEntry, at: u64) -> Sight {
        Sight::of(entry.at(at), |traits| match self.place_with(entry, traits) {
            Place::Outside(who) => Err(self.outside(who)),
            Place::Hidden(why) => Err(why),
            Place::Deferred(_) => Ok(None),
            Place::Loaded => Ok(Some(match self.asked(entry.tool_id()) {
                Some(asked) => asked.digest,
                None => entry.digest_at(self.made.remembered_up_to().min(at)),
            })),
        })
    }

    /// A loaded tool: by which declaration it is known here, and what of its schema changed since.
    pub(in crate::surface) fn loaded(&self, entry: &CatalogEntry) -> (LoadedTool, Drift) {
        let name = entry.tool.full_name().to_owned();
        let tool = match self.asked(entry.tool_id()) {
            Some(asked) => LoadedTool { name, ..asked.clone() },
            None => LoadedTool {
                tool_id: entry.tool_id().clone(),
                name,
                // Of a tool that came later nobody noted the moment.
                loaded_at: (entry.since.created <= self.made.remembered_up_to()).then_some(self.made.created_at),
                digest: entry.digest_at(self.made.remembered_up_to()),
                changed: None,
                uncallable: None,
                message: None,
            },
        };
        let drift = tool.digest.as_ref().map_or(Drift::Forgotten, |digest| entry.since(digest));
        (tool, drift)
    }
}
