//! The text of command patterns: words, quotes and stars.

use crate::command::Word;
use crate::fit::Fit;
use crate::pattern::invalid::InvalidPattern;

/// Stands between words where a blank inside a word must not be taken for the end of one.
pub(super) const SPACE: char = '\u{1}';

/// A word of a pattern: literal pieces with a star between each two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PatternWord {
    pieces: Vec<String>,
}

impl PatternWord {
    pub(super) fn has_star(&self) -> bool {
        self.pieces.len() > 1
    }

    pub(super) fn into_word(self) -> Word {
        Word::literal(self.pieces.concat())
    }
}

/// Words with stars, as literal pieces of the joined text with a star between each two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    /// With [`SPACE`] between words.
    pieces: Vec<String>,
    /// The same with blanks.
    blank: Vec<String>,
    rest: bool,
    literals: usize,
}

// === impl Template ===

impl Template {
    pub(super) fn new(words: &[PatternWord], rest: bool) -> Self {
        let mut pieces = vec![String::new()];
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                pieces.iter_mut().last().into_iter().for_each(|piece| piece.push(SPACE));
            }
            for (position, piece) in word.pieces.iter().enumerate() {
                if position > 0 {
                    pieces.push(String::new());
                }
                pieces.iter_mut().last().into_iter().for_each(|last| last.push_str(piece));
            }
        }
        let literals = words.iter().take_while(|word| !word.has_star()).count();
        let blank = pieces.iter().map(|piece| piece.replace(SPACE, " ")).collect();
        Self { pieces, blank, rest, literals }
    }

    /// A template of a whole text, quotes and all.
    pub(super) fn whole(text: &str, rest: bool) -> Self {
        let pieces: Vec<String> = text.split('*').map(str::to_owned).collect();
        Self { blank: pieces.clone(), pieces, rest, literals: 0 }
    }

    pub(super) fn literals(&self) -> usize {
        self.literals
    }

    pub(super) fn first_word(&self) -> Option<&str> {
        self.pieces.first().and_then(|piece| piece.split_once(SPACE)).map(|(first, _)| first)
    }

    /// Whether the text, its words joined by `space`, is the template.
    pub(super) fn fits(&self, text: &str, space: char) -> bool {
        let pieces = if space == SPACE { &self.pieces } else { &self.blank };
        is_made_of(pieces, text, None) || (self.rest && is_made_of(pieces, text, Some(space)))
    }

    /// As a deny or ask pattern, against words of which not all need be known.
    pub(super) fn against(&self, words: &[Word]) -> Fit {
        let mut spelt = words.to_vec();
        let text = joined(words, ' ');
        let base = spelt.first_mut().filter(|word| word.is_known()).and_then(|first| {
            let base = first.text.rsplit('/').next().map(str::to_owned)?;
            (base != first.text).then(|| *first = Word::literal(base))
        });
        if self.fits(&text, ' ') || (base.is_some() && self.fits(&joined(&spelt, ' '), ' ')) {
            return Fit::Yes;
        }
        let Some(open) = words.iter().position(|word| !word.is_known()) else { return Fit::No };
        // Whatever follows the known beginning may be what the stars stand for.
        let mut known = joined(&spelt[..open], ' ');
        if open > 0 {
            known.push(' ');
        }
        known.push_str(spelt[open].known_text());
        let first = self.blank.first().map_or("", String::as_str);
        Fit::from(first.starts_with(&known) || known.starts_with(first)).min(Fit::Unknown)
    }
}

/// Whether `text` is the pieces with anything between them; with `tail` also anything behind that character.
///
/// Each piece is taken where it first occurs, so the time grows with the text and not with the number of stars.
fn is_made_of(pieces: &[String], text: &str, tail: Option<char>) -> bool {
    let [first, middle @ .., last] = pieces else {
        let only = pieces.first().map_or("", String::as_str);
        return match tail {
            None => text == only,
            Some(tail) => text.strip_prefix(only).is_some_and(|rest| rest.starts_with(tail)),
        };
    };
    let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
    for piece in middle {
        let Some(at) = rest.find(piece.as_str()) else { return false };
        rest = &rest[at + piece.len()..];
    }
    match tail {
        None => rest.ends_with(last.as_str()),
        Some(tail) => rest.contains(&format!("{last}{tail}")),
    }
}

/// The words of a text joined by `space`.
pub(super) fn joined(words: &[Word], space: char) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(space);
        }
        text.push_str(&word.text);
    }
    text
}

/// Splits a pattern into words, taking off quotes and backslashes. A star is literal only behind a backslash.
pub(super) fn split(text: &str) -> Result<Vec<PatternWord>, InvalidPattern> {
    let mut words = Vec::new();
    let mut current: Option<PatternWord> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if quote.is_none() && c == ' ' {
            words.extend(current.take());
            continue;
        }
        let word = current.get_or_insert_with(|| PatternWord { pieces: vec![String::new()] });
        let literal = match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                continue;
            }
            (Some(open), c) if open == c => {
                quote = None;
                continue;
            }
            (Some('\''), '\\') => '\\',
            (_, '\\') => chars.next().ok_or_else(|| InvalidPattern("must not end with a backslash".to_owned()))?,
            (_, '*') => {
                word.pieces.push(String::new());
                continue;
            }
            (_, c) => c,
        };
        word.pieces.iter_mut().last().into_iter().for_each(|piece| piece.push(literal));
    }
    if let Some(quote) = quote {
        return Err(InvalidPattern(format!("has a {quote} that is not closed")));
    }
    words.extend(current);
    Ok(words)
}

/// Whether a pattern has shell operators or expansions outside quotes.
pub(super) fn has_operators(text: &str) -> bool {
    let mut quote: Option<char> = None;
    let mut escaped = false;
    for c in text.chars() {
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (None, ';' | '|' | '&' | '<' | '>' | '`' | '$' | '(') => return true,
            _ => {}
        }
    }
    false
}

/// The text with single blanks between words and around operators.
pub(super) fn squeezed(text: &str) -> String {
    let mut squeezed = String::with_capacity(text.len() + 8);
    let mut operator = false;
    for c in text.chars() {
        let is_operator = ";|&<>()\n".contains(c);
        if c.is_whitespace() && c != '\n' {
            operator = false;
            if !squeezed.ends_with(' ') {
                squeezed.push(' ');
            }
            continue;
        }
        if is_operator != operator && !squeezed.ends_with(' ') {
            squeezed.push(' ');
        }
        operator = is_operator;
        squeezed.push(c);
    }
    squeezed.trim().to_owned()
}

/// How often `word` occurs in `text` by itself, not inside a longer name.
pub(super) fn count(text: &str, word: &str) -> usize {
    let part = |c: char| c.is_alphanumeric() || "_.-".contains(c);
    let alone = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    };
    text.match_indices(word).filter(|(at, _)| alone(*at)).count()
}
