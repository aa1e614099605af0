//! A preview of an output too large to hold: fed chunk by chunk, it keeps only head, tail and counts.

use std::collections::VecDeque;

use super::{Preview, PreviewLimits, join, line_ends, whole_lines_at_end, whole_lines_at_start};
use crate::decide::{OutputFacts, legible};

/// Keeps the head and the tail of a byte stream and counts the rest; memory is bounded by the limits.
#[derive(Clone, Debug)]
pub struct Sampler {
    limits: PreviewLimits,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
    lines: u64,
    chars: u64,
    text: Utf8Check,
}

impl Sampler {
    /// A sampler that has seen nothing.
    pub fn new(limits: PreviewLimits) -> Self {
        Self {
            limits,
            head: Vec::new(),
            tail: VecDeque::new(),
            bytes: 0,
            lines: 0,
            chars: 0,
            text: Utf8Check::default(),
        }
    }

    /// Takes the next bytes; characters may be split between calls.
    pub fn push(&mut self, chunk: &[u8]) {
        self.bytes += chunk.len() as u64;
        self.lines += line_ends(chunk);
        // Every byte that is not a continuation byte starts a character (of valid text).
        self.chars += chunk.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
        self.text.push(chunk);
        let room = self.limits.head_bytes - self.head.len();
        let (to_head, rest) = chunk.split_at(room.min(chunk.len()));
        self.head.extend_from_slice(to_head);
        let fresh = &rest[rest.len().saturating_sub(self.limits.tail_bytes)..];
        let surplus = (self.tail.len() + fresh.len()).saturating_sub(self.limits.tail_bytes);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(fresh);
    }

    /// Counts bytes that are not to be had, between what it has seen and what comes next.
    pub fn skip(&mut self, bytes: u64) {
        self.bytes += bytes;
        self.tail.clear();
        // A character that was cut there is no fault of the text.
        self.text.carry.clear();
    }

    /// The size of everything seen; not text when a byte sequence was not UTF-8 or ended within a character.
    pub fn facts(&self) -> OutputFacts {
        let chars = self.text.is_complete().then_some(self.chars);
        let (front, back) = self.tail.as_slices();
        let looks_legible = || [&self.head, front, back].iter().all(|part| legible(part));
        OutputFacts { bytes: self.bytes, chars, legible: chars.is_some() || looks_legible() }
    }

    /// Line ends seen.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// This sampler as if it had been made with these limits, where they are smaller.
    #[must_use]
    pub fn within(mut self, limits: PreviewLimits) -> Self {
        if self.bytes > (limits.head_bytes + limits.tail_bytes) as u64 {
            let surplus = self.tail.len().saturating_sub(limits.tail_bytes);
            self.head.truncate(limits.head_bytes);
            self.tail.drain(..surplus);
        }
        self
    }

    /// The preview; bytes that are not UTF-8 show as U+FFFD.
    pub fn finish(self) -> Preview {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let tail = Vec::from(self.tail);
        if kept == self.bytes {
            let whole = [self.head, tail].concat();
            return Preview { text: String::from_utf8_lossy(&whole).into_owned(), omitted_bytes: 0, omitted_lines: 0 };
        }
        let head = without_split_end(&self.head);
        let tail = without_split_start(&tail);
        let (head_text, tail_text) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        let (head_text, tail_text) = (whole_lines_at_start(&head_text), whole_lines_at_end(&tail_text));
        // Of bytes that are not text no exact cut can be named: replacement characters are longer than what they
        // replace, so the count is of what the text shown can at most stand for.
        let shown = (head_text.len() + tail_text.len()) as u64;
        let shown_lines = line_ends(head_text.as_bytes()) + line_ends(tail_text.as_bytes());
        join(head_text, tail_text, self.bytes.saturating_sub(shown), self.lines.saturating_sub(shown_lines))
    }
}

fn without_split_end(head: &[u8]) -> &[u8] {
    match std::str::from_utf8(head) {
        Err(error) if error.error_len().is_none() => &head[..error.valid_up_to()],
        _ => head,
    }
}

fn without_split_start(tail: &[u8]) -> &[u8] {
    let continuation = tail.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    &tail[continuation..]
}

/// Checks UTF-8 over chunks, holding at most the three bytes of an unfinished character.
#[derive(Clone, Debug, Default)]
struct Utf8Check {
    carry: Vec<u8>,
    broken: bool,
}

impl Utf8Check {
    fn push(&mut self, mut chunk: &[u8]) {
        while !self.broken && !self.carry.is_empty() && !chunk.is_empty() {
            self.carry.push(chunk[0]);
            chunk = &chunk[1..];
            match std::str::from_utf8(&self.carry) {
                Ok(_) => self.carry.clear(),
                Err(error) => self.broken = error.error_len().is_some(),
            }
        }
        if self.broken {
            return;
        }
        if let Err(error) = std::str::from_utf8(chunk) {
            match error.error_len() {
                Some(_) => self.broken = true,
                None => self.carry.extend_from_slice(&chunk[error.valid_up_to()..]),
            }
        }
    }

    fn is_complete(&self) -> bool {
        !self.broken && self.carry.is_empty()
    }
}
