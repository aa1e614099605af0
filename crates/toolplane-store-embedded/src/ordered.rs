//! Many rows into one table, in the order of their keys: new ones that follow each other fill whole pages.
//!
//! A row that is written alone splits a full page in the middle, and rows that come in order never go back to the half that is
//! left behind: tables of calls would be half empty. A run of new rows is written through a cursor instead, which packs pages.

use std::ops::Bound;

use redb::{CursorError, Table, Value};

use crate::fault::Fault;

/// Writes rows, which come in the order of their keys; `written` is told each, and whether it was missing before.
pub(crate) fn write_in_order<V: Value + 'static, T>(
    table: &mut Table<'_, &'static [u8], V>,
    rows: impl IntoIterator<Item = (Vec<u8>, T)>,
    value: impl for<'row> Fn(&'row T) -> V::SelfType<'row>,
    mut written: impl FnMut(&T, bool) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut rows = rows.into_iter().fuse();
    let mut next = rows.next();
    while let Some((key, row)) = next.take() {
        let was_missing = table.insert(key.as_slice(), value(&row))?.is_none();
        written(&row, was_missing)?;
        next = rows.next();
        if !was_missing || next.is_none() {
            continue;
        }
        // Behind it, for as long as the table has no row in between.
        let mut cursor = table.lower_bound_mut(Bound::Excluded(key.as_slice()))?;
        while let Some((key, row)) = &next {
            match cursor.insert_before(key.as_slice(), value(row)) {
                Ok(()) => written(row, true)?,
                Err(CursorError::UnorderedKey) => break,
                Err(CursorError::Storage(error)) => return Err(error.into()),
                Err(other) => return Err(Fault::Storage(other.to_string())),
            }
            next = rows.next();
        }
        cursor.close()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};

    use super::write_in_order;

    const ROWS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows");

    type Model = BTreeMap<Vec<u8>, Vec<u8>>;

    fn database() -> Database {
        let memory = redb::backends::InMemoryBackend::new();
        Database::builder().create_with_backend(memory).unwrap()
    }

    /// Writes the rows to both, and says which were there.
    fn write(state: &Database, model: &mut Model, rows: &Model) -> Vec<Vec<u8>> {
        let transaction = state.begin_write().unwrap();
        let mut replaced = Vec::new();
        {
            let mut table = transaction.open_table(ROWS).unwrap();
            let named = rows.iter().map(|(key, value)| (key.clone(), (key, value)));
            let note = |(key, _): &(&Vec<u8>, &Vec<u8>), was_missing: bool| {
                if !was_missing {
                    replaced.push((*key).clone());
                }
                Ok(())
            };
            write_in_order(&mut table, named, |(_, value)| value.as_slice(), note).unwrap();
        }
        transaction.commit().unwrap();
        let expected: Vec<_> = rows.keys().filter(|key| model.contains_key(*key)).cloned().collect();
        assert_eq!(replaced, expected);
        model.extend(rows.clone());
        expected
    }

    fn content(state: &Database) -> Model {
        let table = state.begin_read().unwrap().open_table(ROWS).unwrap();
        let rows = table.iter().unwrap().map(Result::unwrap);
        rows.map(|(key, value)| (key.value().to_vec(), value.value().to_vec())).collect()
    }

    #[test]
    fn new_and_known_rows_of_any_size_are_written() {
        let (state, mut model, mut seed) = (database(), Model::new(), 7_u64);
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let mut known = 0;
        for round in 0..40 {
            let rows = (0..random(300)).map(|_| {
                let key = random(if round % 2 == 0 { 400 } else { 1_000_000 }).to_string().into_bytes();
                let size = if random(50) == 0 { 9_000 } else { random(600) };
                (key, vec![round; size as usize])
            });
            known += write(&state, &mut model, &rows.collect()).len();
            assert_eq!(content(&state), model, "round {round}");
        }
        assert!(known > 100, "{known}");
    }

    /// Two kinds of rows, each of which goes on at its own end, as those of calls do.
    #[test]
    fn rows_that_follow_each_other_fill_their_pages() {
        let (state, mut model) = (database(), Model::new());
        for round in 0..20_u32 {
            let numbers = (0..400_u32).map(|number| round * 400 + number);
            let rows = ["a", "b"].into_iter().flat_map(|kind| {
                numbers.clone().map(move |number| (format!("{kind}{number:09}").into_bytes(), vec![7; 100]))
            });
            write(&state, &mut model, &rows.collect());
        }
        let stats = state.begin_read().unwrap().open_table(ROWS).unwrap().stats().unwrap();
        let held = stats.leaf_pages() * 4096;
        assert!(stats.stored_bytes() * 100 > held * 85, "{} of {held} bytes", stats.stored_bytes());
    }
}
