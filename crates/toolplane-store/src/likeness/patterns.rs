//! The patterns of a store, and which of them bytes are compared with.
//!
//! Bytes become a pattern when others of their kind are like them, so that what is like nothing costs no room. A pattern is kept for
//! as long as the store, and what a caller, a tool or a person wrote must go with what it was written in: their texts are left out
//! of it, whatever they stand in (`stored::without_texts`). What is told by a pattern holds them itself.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, RwLock};
use toolplane_records::stored;

use super::choice::Choice;
use super::{MAX_PATTERN_BYTES, Pattern};
use crate::key::Family;
use crate::seal::Sealed;

/// Patterns there may be. Each takes a few kilobytes of memory.
const MOST: usize = 1024;
/// What is shorter is kept as it is.
const LEAST_BYTES: usize = 24;

/// What is compared with each other: a kind is a number a backend gives.
pub type Kind = u8;

/// The kind of events.
pub const EVENTS: Kind = 0;

/// Names a pattern: made of it, so two processes that find the same one give it the same name.
pub type PatternId = u32;

/// A pattern with its name and its kind.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name.
    pub id: PatternId,
    /// What is compared with it.
    pub kind: Kind,
    /// The bytes themselves.
    pub pattern: Arc<Pattern>,
}

/// The patterns of a store. One thread compares at a time; any number read.
#[derive(Debug, Default)]
pub struct Patterns {
    known: RwLock<BTreeMap<PatternId, Arc<Pattern>>>,
    choices: Mutex<Choices>,
    has_found: AtomicBool,
}

#[derive(Debug, Default)]
struct Choices {
    of: BTreeMap<Kind, Choice>,
    /// What became a pattern and is not kept yet.
    found: Vec<Named>,
}

impl Named {
    /// What is kept of it: a sum, the kind and the bytes.
    pub fn sealed(&self) -> Vec<u8> {
        let (bytes, kind) = (self.pattern.bytes(), [self.kind]);
        let sum = Sealed::Pattern.sum(&[&self.id.to_le_bytes(), &kind, bytes]);
        [&sum.to_le_bytes(), &kind[..], bytes].concat()
    }

    /// The pattern that is kept under `id`; nothing when it is damaged.
    pub fn open(id: PatternId, sealed: &[u8]) -> Option<Self> {
        let (_, rest) = sealed.split_first_chunk::<4>()?;
        let (kind, bytes) = rest.split_first()?;
        let named = Self { id, kind: *kind, pattern: Arc::new(Pattern::new(bytes)?) };
        (named.sealed() == sealed).then_some(named)
    }

    pub(super) fn of(kind: Kind, pattern: Arc<Pattern>) -> Self {
        Self { id: crc32c::crc32c_append(kind.into(), pattern.bytes()), kind, pattern }
    }
}

impl Patterns {
    /// Knows a pattern that is kept from now on.
    pub fn add(&self, named: Named) {
        self.known.write().insert(named.id, Arc::clone(&named.pattern));
        self.choices.lock().of.entry(named.kind).or_default().add(named);
    }

    /// A pattern that was found could not be kept: another one may be.
    pub fn give_up(&self, named: &Named) {
        self.choices.lock().of.entry(named.kind).or_default().give_up();
    }

    /// Nothing is told by it from now on. What is can still be read.
    pub fn retire(&self, named: &Named) {
        self.choices.lock().of.entry(named.kind).or_default().retire(named.id);
    }

    /// Whether bytes that are told by this one can be read.
    pub fn knows(&self, id: PatternId) -> bool {
        self.known.read().contains_key(&id)
    }

    /// The bytes of which `written` says what differs from a pattern; nothing when that is not known, or says something else.
    pub fn whole(&self, id: PatternId, written: &[u8], length: usize) -> Option<Vec<u8>> {
        let pattern = self.known.read().get(&id).cloned()?;
        pattern.read(written, length)
    }

    /// Writes what differs between `bytes`, a stored value, and a pattern to `out`; its name, or nothing when it is like none.
    pub fn slim(&self, kind: Kind, bytes: &[u8], out: &mut Vec<u8>) -> Option<PatternId> {
        self.slim_row(kind, bytes, std::iter::once(0..bytes.len()), out)
    }

    /// The same of a row of several values: where in it they are, one after the other. Between them is what the backend counts
    /// them by.
    pub fn slim_row(
        &self,
        kind: Kind,
        bytes: &[u8],
        values: impl IntoIterator<Item = Range<usize>>,
        out: &mut Vec<u8>,
    ) -> Option<PatternId> {
        if !(LEAST_BYTES..=MAX_PATTERN_BYTES).contains(&bytes.len()) {
            return None;
        }
        let choices = &mut *self.choices.lock();
        let choice = choices.of.entry(kind).or_default();
        let (told, found) = choice.tell(bytes, out, || without_texts(bytes, values));
        if let Some(pattern) = found {
            choices.found.push(Named::of(kind, pattern));
            self.has_found.store(true, Ordering::Relaxed);
        }
        told
    }

    /// The patterns that were found and are to be kept, and then [added](Self::add) or [given up](Self::give_up): none is used
    /// before.
    pub fn found(&self) -> Vec<Named> {
        // Asked with every commit: a look costs less than a swap, and what is missed now is met next time.
        if !self.has_found.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.has_found.store(false, Ordering::Relaxed);
        let known = self.known.read();
        let mut choices = self.choices.lock();
        let found = std::mem::take(&mut choices.found);
        // Two that have the same name cannot both be kept.
        let (taken, mut new): (Vec<_>, Vec<_>) = found.into_iter().partition(|named| known.contains_key(&named.id));
        taken.iter().for_each(|named| choices.of.entry(named.kind).or_default().give_up());
        // With no room left none is looked for any more.
        new.truncate(MOST.saturating_sub(known.len()));
        new
    }

    /// All that are known.
    pub fn all(&self) -> Vec<Named> {
        self.choices.lock().of.values().flat_map(Choice::all).cloned().collect()
    }
}

/// The kind of a record's bytes; nothing for what callers send, tools give or people are asked, which is hardly anything but texts.
pub fn kind_of(family: Family) -> Option<Kind> {
    // Kept with patterns: a number stays what it is.
    match family {
        Family::Payload | Family::Result | Family::Approval => None,
        Family::Invocation => Some(1),
        Family::Plan => Some(3),
        Family::Declaration => Some(5),
        Family::Surface => Some(6),
        Family::Decision => Some(8),
        Family::Worker => Some(9),
        Family::Meta => Some(10),
        Family::Batch => Some(11),
        Family::LockDomain => Some(12),
        Family::Evidence => Some(13),
    }
}

/// What of a row may be in a pattern; nothing when one of its values may not be at all.
fn without_texts(bytes: &[u8], values: impl IntoIterator<Item = Range<usize>>) -> Option<Vec<u8>> {
    let mut row = Vec::with_capacity(bytes.len());
    for value in values {
        row.extend_from_slice(bytes.get(row.len()..value.start)?);
        row.extend_from_slice(&stored::without_texts(bytes.get(value)?)?);
    }
    (row.len() == bytes.len()).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::{Family, Named, Patterns, kind_of};

    #[test]
    fn what_others_say_is_in_no_pattern() {
        for family in [Family::Payload, Family::Result, Family::Approval] {
            assert_eq!(kind_of(family), None, "{family:?}");
        }
        assert!(kind_of(Family::Invocation).is_some());
    }

    fn call(number: u32) -> Vec<u8> {
        format!(
            r#"{{"invocation_id":"call-{number:09}","tool_id":"one-that-is-always-the-same","result_id":"of-{number:09}"}}"#
        )
        .into_bytes()
    }

    #[test]
    fn what_others_are_like_becomes_a_pattern_once_it_is_kept() {
        let (patterns, mut out) = (Patterns::default(), Vec::new());
        assert_eq!(patterns.slim(1, &call(1), &mut out), None);
        assert_eq!(patterns.slim(2, &call(2), &mut out), None, "another kind");
        assert_eq!((patterns.slim(1, &call(3), &mut out), patterns.found().len()), (None, 1));
        assert!(patterns.found().is_empty(), "told once");
        (4..9).for_each(|number| assert_eq!(patterns.slim(2, &call(number), &mut out), None));
        let [found] = patterns.found().try_into().unwrap();
        patterns.add(Named::open(found.id, &found.sealed()).unwrap());
        for number in 3..9 {
            assert_eq!(patterns.slim(2, &call(number), &mut out), Some(found.id));
            assert!(out.len() < 40, "{out:?}");
            assert_eq!(patterns.whole(found.id, &out, call(number).len()), Some(call(number)));
        }
        assert_eq!(patterns.whole(found.id ^ 1, &out, 100), None, "no such pattern");
        assert_eq!(patterns.slim(2, b"short", &mut out), None);
        assert_eq!(patterns.all().len(), 1);
    }

    #[test]
    fn a_pattern_that_is_not_as_it_was_kept_is_none() {
        let patterns = Patterns::default();
        (0..2).for_each(|_| assert_eq!(patterns.slim(1, &call(1), &mut Vec::new()), None));
        let [found] = patterns.found().try_into().unwrap();
        let sealed = found.sealed();
        for bit in 0..sealed.len() * 8 {
            let mut changed = sealed.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Named::open(found.id, &changed).is_none());
        }
        assert!(Named::open(found.id ^ 1, &sealed).is_none() && Named::open(found.id, b"").is_none());
    }

    #[test]
    fn what_is_like_nothing_makes_no_patterns() {
        let (patterns, mut out, mut seed) = (Patterns::default(), Vec::new(), 1_u64);
        for _ in 0..100 {
            let mut next = || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 56) as u8
            };
            let noise: Vec<u8> = (0..300).map(|_| next()).collect();
            assert_eq!(patterns.slim(1, &noise, &mut out), None);
        }
        assert!(patterns.found().is_empty());
    }
}
