//! Globs over the names of a path.

use super::{InvalidGlob, starred};

/// Most names of one glob.
const MAX_PIECES: usize = 64;

/// A path as a pattern names it, once as written and once in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamePattern {
    exact: Vec<Piece>,
    folded: Vec<Piece>,
    /// It takes in everything beneath what it names.
    open: bool,
}

/// The text between two slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// `**`: any names, none included.
    Any,
    /// One name.
    Name(Vec<Unit>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Char(char),
    One,
    Many,
    /// Ranges; true when the name must not be in them.
    Class(Vec<(char, char)>, bool),
}

// === impl Names ===

impl NamePattern {
    pub(crate) fn parse(text: &str) -> Result<Self, InvalidGlob> {
        let exact = pieces(text)?;
        let folded = pieces(&text.to_lowercase())?;
        let open = matches!(exact.last(), Some(Piece::Any));
        Ok(Self { exact, folded, open })
    }

    pub(crate) fn pieces(&self, exact: bool) -> &[Piece] {
        if exact { &self.exact } else { &self.folded }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }
}

pub(super) fn pieces(text: &str) -> Result<Vec<Piece>, InvalidGlob> {
    let mut pieces = Vec::new();
    for name in text.split('/').filter(|name| !matches!(*name, "" | ".")) {
        if name == "**" {
            if pieces.last() != Some(&Piece::Any) {
                pieces.push(Piece::Any);
            }
        } else {
            pieces.push(Piece::Name(units(name)?));
        }
    }
    // A slash at the end names everything in the directory.
    if text.ends_with('/') && pieces.last() != Some(&Piece::Any) {
        pieces.push(Piece::Any);
    }
    if pieces.is_empty() {
        return Err(InvalidGlob("names no path".to_owned()));
    }
    if pieces.len() > MAX_PIECES {
        return Err(InvalidGlob(format!("has more than {MAX_PIECES} names")));
    }
    Ok(pieces)
}

pub(super) fn units(name: &str) -> Result<Vec<Unit>, InvalidGlob> {
    let mut units = Vec::new();
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        units.push(match c {
            '*' => {
                while chars.next_if_eq(&'*').is_some() {}
                Unit::Many
            }
            '?' => Unit::One,
            '\\' => {
                let literal = chars.next().ok_or_else(|| InvalidGlob("has a backslash before nothing".to_owned()))?;
                Unit::Char(literal)
            }
            '[' => class(&mut chars)?,
            c => Unit::Char(c),
        });
    }
    Ok(units)
}

fn class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Unit, InvalidGlob> {
    let open = || InvalidGlob("has a `[` that is not closed".to_owned());
    let negated = chars.next_if(|c| matches!(c, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    loop {
        let from = chars.next().ok_or_else(open)?;
        if from == ']' && !ranges.is_empty() {
            return Ok(Unit::Class(ranges, negated));
        }
        let mut to = from;
        if chars.peek() == Some(&'-') {
            let mut ahead = chars.clone();
            ahead.next();
            if let Some(end) = ahead.next().filter(|end| *end != ']') {
                to = end;
                *chars = ahead;
            }
        }
        ranges.push((from, to));
    }
}

// === matching ===

/// Whether the pieces stand for exactly these names.
pub(crate) fn covers(pieces: &[Piece], names: &[String]) -> bool {
    let reached = reach(pieces, names);
    reached.last().is_some_and(|states| states[pieces.len()])
}

/// Whether the pieces stand for these names or for a directory above them.
pub(crate) fn covers_or_above(pieces: &[Piece], names: &[String]) -> bool {
    // No names is the workspace itself, which only a pattern for everything names.
    let reached = reach(pieces, names);
    reached.iter().enumerate().any(|(taken, states)| (taken > 0 || names.is_empty()) && states[pieces.len()])
}

/// Whether the pieces may stand for something beneath these names.
pub(crate) fn reaches_beneath(pieces: &[Piece], names: &[String]) -> bool {
    reach(pieces, names).last().is_some_and(|states| states.iter().any(|state| *state))
}

/// For every number of names taken, which positions in the pieces can have been reached. The work is bounded by the product of
/// both lengths.
fn reach(pieces: &[Piece], names: &[String]) -> Vec<Vec<bool>> {
    let mut states = vec![false; pieces.len() + 1];
    states[0] = true;
    skip_any(pieces, &mut states);
    let mut all = vec![states];
    for name in names {
        let mut next = vec![false; pieces.len() + 1];
        if let Some(states) = all.last() {
            for (position, piece) in pieces.iter().enumerate().filter(|(position, _)| states[*position]) {
                match piece {
                    Piece::Any => next[position] = true,
                    Piece::Name(units) => next[position + 1] |= is_name(units, name),
                }
            }
        }
        skip_any(pieces, &mut next);
        all.push(next);
    }
    all
}

fn skip_any(pieces: &[Piece], states: &mut [bool]) {
    for position in 0..pieces.len() {
        if states[position] && pieces[position] == Piece::Any {
            states[position + 1] = true;
        }
    }
}

/// Whether the units stand for exactly this name.
pub(super) fn is_name(units: &[Unit], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    starred(units, &name, |unit| *unit == Unit::Many, |unit, c| unit.takes(*c))
}

impl Unit {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Char(wanted) => *wanted == c,
            Self::One | Self::Many => true,
            Self::Class(ranges, negated) => ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated,
        }
    }
}
