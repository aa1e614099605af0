//! Tools that are near a question by what it means: one order of those, of those that are found by words, and of those use led to.
//!
//! What use has taught is in the order by words: it says what words mean, in the scores of words. Meaning has no score that could be
//! added to those, so the orders become one by their places. What use says is an order of its own beside these, which counts as much as use is a part of
//! the best score: else the places of meaning would outweigh what people did with the same words.
//!
//! Which tools are near is asked of whoever has a model. Filters, `+must`, `-not`, phrases, and what a surface shows hold for both
//! orders.

use std::collections::{HashMap, HashSet};
use std::fmt;

use toolplane_meaning::{Weights, fuse};
use toolplane_records::ids::ToolId;
use toolplane_records::search::MatchReason;
use toolplane_records::surface::DeferredToolRef;

use super::index::{Contents, Field};
use super::learned::{Taught, place_of};
use super::phrases::Phrases;
use super::plan::Plan;
use super::query::{Query, parse};
use super::rank::{Candidate, NAME_WITHIN, Position, Ranking, SCORE_ONE, WHOLE_NAME};
use super::shown::Shown;
use crate::catalog::CatalogEntry;
use crate::validate::Checked;

/// Most tools of each order that become one order.
pub(super) const MOST_NEAR: usize = 100;
/// Most characters of a question, or of a tool, that a model is given.
const MAX_TEXT: usize = 2_000;

/// Who knows which tools are near a question.
pub trait Nearest: fmt::Debug + Send + Sync {
    /// The nearest `most` of those that `fits` says may be in the answer, nearest first.
    fn nearest(&self, most: usize, fits: &mut dyn FnMut(&ToolId) -> bool) -> Vec<ToolId>;

    /// What the order by words and the one by meaning count.
    fn weights(&self) -> Weights {
        Weights::default()
    }
}

/// What a question says to a model: its words without their signs. `None` where there is nothing to understand: names that are
/// selected, filters alone, and what is only excluded.
pub fn meant(text: &str) -> Option<String> {
    let Ok(Query::Words(query)) = parse(text) else { return None };
    let has_words = query.plain.chars().any(char::is_alphanumeric);
    has_words.then(|| query.plain.chars().filter(|sign| *sign != '*').take(MAX_TEXT).collect())
}

/// What a tool says to a model.
pub fn told(tool: &Checked) -> String {
    let spaced = |name: &str| name.replace(['_', '.', '-', ':', '/'], " ");
    let fields = [Field::Name, Field::Title, Field::Hint, Field::Description, Field::Examples];
    let texts = fields.into_iter().map(|field| match field {
        Field::Name => spaced(&field.text(tool)),
        _ => field.text(tool),
    });
    let texts: Vec<String> = texts.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect();
    texts.join(". ").chars().take(MAX_TEXT).collect()
}

/// One match of the order that was made.
pub(super) struct Match<'i> {
    pub(super) candidate: Candidate,
    pub(super) entry: &'i CatalogEntry,
    pub(super) reference: DeferredToolRef,
    /// It is there for its meaning as well.
    pub(super) by_meaning: bool,
}

/// One order out of `words`, which are the best by words, what of them use says something for, and what is near.
pub(super) fn fused<'i>(
    surface: &impl Shown,
    index: &'i Contents,
    plan: &Plan<'_>,
    ranking: &Ranking<'_>,
    phrases: &Phrases<'_>,
    nearest: &dyn Nearest,
    words: Vec<(Candidate, &'i CatalogEntry, DeferredToolRef)>,
) -> Vec<Match<'i>> {
    let mut places: HashMap<ToolId, u32> = HashMap::new();
    let near = nearest.nearest(MOST_NEAR, &mut |id| {
        let Some(place) = place_of(index, id).filter(|place| ranking.allows(*place)) else { return false };
        let shown = |entry: &CatalogEntry| surface.shows(entry) && phrases.fit(&entry.tool);
        let fits = index.tools.get(place).is_some_and(shown);
        if fits {
            places.insert(id.clone(), place);
        }
        fits
    });
    let known: HashSet<&ToolId> = near.iter().collect();
    let by_words: Vec<ToolId> = words.iter().map(|(_, entry, _)| entry.tool_id().clone()).collect();
    let weights = nearest.weights();
    let (by_use, use_counts) = by_use(plan, &words, weights.words);
    let mut found: HashMap<&ToolId, _> = words.into_iter().map(|one| (one.1.tool_id(), one)).collect();
    let orders = [(&by_words[..], weights.words), (&near[..], weights.meaning), (&by_use[..], use_counts)];
    let mut matches: Vec<Match<'i>> = fuse(&orders)
        .into_iter()
        .filter_map(|fused| {
            let by_meaning = known.contains(&fused.key);
            if let Some((candidate, entry, reference)) = found.remove(&fused.key) {
                let candidate = Candidate { score: fused.score.saturating_add(name_of(candidate)), ..candidate };
                return Some(Match { candidate, entry, reference, by_meaning });
            }
            let place = *places.get(&fused.key)?;
            let entry = index.tools.get(place)?;
            let reference = surface.reference(entry).ok()?;
            Some(Match { candidate: Candidate { score: fused.score, place }, entry, reference, by_meaning })
        })
        .collect();
    // Stable: equal ones stay in order of their ids.
    matches.sort_by_key(|one| std::cmp::Reverse(one.candidate.score));
    matches
}

/// Those of `words` that use says something for, most first, and what that order counts: as much of what `words` counts, in percent, as use is a part of the
/// score of the first of them.
fn by_use(
    plan: &Plan<'_>,
    words: &[(Candidate, &CatalogEntry, DeferredToolRef)],
    words_count: u32,
) -> (Vec<ToolId>, u32) {
    let worth = |candidate: &Candidate| plan.taught_of(candidate.place).map(Taught::worth);
    let taught = words.iter().filter_map(|(candidate, entry, _)| Some((worth(candidate)?, entry.tool_id())));
    let mut taught: Vec<(u32, &ToolId)> = taught.collect();
    // Stable: equal ones stay in the order by words.
    taught.sort_by_key(|(worth, _)| std::cmp::Reverse(*worth));
    let count = words.first().map_or(0, |(first, ..)| {
        let (part, all) = (worth(first).unwrap_or_default(), first.score.max(1));
        u64::from(words_count) * u64::from(part) / u64::from(all)
    });
    (taught.into_iter().map(|(_, id)| id.clone()).collect(), u32::try_from(count).unwrap_or(words_count))
}

/// Who is asked for by name stays in front of all others.
fn name_of(candidate: Candidate) -> u32 {
    match candidate.score {
        WHOLE_NAME.. => WHOLE_NAME,
        NAME_WITHIN.. => NAME_WITHIN,
        _ => 0,
    }
}

/// Whether a match is behind a position of the same order.
pub(super) fn is_behind(one: &Match<'_>, after: &Position) -> bool {
    match one.candidate.score.cmp(&after.score) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Equal => *one.entry.tool_id() > after.tool_id,
        std::cmp::Ordering::Greater => false,
    }
}

/// That a tool was found by what it means.
pub(super) fn reason() -> MatchReason {
    MatchReason { how: "meaning".to_owned(), ..MatchReason::default() }
}

const _: () = assert!(toolplane_meaning::FUSED_ONE as f64 == SCORE_ONE, "scores are told in one unit");
