//! Characters nobody sees.
//!
//! Less is found here than [`toolplane_records::visible`] spells out for people: outputs are texts of every language, with emoji and
//! ideographic spaces in them, and models read them as they are. What is found hides text, turns it round, or acts in a terminal.

use std::ops::Range;

/// Control characters.
pub(crate) const CONTROL: &str = "control";
/// Characters that turn the direction of what is around them.
const DIRECTION: &str = "direction";
/// Text in characters that show nothing.
const HIDDEN: &str = "hidden_text";
/// A character without width within a word of ASCII, where no language needs one. Pages have them where a long word may be broken, so
/// it is made visible and taken for no attack.
pub(crate) const ZERO_WIDTH: &str = "zero_width";

/// What can be found.
pub(crate) const RULES: [&str; 4] = [CONTROL, DIRECTION, HIDDEN, ZERO_WIDTH];

/// Characters without width in a row that are more than a language needs.
const RUN: usize = 4;

/// Calls `found` with each place and the rule it breaks, in order.
pub(crate) fn find(text: &[u8], mut found: impl FnMut(Range<usize>, &'static str)) {
    if !text.iter().any(|byte| !matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')) {
        return;
    }
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        of_text(chunk.valid(), at, &mut found);
        at += chunk.valid().len() + chunk.invalid().len();
    }
}

fn of_text(text: &str, base: usize, found: &mut impl FnMut(Range<usize>, &'static str)) {
    let mut rest = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((start, c)) = rest.next() {
        let mut end = start + c.len_utf8();
        let last = std::mem::replace(&mut before, c);
        let rule = match c {
            '\u{1f3f4}' => {
                // The flags of regions are spelled with tags.
                if let Some(length) = flag(&text[end..]) {
                    while rest.next_if(|(at, _)| *at < end + length).is_some() {}
                }
                continue;
            }
            '\t' | '\n' | '\r' => continue,
            c if c.is_control() => CONTROL,
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => DIRECTION,
            // The form of an ideograph, as names are written with.
            '\u{e0100}'..='\u{e01ef}' if is_ideograph(last) => continue,
            c if hides(c) => HIDDEN,
            c if has_no_width(c) => {
                let mut run = 1;
                while let Some((at, next)) = rest.next_if(|(_, next)| has_no_width(*next)) {
                    (run, end) = (run + 1, at + next.len_utf8());
                }
                if run >= RUN {
                    HIDDEN
                } else if breaks_words(c) && is_of_word(last) && rest.peek().is_some_and(|(_, next)| is_of_word(*next))
                {
                    ZERO_WIDTH
                } else {
                    continue;
                }
            }
            _ => continue,
        };
        found(base + start..base + end, rule);
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Characters that spell text nobody sees: tags, and the variation selectors of ideographs where there is none.
fn hides(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' | '\u{2061}'..='\u{2064}' | '\u{fff9}'..='\u{fffb}')
}

/// Characters without width that languages and emoji use, a few at a time.
fn has_no_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{61c}' | '\u{180e}' | '\u{fe00}'..='\u{fe0f}')
}

/// Characters without width that begin a run of such within a word of ASCII: none that belong to emoji such as `1` in a square.
fn breaks_words(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The length of the tags of a flag: at most six letters, and their end.
fn flag(tags: &str) -> Option<usize> {
    let letters: usize = tags.chars().take_while(|c| ('\u{e0030}'..='\u{e007a}').contains(c)).count();
    let end = tags.char_indices().nth(letters)?;
    ((3..=6).contains(&letters) && end.1 == '\u{e007f}').then_some(end.0 + end.1.len_utf8())
}

/// How it is written so that it is seen. Bytes that are no text stay as they are.
pub(crate) fn spelled(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        out.extend(chunk.valid().chars().flat_map(char::escape_unicode).map(|c| c as u8));
        out.extend_from_slice(chunk.invalid());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<&'static str> {
        let mut rules = Vec::new();
        find(text.as_bytes(), |_, rule| rules.push(rule));
        rules
    }

    #[test]
    fn what_hides_turns_or_acts_is_found() {
        assert_eq!(rules("\u{1b}[31mred\u{1b}[0m"), [CONTROL, CONTROL]);
        assert_eq!(rules("user\u{202e}txt.exe"), [DIRECTION]);
        assert_eq!(rules("plain \u{e0049}\u{e0067} text"), [HIDDEN, HIDDEN]);
        assert_eq!(rules("a\u{200b}\u{200c}\u{200b}\u{200c}b"), [HIDDEN], "a run is one place");
        assert_eq!(rules("a\u{85}b\u{0}"), [CONTROL, CONTROL]);
        assert_eq!(rules("葛\u{e0100}\u{e0101}"), [HIDDEN], "an ideograph has one form");
        assert_eq!(rules("ghp_ab\u{200b}c1\u{2060}\u{200d}2 a\u{feff}b"), [ZERO_WIDTH; 3], "within a word");
    }

    #[test]
    fn what_languages_and_emoji_need_is_left_alone() {
        for plain in [
            "全角　スペース",
            "👨\u{200d}👩\u{200d}👧",
            "می\u{200c}خواهم",
            "❤\u{fe0f}",
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "line\r\n\tline",
            "葛\u{e0100}城",
            "\u{feff}with a mark of byte order",
            "a line\n\u{feff}and another file",
            "汉字\u{200b}word\u{200b} \u{200b}word 1\u{fe0f}\u{20e3}",
        ] {
            assert_eq!(rules(plain), [] as [&str; 0], "{plain:?}");
        }
    }

    #[test]
    fn a_place_is_spelled_in_ascii() {
        let mut out = Vec::new();
        spelled("\u{202e}".as_bytes(), &mut out);
        spelled(&[0xff], &mut out);
        assert_eq!(out, b"\\u{202e}\xff");
    }
}
