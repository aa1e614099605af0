//! Why a tool was found.

use std::collections::HashSet;

use toolplane_records::search::MatchReason;

use super::index::Field;
use super::learned::TaughtWord;
use super::plan::{Alternative, Concept, Naming, Plan};
use super::rank::worth;

/// Most reasons that are told of one tool, those that count most.
const MAX_TOLD: usize = 8;

/// What use says is told beside what the words say.
const USE: &str = "use";

/// Why the plan found the tool at `place`; what counts most is first.
pub(super) fn reasons(plan: &Plan<'_>, place: u32) -> Vec<MatchReason> {
    let mut found: Vec<(u32, MatchReason)> = Vec::new();
    for (naming, postings) in &plan.named {
        if postings.get(place).is_some() {
            let how = if *naming == Naming::Whole { "name" } else { "name_within" };
            let reason = MatchReason { how: how.to_owned(), ..MatchReason::default() };
            found.push((u32::MAX, reason));
        }
    }
    found.extend(plan.concepts.iter().filter_map(|concept| reason(concept, place)));
    found.extend(plan.taught_of(place).into_iter().flat_map(|taught| &taught.by).map(use_of));
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.asked.cmp(&other.asked)));
    let mut told = HashSet::new();
    found.retain(|(_, one)| one.asked.is_empty() || told.insert((one.asked.clone(), one.how == USE)));
    found.truncate(MAX_TOLD);
    found.into_iter().map(|(_, reason)| reason).collect()
}

fn reason(concept: &Concept<'_>, place: u32) -> Option<(u32, MatchReason)> {
    let worths = concept.alternatives.iter().filter_map(|one: &Alternative<'_>| {
        let posting = one.postings.get(place)?;
        Some((worth(posting.weight, one.rate), posting.fields, one))
    });
    let (worth, fields, best) = worths.max_by_key(|(worth, _, one)| (*worth, std::cmp::Reverse(one.how)))?;
    let fields = Field::ALL.into_iter().filter(|field| fields & field.bit() != 0);
    let reason = MatchReason {
        asked: concept.asked.clone(),
        found: best.word.clone(),
        how: best.how.as_str().to_owned(),
        fields: fields.map(|field| field.as_str().to_owned()).collect(),
        ..MatchReason::default()
    };
    Some((worth, reason))
}

fn use_of(word: &TaughtWord) -> (u32, MatchReason) {
    let (asked, how) = (word.asked.clone(), USE.to_owned());
    (word.worth, MatchReason { asked, how, times: word.times, ..MatchReason::default() })
}
