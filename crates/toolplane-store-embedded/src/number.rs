//! Numbers of the tables.

use crate::fault::{Fault, contained};
use crate::row::{self, SealedNumber};
use crate::tables::NUMBERS;
use redb::{ReadOnlyTable, WriteTransaction};
use toolplane_store::Sealed;

/// A number of the tables. Each is there from the beginning.
pub(crate) fn read_number(numbers: &ReadOnlyTable<&'static str, SealedNumber>, name: &str) -> Result<u64, Fault> {
    let misfit = |reason: &str| Fault::corrupt(format!("the number `{name}` of the tables: {reason}"));
    let found =
        contained(|| Ok(numbers.get(name)?.map(|found| found.value())))?.ok_or_else(|| misfit("it is missing"))?;
    row::open_number(Sealed::Number, name.as_bytes(), found).map_err(misfit)
}

/// Keeps one of the numbers of the tables.
pub(crate) fn write_number(transaction: &WriteTransaction, name: &str, number: u64) -> Result<(), Fault> {
    let sealed = row::seal_number(Sealed::Number, name.as_bytes(), number);
    transaction.open_table(NUMBERS)?.insert(name, sealed)?;
    Ok(())
}
