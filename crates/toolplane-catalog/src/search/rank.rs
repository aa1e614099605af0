//! The best tools for a plan.
//!
//! Scores are whole numbers, so that sums do not depend on their order. They are summed up tool by tool in memory that a thread keeps;
//! what is gone over afterwards is what was touched, in pages.

mod places;
mod scores;

use std::cmp::Ordering;

pub(super) use places::PlaceSet;
pub(super) use scores::{Scores, worth};

use super::index::Contents;
use super::plan::{Naming, Plan};
use toolplane_records::ids::ToolId;

/// A score of 1.
pub(super) const SCORE_ONE: f64 = 65_536.0;
/// What a name asked for is worth: more than all the words one can ask for together.
pub(super) const WHOLE_NAME: u32 = 1 << 28;
pub(super) const NAME_WITHIN: u32 = 1 << 23;

/// A tool that fits, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) score: u32,
    pub(super) place: u32,
}

/// Where a list of matches goes on: behind this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The score of the last match told, in units of the index.
    pub score: u32,
    /// The tool.
    pub tool_id: ToolId,
}

/// The tools that fit a plan, with their scores.
pub(super) struct Ranking<'a> {
    index: &'a Contents,
    scores: &'a Scores,
    /// Whom the answer may be; everybody without one.
    allowed: Option<PlaceSet>,
    /// Whether something was asked for that gives a score.
    scored: bool,
}

impl<'a> Ranking<'a> {
    /// Sums up the scores of `plan` in `scores`; with `only`, of these tools.
    pub(super) fn of(index: &'a Contents, plan: &Plan<'_>, only: Option<PlaceSet>, scores: &'a mut Scores) -> Self {
        let places = index.tools.places();
        scores.clear(places);
        for concept in &plan.concepts {
            match concept.alternatives.as_slice() {
                [one] => scores.add(one.postings, one.rate),
                several => scores.add_best(several.iter().map(|one| (one.postings, one.rate))),
            }
        }
        for (naming, postings) in &plan.named {
            let worth = if *naming == Naming::Whole { WHOLE_NAME } else { NAME_WITHIN };
            scores.add_worth(postings.places(), worth);
        }
        for taught in &plan.taught {
            scores.add_worth(std::iter::once(taught.place), taught.worth());
        }
        let allowed = allowed(index, plan, only);
        let scores: &'a Scores = scores;
        Self { index, scores, allowed, scored: plan.asks || !plan.named.is_empty() }
    }

    /// Calls `take` with each tool that fits, in order of places, until it says to stop.
    fn each(&self, mut take: impl FnMut(Candidate) -> bool) {
        match (&self.allowed, self.scored) {
            (Some(allowed), false) => {
                let mut places = allowed.places().map(|place| Candidate { score: 0, place });
                places.all(take);
            }
            (Some(allowed), true) => {
                self.scores.each(|candidate| !allowed.has(candidate.place) || take(candidate));
            }
            (None, true) => self.scores.each(take),
            (None, false) => {}
        }
    }

    /// The best `most` behind `after`, best first; equal ones in order of their ids.
    pub(super) fn best(&self, after: Option<&Position>, most: usize) -> Vec<Candidate> {
        let mut best: Vec<Candidate> = Vec::with_capacity(2 * most.min(4_096));
        let mut least = 0;
        self.each(|candidate| {
            if candidate.score < least || after.is_some_and(|after| !self.is_behind(candidate, after)) {
                return true;
            }
            best.push(candidate);
            if best.len() >= 2 * most {
                best.select_nth_unstable_by(most - 1, |a, b| self.order(*a, *b));
                best.truncate(most);
                least = best.last().map_or(0, |last| last.score);
            }
            true
        });
        best.sort_unstable_by(|a, b| self.order(*a, *b));
        best.truncate(most);
        best
    }

    /// Whether an answer may have the tool at `place`.
    pub(super) fn allows(&self, place: u32) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed.has(place))
    }

    /// How many tools fit of which `counts` says so; at most `most` are counted.
    pub(super) fn count(&self, most: usize, counts: impl Fn(Candidate) -> bool) -> usize {
        let mut count = 0;
        self.each(|candidate| {
            count += usize::from(counts(candidate));
            count < most
        });
        count
    }

    fn order(&self, a: Candidate, b: Candidate) -> Ordering {
        b.score.cmp(&a.score).then_with(|| self.id(a).cmp(&self.id(b)))
    }

    fn is_behind(&self, candidate: Candidate, after: &Position) -> bool {
        match candidate.score.cmp(&after.score) {
            Ordering::Less => true,
            Ordering::Equal => self.id(candidate).is_some_and(|id| *id > after.tool_id),
            Ordering::Greater => false,
        }
    }

    fn id(&self, candidate: Candidate) -> Option<&'a ToolId> {
        self.index.tools.get(candidate.place).map(|entry| entry.tool_id())
    }
}

/// The tools the plan leaves, where it leaves some out.
fn allowed(index: &Contents, plan: &Plan<'_>, only: Option<PlaceSet>) -> Option<PlaceSet> {
    let places = index.tools.places();
    if plan.impossible {
        return Some(PlaceSet::empty(places));
    }
    let mut allowed = only;
    for any in &plan.must {
        let mut one = PlaceSet::empty(places);
        any.iter().for_each(|postings| one.extend(postings.places()));
        match &mut allowed {
            Some(allowed) => allowed.keep(&one),
            None => allowed = Some(one),
        }
    }
    for all in &plan.not {
        let mut excluded: Option<PlaceSet> = None;
        for postings in all {
            let one = PlaceSet::of(places, postings.places());
            match &mut excluded {
                Some(excluded) => excluded.keep(&one),
                None => excluded = Some(one),
            }
        }
        if let Some(excluded) = excluded {
            allowed.get_or_insert_with(|| everybody(index)).leave_out(&excluded);
        }
    }
    allowed
}

fn everybody(index: &Contents) -> PlaceSet {
    let places = 0..u32::try_from(index.tools.places()).unwrap_or(u32::MAX);
    PlaceSet::of(index.tools.places(), places.filter(|place| index.tools.get(*place).is_some()))
}
