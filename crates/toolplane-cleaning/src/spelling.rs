//! Letters that are written in another way, and are read as what they mean. What is found in the text that is meant is replaced in the text
//! as it is written.
//!
//! - Spelled ones, as JSON may have them in lines of a log or amid prose: `\u0070` is a `p`, `\/` a slash, however often the text was put into
//!   JSON again.
//! - Full-width ones, as people write them who write Chinese or Japanese: `１３８` is `138`, `password：` is `password:`.
//! - Characters without width and such that turn the direction, between two of ASCII that can be seen, are left out.

use std::borrow::Cow;
use std::ops::Range;

const BACKSLASH: u8 = b'\\';
const ESCAPE: u8 = 0x1b;
/// The first byte of characters without width, U+200B to U+2069 among others.
const UNSEEN: u8 = 0xe2;
/// The first byte of full-width characters, and of U+FEFF.
const WIDE: u8 = 0xef;

/// A text as it is meant.
pub(crate) struct Meant<'a> {
    text: Cow<'a, [u8]>,
    /// Behind each letter that was spelled or left out.
    behind: Vec<Behind>,
}

/// Where the text goes on, here and there.
struct Behind {
    meant: usize,
    written: usize,
}

impl<'a> Meant<'a> {
    /// Reads `text`; the very text where all of it is written as it is meant.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        let (mut meant, mut behind) = (Vec::new(), Vec::new());
        let (mut copied, mut at) = (0, 0);
        while let Some(start) = next_sign(text, at) {
            let Some((letter, end)) = letter(text, start) else {
                // Nothing begins within a row of backslashes, nor within a character.
                at = after_sign(text, start);
                continue;
            };
            at = end;
            meant.extend_from_slice(&text[copied..start]);
            meant.extend(letter);
            copied = end;
            behind.push(Behind { meant: meant.len(), written: end });
        }
        if behind.is_empty() {
            return Self { text: Cow::Borrowed(text), behind };
        }
        meant.extend_from_slice(&text[copied..]);
        Self { text: Cow::Owned(meant), behind }
    }

    /// Whether all of `text` is written as it is meant, as far as one look tells; where it says no, it may be so all the same.
    pub(crate) fn is_plain(text: &[u8]) -> bool {
        next_sign(text, 0).is_none()
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where something of the text that is meant stands in the text as it is written.
    pub(crate) fn written(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize| match self.behind.partition_point(|behind| behind.meant <= at).checked_sub(1) {
            None => at,
            Some(last) => at - self.behind[last].meant + self.behind[last].written,
        };
        place(range.start)..place(range.end)
    }

    /// The place of the text that is meant at which what is written `at` begins; of a spelled letter, the place behind the one before.
    pub(crate) fn place(&self, at: usize) -> usize {
        match self.behind.partition_point(|behind| behind.written <= at).checked_sub(1) {
            None => at.min(self.text.len()),
            Some(last) => (at - self.behind[last].written + self.behind[last].meant).min(self.text.len()),
        }
    }
}

/// Where something may begin that is written in another way: a backslash, or the first byte of a character that is full-width or unseen.
fn next_sign(text: &[u8], from: usize) -> Option<usize> {
    memchr::memchr3(BACKSLASH, UNSEEN, WIDE, &text[from..]).map(|found| from + found)
}

/// Where to look on when the sign at `start` begins nothing.
fn after_sign(text: &[u8], start: usize) -> usize {
    start + text[start..].iter().take_while(|byte| **byte == BACKSLASH).count().max(1)
}

/// What stands at `start`, nothing for what is left out, and where it ends.
fn letter(text: &[u8], start: usize) -> Option<(Option<u8>, usize)> {
    if text[start] == BACKSLASH {
        let marks = after_sign(text, start);
        return spelled(&text[marks..]).map(|(letter, length)| (Some(letter), marks + length));
    }
    let here = &text[start..];
    if let Some(letter) = wide(here) {
        return Some((Some(letter), start + 3));
    }
    // Only between two that can be seen: whole runs of them, so that the character after the last one is what counts.
    let run = here.chunks_exact(3).take_while(|character| is_unseen(character)).count() * 3;
    let before = start.checked_sub(1).is_some_and(|at| text[at].is_ascii_graphic())
        || start.checked_sub(3).is_some_and(|at| wide(&text[at..]).is_some());
    let after = here.get(run).is_some_and(u8::is_ascii_graphic) || wide(&here[run..]).is_some();
    (run > 0 && before && after).then_some((None, start + run))
}

/// The ASCII character that a full-width one is: letters, digits, and the marks that stand in names, numbers and addresses.
fn wide(text: &[u8]) -> Option<u8> {
    let letter = match *text {
        [WIDE, 0xbc, low @ 0x81..=0xbf, ..] => low - 0x60,
        [WIDE, 0xbd, low @ 0x80..=0x9e, ..] => low - 0x20,
        _ => return None,
    };
    (letter.is_ascii_alphanumeric() || b":=_-.@+/".contains(&letter)).then_some(letter)
}

/// Characters of three bytes that take no place: without width, or such that turn the direction.
fn is_unseen(character: &[u8]) -> bool {
    matches!(
        character,
        [UNSEEN, 0x80, 0x8b..=0x8f | 0xaa..=0xae] | [UNSEEN, 0x81, 0xa0..=0xa4 | 0xa6..=0xa9] | [WIDE, 0xbb, 0xbf]
    )
}

/// The letter that is spelled behind a backslash, and the bytes that takes. Only what stands in credentials, and what begins a colour.
fn spelled(rest: &[u8]) -> Option<(u8, usize)> {
    match rest {
        [b'/', ..] => Some((b'/', 1)),
        [b'u', b'0', b'0', high, low, ..] => {
            let digit = |byte: &u8| char::from(*byte).to_digit(16);
            let letter = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
            (letter == ESCAPE || letter == b' ' || letter.is_ascii_graphic()).then_some((letter, 5))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_in_what_is_meant_is_found_in_what_is_written() {
        let text = br"a \u0070b\\\u0071 https:\/\/c \n \u4e2d \u00e9 \\ \u00".as_slice();
        let meant = Meant::of(text);
        assert_eq!(meant.text(), br"a pbq https://c \n \u4e2d \u00e9 \\ \u00");
        let written = |part: &[u8]| {
            let start = meant.text().windows(part.len()).position(|here| here == part).unwrap();
            &text[meant.written(start..start + part.len())]
        };
        assert_eq!(written(b"pbq"), br"\u0070b\\\u0071");
        assert_eq!(written(b"b"), b"b");
        assert_eq!(written(b"https://c"), br"https:\/\/c");
        assert_eq!(written(br"\u00e9"), br"\u00e9");
        assert_eq!((meant.place(0), meant.place(2), meant.place(8)), (0, 2, 3));
        assert_eq!(meant.place(text.len()), meant.text().len());
        assert!(matches!(Meant::of(b"C:\\temp \\n").text, Cow::Borrowed(_)));
    }

    #[test]
    fn full_width_letters_are_read_as_letters_and_unseen_ones_are_left_out() {
        let text = "中：１３８ Ａｚ，ａ\u{200b}b\u{2060}\u{feff}ｃ \u{200d}x 汉\u{200b}字";
        let meant = Meant::of(text.as_bytes());
        assert_eq!(meant.text(), "中:138 Az，abc \u{200d}x 汉\u{200b}字".as_bytes());
        let written = |part: &str| {
            let start = meant.text().windows(part.len()).position(|here| here == part.as_bytes()).unwrap();
            std::str::from_utf8(&text.as_bytes()[meant.written(start..start + part.len())]).unwrap()
        };
        assert_eq!((written("138"), written(":"), written("Az")), ("１３８", "：", "Ａｚ"));
        assert_eq!((written("abc"), written("字")), ("ａ\u{200b}b\u{2060}\u{feff}ｃ", "字"));
        assert_eq!(meant.place(text.len()), meant.text().len());
        assert!(Meant::is_plain("é 汉字 plain".as_bytes()) && !Meant::is_plain("１".as_bytes()));
        // What is cut off within a character is none.
        assert!(matches!(Meant::of(b"a\xe2\x80\xef\xbc").text, Cow::Borrowed(_)));
    }
}
