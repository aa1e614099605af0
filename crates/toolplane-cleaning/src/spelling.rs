//! Letters that are spelled, as JSON may have them in lines of a log or amid prose: `\u0070` is a `p`, `\/` a slash, however often the text was
//! put into JSON again. What is found in the text that is meant is replaced in the text as it is written.

use std::borrow::Cow;
use std::ops::Range;

const BACKSLASH: u8 = b'\\';
const ESCAPE: u8 = 0x1b;

/// A text as it is meant.
pub(crate) struct Meant<'a> {
    text: Cow<'a, [u8]>,
    /// Behind each letter that was spelled.
    behind: Vec<Behind>,
}

/// Where the text goes on, here and there.
struct Behind {
    meant: usize,
    written: usize,
}

impl<'a> Meant<'a> {
    /// Reads `text`; the very text where no letter is spelled.
    pub(crate) fn of(text: &'a [u8]) -> Self {
        let (mut meant, mut behind) = (Vec::new(), Vec::new());
        let (mut copied, mut at) = (0, 0);
        while let Some(found) = memchr::memchr(BACKSLASH, &text[at..]) {
            let start = at + found;
            let marks = text[start..].iter().take_while(|byte| **byte == BACKSLASH).count();
            at = start + marks;
            let Some((letter, length)) = spelled(&text[at..]) else { continue };
            meant.extend_from_slice(&text[copied..start]);
            meant.push(letter);
            at += length;
            copied = at;
            behind.push(Behind { meant: meant.len(), written: at });
        }
        if behind.is_empty() {
            return Self { text: Cow::Borrowed(text), behind };
        }
        meant.extend_from_slice(&text[copied..]);
        Self { text: Cow::Owned(meant), behind }
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
}
