//! Texts with `*` in them: names, and paths name by name.

mod names;

pub(crate) use names::{NamePattern, Piece, covers, covers_or_above, reaches_beneath};

/// Alternatives one pattern may spell out with braces.
const MAX_ALTERNATIVES: usize = 64;

/// A text that is no glob, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidGlob(pub(crate) String);

/// A glob over a whole text, e.g. the name of a tool: `*`, `?`, `[a-z]` and `{a,b}`; a slash is a character like any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextGlob(Vec<Vec<names::Unit>>);

/// A glob over a path, exact in case: as in a gitignore file `*` and `?` stay within a name and `**` does not; without a slash it
/// is about names at any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathGlob(Vec<Vec<Piece>>);

impl TextGlob {
    /// Reads a glob; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidGlob> {
        alternatives(text)?.iter().map(|text| names::units(text)).collect::<Result<_, _>>().map(Self)
    }

    /// Whether `text` is one of those it stands for.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.iter().any(|units| names::is_name(units, text))
    }
}

impl PathGlob {
    /// Reads a glob; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidGlob> {
        let read = |text: &String| {
            let mut pieces = names::pieces(text)?;
            if !text.contains('/') {
                pieces.insert(0, Piece::Any);
            }
            Ok(pieces)
        };
        alternatives(text)?.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// Whether it stands for `path`, which is relative to where the glob begins.
    pub fn is_match(&self, path: &str) -> bool {
        let names: Vec<String> = path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        self.0.iter().any(|pieces| covers(pieces, &names))
    }
}

/// Whether `text` is `pattern`, where each `*` stands for any characters, none included.
///
/// Takes at most `pattern.len() * text.len()` steps and no memory, whatever the pattern.
pub fn matches(pattern: &str, text: &str) -> bool {
    starred(pattern.as_bytes(), text.as_bytes(), |unit| *unit == b'*', |unit, byte| unit == byte)
}

/// Whether the units of a pattern, of which some stand for anything, take a text one by one.
fn starred<U, T>(units: &[U], text: &[T], is_star: impl Fn(&U) -> bool, takes: impl Fn(&U, &T) -> bool) -> bool {
    let (mut unit, mut at) = (0, 0);
    // Where to go on when what follows the last star does not fit: the star takes one more.
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        match units.get(unit) {
            Some(star) if is_star(star) => {
                retry = Some((unit + 1, at));
                unit += 1;
            }
            Some(wanted) if takes(wanted, &text[at]) => {
                unit += 1;
                at += 1;
            }
            _ => match &mut retry {
                Some((after, from)) => {
                    *from += 1;
                    (unit, at) = (*after, *from);
                }
                None => return false,
            },
        }
    }
    units[unit..].iter().all(is_star)
}

/// The texts a pattern with braces stands for. A brace without a comma is a character.
pub(crate) fn alternatives(text: &str) -> Result<Vec<String>, InvalidGlob> {
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        if open.len() + done.len() >= MAX_ALTERNATIVES {
            return Err(InvalidGlob(format!("spells out more than {MAX_ALTERNATIVES} alternatives")));
        }
        let Some((start, end)) = innermost(&text) else {
            done.push(text);
            continue;
        };
        for part in text[start + 1..end].split(',') {
            open.push(format!("{}{part}{}", &text[..start], &text[end + 1..]));
        }
    }
    Ok(done)
}

/// The first pair of braces with a comma and no braces inside.
fn innermost(text: &str) -> Option<(usize, usize)> {
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (c, start) {
            ('{', _) => start = Some(at),
            ('}', Some(from)) if text[from..at].contains(',') => return Some((from, at)),
            ('}', _) => start = None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{PathGlob, TextGlob, matches};

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text, fits) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "any", true),
            ("a*", "abc", true),
            ("a*", "ba", false),
            ("*c", "abc", true),
            ("a*c", "abcbc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a**c", "ac", true),
            ("ä*", "äö", true),
        ] {
            assert_eq!(matches(pattern, text), fits, "{pattern} {text}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_ends() {
        let pattern = "*a".repeat(200) + "b";
        assert!(!matches(&pattern, &"a".repeat(5_000)));
    }

    #[test]
    fn a_name_and_a_path_are_read_alike_but_for_the_slash() {
        for (glob, text, name, path) in [
            ("*.rs", "a.rs", true, true),
            ("*.rs", "src/a.rs", true, true),
            ("src/*", "src/a/b", true, false),
            ("src/**", "src/a/b", true, true),
            ("files.*", "files.read", true, true),
            ("f?les.{read,list}", "files.list", true, true),
            ("f?les.{read,list}", "files.find", false, false),
            ("[!a]b", "ab", false, false),
            ("A", "a", false, false),
        ] {
            assert_eq!(TextGlob::parse(glob).unwrap().is_match(text), name, "{glob} {text}");
            assert_eq!(PathGlob::parse(glob).unwrap().is_match(text), path, "{glob} {text}");
        }
        for bad in ["[a", "a\\"] {
            assert!(TextGlob::parse(bad).is_err() && PathGlob::parse(bad).is_err(), "{bad}");
        }
    }
}
