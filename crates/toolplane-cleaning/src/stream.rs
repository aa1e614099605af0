//! Cleaning of bytes that come in pieces, wherever they are cut.

use std::ops::Range;

use crate::cleaner::{Cleaner, leaves_joints, write};
use crate::detect::{Head, Span, head_after, open_block};
use crate::findings::Findings;
use crate::spelling::Meant;

/// Bytes that are looked through at once.
const WINDOW: usize = 64 * 1024;
/// Bytes at the end of a window that are looked at again with what follows, where there is no end of a line: longer things of one line may
/// be missed.
const OVERLAP: usize = 8 * 1024;
/// Bytes before a window that are looked at with it.
const CONTEXT: usize = 256;
/// Most bytes that are held back for a thing that does not end.
const MOST: usize = 256 * 1024;

/// Cleans what comes in pieces. Holds back at most 256 KiB and a piece.
#[derive(Debug)]
pub struct CleanStream {
    cleaner: Cleaner,
    found: Findings,
    /// What was read and not written, with some of what was written before it.
    held: Vec<u8>,
    /// How much of `held` was written.
    written: usize,
    /// The head of the table that what is written ends in.
    head: Option<Head>,
}

impl CleanStream {
    pub(crate) fn new(cleaner: Cleaner) -> Self {
        Self { cleaner, found: Findings::default(), held: Vec::new(), written: 0, head: None }
    }

    /// Takes the next piece, and writes what may be kept to the end of `out`.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        let mut rest = piece;
        while !rest.is_empty() {
            // A large piece goes through in windows too, so that memory does not depend on how it is cut.
            let taken = rest.len().min(WINDOW);
            self.held.extend_from_slice(&rest[..taken]);
            rest = &rest[taken..];
            if self.held.len() - self.written >= WINDOW {
                self.advance(out);
            }
        }
    }

    /// The bytes are over: writes what was held back, and says what was found in all of them.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Findings {
        let spans = self.cleaner.spans_below(&self.held, self.written, self.head.as_ref());
        self.write(self.held.len(), &spans, out);
        self.found
    }

    fn advance(&mut self, out: &mut Vec<u8>) {
        let spans = self.cleaner.spans_below(&self.held, self.written, self.head.as_ref());
        let cut = self.cut(&spans);
        if cut > self.written {
            self.write(cut, &spans, out);
            // Where no line ends, no table goes on.
            let ends = self.held[..cut].ends_with(b"\n");
            let meant = Meant::of(&self.held[self.written..cut]);
            self.head = head_after(meant.text(), self.head.take()).filter(|_| ends);
            let drop = cut.saturating_sub(CONTEXT);
            self.held.drain(..drop);
            self.written = cut - drop;
        }
    }

    /// Up to where everything is known.
    fn cut(&self, spans: &[Span]) -> usize {
        let (held, unwritten) = (&self.held, self.held.len() - self.written);
        let line = held[self.written..].iter().rposition(|byte| *byte == b'\n').map(|at| self.written + at + 1);
        // A line that is nearly the whole window is no line of a text.
        let line = line.filter(|cut| cut - self.written >= unwritten / 4);
        let mut cut = line.unwrap_or_else(|| whole_characters(held, held.len() - OVERLAP.min(unwritten)));
        if let Some(block) = open_block(held) {
            cut = cut.min(block);
        }
        let crosses = |range: &Range<usize>, cut: usize| range.start < cut && cut < range.end;
        while let Some(span) = spans.iter().find(|span| crosses(&span.range, cut)) {
            cut = span.range.start;
        }
        // What does not end is written as far as it is known.
        if cut <= self.written && unwritten >= MOST { held.len() } else { cut }
    }

    fn write(&mut self, cut: usize, spans: &[Span], out: &mut Vec<u8>) {
        let here = |span: &&Span| (self.written..cut).contains(&span.range.start);
        for span in spans.iter().filter(here) {
            self.found.add(span.class, span.rule, span.treatment);
        }
        let start = out.len();
        write(&self.held, self.written..cut, spans, out);
        let masked: Vec<Span> = spans.iter().filter(here).filter(|span| span.treatment.replaces()).cloned().collect();
        if !masked.is_empty() && leaves_joints(&self.held, &masked) {
            self.cleaner.again(out, start, &mut self.found);
        }
    }
}

/// The beginning of the character at `at`.
fn whole_characters(text: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|at| text.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{CleaningPolicy, Treatment};

    fn cleaner() -> Cleaner {
        Cleaner::new(&CleaningPolicy { personal: Treatment::Mask, ..CleaningPolicy::default() })
    }

    fn in_pieces(text: &[u8], size: usize) -> (Vec<u8>, Findings, usize) {
        let (mut stream, mut out, mut most) = (cleaner().stream(), Vec::new(), 0);
        for piece in text.chunks(size) {
            stream.push(piece, &mut out);
            most = most.max(stream.held.len());
        }
        let found = stream.finish(&mut out);
        (out, found, most)
    }

    fn whole(text: &[u8]) -> (Vec<u8>, Findings) {
        let mut found = Findings::default();
        (cleaner().bytes(text, &mut found).into_owned(), found)
    }

    fn check(text: &str) {
        let (expected, found) = whole(text.as_bytes());
        for size in [1_000, 4_097, WINDOW, 3 * WINDOW, text.len()] {
            let (out, said, most) = in_pieces(text.as_bytes(), size);
            assert!(out == expected, "in pieces of {size}");
            assert_eq!(said, found, "in pieces of {size}");
            assert!(most <= MOST + 2 * WINDOW, "{most} bytes held");
        }
    }

    #[test]
    fn pieces_are_cleaned_as_the_whole_is() {
        let line = "2026-01-01 GET /v1?access_token=9f2c44aa01be by mia@example.org\n";
        check(&line.repeat(5_000));
        let words = "no line ends here, and mia@example.org writes; ".repeat(8_000);
        check(&words);
        check(&format!("user,password\n{}", "ann,Tr0ub4dor-x9\n".repeat(9_000)));
        check(&"汉字没有空格13812345678汉字".repeat(9_000));
        check(&"全角：１３８１２３４５６７８，a\u{200b}\u{2060}b。".repeat(7_000));
        check(&format!("user,ｐassword\n{}", "ann,Tr0ub\u{200b}4dor-x9\n".repeat(9_000)));
    }

    #[test]
    fn a_block_of_many_lines_is_one_wherever_it_is_cut() {
        let body = "MIIEpAIBAAKCAQEA7bq3\n".repeat(150);
        let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\n");
        let filler = "an ordinary line of a log\n".repeat(2_450);
        let text = format!("{filler}{key}{filler}{key}{filler}");
        let (out, found, _) = in_pieces(text.as_bytes(), 10_000);
        let out = String::from_utf8(out).unwrap();
        assert_eq!((out.matches("[redacted private_key]").count(), found.masked()), (2, 2));
        assert!(!out.contains("MIIE"));
    }

    #[test]
    fn what_never_ends_is_held_back_no_longer_than_that() {
        let text = format!("-----BEGIN PRIVATE KEY-----\n{}", "A".repeat(2_000_000));
        let (out, _, most) = in_pieces(text.as_bytes(), 50_000);
        assert!(most <= MOST + 2 * WINDOW);
        assert!(out.starts_with(b"[redacted private_key]"));
    }

    #[test]
    fn bytes_that_are_no_text_stay_as_they_are() {
        let bytes: Vec<u8> =
            (0..300_000_u32).map(|n| u8::try_from(n.wrapping_mul(2_654_435_761) >> 24).unwrap()).collect();
        let cleaner = Cleaner::new(&CleaningPolicy { invisible: Treatment::Keep, ..CleaningPolicy::default() });
        let (mut stream, mut out) = (cleaner.stream(), Vec::new());
        bytes.chunks(7_001).for_each(|piece| stream.push(piece, &mut out));
        assert!(stream.finish(&mut out).is_empty());
        assert!(out == bytes);
    }
}
