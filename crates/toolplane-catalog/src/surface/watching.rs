//! Following a surface: from what somebody knows of it to what it is now, again and again, in parts of bounded size.
//!
//! A difference goes from one moment to another, and both are exact: what the surface showed at a moment is read from the steps of the
//! surface and the history of its tools. So whoever takes in whole differences knows the surface as it was at the moment the last
//! one led to, and can go on from there, at any process.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use toolplane_records::ids::ToolId;

use super::difference::{ToolDifference, of_tool, of_tool_anew};
use super::indexed::IndexedSurface;
use super::moment::Moment;
use super::shut::ShutChange;
use crate::catalog::Catalog;

/// Most tools that are looked at in one go: nobody who changes the catalog waits for more.
const LOOKED_AT: usize = 2_000;
/// Most tools of one own change that are told one by one; after a larger one the surface is told anew.
const MAX_OWN: usize = 10_000;

/// Somebody who follows a surface.
#[derive(Clone, Debug)]
pub struct SurfaceWatcher {
    /// The surface as it is known, and the revision of the catalog up to which.
    known: Arc<IndexedSurface>,
    at: u64,
    round: Option<Round>,
}

/// A difference that is being told.
#[derive(Clone, Debug)]
struct Round {
    /// Where it leads to.
    towards: Arc<IndexedSurface>,
    until: u64,
    /// All of the surface is told, to who is to forget it.
    anew: bool,
    /// What is still to be looked at.
    left: Left,
    /// A part of it was told.
    begun: bool,
    /// What was told of it, where tools are not gone through by id: one that is declared again meanwhile comes along a second time.
    told: BTreeSet<ToolId>,
}

#[derive(Clone, Debug)]
enum Left {
    /// These tools, and then those whose declarations came behind this one.
    Changed(VecDeque<ToolId>, (u64, Option<ToolId>)),
    /// Every tool behind this one.
    All(Option<ToolId>),
}

/// A part of a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DifferencePart {
    /// What was known is to be forgotten: the surface is told anew.
    pub anew: bool,
    /// What is different.
    pub tools: Vec<ToolDifference>,
    /// The moment this leads to, and the surface's revision then. Absent where another part follows.
    pub leads_to: Option<(Moment, u64)>,
}

/// How following goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This is to be told.
    Part(DifferencePart),
    /// Nothing is to be told yet, and there is more to look at.
    Looking,
    /// What is known is what there is.
    Current,
}

impl SurfaceWatcher {
    /// Who knows the surface as it is now.
    pub fn from_now(surface: Arc<IndexedSurface>, catalog: &Catalog) -> Self {
        Self { known: surface, at: catalog.revision(), round: None }
    }

    /// Who knows the surface as it was at a moment. Where it cannot be said any more how it was, the surface is told anew.
    pub fn from_moment(surface: Arc<IndexedSurface>, catalog: &Catalog, moment: Moment) -> Self {
        let is_known = surface.has_begun_at(&moment) && moment.catalog <= catalog.revision();
        match surface.at(&moment).filter(|_| is_known) {
            Some(known) => Self { known: Arc::new(known), at: moment.catalog, round: None },
            None => Self::from_nothing(surface, catalog),
        }
    }

    /// Who knows the surface as it was at a revision of it. Where it changed by itself since it was made, a revision is no moment, and it is
    /// told anew.
    pub fn from_revision(surface: Arc<IndexedSurface>, catalog: &Catalog, revision: u64) -> Self {
        match surface.moment_at(revision, catalog) {
            Some(moment) => Self::from_moment(surface, catalog, moment),
            None => Self::from_nothing(surface, catalog),
        }
    }

    /// Who knows nothing of the surface, or is to forget it.
    pub fn from_nothing(surface: Arc<IndexedSurface>, catalog: &Catalog) -> Self {
        let round = Round::anew(Arc::clone(&surface), catalog);
        Self { known: surface, at: round.until, round: Some(round) }
    }

    /// The moment up to which the surface is known, and its revision then.
    pub fn reached(&self) -> (Moment, u64) {
        (self.known.moment_in(self.at), self.known.revision_at(self.at))
    }

    /// Whether a difference is told of which more is to come.
    pub fn is_underway(&self) -> bool {
        self.round.is_some()
    }

    /// Goes on towards what the surface and its catalog are now, with at most `most` tools in one part; where nothing keeps tools from being used.
    pub fn next(&mut self, now: &Arc<IndexedSurface>, catalog: &Catalog, most: usize) -> Progress {
        self.next_beside(now, catalog, ShutChange::NOTHING, most)
    }

    /// The same where something keeps tools from being used, or did: such tools are not shown. `shut` is the same for all parts of a difference.
    pub fn next_beside(
        &mut self,
        now: &Arc<IndexedSurface>,
        catalog: &Catalog,
        shut: ShutChange<'_>,
        most: usize,
    ) -> Progress {
        let begun = self.round.take().or_else(|| self.begin(now, catalog, shut));
        let Some(mut round) = begun else { return Progress::Current };
        let (tools, over) = round.look((&self.known, self.at), catalog, shut, most);
        // What was known is forgotten with the first part, and the moment is told with the last one, whatever these hold.
        let is_first = !round.begun;
        let is_told = !tools.is_empty() || over && (round.begun || round.anew);
        round.begun |= is_told;
        let mut part = DifferencePart { anew: round.anew && is_first, tools, leads_to: None };
        if over {
            (self.known, self.at) = (round.towards, round.until);
            part.leads_to = Some(self.reached());
        } else {
            self.round = Some(round);
        }
        // Where it is over there may be something newer by now.
        if is_told { Progress::Part(part) } else { Progress::Looking }
    }

    /// The difference to what is there now; nothing when there is nothing newer.
    fn begin(&self, now: &Arc<IndexedSurface>, catalog: &Catalog, shut: ShutChange<'_>) -> Option<Round> {
        let (moment, until) = (now.moment(catalog), catalog.revision());
        let known = self.known.moment_in(self.at);
        if moment == known && shut.is_none {
            return None;
        }
        // A store that was put back to what it was before has less than is known, or another surface of that name.
        let is_newer = now.is_as_old_as(&self.known) && moment.reaches(&known);
        let own = is_newer.then(|| now.named_otherwise(&self.known, catalog, MAX_OWN)).flatten();
        let own = own.and_then(|mut own| shut.collect(catalog, MAX_OWN, &mut own).then_some(own));
        Some(match own {
            Some(own) => {
                let left = Left::Changed(own.into_iter().collect(), (self.at.saturating_add(1), None));
                Round { towards: Arc::clone(now), until, anew: false, left, begun: false, told: BTreeSet::new() }
            }
            None => Round::anew(Arc::clone(now), catalog),
        })
    }
}

impl Round {
    fn anew(towards: Arc<IndexedSurface>, catalog: &Catalog) -> Self {
        let (until, left) = (catalog.revision(), Left::All(None));
        Self { towards, until, anew: true, left, begun: false, told: BTreeSet::new() }
    }

    /// Looks at some of what is left: what of it is different, and whether nothing is left.
    fn look(
        &mut self,
        known: (&IndexedSurface, u64),
        catalog: &Catalog,
        shut: ShutChange<'_>,
        most: usize,
    ) -> (Vec<ToolDifference>, bool) {
        let now = (&*self.towards, self.until);
        let (mut tools, mut looked_at) = (Vec::new(), 0);
        let mut take = |found: Option<ToolDifference>| {
            tools.extend(found);
            looked_at += 1;
            tools.len() >= most || looked_at >= LOOKED_AT
        };
        match &mut self.left {
            Left::Changed(own, behind) => {
                while let Some(id) = own.pop_front() {
                    // Those that were also declared anew come with the others.
                    let entry = catalog.get(&id).filter(|entry| entry.since.declared <= known.1);
                    let found = entry.and_then(|entry| of_tool(entry, known, now, shut));
                    self.told.extend(found.is_some().then_some(id));
                    if take(found) {
                        return (tools, false);
                    }
                }
                for entry in catalog.declared_behind(behind.clone()) {
                    *behind = (entry.since.declared, Some(entry.tool_id().clone()));
                    let again = entry.since.declared > self.until && self.told.contains(entry.tool_id());
                    let found = if again { None } else { of_tool(entry, known, now, shut) };
                    self.told.extend(found.as_ref().map(|found| found.tool_id.clone()));
                    if take(found) {
                        return (tools, false);
                    }
                }
            }
            Left::All(behind) => {
                for entry in catalog.entries_behind(behind.clone()) {
                    *behind = Some(entry.tool_id().clone());
                    if take(of_tool_anew(entry, now, shut.now)) {
                        return (tools, false);
                    }
                }
            }
        }
        (tools, true)
    }
}
