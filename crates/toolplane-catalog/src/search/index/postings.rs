//! Which tools have a word: sorted, in blocks, so that one tool comes or goes without the others being moved.

use std::slice;
use std::sync::Arc;

/// Most entries of a block; as many bytes as one page of memory.
const BLOCK: usize = 512;

/// A word in a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) struct Posting {
    /// The tool, by its place.
    pub(in crate::search) place: u32,
    /// How much the word says about this tool, from 0 to [`u16::MAX`]. It depends on nothing but the tool.
    pub(in crate::search) weight: u16,
    /// The fields the word is in, one bit each.
    pub(in crate::search) fields: u8,
}

/// The tools that have a word, by place. A copy shares its blocks until one of them changes.
#[derive(Clone, Debug)]
pub(in crate::search) enum Postings {
    /// Most words are those of one tool alone.
    One(Posting),
    Blocks(Vec<Arc<Vec<Posting>>>, u32),
}

impl Postings {
    pub(in crate::search) fn len(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Blocks(_, entries) => *entries as usize,
        }
    }

    /// The entries in order of places, in runs.
    pub(in crate::search) fn runs(&self) -> impl Iterator<Item = &[Posting]> {
        let (one, blocks) = match self {
            Self::One(posting) => (slice::from_ref(posting), [].as_slice()),
            Self::Blocks(blocks, _) => ([].as_slice(), blocks.as_slice()),
        };
        std::iter::once(one).filter(|one| !one.is_empty()).chain(blocks.iter().map(|block| block.as_slice()))
    }

    pub(in crate::search) fn places(&self) -> impl Iterator<Item = u32> {
        self.runs().flatten().map(|posting| posting.place)
    }

    /// The entry of a tool.
    pub(in crate::search) fn get(&self, place: u32) -> Option<Posting> {
        match self {
            Self::One(posting) => Some(*posting).filter(|posting| posting.place == place),
            Self::Blocks(blocks, _) => {
                let block = blocks.get(block_of(blocks, place)?)?;
                let at = block.binary_search_by_key(&place, |posting| posting.place).ok()?;
                block.get(at).copied()
            }
        }
    }

    /// Puts in the entry of a tool that has none.
    pub(super) fn insert(&mut self, new: Posting) {
        let (blocks, entries) = match self {
            Self::One(before) => {
                let mut both = vec![*before, new];
                both.sort_unstable_by_key(|posting| posting.place);
                *self = Self::Blocks(vec![Arc::new(both)], 2);
                return;
            }
            Self::Blocks(blocks, entries) => (blocks, entries),
        };
        *entries += 1;
        let at = block_of(blocks, new.place).unwrap_or(0);
        let last = at + 1 == blocks.len();
        let Some(block) = blocks.get_mut(at) else {
            blocks.push(Arc::new(vec![new]));
            return;
        };
        // Places mostly grow: a full block is left full, and the next one begins.
        if block.len() == BLOCK && last && block.last().is_some_and(|posting| posting.place < new.place) {
            blocks.push(Arc::new(vec![new]));
            return;
        }
        let block = Arc::make_mut(block);
        let within = block.partition_point(|posting| posting.place < new.place);
        block.insert(within, new);
        if block.len() > BLOCK {
            let rest = block.split_off(BLOCK / 2);
            blocks.insert(at + 1, Arc::new(rest));
        }
    }

    /// Takes out the entry of a tool; tells whether none is left.
    pub(super) fn remove(&mut self, place: u32) -> bool {
        let (blocks, entries) = match self {
            Self::One(posting) => return posting.place == place,
            Self::Blocks(blocks, entries) => (blocks, entries),
        };
        let Some(at) = block_of(blocks, place) else { return false };
        let Some(block) = blocks.get_mut(at) else { return false };
        if let Ok(within) = block.binary_search_by_key(&place, |posting| posting.place) {
            Arc::make_mut(block).remove(within);
            *entries -= 1;
            if block.is_empty() {
                blocks.remove(at);
            }
        }
        *entries == 0
    }

    /// Bytes of memory beside the entry itself.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Self::One(_) => 0,
            Self::Blocks(blocks, _) => {
                let block = |block: &Arc<Vec<Posting>>| 40 + block.capacity() * size_of::<Posting>();
                blocks.capacity() * size_of::<usize>() + blocks.iter().map(block).sum::<usize>()
            }
        }
    }
}

/// The block a place is in, or would be.
fn block_of(blocks: &[Arc<Vec<Posting>>], place: u32) -> Option<usize> {
    let begins_before = |block: &Arc<Vec<Posting>>| block.first().is_some_and(|first| first.place <= place);
    match blocks.partition_point(begins_before) {
        0 => None,
        after => Some(after - 1),
    }
}
