//! Which of the patterns of one kind bytes are told by, and which bytes become another one.
//!
//! Records of one kind are alike in parts whatever they are about, so the first pattern that is like bytes may tell them badly:
//! a call of one tool by one of another, an ended call by one that waits. The nearest one is taken, and what even that tells
//! badly makes a pattern of its own when more like it comes.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::patterns::Named;
use super::{Marks, Pattern, PatternId};

/// Among how many patterns the nearest is looked for: those that were of use last.
const TRIED: usize = 8;
/// How much of what was told badly is remembered, each to become a pattern when something is like it.
const REMEMBERED: usize = 16;
/// So many times in a row something better is looked for. When none is found, it is looked for seldom from then on: what differs
/// each time would cost the most and gain nothing.
const TIMES: u32 = 64;
/// One time in so many, then; a prime, so that where shapes come in turn it is not always the turn of the same one.
const SELDOM: u32 = 17;

/// So many bytes more or less say nothing: a longer number, another word.
const LITTLE: usize = 24;

/// The patterns of one kind.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// The one that was of use last at the end.
    known: Vec<Known>,
    /// What was told badly, or by none, lately.
    unlike: VecDeque<Arc<Pattern>>,
    /// One was found that is not in use yet: until then no other one is looked for.
    awaits: bool,
    /// How often something better was looked for since it was found last.
    looks: u32,
}

#[derive(Debug)]
struct Known {
    named: Named,
    /// What differed took so many bytes when it took the fewest.
    least: usize,
}

/// How bytes are told.
#[derive(Clone, Copy, Debug)]
struct Told {
    id: PatternId,
    length: usize,
    /// It takes about as much as others that are told by this pattern.
    well: bool,
}

impl Choice {
    /// Uses a pattern from now on.
    pub(super) fn add(&mut self, named: Named) {
        self.awaits = false;
        if self.known.iter().all(|known| known.named.id != named.id) {
            self.known.push(Known { named, least: usize::MAX });
        }
    }

    /// Looks for others again.
    pub(super) fn give_up(&mut self) {
        self.awaits = false;
    }

    /// Uses this pattern no more.
    pub(super) fn retire(&mut self, id: PatternId) {
        self.known.retain(|known| known.named.id != id);
    }

    /// Those in use.
    pub(super) fn all(&self) -> impl Iterator<Item = &Named> {
        self.known.iter().map(|known| &known.named)
    }

    /// Writes what differs between `bytes` and a pattern to `out`; its name, or nothing when they are like none. What is to become a
    /// pattern comes back, too; `without_texts` says what of the bytes may.
    pub(super) fn tell(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        without_texts: impl FnOnce() -> Option<Vec<u8>>,
    ) -> (Option<PatternId>, Option<Arc<Pattern>>) {
        let (marks, rest) = (Marks::of(bytes), self.known.len().saturating_sub(TRIED));
        let mut told = self.tell_by_nearest(rest..self.known.len(), &marks, bytes, out);
        if told.is_some_and(|told| told.well) || self.awaits || !self.looks_again() {
            return (told.map(|told| told.id), None);
        }
        let mut other = Vec::new();
        let by_rest = self.tell_by_nearest(0..rest, &marks, bytes, &mut other);
        if let Some(better) = by_rest.filter(|other| told.is_none_or(|told| other.length < told.length)) {
            told = Some(better);
            std::mem::swap(out, &mut other);
        }
        let found = match told {
            Some(Told { well: true, .. }) => None,
            // A pattern is worth its room when it saves a third of what there is without it.
            _ => self.found(&marks, bytes, told.map_or(most(bytes), |told| told.length * 2 / 3), without_texts),
        };
        (told.map(|told| told.id), found)
    }

    fn tell_by_nearest(&mut self, among: Range<usize>, marks: &Marks, bytes: &[u8], out: &mut Vec<u8>) -> Option<Told> {
        // Of several that are as near, the one that was of use last.
        let at = among.max_by_key(|at| self.known[*at].named.pattern.has(marks))?;
        let known = &mut self.known[at];
        out.clear();
        if !known.named.pattern.write(bytes, most(bytes), out) {
            return None;
        }
        let length = out.len();
        known.least = known.least.min(length);
        let told = Told { id: known.named.id, length, well: length <= known.least + known.least / 4 + LITTLE };
        self.known[at..].rotate_left(1);
        Some(told)
    }

    fn looks_again(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        self.looks <= TIMES || self.looks.is_multiple_of(SELDOM)
    }

    /// What was remembered and is like `bytes`, so that what differs takes at most `most` bytes; else these are remembered.
    fn found(
        &mut self,
        marks: &Marks,
        bytes: &[u8],
        most: usize,
        without_texts: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<Arc<Pattern>> {
        let nearest = (0..self.unlike.len()).max_by_key(|at| self.unlike[*at].has(marks));
        let like = |at: &usize| self.unlike[*at].write(bytes, most, &mut Vec::new());
        if let Some(at) = nearest.filter(like) {
            (self.awaits, self.looks) = (true, 0);
            return self.unlike.remove(at);
        }
        if let Some(pattern) = without_texts().and_then(|bytes| Pattern::new(&bytes)) {
            if self.unlike.len() == REMEMBERED {
                self.unlike.pop_front();
            }
            self.unlike.push_back(Arc::new(pattern));
        }
        None
    }
}

/// Bytes are like a pattern when what differs takes at most three fifths.
fn most(bytes: &[u8]) -> usize {
    bytes.len() * 3 / 5
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record of a call: of one of several tools, which share a part of it, as it waits and as it ended.
    fn record(tool: usize, ended: bool, number: u32) -> Vec<u8> {
        let of = |number: u64| format!("{:016x}", (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let about: String = (0..6).map(|part| of(tool as u64 * 10 + part)).collect();
        let id = of(u64::from(number) << 20);
        let state = if ended { "ended with a result and its evidence, all of it here" } else { "waits in a queue" };
        format!("a call {id} that somebody made, and what was decided about it: {about}; {state} {id}").into_bytes()
    }

    fn tell(choice: &mut Choice, bytes: &[u8]) -> Option<usize> {
        let mut out = Vec::new();
        let (told, found) = choice.tell(bytes, &mut out, || Some(bytes.to_vec()));
        if let Some(pattern) = found {
            choice.add(Named::of(1, pattern));
        }
        let id = told?;
        let named = choice.all().find(|named| named.id == id).expect("it is told by one of them");
        assert_eq!(named.pattern.read(&out, bytes.len()).as_deref(), Some(bytes));
        Some(out.len())
    }

    /// A shape of records that comes later than others has a pattern of its own soon, in whatever order they come.
    #[test]
    fn each_shape_is_told_by_its_own_pattern() {
        let mut choice = Choice::default();
        for tools in [1, 2, 4, 8] {
            let mut lengths = Vec::new();
            for number in 0..40 * tools as u32 {
                let tool = number as usize % tools;
                for ended in [false, true] {
                    lengths.push(tell(&mut choice, &record(tool, ended, tools as u32 * 1_000 + number)));
                }
            }
            let last: Option<Vec<usize>> = lengths.split_off(lengths.len() - 2 * tools).into_iter().collect();
            let last = last.expect("each is told by a pattern");
            // Of some 270 bytes. By a pattern of another tool it takes 140.
            let (most, mean) = (last.iter().max(), last.iter().sum::<usize>() / last.len());
            assert!(most <= Some(&96) && mean <= 48, "{tools} tools: {last:?}");
            assert!(choice.all().count() <= 2 * tools, "{tools} tools have {} patterns", choice.all().count());
        }
    }

    /// What differs each time is told as well as it can be, becomes no pattern, and is seldom looked at twice.
    #[test]
    fn what_differs_each_time_makes_no_patterns() {
        let mut choice = Choice::default();
        for number in 0..4 {
            tell(&mut choice, &record(0, false, number));
        }
        assert_eq!(choice.all().count(), 1);
        let mut looked = 0;
        for number in 0..2_000_u32 {
            let mut text: Vec<u8> =
                (0..120).map(|at| (number.wrapping_mul(2_654_435_761) >> (at % 24)) as u8 ^ at).collect();
            text.splice(0..0, record(0, false, number));
            let mut out = Vec::new();
            let (told, found) = choice.tell(&text, &mut out, || {
                looked += 1;
                Some(text.clone())
            });
            assert!(told.is_some() && found.is_none(), "{number}");
        }
        assert!(looked <= TIMES as usize + 2_000 / SELDOM as usize + 1, "{looked} times");
    }
}
