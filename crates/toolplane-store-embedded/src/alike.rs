//! Rows that are like earlier ones are written as what differs from a pattern: here is where patterns are kept. Two tables say the
//! same, because many rows are lost with a pattern.

use std::collections::BTreeMap;

use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable, WriteTransaction};
use toolplane_store::likeness::{Named, Patterns};
use toolplane_store::{Damage, DamageLocation};

use crate::fault::{Fault, contained};
use crate::row::MISFIT;
use crate::tables::{PATTERNS, PATTERNS_AGAIN};

/// Those of the tables, and what of them is damaged. There are none where the tables were laid down by an earlier version.
pub(crate) fn read_patterns(state: &Database) -> Result<(Patterns, Vec<Damage>), Fault> {
    let (patterns, mut found) = (Patterns::default(), BTreeMap::new());
    for table in [PATTERNS, PATTERNS_AGAIN] {
        let table: ReadOnlyTable<u32, &[u8]> = match state.begin_read()?.open_table(table) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        // What one table has lost is read from the other.
        let read = contained(|| {
            for row in table.iter()? {
                let (id, sealed) = row?;
                let known = found.entry(id.value()).or_insert(None);
                *known = known.take().or_else(|| Named::open(id.value(), sealed.value()));
            }
            Ok(())
        });
        if let Err(Fault::Storage(reason)) = read {
            return Err(Fault::Storage(reason));
        }
    }
    let mut damaged = Vec::new();
    for (id, named) in found {
        match named {
            Some(named) => patterns.add(named),
            None => damaged.push(Damage::new(DamageLocation::Part(format!("the pattern {id:08x} of rows")), MISFIT)),
        }
    }
    Ok((patterns, damaged))
}

/// Keeps patterns. In a transaction that comes before that of the rows that are like them, or is the same.
pub(crate) fn write_patterns(transaction: &WriteTransaction, patterns: &[Named]) -> Result<(), Fault> {
    for table in [PATTERNS, PATTERNS_AGAIN] {
        let mut table = transaction.open_table(table)?;
        for named in patterns {
            table.insert(named.id, named.sealed().as_slice())?;
        }
    }
    Ok(())
}
