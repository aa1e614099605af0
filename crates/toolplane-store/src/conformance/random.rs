//! What a differential run draws: names out of small sets, so that commands meet each other.

use crate::commit::MAX_SCORE;
use crate::{Family, IndexOp, RecordKey, ScoreRange};

const FAMILIES: [Family; 3] = [Family::Invocation, Family::Result, Family::Worker];
const INDEXES: [&str; 4] = ["q", "q/a", "q/b", "timers"];
const IDS: u64 = 8;
const STREAMS: u64 = 5;

/// splitmix64: small, seeded, and the same everywhere. Every name it makes starts with its prefix.
#[derive(Debug)]
pub(super) struct Random {
    state: u64,
    prefix: String,
}

impl Random {
    pub(super) fn new(seed: u64, prefix: String) -> Self {
        Self { state: seed, prefix }
    }

    pub(super) fn prefix(&self) -> &str {
        &self.prefix
    }

    // === everything there is to draw ===

    pub(super) fn keys(&self) -> Vec<RecordKey> {
        let ids = |family| (0..IDS).map(move |id| (family, id));
        FAMILIES.into_iter().flat_map(ids).map(|(family, id)| self.named_key(family, id)).collect()
    }

    pub(super) fn indexes(&self) -> Vec<String> {
        INDEXES.iter().map(|index| self.name(index)).collect()
    }

    pub(super) fn streams(&self) -> Vec<String> {
        (0..STREAMS).map(|stream| self.named_stream(stream)).collect()
    }

    // === one of it ===

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True once in `times` draws.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub(super) fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub(super) fn key(&mut self) -> RecordKey {
        let family = FAMILIES[self.below(FAMILIES.len() as u64) as usize];
        let id = self.below(IDS);
        self.named_key(family, id)
    }

    pub(super) fn index(&mut self) -> String {
        let index = INDEXES[self.below(INDEXES.len() as u64) as usize];
        self.name(index)
    }

    pub(super) fn stream(&mut self) -> String {
        let stream = self.below(STREAMS);
        self.named_stream(stream)
    }

    pub(super) fn index_op(&mut self) -> IndexOp {
        let (index, member) = (self.index(), self.member());
        match self.below(20) {
            0..8 => IndexOp::Remove { index, member },
            8 => IndexOp::Put { index, score: MAX_SCORE - self.below(3), member },
            _ => IndexOp::Put { index, score: self.below(6), member },
        }
    }

    pub(super) fn range(&mut self) -> ScoreRange {
        let min = self.below(5);
        let max = min + self.below(5);
        let range = match self.below(4) {
            0 | 1 => ScoreRange::all(),
            2 => ScoreRange::between(min, MAX_SCORE - 1),
            _ => ScoreRange::between(min, max),
        };
        let after = self.once_in(3).then(|| (self.below(6), self.member()));
        ScoreRange { after, reverse: self.once_in(2), ..range }
    }

    fn member(&mut self) -> String {
        format!("m{}", self.below(12))
    }

    fn named_key(&self, family: Family, id: u64) -> RecordKey {
        RecordKey::new(family, format!("{}id-{id}", self.prefix))
    }

    fn named_stream(&self, stream: u64) -> String {
        format!("{}stream-{stream}", self.prefix)
    }
}
