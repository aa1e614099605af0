//! Answering a question in a surface.

use std::cell::RefCell;

use toolplane_records::search::{FoundTool, MatchReason, SearchResult};
use toolplane_records::surface::DeferredToolRef;

use super::index::{Contents, KeyKind, Snapshot, key};
use super::learned::{Recall, words_asked};
use super::near::{self, MOST_NEAR, Nearest, fused, is_behind};
use super::phrases::Phrases;
use super::plan::{Plan, plan};
use super::query::{Query, WordsQuery, parse};
use super::rank::{Candidate, PlaceSet, Position, Ranking, SCORE_ONE, Scores};
use super::reasons::reasons;
use super::select::select;
use super::shown::Shown;
use super::thesaurus::Thesaurus;
use crate::catalog::CatalogEntry;
use crate::filter::{Filter, QueryFault};

/// Longest query that is looked at, in characters.
const MAX_QUERY_CHARS: usize = 1_000;
/// Most characters of a description that are told of a match.
const MAX_DESCRIPTION: usize = 300;
/// Most matches that are counted.
const MAX_COUNTED: usize = 200;
/// Most tools that are ranked at once, where the surface hides many of those that fit.
const MAX_RANKED: usize = 50_000;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Words, or `select:` and names.
    pub text: &'a str,
    /// Filters beside those of the text.
    pub filters: &'a [Filter],
    /// Most matches of a page.
    pub limit: usize,
    /// Where to go on.
    pub after: Option<&'a Position>,
    /// Words that mean the same.
    pub thesaurus: &'a Thesaurus,
    /// What use has taught; nothing without.
    pub learned: Option<Recall<'a>>,
    /// Who knows which tools are near the question by its meaning, where somebody does.
    pub meaning: Option<&'a dyn Nearest>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The answer; where it goes on is in `next`.
    pub result: SearchResult,
    /// Where the next page begins, when there is one.
    pub next: Option<Position>,
}

/// Searches the tools of `surface`.
///
/// `select:a,b` asks for tools by name: names that lead nowhere are in `missing_names`, those that could be several tools in
/// `ambiguous_names`, and a hidden tool is in `refs` with the loading state `unavailable` and its reason, but never in
/// `matches`. Any other query is by keywords over loaded and deferred tools, best first, a page of `limit`; hidden tools never
/// match. A query that is exactly a tool's name puts that tool first. The answer is about now: a tool that was retired since
/// is hidden, one whose schema changed since it was loaded has to be loaded again. The same surface, tools and query, with
/// the same words learned, always give the same answer.
///
/// # Errors
///
/// A filter of the query that no tool can fit.
pub fn search(surface: &impl Shown, index: &Snapshot, question: &Question<'_>) -> Result<Answer, QueryFault> {
    let text: String = question.text.chars().take(MAX_QUERY_CHARS).collect();
    let text = text.trim();
    let index = &*index.0;
    let mut answer = match parse(text)? {
        Query::Select(names) => selected(surface, index, &names),
        Query::Words(mut query) => {
            query.filters.extend_from_slice(question.filters);
            found(surface, index, &query, question)
        }
    };
    answer.result.query = text.to_owned();
    answer.result.total_deferred_tools = surface.deferred();
    answer.result.pending_providers = surface.pending_providers().to_vec();
    answer.result.next_action = next_action(&answer.result).to_owned();
    Ok(answer)
}

fn selected(surface: &impl Shown, index: &Contents, names: &[String]) -> Answer {
    let selected = select(index, surface, names);
    let mut result = SearchResult { query_type: "select".to_owned(), ..SearchResult::default() };
    for (entry, reference) in selected.tools {
        let named = MatchReason { how: "name".to_owned(), ..MatchReason::default() };
        push(&mut result, entry, reference, 0, vec![named]);
    }
    result.total_matches = result.matches.len() as u64;
    result.refs.extend(selected.hidden);
    result.missing_names = selected.missing;
    result.ambiguous_names = selected.ambiguous;
    Answer { result, next: None }
}

fn found(surface: &impl Shown, index: &Contents, query: &WordsQuery, question: &Question<'_>) -> Answer {
    thread_local! {
        /// A million tools take 8 MB of it; a new one for each question would cost more than the question.
        static SCORES: RefCell<Scores> = RefCell::default();
    }
    SCORES.with_borrow_mut(|scores| {
        let strict = planned(index, query, question, false);
        let answer = ranked(surface, index, &strict, question, scores);
        if !answer.result.matches.is_empty() || strict.phrases.is_empty() {
            return answer;
        }
        // Nobody has the phrase: its words are better than nothing, unless it was said that it has to be there.
        ranked(surface, index, &planned(index, query, question, true), question, scores)
    })
}

fn planned<'i>(index: &'i Contents, query: &WordsQuery, question: &Question<'_>, loose: bool) -> Plan<'i> {
    let taught = question.learned.map(|learned| learned.taught(index, &words_asked(query)));
    Plan { taught: taught.unwrap_or_default(), ..plan(index, query, question.thesaurus, loose) }
}

fn ranked(
    surface: &impl Shown,
    index: &Contents,
    plan: &Plan<'_>,
    question: &Question<'_>,
    scores: &mut Scores,
) -> Answer {
    let ranking = Ranking::of(index, plan, only(surface, index), scores);
    let phrases = Phrases::new(&plan.phrases, &plan.no_phrases);
    if let Some(nearest) = question.meaning {
        return with_meaning(surface, index, plan, (&ranking, &phrases), nearest, question);
    }
    let (page, more) = page(surface, index, &ranking, &phrases, question);
    let mut result = SearchResult { query_type: "keyword".to_owned(), ..SearchResult::default() };
    let next = page.last().filter(|_| more).map(|(last, entry, _)| position(*last, entry));
    (result.total_matches, result.more_matches) = total(surface, index, &ranking, &phrases, (page.len(), more));
    for (candidate, entry, reference) in page {
        push(&mut result, entry, reference, candidate.score, reasons(plan, candidate.place));
    }
    Answer { result, next }
}

/// The best by words and the nearest by meaning, as one order. It ends with the best of both: what is behind them is hardly meant.
fn with_meaning(
    surface: &impl Shown,
    index: &Contents,
    plan: &Plan<'_>,
    (ranking, phrases): (&Ranking<'_>, &Phrases<'_>),
    nearest: &dyn Nearest,
    question: &Question<'_>,
) -> Answer {
    let best = Question { limit: MOST_NEAR, after: None, ..*question };
    let (words, more) = page(surface, index, ranking, phrases, &best);
    let all = fused(surface, index, plan, ranking, phrases, nearest, words);
    let mut result = SearchResult { query_type: "keyword".to_owned(), ..SearchResult::default() };
    (result.total_matches, result.more_matches) = (all.len() as u64, more);
    let mut behind = all.into_iter().filter(|one| question.after.is_none_or(|after| is_behind(one, after)));
    let told: Vec<_> = behind.by_ref().take(question.limit).collect();
    let next = told.last().filter(|_| behind.next().is_some()).map(|last| position(last.candidate, last.entry));
    for one in told {
        let mut why = reasons(plan, one.candidate.place);
        if one.by_meaning {
            why.push(near::reason());
        }
        push(&mut result, one.entry, one.reference, one.candidate.score, why);
    }
    Answer { result, next }
}

/// The tools of a surface that has few.
fn only(surface: &impl Shown, index: &Contents) -> Option<PlaceSet> {
    let few = surface.few()?;
    let places = few.iter().filter_map(|id| index.terms.get(&key(KeyKind::Name, id.as_str())));
    Some(PlaceSet::of(index.tools.places(), places.flat_map(|postings| postings.places())))
}

/// A page of what the surface shows, and whether there is more behind it.
fn page<'i>(
    surface: &impl Shown,
    index: &'i Contents,
    ranking: &Ranking<'_>,
    phrases: &Phrases<'_>,
    question: &Question<'_>,
) -> (Vec<(Candidate, &'i CatalogEntry, DeferredToolRef)>, bool) {
    let mut page = Vec::new();
    let mut after = question.after.cloned();
    let mut most = question.limit + 16;
    loop {
        let best = ranking.best(after.as_ref(), most);
        for candidate in &best {
            let Some(entry) = index.tools.get(candidate.place) else { continue };
            if !surface.shows(entry) || !phrases.fit(&entry.tool) {
                continue;
            }
            if page.len() == question.limit {
                return (page, true);
            }
            if let Ok(reference) = surface.reference(entry) {
                page.push((*candidate, entry, reference));
            }
        }
        let last = best.last().and_then(|last| Some(position(*last, index.tools.get(last.place)?)));
        if best.len() < most || last.is_none() {
            return (page, false);
        }
        after = last;
        most = (most * 8).min(MAX_RANKED);
    }
}

fn position(candidate: Candidate, entry: &CatalogEntry) -> Position {
    Position { score: candidate.score, tool_id: entry.tool_id().clone() }
}

/// How many tools match, as far as they are counted, and whether there are more. With phrases, only those of the page are known.
fn total(
    surface: &impl Shown,
    index: &Contents,
    ranking: &Ranking<'_>,
    phrases: &Phrases<'_>,
    (told, more): (usize, bool),
) -> (u64, bool) {
    if !phrases.is_empty() {
        return (told as u64, more);
    }
    let shown = |candidate: Candidate| index.tools.get(candidate.place).is_some_and(|entry| surface.shows(entry));
    let counted = ranking.count(MAX_COUNTED + 1, shown);
    (counted.min(MAX_COUNTED) as u64, counted > MAX_COUNTED)
}

/// Adds a match.
fn push(
    result: &mut SearchResult,
    entry: &CatalogEntry,
    reference: DeferredToolRef,
    score: u32,
    why: Vec<MatchReason>,
) {
    let declaration = &entry.tool.registration().declaration;
    result.matches.push(reference.tool_id.clone());
    result.found.push(FoundTool {
        tool_id: reference.tool_id.clone(),
        name: reference.name.clone(),
        title: declaration.title.clone(),
        description: beginning(&declaration.description),
        score: (f64::from(score) * 1000.0 / SCORE_ONE).round() as u32,
        why,
        loading_state: reference.loading_state,
        next_action: FoundTool::action(reference.loading_state).to_owned(),
    });
    result.refs.push(reference);
}

/// The beginning of a description, in one line.
fn beginning(description: &str) -> String {
    // Looking at more of a long text would show no more of it.
    let words = description.split_whitespace().take(MAX_DESCRIPTION).collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MAX_DESCRIPTION) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// What is to be done with an answer, by what is to be done with its matches.
pub fn next_action(result: &SearchResult) -> &'static str {
    let any = |action: &str| result.found.iter().any(|tool| tool.next_action == action);
    let (nothing, waiting) = (result.found.is_empty(), !result.pending_providers.is_empty());
    if any("load_schema_then_call") {
        "load_schema_then_call"
    } else if any("call") {
        "call"
    } else if any("wait_for_provider") || (nothing && waiting) {
        "wait_for_provider"
    } else if !result.refs.is_empty() {
        "not_available"
    } else {
        "refine_query"
    }
}
