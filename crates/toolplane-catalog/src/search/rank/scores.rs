//! The scores of one question, in memory that is used again.

use super::Candidate;
use crate::search::index::Postings;

/// Tools of a page: what is touched is noted by page.
const PAGE: usize = 256;

/// A score for each place of an index, most of them 0.
#[derive(Debug, Default)]
pub(in crate::search) struct Scores {
    scores: Vec<u32>,
    /// The best of several, before it is added; 0 between two questions.
    best: Vec<u32>,
    /// Pages with a score, one bit each.
    touched: Vec<u64>,
}

impl Scores {
    /// Forgets what was summed up, and makes room for so many places.
    pub(in crate::search) fn clear(&mut self, places: usize) {
        for page in pages(&self.touched) {
            let end = ((page + 1) * PAGE).min(self.scores.len());
            if let Some(page) = self.scores.get_mut(page * PAGE..end) {
                page.fill(0);
            }
        }
        self.touched.fill(0);
        if self.scores.len() < places {
            let room = places.next_multiple_of(64 * PAGE);
            self.scores.resize(room, 0);
            self.best.resize(room, 0);
            self.touched.resize(room / (64 * PAGE), 0);
        }
    }

    /// Adds what the tools of a list get for it.
    pub(in crate::search) fn add(&mut self, postings: &Postings, rate: u32) {
        for posting in postings.runs().flatten() {
            self.put(posting.place, worth(posting.weight, rate));
        }
    }

    /// Adds what the tools of any of the lists get for the best one they are in.
    pub(in crate::search) fn add_best<'p>(&mut self, lists: impl Iterator<Item = (&'p Postings, u32)> + Clone) {
        for (postings, rate) in lists.clone() {
            for posting in postings.runs().flatten() {
                if let Some(best) = self.best.get_mut(posting.place as usize) {
                    *best = (*best).max(worth(posting.weight, rate));
                }
            }
        }
        for (postings, _) in lists {
            for place in postings.places() {
                let best = self.best.get_mut(place as usize).map(std::mem::take).unwrap_or_default();
                self.put(place, best);
            }
        }
    }

    /// Adds the same to some tools.
    pub(in crate::search) fn add_worth(&mut self, places: impl Iterator<Item = u32>, worth: u32) {
        places.for_each(|place| self.put(place, worth));
    }

    fn put(&mut self, place: u32, worth: u32) {
        let place = place as usize;
        let Some(score) = self.scores.get_mut(place).filter(|_| worth > 0) else { return };
        if *score == 0 {
            let page = place / PAGE;
            if let Some(touched) = self.touched.get_mut(page / 64) {
                *touched |= 1 << (page % 64);
            }
        }
        *score = score.saturating_add(worth);
    }

    /// Calls `take` with each tool that has a score, in order of places, until it says to stop.
    pub(in crate::search) fn each(&self, mut take: impl FnMut(Candidate) -> bool) {
        for page in pages(&self.touched) {
            let first = page * PAGE;
            let Some(scores) = self.scores.get(first..first + PAGE) else { continue };
            for (place, score) in (first as u32..).zip(scores) {
                if *score > 0 && !take(Candidate { score: *score, place }) {
                    return;
                }
            }
        }
    }
}

/// What a tool gets for a word: at least something.
pub(in crate::search) fn worth(weight: u16, rate: u32) -> u32 {
    ((u32::from(weight) * rate) >> 12).max(1)
}

fn pages(touched: &[u64]) -> impl Iterator<Item = usize> {
    touched.iter().enumerate().flat_map(|(word, bits)| {
        let mut left = *bits;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(word * 64 + bit)
        })
    })
}
