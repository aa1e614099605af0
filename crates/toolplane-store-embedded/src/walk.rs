//! Going through all rows of the tables: each is judged by its checksum, and those that hold may be written to a new file.

use std::collections::{BTreeMap, BTreeSet};

use redb::WriteTransaction;
use redb::{
    Database, Key, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition, Value,
};
use toolplane_store::likeness::Patterns;
use toolplane_store::{Damage, DamageLocation, RecordKey, Sealed};

use crate::alike::{read_patterns, write_patterns};
use crate::fault::{Fault, contained};
use crate::number::read_number;
use crate::number::write_number;
use crate::row;
use crate::tables::{
    APPLIED, CLOCK, EVENTS, INDEX_LEN, INDEX_ORDER, INDEX_SCORE, NUMBERS, OPERATIONS, RECORDS, SALT, SET_ASIDE,
    SET_ASIDE_EVENTS, name_of, named_key, numbered_key, place_of_events, place_of_record, record_of,
};

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct WalkReport {
    /// Rows that hold.
    pub(crate) records: u64,
    pub(crate) entries: u64,
    pub(crate) event_rows: u64,
    /// What does not, or was set aside before.
    pub(crate) damage: Vec<Damage>,
}

/// What is shown the records of a store: each as it is, and then each as the log leaves it, `None` when it goes.
pub(crate) type Seen<'a> = &'a mut dyn FnMut(&RecordKey, Option<&[u8]>);

/// The entries of all indexes: index, nul, member → score.
pub(crate) type Entries = BTreeMap<Vec<u8>, u64>;

impl WalkReport {
    /// Goes through the tables of `state`. What holds is written to `target`, if there is one; damaged records are set
    /// aside there. Every record that holds is shown to `seen`. Returns an error when rows of records or events cannot be reached.
    pub(crate) fn through(state: &Database, target: Option<&WriteTransaction>, seen: Seen<'_>) -> Result<Self, Fault> {
        let snapshot = contained(|| Ok(state.begin_read()?))?;
        let mut walk = Self::default();
        let (patterns, damaged) = read_patterns(state)?;
        walk.damage = damaged;
        if let Some(target) = target {
            // The rows that are written anew are told by them as they were.
            write_patterns(target, &patterns.all())?;
        }
        Self::numbers(&snapshot, target)?;
        walk.records(&snapshot, &patterns, target, seen)?;
        walk.events(&snapshot, &patterns, target)?;
        walk.operations(&snapshot, target)?;
        let entries = walk.indexes(&snapshot)?;
        walk.entries = entries.len() as u64;
        if let Some(target) = target {
            write_indexes(target, &entries)?;
        }
        Ok(walk)
    }

    fn damaged(&mut self, place: DamageLocation) {
        self.damage.push(Damage::new(place, row::MISFIT));
    }

    fn numbers(snapshot: &ReadTransaction, target: Option<&WriteTransaction>) -> Result<(), Fault> {
        let numbers = contained(|| Ok(snapshot.open_table(NUMBERS)?))?;
        for name in [SALT, APPLIED, CLOCK] {
            let number = read_number(&numbers, name)?;
            if let Some(target) = target {
                write_number(target, name, number)?;
            }
        }
        Ok(())
    }

    fn records(
        &mut self,
        snapshot: &ReadTransaction,
        patterns: &Patterns,
        target: Option<&WriteTransaction>,
        seen: Seen<'_>,
    ) -> Result<(), Fault> {
        let mut good = target.map(|target| target.open_table(RECORDS)).transpose()?;
        let mut aside = target.map(|target| target.open_table(SET_ASIDE)).transpose()?;
        each_row(snapshot, RECORDS, |key, value| {
            let (table, holds) = match row::open_record(key, value, patterns) {
                Ok(record) => {
                    if let Some(key) = record_of(key) {
                        seen(&key, Some(&record.bytes));
                    }
                    (&mut good, true)
                }
                Err(_) => (&mut aside, false),
            };
            if holds {
                self.records += 1;
            } else {
                self.damaged(place_of_record(key));
            }
            if let Some(table) = table {
                table.insert(key, value)?;
            }
            Ok(())
        })?;
        each_row(snapshot, SET_ASIDE, |key, value| {
            self.damaged(place_of_record(key));
            if let Some(table) = &mut aside {
                table.insert(key, value)?;
            }
            Ok(())
        })
    }

    fn events(
        &mut self,
        snapshot: &ReadTransaction,
        patterns: &Patterns,
        target: Option<&WriteTransaction>,
    ) -> Result<(), Fault> {
        let mut table = target.map(|target| target.open_table(EVENTS)).transpose()?;
        let mut aside = target.map(|target| target.open_table(SET_ASIDE_EVENTS)).transpose()?;
        each_row(snapshot, EVENTS, |key, value| {
            // A damaged row whose place is certain stays there: a reader that gets that far then learns of it.
            let placed = row::count_events(key, value).is_ok();
            match row::open_events(key, value, patterns) {
                Ok(_) => self.event_rows += 1,
                Err(_) => self.damaged(place_of_events(key)),
            }
            if let Some(table) = if placed { &mut table } else { &mut aside } {
                table.insert(key, value)?;
            }
            Ok(())
        })?;
        each_row(snapshot, SET_ASIDE_EVENTS, |key, value| {
            self.damaged(place_of_events(key));
            if let Some(table) = &mut aside {
                table.insert(key, value)?;
            }
            Ok(())
        })
    }

    fn operations(&mut self, snapshot: &ReadTransaction, target: Option<&WriteTransaction>) -> Result<(), Fault> {
        let mut table = target.map(|target| target.open_table(OPERATIONS)).transpose()?;
        each_row(snapshot, OPERATIONS, |lsn, value| {
            match (row::open_operations(lsn, value), &mut table) {
                (Ok(_), Some(table)) => drop(table.insert(lsn, value)?),
                (Ok(_), None) => {}
                (Err(_), _) => self.damaged(DamageLocation::Part(format!("the memory of operations at {lsn}"))),
            }
            Ok(())
        })
    }

    /// Each entry is in two tables, so what one has lost is taken from the other.
    fn indexes(&mut self, snapshot: &ReadTransaction) -> Result<Entries, Fault> {
        let (mut entries, mut damaged) = (Entries::new(), BTreeSet::new());
        let by_score = each_row(snapshot, INDEX_SCORE, |key, value| {
            match row::open_number(Sealed::Score, key, value) {
                Ok(score) => drop(entries.insert(key.to_vec(), score)),
                Err(_) => drop(damaged.insert(name_of(key))),
            }
            Ok(())
        });
        let by_order = each_row(snapshot, INDEX_ORDER, |key, sum| {
            let name = name_of(key);
            let place = crate::tables::split_numbered(&name, key).filter(|_| row::seal_entry(key) == sum);
            match place {
                Some((score, member)) => drop(entries.entry(named_key(&name, member)).or_insert(score)),
                None => drop(damaged.insert(name)),
            }
            Ok(())
        });
        let lengths = each_row(snapshot, INDEX_LEN, |key, value| {
            if row::open_number(Sealed::Length, key, value).is_err() {
                damaged.insert(name_of(key));
            }
            Ok(())
        });
        for (table, walked) in [("scores", &by_score), ("order", &by_order), ("lengths", &lengths)] {
            if let Err(fault) = walked {
                let part = DamageLocation::Part(format!("the {table} of the indexes"));
                self.damage.push(Damage::new(part, fault.reason()));
            }
        }
        if let (Err(fault), Err(_)) = (by_score, by_order) {
            return Err(fault);
        }
        damaged.into_iter().for_each(|index| self.damaged(DamageLocation::Index(index)));
        Ok(entries)
    }
}

/// Lays the three tables of the indexes down from the entries there are.
pub(crate) fn write_indexes(target: &WriteTransaction, entries: &Entries) -> Result<(), Fault> {
    let mut order = target.open_table(INDEX_ORDER)?;
    let mut scores = target.open_table(INDEX_SCORE)?;
    let mut lengths = BTreeMap::<String, u64>::new();
    for (key, score) in entries {
        let name = name_of(key);
        let place = numbered_key(&name, *score, key.get(name.len() + 1..).unwrap_or_default());
        order.insert(place.as_slice(), row::seal_entry(&place))?;
        scores.insert(key.as_slice(), row::seal_number(Sealed::Score, key, *score))?;
        *lengths.entry(name).or_default() += 1;
    }
    let mut table = target.open_table(INDEX_LEN)?;
    for (name, len) in lengths {
        table.insert(name.as_bytes(), row::seal_number(Sealed::Length, name.as_bytes(), len))?;
    }
    Ok(())
}

/// Shows every row of a table; fails when not all can be reached.
pub(crate) fn each_row<K: Key + 'static, V: Value + 'static>(
    snapshot: &ReadTransaction,
    table: TableDefinition<'_, K, V>,
    mut each: impl for<'row> FnMut(K::SelfType<'row>, V::SelfType<'row>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let name = table.to_string();
    let walked = contained(|| {
        let table = snapshot.open_table(table)?;
        let (expected, mut seen) = (table.len()?, 0);
        for found in table.iter()? {
            let (key, value) = found?;
            each(key.value(), value.value())?;
            seen += 1;
        }
        if seen == expected { Ok(()) } else { Err(Fault::corrupt(format!("{seen} of {expected} rows can be reached"))) }
    });
    walked.map_err(|fault| match fault {
        Fault::Corrupt(reason) => Fault::Corrupt(format!("{name}: {reason}")),
        other => other,
    })
}
