//! Where one tool is in a live surface, by what the catalog says of it now.

use toolplane_records::ids::ToolId;
use toolplane_records::surface::LoadedTool;
use toolplane_records::vocabulary::HiddenReason;

use super::LiveSurface;
use crate::catalog::CatalogEntry;
use crate::history::Drift;
use crate::surface::choosing::Choosing;
use crate::surface::difference::Sight;
use crate::surface::request::{SurfaceRequest, is_within};
use crate::surface::visibility::{Hidden, Hiding, hidden, hidden_now};
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
    /// The surface was made for other tools.
    Outside,
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
    Outside,
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
        match self.verdict(entry, traits, self.by_name(id)) {
            Judged::Outside => Place::Outside,
            Judged::Hidden(why) => Place::Hidden(why),
            Judged::Waiting(provider) => Place::Deferred(Deferral::Provider(provider)),
            Judged::Deferred | Judged::Loaded { .. } if self.places.contains_key(id) => Place::Loaded,
            Judged::Deferred | Judged::Loaded { .. } if self.went_for_budget(id) => Place::Deferred(Deferral::Budget),
            Judged::Loaded { .. } if self.unloaded.contains(id) => Place::Deferred(Deferral::Discover),
            Judged::Deferred => Place::Deferred(Deferral::Discover),
            Judged::Loaded { regardless } if regardless || self.had(entry) => self.by_rule(),
            Judged::Loaded { .. } => Place::Deferred(Deferral::Discover),
        }
    }

    /// Where a tool is that the rules load: where there is a budget, only what is in `loads` is loaded.
    fn by_rule(&self) -> Place<'_> {
        if self.account.is_some() { Place::Deferred(Deferral::Budget) } else { Place::Loaded }
    }

    /// Where the tool would be if the surface named it nowhere, and nobody had loaded or unloaded it.
    pub(super) fn place_with_group(&self, entry: &CatalogEntry) -> Place<'_> {
        match self.verdict(entry, &entry.traits, ByName::default()) {
            Judged::Outside => Place::Outside,
            Judged::Hidden(why) => Place::Hidden(why),
            Judged::Waiting(provider) => Place::Deferred(Deferral::Provider(provider)),
            Judged::Deferred => Place::Deferred(Deferral::Discover),
            Judged::Loaded { regardless } if regardless || self.had(entry) => self.by_rule(),
            Judged::Loaded { .. } => Place::Deferred(Deferral::Discover),
        }
    }

    /// Whether the rules alone load the tool, so that it has its place among those they load.
    pub(super) fn loads_by_rule(&self, entry: &CatalogEntry) -> bool {
        if self.account.is_some() {
            return false;
        }
        let id = entry.tool_id();
        match self.verdict(entry, &entry.traits, self.by_name(id)) {
            Judged::Loaded { .. } if self.unloaded.contains(id) => false,
            Judged::Loaded { regardless } => regardless || self.had(entry),
            _ => false,
        }
    }

    /// Whether the tool was there, and loaded by the rules, when the surface was made: what came later is discovered
    /// first, so that no prompt grows by itself.
    fn had(&self, entry: &CatalogEntry) -> bool {
        let loaded = |traits: &Traits| matches!(self.judge(traits, ByName::default()), Judged::Loaded { .. });
        let as_of = self.remembered_up_to();
        entry.has_same_traits_since(as_of) || entry.traits_at(as_of).is_some_and(loaded)
    }

    fn by_name(&self, id: &ToolId) -> ByName<'_> {
        let made = &*self.made;
        ByName {
            named: made.named.contains(id),
            load: made.load.contains(id),
            added: self.added.tools.contains(id),
            blocked: made.blocked.get(id).map(String::as_str),
        }
    }

    /// What the surface says of a tool when it has these traits. A pinned one says what it said of it when it was made, as long as the tool
    /// can be used at all.
    fn verdict<'s>(&'s self, entry: &CatalogEntry, traits: &Traits, by_name: ByName<'s>) -> Judged<'s> {
        if !self.is_pinned() {
            return self.judge(traits, by_name);
        }
        let as_of = self.begins_at();
        if entry.since.created > as_of {
            return Judged::Outside;
        }
        // Of one that was declared anew too often to know what it was, only its name says that it was meant.
        let Some(then) = entry.traits_at(as_of).or_else(|| by_name.is_any().then_some(traits)) else {
            return Judged::Outside;
        };
        match self.judge(then, by_name) {
            nowhere @ (Judged::Outside | Judged::Hidden(_)) => nowhere,
            shown => match (hidden_now(traits), shown) {
                (Some(why), _) => Judged::Hidden(why),
                (None, Judged::Loaded { .. }) => Judged::Loaded { regardless: true },
                (None, other) => other,
            },
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
            return Judged::Outside;
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
        let only_added = !selected || (added && !named);
        if !regardless && (traits.should_defer || self.made.crowded || only_added) {
            return Judged::Deferred;
        }
        Judged::Loaded { regardless: regardless || named }
    }

    /// Whether a tool may be shown: for suggesting names, where the catalog is not at hand.
    pub(in crate::surface) fn may_show(&self, tool: &Checked) -> bool {
        let registration = tool.registration();
        let by_name = self.by_name(&registration.declaration.tool_id);
        !matches!(self.judge(&Traits::of(registration), by_name), Judged::Outside | Judged::Hidden(_))
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

    /// Why a tool is no part of it.
    pub(in crate::surface) fn outside(&self) -> &'static str {
        if self.is_pinned() { OUTSIDE_PINNED } else { OUTSIDE }
    }

    /// What the surface makes of the tool at a revision of the catalog, which is not one before the surface.
    pub(in crate::surface) fn seen(&self, entry: &CatalogEntry, at: u64) -> Sight {
        Sight::of(entry.at(at), |traits| match self.place_with(entry, traits) {
            Place::Outside => Err((Hiding::Excluded, HiddenReason::NotSelected, self.outside().to_owned())),
            Place::Hidden(why) => Err(why),
            Place::Deferred(_) => Ok(None),
            Place::Loaded => Ok(Some(match self.asked(entry.tool_id()) {
                Some(asked) => asked.digest,
                None => entry.digest_at(self.remembered_up_to().min(at)),
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
                loaded_at: (entry.since.created <= self.remembered_up_to()).then_some(self.made.created_at),
                digest: entry.digest_at(self.remembered_up_to()),
                changed: None,
            },
        };
        let drift = tool.digest.as_ref().map_or(Drift::Forgotten, |digest| entry.since(digest));
        (tool, drift)
    }
}
