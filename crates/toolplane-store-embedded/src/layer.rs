//! What was committed since a checkpoint began: the newest state of everything touched, in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use toolplane_store::{RecordKey, Versioned};

use crate::dead_runs::DeadRuns;
use crate::group::Group;
use crate::hash::HashMap;
use crate::operations::Digest;

// What a staged operation costs in memory beside its bytes, roughly.
const OPERATION_BYTES: usize = 128;

/// A layer of state over everything older. It holds only what was touched while it was the newest.
#[derive(Debug, Default)]
pub(crate) struct Layer {
    /// `None` hides an older record that was deleted.
    pub(crate) records: BTreeMap<RecordKey, Option<Versioned>>,
    pub(crate) indexes: BTreeMap<Arc<str>, IndexLayer>,
    pub(crate) streams: HashMap<String, Tail>,
    pub(crate) operations: Vec<(Digest, i64)>,
    /// The last group of the log this layer includes; 0 when it includes none.
    pub(crate) last_lsn: u64,
    /// The clock of that group.
    pub(crate) clock: i64,
    /// About how much memory the layer takes.
    pub(crate) bytes: usize,
    /// Where this layer's own entries are all overridden by the layer above.
    pub(crate) dead: DeadRuns,
}

/// The part of one index that a layer changed.
#[derive(Debug, Default)]
pub(crate) struct IndexLayer {
    /// Members this layer decides about, whatever older state says of them.
    pub(crate) members: HashMap<Arc<str>, MemberScores>,
    /// Those of them that are in the index, in order.
    pub(crate) live: BTreeSet<(u64, Arc<str>)>,
    /// The length of the whole index, older state included. Absolute, so that reading this layer over tables that
    /// already include it stays right.
    pub(crate) len: u64,
    /// The length of the index below this layer; with 0 there, there is nothing to look for.
    pub(crate) below_len: u64,
}

/// A member's score below the layer that holds this, and as of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemberScores {
    pub(crate) below: Option<u64>,
    pub(crate) now: Option<u64>,
}

/// The newest events of a stream.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) first_seq: u64,
    pub(crate) events: Vec<Bytes>,
    /// Whatever older state has of this stream was forgotten.
    pub(crate) hides_older: bool,
}

// === impl Layer ===

impl Layer {
    pub(crate) fn is_empty(&self) -> bool {
        self.last_lsn == 0
    }

    /// Takes over what a group changed; `lsn` is the group's place in the log. Gives the group's buffer back.
    pub(crate) fn absorb(&mut self, group: Group, lsn: u64) -> Vec<u8> {
        self.last_lsn = lsn;
        self.clock = group.clock;
        self.bytes += group.log.len() + group.operation_count() * OPERATION_BYTES;
        self.records.extend(group.records);
        for (name, changes) in group.indexes {
            let index = match self.indexes.get_mut(name.as_str()) {
                Some(index) => index,
                None => self.indexes.entry(Arc::from(name)).or_insert_with(|| IndexLayer::over(changes.below_len)),
            };
            for (member, change) in changes.members {
                index.set(member, change);
            }
        }
        for (stream, tail) in group.streams {
            self.absorb_tail(stream, tail);
        }
        self.operations.extend(group.operations);
        group.log
    }

    fn absorb_tail(&mut self, stream: String, tail: Tail) {
        match self.streams.get_mut(&stream) {
            Some(known) if !tail.hides_older => known.events.extend(tail.events),
            // The stream began and was forgotten within this layer: nothing older to hide.
            Some(known) if known.is_whole() && tail.events.is_empty() => drop(self.streams.remove(&stream)),
            Some(known) => *known = Tail { hides_older: !known.is_whole(), ..tail },
            None => drop(self.streams.insert(stream, tail)),
        }
    }
}

// === impl IndexLayer ===

impl IndexLayer {
    fn over(below_len: u64) -> Self {
        Self { len: below_len, below_len, ..Self::default() }
    }

    fn set(&mut self, member: String, change: MemberScores) {
        let known = self.members.get_key_value(member.as_str()).map(|(name, known)| (Arc::clone(name), *known));
        let (name, was) =
            known.unwrap_or_else(|| (Arc::from(member), MemberScores { below: change.below, now: change.below }));
        if let Some(score) = was.now {
            self.live.remove(&(score, Arc::clone(&name)));
            self.len -= 1;
        }
        if let Some(score) = change.now {
            self.live.insert((score, Arc::clone(&name)));
            self.len += 1;
        }
        if was.below.is_none() && change.now.is_none() {
            // Came and went within this layer: nothing older to hide.
            self.members.remove(&name);
        } else {
            self.members.insert(name, MemberScores { below: was.below, now: change.now });
        }
    }
}

// === impl Tail ===

impl Tail {
    /// The events from `first_seq` on, none yet.
    pub(crate) fn starting_at(first_seq: u64) -> Self {
        Self { first_seq, events: Vec::new(), hides_older: false }
    }

    /// A stream that has nothing any more.
    pub(crate) fn forgotten() -> Self {
        Self { hides_older: true, ..Self::starting_at(1) }
    }

    /// True when older state has nothing of this stream.
    pub(crate) fn is_whole(&self) -> bool {
        self.first_seq == 1 && !self.hides_older
    }

    /// True when the events from sequence `from` on all lie here.
    pub(crate) fn reaches_back_to(&self, from: u64) -> bool {
        self.hides_older || from >= self.first_seq
    }

    pub(crate) fn head(&self) -> u64 {
        (self.first_seq - 1) + self.events.len() as u64
    }

    /// Adds the events from sequence `from` on to `found`, until that holds `limit`.
    pub(crate) fn collect(&self, from: u64, limit: usize, found: &mut Vec<(u64, Bytes)>) {
        let skip = usize::try_from(from.saturating_sub(self.first_seq)).unwrap_or(usize::MAX);
        let numbered = (self.first_seq..).zip(&self.events).skip(skip);
        found.extend(numbered.take(limit.saturating_sub(found.len())).map(|(seq, event)| (seq, event.clone())));
    }
}

// === impl DeadRuns ===
