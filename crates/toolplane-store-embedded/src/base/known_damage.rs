//! What is known to be damaged, by name and by what was set aside.

use parking_lot::RwLock;
use redb::{Database, ReadableDatabase, ReadableTable};
use toolplane_store::likeness::Patterns;
use toolplane_store::{Damage, DamageList, DamageLocation, RecordKey};

use crate::fault::Fault;
use crate::row;
use crate::tables::{EVENTS, SET_ASIDE, SET_ASIDE_EVENTS, place_of_events, place_of_record, record_key, record_of};
use crate::walk::each_row;

/// What a [`numbered_key`](crate::tables::numbered_key) of a row of events has behind the stream's name, in bytes.
const SEQUENCE_BYTES: usize = 9;

/// What is known to be damaged.
#[derive(Debug, Default)]
pub(crate) struct KnownDamage {
    /// By name, for people.
    pub(crate) damage: DamageList,
    /// The keys of the rows that were set aside. A byte of such a key may itself be the damage, so a name is taken for
    /// damaged when it is the same but for one byte.
    records: RwLock<Vec<Vec<u8>>>,
    events: RwLock<Vec<Vec<u8>>>,
}

impl KnownDamage {
    /// What was set aside when the store was opened, now or earlier. Where the tables were ever `mended`, damaged rows
    /// of events may be in them too, in their places: they are told now, and not only when a reader gets that far.
    pub(crate) fn read(state: &Database, patterns: &Patterns, mended: bool) -> Result<Self, Fault> {
        let (known, snapshot) = (Self::default(), state.begin_read()?);
        for row in snapshot.open_table(SET_ASIDE)?.iter()? {
            let key = row?.0.value().to_vec();
            known.damage.note(Damage::new(place_of_record(&key), row::MISFIT));
            known.records.write().push(key);
        }
        for row in snapshot.open_table(SET_ASIDE_EVENTS)?.iter()? {
            let key = row?.0.value().to_vec();
            known.damage.note(Damage::new(place_of_events(&key), row::MISFIT));
            known.events.write().push(key);
        }
        if mended {
            each_row(&snapshot, EVENTS, |key, value| {
                if row::open_events(key, value, patterns).is_err() {
                    known.damage.note(Damage::new(place_of_events(key), row::MISFIT));
                }
                Ok(())
            })?;
        }
        Ok(known)
    }

    /// Takes note of damage at one place; other faults pass through.
    pub(crate) fn note(&self, fault: Fault) -> Fault {
        match fault {
            Fault::Damaged(damage) => Fault::Damaged(self.damage.note(damage)),
            other => other,
        }
    }

    /// Whether a row that was set aside may be the record under `key`.
    pub(crate) fn may_be_record(&self, key: &[u8]) -> bool {
        self.records.read().iter().any(|row| is_beside(row, key))
    }

    /// Whether a row that was set aside may be of `stream`.
    pub(crate) fn may_be_of(&self, stream: &str) -> bool {
        self.events.read().iter().any(|row| is_of(row, stream))
    }

    /// Forgets what was known of a record that was deleted; gives the rows back that were set aside for it: its own, and if
    /// there is none and it `was_missing` in the tables, those whose changed name may have been its own. Damaged neighbours of
    /// a record that was there all the time are still damaged.
    pub(crate) fn forget_record(&self, key: &RecordKey, was_missing: bool) -> Vec<Vec<u8>> {
        // Every record of every checkpoint is asked about here, and hardly a store is ever damaged.
        if !self.damage.is_empty() {
            self.damage.forget(&DamageLocation::Record(key.clone()));
        }
        if self.records.read().is_empty() {
            return Vec::new();
        }
        let name = record_key(key.family, &key.id);
        let mut records = self.records.write();
        let has_own = records.contains(&name);
        let is_of = |row: &mut Vec<u8>| if has_own { *row == name } else { was_missing && is_beside(row, &name) };
        let gone: Vec<_> = records.extract_if(.., is_of).collect();
        gone.iter()
            .filter_map(|row| record_of(row))
            .for_each(|record| self.damage.forget(&DamageLocation::Record(record)));
        gone
    }

    /// The same of a stream that was forgotten.
    pub(crate) fn forget_stream(&self, stream: &str) -> Vec<Vec<u8>> {
        self.damage.forget_stream(stream);
        let gone: Vec<_> = self.events.write().extract_if(.., |row| is_of(row, stream)).collect();
        gone.iter().for_each(|row| self.damage.forget(&place_of_events(row)));
        gone
    }
}

/// Whether a row of events with this key may be of `stream`.
pub(super) fn is_of(row: &[u8], stream: &str) -> bool {
    row.len() == stream.len() + SEQUENCE_BYTES && is_beside(&row[..stream.len()], stream.as_bytes())
}

fn is_beside(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).filter(|(one, other)| one != other).count() <= 1
}
