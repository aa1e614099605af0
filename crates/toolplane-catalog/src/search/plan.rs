//! What is looked up for a question: for each thing asked for, the words that stand for it, and what each is worth.

mod concepts;
mod guesses;

use std::collections::HashSet;

use super::index::{Contents, KeyKind, Postings, key};
use super::learned::Taught;
use super::query::{Clause, ClauseText, Need, WordsQuery};
use super::text::{Side, Token, is_stop_word, stem, tokens};
use super::thesaurus::Thesaurus;
use crate::filter::{Filter, FilterKind};
pub(super) use concepts::{Alternative, Concept, How};
use guesses::Guesses;

/// Most things asked for that count, the rarest: each is compared with every tool that has it.
const MAX_CONCEPTS: usize = 64;

/// What a question asks to be looked up.
#[derive(Debug, Default)]
pub(super) struct Plan<'i> {
    /// What is asked for, each with what stands for it.
    pub(super) concepts: Vec<Concept<'i>>,
    /// Tools have to be in one list of each.
    pub(super) must: Vec<Vec<&'i Postings>>,
    /// Tools must not be in all lists of any.
    pub(super) not: Vec<Vec<&'i Postings>>,
    /// Phrases that have to be there, as words without endings.
    pub(super) phrases: Vec<Vec<String>>,
    /// Phrases that must not be there.
    pub(super) no_phrases: Vec<Vec<String>>,
    /// Tools with exactly the name that is the whole question, or a part of it.
    pub(super) named: Vec<(Naming, &'i Postings)>,
    /// Tools that use says something for, in order of places.
    pub(super) taught: Vec<Taught>,
    /// Words are asked for, be they known or not.
    pub(super) asks: bool,
    /// Something that has to be there is in no tool.
    pub(super) impossible: bool,
}

/// How a question names a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// It is the name.
    Whole,
    /// It has the name in it.
    Within,
}

/// A word asked for, on the way to a concept.
struct Asked {
    token: Token,
    term: String,
    need: Need,
    prefix: bool,
    /// It says nothing by itself, but may be part of a phrase that means the same as something.
    silent: bool,
}

/// Makes the plan of a question; `loose` takes phrases as words.
pub(super) fn plan<'i>(index: &'i Contents, query: &WordsQuery, thesaurus: &Thesaurus, loose: bool) -> Plan<'i> {
    let mut plan = Plan::default();
    plan.filter(index, &query.filters);
    plan.names(index, &query.plain);
    let nothing_told =
        query.clauses.iter().all(|clause| words_of(clause).iter().all(|token| is_stop_word(&token.word)));
    let mut asked = Vec::new();
    for clause in &query.clauses {
        let tokens = words_of(clause);
        if clause.need == Need::Not {
            plan.exclude(index, clause, &tokens);
            continue;
        }
        let mut need = clause.need;
        if let ClauseText::Phrase(_) = clause.text
            && (!loose || need == Need::Must)
        {
            need = Need::Must;
            plan.phrases.push(terms_of(&tokens));
        }
        let prefix = matches!(clause.text, ClauseText::Prefix(_));
        asked.extend(tokens.into_iter().map(|token| Asked {
            term: stem(&token.word),
            silent: !nothing_told && is_stop_word(&token.word),
            token,
            need,
            prefix,
        }));
    }
    plan.asks = !asked.is_empty() || query.filters.is_empty();
    plan.ask(index, &asked, thesaurus);
    plan
}

fn words_of(clause: &Clause) -> Vec<Token> {
    match &clause.text {
        ClauseText::Plain(text) | ClauseText::Prefix(text) | ClauseText::Phrase(text) => tokens(text, Side::Query),
    }
}

fn terms_of(tokens: &[Token]) -> Vec<String> {
    tokens.iter().filter(|token| !token.whole).map(|token| stem(&token.word)).collect()
}

impl<'i> Plan<'i> {
    /// What use says of the tool at a place.
    pub(super) fn taught_of(&self, place: u32) -> Option<&Taught> {
        let at = self.taught.binary_search_by_key(&place, |one| one.place).ok()?;
        self.taught.get(at)
    }

    fn ask(&mut self, index: &'i Contents, asked: &[Asked], thesaurus: &Thesaurus) {
        let terms: Vec<String> = asked.iter().map(|one| one.term.clone()).collect();
        let mut guesses = Guesses::new(index);
        let mut seen = HashSet::new();
        for (at, one) in asked.iter().enumerate() {
            if one.silent {
                self.phrase(index, one, &terms[at..], thesaurus);
                continue;
            }
            let repeated = !seen.insert((&one.term, one.prefix));
            if repeated && one.need == Need::May {
                continue;
            }
            let mut concept = Concept { asked: one.token.word.clone(), alternatives: Vec::new() };
            concept.exact(index, one);
            let known = !concept.alternatives.is_empty();
            let next = asked.get(at + 1).filter(|next| !next.token.whole && !next.silent && !one.token.whole);
            if let Some(next) = next {
                concept.joined(index, &one.token.word, &next.token.word);
            }
            if one.need == Need::May && !one.prefix {
                let split = self.synonyms(index, &mut concept, &terms[at..], thesaurus);
                self.concepts.extend(split);
            }
            if !known && !one.token.whole {
                let rest = guesses.guess(&mut concept, &one.token.word);
                self.concepts.extend(rest);
            } else if known && !one.token.whole && !one.prefix {
                guesses.doubt(&mut concept, &one.token.word);
            }
            if one.need == Need::Must && !one.token.whole {
                self.impossible |= concept.alternatives.is_empty();
                self.must.push(concept.alternatives.iter().map(|alternative| alternative.postings).collect());
            }
            if !concept.alternatives.is_empty() && !repeated {
                self.concepts.push(concept);
            }
        }
        if self.concepts.len() > MAX_CONCEPTS {
            let worth = |concept: &Concept<'_>| concept.alternatives.iter().map(|one| one.rate).max().unwrap_or(0);
            self.concepts.sort_by_key(|concept| std::cmp::Reverse(worth(concept)));
            self.concepts.truncate(MAX_CONCEPTS);
        }
    }

    /// A word that says nothing alone, where a phrase with a meaning begins with it.
    fn phrase(&mut self, index: &'i Contents, one: &Asked, terms: &[String], thesaurus: &Thesaurus) {
        if thesaurus.of(terms).is_some_and(|(words, _)| words > 1) {
            let mut concept = Concept { asked: one.token.word.clone(), alternatives: Vec::new() };
            let rest = self.synonyms(index, &mut concept, terms, thesaurus);
            self.concepts.extend(rest);
            self.concepts.extend(Some(concept).filter(|concept| !concept.alternatives.is_empty()));
        }
    }

    /// Adds what means the same as the words that begin here; the words of phrases become things asked for on their own.
    fn synonyms(
        &self,
        index: &'i Contents,
        concept: &mut Concept<'i>,
        terms: &[String],
        thesaurus: &Thesaurus,
    ) -> Vec<Concept<'i>> {
        let mut phrases = Vec::new();
        let Some((_, synonyms)) = thesaurus.of(terms) else { return phrases };
        for synonym in synonyms {
            match synonym.terms.as_slice() {
                [term] => concept.add(index, term, &synonym.written, How::Synonym, synonym.share),
                words => {
                    for word in words {
                        let mut one = Concept { asked: concept.asked.clone(), alternatives: Vec::new() };
                        // All of them together count as one.
                        one.add(index, word, &synonym.written, How::Synonym, synonym.share / words.len() as u32);
                        phrases.extend(Some(one).filter(|one| !one.alternatives.is_empty()));
                    }
                }
            }
        }
        phrases
    }

    fn exclude(&mut self, index: &'i Contents, clause: &Clause, tokens: &[Token]) {
        let terms = terms_of(tokens);
        match &clause.text {
            ClauseText::Phrase(_) => self.no_phrases.push(terms),
            ClauseText::Prefix(_) => {
                let beginning = tokens.last().map(|token| token.word.as_str()).unwrap_or_default();
                let found = index.forms.with_prefix(beginning).filter_map(|(form, _)| index.terms.get(&stem(form)));
                self.not.extend(found.take(guesses::MAX_PREFIXED).map(|postings| vec![postings]));
            }
            ClauseText::Plain(_) => {
                let found: Vec<_> = terms.iter().map(|term| index.terms.get(term)).collect();
                // A word no tool has excludes none.
                if let Some(all) = found.into_iter().collect::<Option<Vec<_>>>().filter(|all| !all.is_empty()) {
                    self.not.push(all);
                }
            }
        }
    }

    fn filter(&mut self, index: &'i Contents, filters: &[Filter]) {
        for by in FilterKind::ALL {
            let of = |not| filters.iter().filter(move |filter| filter.by == by && filter.not == not);
            let look_up = |filter: &Filter| index.terms.get(&key(KeyKind::Filter(by), &filter.value));
            self.not.extend(of(true).filter_map(look_up).map(|postings| vec![postings]));
            if of(false).next().is_some() {
                let any: Vec<_> = of(false).filter_map(look_up).collect();
                self.impossible |= any.is_empty();
                self.must.push(any);
            }
        }
    }

    /// Tools the question names: it is a name, or has one in it that looks like one.
    fn names(&mut self, index: &'i Contents, plain: &str) {
        let named = |name: &str| index.terms.get(&key(KeyKind::Name, name));
        let whole = plain.trim();
        if let Some(postings) = named(whole) {
            self.named.push((Naming::Whole, postings));
            return;
        }
        let inner = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let parts = whole.split_whitespace().take(MAX_CONCEPTS).map(inner);
        let like_names = parts.filter(|part| part.contains(['.', '_', '/', ':']));
        self.named.extend(like_names.filter_map(|part| named(&part)).map(|postings| (Naming::Within, postings)));
    }
}
