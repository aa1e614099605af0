//! Characters that only look like others, pointed out.

use std::collections::BTreeSet;

use unicode_security::{MixedScript as _, skeleton};

use super::excerpt;

/// Most words of one text that are pointed out.
pub const MAX_LOOK_ALIKES: usize = 8;
/// Longest word that is looked at and shown, in characters.
const MAX_WORD: usize = 128;

/// A word that looks like another one, or is made of letters that do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LookAlike {
    /// The word, every character of it that is not ASCII spelled out: `p\u{430}ypal`.
    pub word: String,
    /// The plain word it looks like, when it looks like one.
    pub like: Option<String>,
}

impl std::fmt::Display for LookAlike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.like {
            Some(like) => write!(f, "`{}` only looks like `{like}`", self.word),
            None => write!(f, "`{}` mixes letters of several scripts", self.word),
        }
    }
}

/// The words of a text that may be taken for others, at most [`MAX_LOOK_ALIKES`], each once: words of mixed scripts,
/// words that look like plain ones and are not, and marks between plain characters that look like `/`, `.`, `:` and
/// their like (Unicode Technical Standard 39). A word in one script that looks like nothing else is not among them,
/// whatever its language.
pub fn look_alikes(text: &str) -> Vec<LookAlike> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for token in text.split(|c: char| c.is_whitespace()).filter(|token| !token.is_ascii()) {
        let words = token.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let words = words.filter(|word| !word.is_ascii()).filter_map(of_word);
        for doubt in words.chain(of_marks(token)) {
            if seen.insert(doubt.clone()) {
                found.push(doubt);
            }
            if found.len() == MAX_LOOK_ALIKES {
                return found;
            }
        }
    }
    found
}

fn of_word(word: &str) -> Option<LookAlike> {
    let word: String = word.chars().take(MAX_WORD).collect();
    let like = plain_form(&word);
    let mixed = !word.as_str().is_single_script();
    (mixed || like.is_some()).then(|| LookAlike { word: ascii_form(&word), like })
}

/// A mark between two plain characters that looks like one that means something in paths, hosts and commands.
fn of_marks(token: &str) -> Option<LookAlike> {
    let characters: Vec<char> = token.chars().take(MAX_WORD).collect();
    let plain = |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(char::is_ascii_graphic);
    let hidden = |at: usize| {
        let c = characters[at];
        !c.is_ascii() && !c.is_alphanumeric() && plain(at.checked_sub(1)) && plain(Some(at + 1)) && means_something(c)
    };
    if !(0..characters.len()).any(hidden) {
        return None;
    }
    let token: String = characters.iter().collect();
    Some(LookAlike { word: ascii_form(&token), like: plain_form(&token) })
}

fn means_something(c: char) -> bool {
    matches!(
        plain_char(c).as_deref(),
        Some("/" | "\\" | "." | ":" | ";" | "|" | "l" | "&" | "@" | "#" | "$" | "<" | ">" | "=" | "*" | "?" | "%")
    )
}

/// The plain text that looks the same; none when there is none.
fn plain_form(text: &str) -> Option<String> {
    text.chars().map(|c| if c.is_ascii() { Some(c.to_string()) } else { plain_char(c) }).collect()
}

/// The plain characters one character looks like.
fn plain_char(c: char) -> Option<String> {
    // The wide forms of ASCII stand for it one by one.
    if let Some(plain) = u32::from(c).checked_sub(0xfee0).and_then(char::from_u32).filter(char::is_ascii_graphic) {
        return Some(plain.to_string());
    }
    let like: String = skeleton(c.encode_utf8(&mut [0; 4])).collect();
    (!like.is_empty() && like.is_ascii()).then_some(like)
}

/// The text with every other character spelled out.
fn ascii_form(text: &str) -> String {
    let mut form = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c.is_ascii() { form.push(c) } else { form.extend(c.escape_unicode()) }
    }
    excerpt(&form, 2 * MAX_WORD)
}
