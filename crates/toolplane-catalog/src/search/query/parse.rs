//! From a text to a question.

use super::{Clause, ClauseText, Need, Query, WordsQuery};
use crate::filter::{Filter, FilterKind, QueryFault};

/// Most names one question may select.
const MAX_SELECTED: usize = 100;
const SELECT: &str = "select:";

/// Reads a question.
///
/// # Errors
///
/// A filter whose value no tool can have; everything else means something.
pub fn parse(text: &str) -> Result<Query, QueryFault> {
    let text = text.trim();
    if let Some(names) = strip_word(text, SELECT) {
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        return Ok(Query::Select(names.take(MAX_SELECTED).map(str::to_owned).collect()));
    }
    let mut query = WordsQuery::default();
    let mut rest = text;
    while !rest.is_empty() {
        rest = clause(rest, &mut query)?.trim_start();
    }
    Ok(Query::Words(query))
}

/// `text` behind `word`, which may be in any case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    if head.eq_ignore_ascii_case(word) { text.get(word.len()..) } else { None }
}

/// Reads what is first in `text`, and gives what is behind it.
fn clause<'a>(text: &'a str, query: &mut WordsQuery) -> Result<&'a str, QueryFault> {
    let (need, body) = need(text);
    if let Some((phrase, rest)) = phrase(body) {
        say(query, need, phrase);
        query.clauses.push(Clause { need, text: ClauseText::Phrase(phrase.to_owned()) });
        return Ok(rest);
    }
    let end = body.find(char::is_whitespace).unwrap_or(body.len());
    let (word, rest) = body.split_at(end);
    if let Some((by, value, rest)) = filter(body) {
        query.filters.push(Filter::new(by, value, need == Need::Not)?);
        return Ok(rest);
    }
    say(query, need, word);
    let beginning = word.strip_suffix('*').filter(|beginning| beginning.chars().any(char::is_alphanumeric));
    let text = match beginning {
        Some(beginning) => ClauseText::Prefix(beginning.to_owned()),
        None => ClauseText::Plain(word.to_owned()),
    };
    query.clauses.push(Clause { need, text });
    Ok(rest)
}

/// Adds to the plain text of a question what is wanted of it.
fn say(query: &mut WordsQuery, need: Need, words: &str) {
    if need != Need::Not {
        if !query.plain.is_empty() {
            query.plain.push(' ');
        }
        query.plain.push_str(words);
    }
}

/// `+` and `-` right before a word: not within one, and not before a number.
fn need(text: &str) -> (Need, &str) {
    let signed = |sign: char| {
        let body = text.strip_prefix(sign)?;
        body.starts_with(|c: char| c.is_alphabetic() || c == '"').then_some(body)
    };
    match (signed('+'), signed('-')) {
        (Some(body), _) => (Need::Must, body),
        (_, Some(body)) => (Need::Not, body),
        _ => (Need::May, text),
    }
}

/// The words between two quotation marks, and what is behind them.
fn phrase(text: &str) -> Option<(&str, &str)> {
    let (phrase, rest) = text.strip_prefix('"')?.split_once('"')?;
    phrase.chars().any(char::is_alphanumeric).then_some((phrase, rest))
}

/// `name:value`, where the value begins right behind the colon; it may be in quotation marks.
fn filter(text: &str) -> Option<(FilterKind, &str, &str)> {
    let by = FilterKind::ALL
        .into_iter()
        .find(|by| strip_word(text, by.as_str()).is_some_and(|rest| rest.starts_with(':')))?;
    let value = text.get(by.as_str().len() + 1..)?;
    if let Some((value, rest)) = phrase(value) {
        return Some((by, value, rest));
    }
    let end = value.find(char::is_whitespace).unwrap_or(value.len());
    let (value, rest) = value.split_at(end);
    let value = value.trim_end_matches([',', ';']);
    value.starts_with(char::is_alphanumeric).then_some((by, value, rest))
}
