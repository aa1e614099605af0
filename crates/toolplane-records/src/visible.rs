//! Text as it is shown to people: nothing in it can act instead of being seen.
//!
//! What a person approves must be what they see, and text that another party wrote must not move the cursor, turn the
//! direction of a line, take no room, or begin a line of its own where one line is meant. Everything that shows such
//! text goes through this module. Records keep what was really said.
//!
//! What would act is spelled out as `\u{202e}`; line feed, tab and carriage return as `\n`, `\t` and `\r` where they are not
//! wanted. Spelled out are control and format characters (of them all that turn direction, take no room or spell hidden
//! text), every space but the ordinary one, line and paragraph separators, private use and unassigned code points,
//! characters without any ink, and combining marks that have nothing to stand on or come in floods. A backslash stays as it
//! is: what is spelled out is there to be read by people, not by programs.
//!
//! Characters that only look like others are ordinary letters of some language: they stay, and [`look_alikes`] points
//! them out.

mod look_alike;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory as Category, get_general_category};

pub use look_alike::{LookAlike, MAX_LOOK_ALIKES, look_alikes};

/// Most combining marks on one character; Vietnamese, Hebrew and Arabic need three.
const MAX_MARKS: usize = 4;

/// Text of several lines: line feeds and tabs stay, a carriage return before a line feed is dropped. At most ten characters
/// for each one given; text without anything that would act is given back as it is, and what was shown once stays as it is.
pub fn text(text: &str) -> Cow<'_, str> {
    spelled(text, true)
}

/// Text that is shown in one line: as [`text`], with line ends and tabs spelled out as well.
pub fn line(text: &str) -> Cow<'_, str> {
    spelled(text, false)
}

/// At most `most` characters of a text as [`line()`] shows it, with an ellipsis for what is missing.
pub fn excerpt(text: &str, most: usize) -> String {
    // Showing makes nothing shorter, so there is no need to look at more of a long text.
    let end = text.char_indices().nth(most + 1).map_or(text.len(), |(end, _)| end);
    let shown = line(&text[..end]);
    match shown.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown.into_owned(),
    }
}

/// As [`excerpt`], with the end of a long text too: what is left out is in its middle. Of an error the end often says what to do.
pub fn both_ends(text: &str, most: usize) -> String {
    let shown = line(text);
    let count = shown.chars().count();
    if count <= most {
        return shown.into_owned();
    }
    let (head, tail) = (most.div_ceil(2), most / 2);
    let head: String = shown.chars().take(head).collect();
    let tail: String = shown.chars().skip(count - tail).collect();
    format!("{} … {}", head.trim_end(), tail.trim_start())
}

/// A JSON text of the same value, safe for a terminal: what would act is written with the escapes of JSON, e.g. `\u202e`.
pub fn json(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut marks = Marks::default();
    let mut shown = String::with_capacity(text.len() + 16);
    let mut in_string = false;
    let mut after_backslash = false;
    for c in text.chars() {
        match c {
            '"' if !after_backslash => in_string = !in_string,
            // Outside of strings these are white space.
            '\n' | '\t' if !in_string => {}
            '\r' if !in_string => {
                shown.push(' ');
                continue;
            }
            _ => {}
        }
        after_backslash = in_string && c == '\\' && !after_backslash;
        if (c.is_ascii_control() && (in_string || !matches!(c, '\n' | '\t'))) || marks.acts(c) {
            marks.bare();
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn spelled(text: &str, lines: bool) -> Cow<'_, str> {
    let plain = |byte: u8| matches!(byte, b' '..=b'~') || (lines && matches!(byte, b'\n' | b'\t'));
    if text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut marks = Marks::default();
    let mut shown: Option<String> = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let wanted = lines && matches!(c, '\n' | '\t');
        let dropped = lines && c == '\r' && rest.peek().is_some_and(|(_, next)| *next == '\n');
        let acts = !wanted && (c.is_ascii_control() || marks.acts(c));
        if wanted {
            marks.bare();
        }
        if !acts {
            if let Some(shown) = &mut shown {
                shown.push(c);
            }
            continue;
        }
        marks.bare();
        let shown = shown.get_or_insert_with(|| text[..at].to_owned());
        match c {
            _ if dropped => {}
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            c => shown.extend(c.escape_unicode()),
        }
    }
    shown.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// How many marks stand on the character before.
#[derive(Default)]
struct Marks {
    /// None when there is no character they could stand on.
    on_it: Option<usize>,
}

impl Marks {
    /// The next character has nothing to stand on.
    fn bare(&mut self) {
        self.on_it = None;
    }

    /// Whether a character that is no ASCII control would act at this place; it is the one before from now on.
    fn acts(&mut self, c: char) -> bool {
        if c.is_ascii() {
            self.on_it = Some(0);
            return false;
        }
        let category = get_general_category(c);
        if matches!(category, Category::NonspacingMark | Category::EnclosingMark) && !is_without_ink(c) {
            return match &mut self.on_it {
                Some(count) if *count < MAX_MARKS => {
                    *count += 1;
                    false
                }
                _ => true,
            };
        }
        self.on_it = Some(0);
        is_unseen(category) || is_without_ink(c)
    }
}

/// Categories whose characters are not seen, or not seen for what they are.
fn is_unseen(category: Category) -> bool {
    matches!(
        category,
        Category::Control
            | Category::Format
            | Category::LineSeparator
            | Category::ParagraphSeparator
            | Category::PrivateUse
            | Category::SpaceSeparator
            | Category::Surrogate
            | Category::Unassigned
    )
}

/// Characters of other categories that show nothing: joiners, fillers, variation selectors, the blank of Braille, the
/// place of an object.
fn is_without_ink(c: char) -> bool {
    matches!(
        c,
        '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{fffc}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}
