//! The tables as of the last checkpoint: one read transaction, kept until the next.
//!
//! Each row is proved by its checksum before it is used. A damaged record is refused, by name; the three tables of the
//! indexes say the same thing twice, so what one of them has lost is read from another.

mod indexes;
mod known_damage;
mod raw;

use crate::number::read_number;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable};
use toolplane_store::likeness::Patterns;
use toolplane_store::{Damage, DamageLocation, Family, Found, RecordKey, Versioned};

use crate::dead_runs::DeadRuns;
use crate::fault::{Fault, contained};
use crate::row::{self, SealedNumber};
use crate::tables::{
    self, EVENTS, INDEX_LEN, INDEX_ORDER, INDEX_SCORE, NUMBERS, OPERATIONS, RECORDS, SET_ASIDE_EVENTS, name_end,
    numbered_key, record_key, record_of, split_numbered,
};

pub(crate) use indexes::{IndexRow, OrderSource};
pub(crate) use known_damage::KnownDamage;
pub use raw::RawRow;

/// Why something is damaged whose row is not read any more.
const SET_ASIDE: &str = "its row was set aside as damaged";

type Table<V> = ReadOnlyTable<&'static [u8], V>;

/// A snapshot of the tables. Cheap to read from many threads at once.
pub(crate) struct Base {
    records: Table<&'static [u8]>,
    index_order: Table<u32>,
    index_score: Table<SealedNumber>,
    index_len: Table<SealedNumber>,
    events: Table<&'static [u8]>,
    operations: ReadOnlyTable<u64, &'static [u8]>,
    numbers: ReadOnlyTable<&'static str, SealedNumber>,
    set_aside: Table<&'static [u8]>,
    set_aside_events: Table<&'static [u8]>,
    /// Where the tables' entries are all overridden by the layers above.
    pub(crate) dead: DeadRuns,
    pub(crate) known: Arc<KnownDamage>,
    /// What rows are told by.
    pub(crate) patterns: Arc<Patterns>,
}

impl Base {
    /// The tables as they are now, with what is known of their damage. They must exist.
    pub(crate) fn open(state: &Database, known: Arc<KnownDamage>, patterns: Arc<Patterns>) -> Result<Self, Fault> {
        let snapshot = state.begin_read()?;
        Ok(Self {
            records: snapshot.open_table(RECORDS)?,
            index_order: snapshot.open_table(INDEX_ORDER)?,
            index_score: snapshot.open_table(INDEX_SCORE)?,
            index_len: snapshot.open_table(INDEX_LEN)?,
            events: snapshot.open_table(EVENTS)?,
            operations: snapshot.open_table(OPERATIONS)?,
            numbers: snapshot.open_table(NUMBERS)?,
            set_aside: snapshot.open_table(tables::SET_ASIDE)?,
            set_aside_events: snapshot.open_table(SET_ASIDE_EVENTS)?,
            dead: DeadRuns::default(),
            known,
            patterns,
        })
    }

    /// A number the store keeps about itself.
    pub(crate) fn number(&self, name: &str) -> Result<u64, Fault> {
        read_number(&self.numbers, name)
    }

    /// The rows of operations, oldest first. One that is damaged is left out: operations are only asked about again by
    /// the process that made them, and that one has ended.
    pub(crate) fn operations(&self) -> Result<Vec<Bytes>, Fault> {
        let mut found = Vec::new();
        for row in self.operations.iter()? {
            let (lsn, value) = row?;
            match row::open_operations(lsn.value(), value.value()) {
                Ok(operations) => found.push(Bytes::copy_from_slice(operations)),
                Err(reason) => {
                    let part = DamageLocation::Part(format!("the memory of operations at {}", lsn.value()));
                    self.known.damage.note(Damage::new(part, reason));
                }
            }
        }
        Ok(found)
    }

    // === records ===

    pub(crate) fn record(&self, key: &RecordKey) -> Result<Option<Versioned>, Fault> {
        let name = record_key(key.family, &key.id);
        let found = contained(|| match self.records.get(name.as_slice())? {
            Some(found) => row::open_record(&name, found.value(), &self.patterns).map(Some).map_err(Fault::corrupt),
            None if self.known.may_be_record(&name) => Err(Fault::corrupt(SET_ASIDE)),
            None => Ok(None),
        });
        found.map_err(|fault| self.known.note(fault.at(|| DamageLocation::Record(key.clone()))))
    }

    /// The same, where a damaged record is an answer.
    pub(crate) fn found(&self, key: &RecordKey) -> Result<Found, Fault> {
        match self.record(key) {
            Ok(record) => Ok(Ok(record)),
            Err(Fault::Damaged(damage)) => Ok(Err(damage)),
            Err(fault) => Err(fault),
        }
    }

    /// Records of `family` whose id comes after `after`, in order, without those that are damaged.
    pub(crate) fn records_after(
        &self,
        family: Family,
        after: &str,
    ) -> Result<impl Iterator<Item = Result<(String, Versioned), Fault>> + use<'_>, Fault> {
        let start = record_key(family, after);
        let end = [start[0] + 1];
        let bounds = (Bound::Excluded(start.as_slice()), Bound::Excluded(end.as_slice()));
        let broken =
            move |fault: Fault| fault.at(|| DamageLocation::Part(format!("a page of records of family `{family}`")));
        let mut rows = contained(|| Ok(self.records.range::<&[u8]>(bounds)?)).map_err(broken)?;
        let mut read = move || {
            contained(|| {
                for row in rows.by_ref() {
                    let (key, value) = row?;
                    let named = record_of(key.value());
                    match (row::open_record(key.value(), value.value(), &self.patterns), named) {
                        (Ok(record), Some(RecordKey { id, .. })) => return Ok(Some((id, record))),
                        (_, Some(named)) => drop(self.known.damage.note(Damage::of_record(&named, row::MISFIT))),
                        (_, None) => {
                            let part = format!("a record of family `{family}` whose name cannot be read");
                            self.known.damage.note(Damage::new(DamageLocation::Part(part), row::MISFIT));
                        }
                    }
                }
                Ok(None)
            })
        };
        let mut over = false;
        Ok(std::iter::from_fn(move || {
            if over {
                return None;
            }
            let next = read().map_err(|fault| self.known.note(broken(fault))).transpose();
            over = !matches!(next, Some(Ok(_)));
            next
        }))
    }

    // === events ===

    /// Sequence of the newest event of `stream`; 0 when it has none.
    pub(crate) fn head(&self, stream: &str) -> Result<u64, Fault> {
        let (start, end) = (numbered_key(stream, 0, &[]), name_end(stream));
        self.whole(stream)?;
        let mut from = 0;
        let head = contained(|| match self.events.range(start.as_slice()..end.as_slice())?.next_back() {
            None => Ok(0),
            Some(row) => {
                let (key, value) = row?;
                from = first_seq(stream, key.value())?;
                let count = row::count_events(key.value(), value.value()).map_err(Fault::corrupt)?;
                Ok(from - 1 + count)
            }
        });
        head.map_err(|fault| self.misfit(fault, stream, from))
    }

    /// Adds the events of `stream` from sequence `from` on to `found`, until that holds `limit`.
    pub(crate) fn events(
        &self,
        stream: &str,
        from: u64,
        limit: usize,
        found: &mut Vec<(u64, Bytes)>,
    ) -> Result<(), Fault> {
        let first = numbered_key(stream, 0, &[]);
        let exact = numbered_key(stream, from, &[]);
        let end = name_end(stream);
        self.whole(stream)?;
        let mut next = from.max(1);
        let read = contained(|| {
            // The row that holds `from` begins at it or before it.
            let start = match self.events.range(first.as_slice()..=exact.as_slice())?.next_back() {
                Some(row) => row?.0.value().to_vec(),
                None => exact,
            };
            for row in self.events.range(start.as_slice()..end.as_slice())? {
                if found.len() >= limit {
                    break;
                }
                let (key, value) = row?;
                let begins = first_seq(stream, key.value())?;
                if begins > next {
                    return Err(Fault::corrupt(format!("its events go on at {begins}")));
                }
                let count = row::count_events(key.value(), value.value()).map_err(Fault::corrupt)?;
                if begins.saturating_add(count) <= next {
                    continue;
                }
                let events = row::open_events(key.value(), value.value(), &self.patterns)?;
                let numbered = (begins..).zip(events);
                found.extend(numbered.filter(|(seq, _)| *seq >= from).take(limit - found.len()));
                next = found.last().map_or(next, |(seq, _)| seq + 1);
            }
            Ok(())
        });
        read.map_err(|fault| self.misfit(fault, stream, next))
    }

    // Rows that were set aside may be of this stream, in the middle or at its end: then it is not known how it goes on.
    fn whole(&self, stream: &str) -> Result<(), Fault> {
        if self.known.may_be_of(stream) { Err(self.misfit(Fault::corrupt(SET_ASIDE), stream, 1)) } else { Ok(()) }
    }

    fn misfit(&self, fault: Fault, stream: &str, from_seq: u64) -> Fault {
        self.known.note(fault.at(|| DamageLocation::Stream { stream: stream.to_owned(), from_seq }))
    }
}

fn first_seq(stream: &str, key: &[u8]) -> Result<u64, Fault> {
    match split_numbered(stream, key) {
        Some((seq, _)) if seq > 0 => Ok(seq),
        _ => Err(Fault::corrupt("one of its rows has a malformed key")),
    }
}

fn text(bytes: &[u8]) -> Result<String, Fault> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Fault::corrupt("a name in it is not utf-8"))
}
