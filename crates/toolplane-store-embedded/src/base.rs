//! The tables as of the last checkpoint: one read transaction, kept until the next.

use std::ops::Bound;

use bytes::Bytes;
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable};
use toolplane_store::{Family, RecordKey, Versioned};

use crate::codec;
use crate::fault::Fault;
use crate::layer::DeadRuns;
use crate::tables::{
    EVENTS, INDEX_LEN, INDEX_ORDER, INDEX_SCORE, META, OPERATIONS, RECORDS, name_end, named_key, numbered_key,
    record_key, split_numbered,
};

type Table<V> = ReadOnlyTable<&'static [u8], V>;

/// One row of [`INDEX_ORDER`].
pub(crate) type IndexRow = Result<(u64, String), Fault>;

/// A snapshot of the tables. Cheap to read from many threads at once.
pub(crate) struct Base {
    records: Table<&'static [u8]>,
    index_order: Table<()>,
    index_score: Table<u64>,
    index_len: Table<u64>,
    events: Table<&'static [u8]>,
    operations: ReadOnlyTable<u64, &'static [u8]>,
    meta: ReadOnlyTable<&'static str, u64>,
    /// Where the tables' entries are all overridden by the layers above.
    pub(crate) dead: DeadRuns,
}

impl Base {
    /// The tables as they stand now. They must exist.
    pub(crate) fn open(state: &Database) -> Result<Self, Fault> {
        let snapshot = state.begin_read()?;
        Ok(Self {
            records: snapshot.open_table(RECORDS)?,
            index_order: snapshot.open_table(INDEX_ORDER)?,
            index_score: snapshot.open_table(INDEX_SCORE)?,
            index_len: snapshot.open_table(INDEX_LEN)?,
            events: snapshot.open_table(EVENTS)?,
            operations: snapshot.open_table(OPERATIONS)?,
            meta: snapshot.open_table(META)?,
            dead: DeadRuns::default(),
        })
    }

    pub(crate) fn meta(&self, name: &str) -> Result<Option<u64>, Fault> {
        Ok(self.meta.get(name)?.map(|value| value.value()))
    }

    /// The rows of operations, oldest first.
    pub(crate) fn operations(&self) -> Result<Vec<Bytes>, Fault> {
        let rows = self.operations.iter()?;
        rows.map(|row| Ok(Bytes::copy_from_slice(row?.1.value()))).collect()
    }

    pub(crate) fn record(&self, key: &RecordKey) -> Result<Option<Versioned>, Fault> {
        let found = self.records.get(record_key(key.family, &key.id).as_slice())?;
        found.map(|row| decode_record(row.value())).transpose()
    }

    /// Records of `family` whose id comes after `after`, in order.
    pub(crate) fn records_after(
        &self,
        family: Family,
        after: &str,
    ) -> Result<impl Iterator<Item = Result<(String, Versioned), Fault>> + use<>, Fault> {
        let start = record_key(family, after);
        let end = [start[0] + 1];
        let bounds = (Bound::Excluded(start.as_slice()), Bound::Excluded(end.as_slice()));
        let rows = self.records.range::<&[u8]>(bounds)?;
        Ok(rows.map(|row| {
            let (key, value) = row?;
            Ok((text(&key.value()[1..])?, decode_record(value.value())?))
        }))
    }

    pub(crate) fn score(&self, index: &str, member: &str) -> Result<Option<u64>, Fault> {
        let found = self.index_score.get(named_key(index, member.as_bytes()).as_slice())?;
        Ok(found.map(|score| score.value()))
    }

    pub(crate) fn index_len(&self, index: &str) -> Result<u64, Fault> {
        Ok(self.index_len.get(index.as_bytes())?.map_or(0, |len| len.value()))
    }

    /// Names of the indexes that start with `prefix`.
    pub(crate) fn indexes(&self, prefix: &str) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        for row in self.index_len.range(prefix.as_bytes()..)? {
            let name = text(row?.0.value())?;
            if !name.starts_with(prefix) {
                break;
            }
            names.push(name);
        }
        Ok(names)
    }

    /// Entries of `index` between two places, from either end.
    pub(crate) fn index_rows(
        &self,
        index: &str,
        low: Bound<&(u64, String)>,
        high: Bound<&(u64, String)>,
    ) -> Result<impl DoubleEndedIterator<Item = IndexRow> + use<>, Fault> {
        let key = |(score, member): &(u64, String)| numbered_key(index, *score, member.as_bytes());
        let low = match low.map(key) {
            Bound::Unbounded => Bound::Included(named_key(index, &[])),
            bound => bound,
        };
        let high = match high.map(key) {
            Bound::Unbounded => Bound::Excluded(name_end(index)),
            bound => bound,
        };
        let rows = self.index_order.range::<&[u8]>((borrowed(&low), borrowed(&high)))?;
        let index = index.to_owned();
        Ok(rows.map(move |row| {
            let (key, _) = row?;
            let (score, member) = split_numbered(&index, key.value())
                .ok_or_else(|| Fault::corrupt(format!("a row of index `{index}` has a malformed key")))?;
            Ok((score, text(member)?))
        }))
    }

    /// Sequence of the newest event of `stream`; 0 when it has none.
    pub(crate) fn head(&self, stream: &str) -> Result<u64, Fault> {
        let (start, end) = (numbered_key(stream, 0, &[]), name_end(stream));
        match self.events.range(start.as_slice()..end.as_slice())?.next_back() {
            None => Ok(0),
            Some(row) => {
                let (key, value) = row?;
                Ok(first_seq(stream, key.value())? - 1 + codec::count_events(value.value())?)
            }
        }
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
        // The row that holds `from` begins at it or before it.
        let start = match self.events.range(first.as_slice()..=exact.as_slice())?.next_back() {
            Some(row) => row?.0.value().to_vec(),
            None => exact,
        };
        let end = name_end(stream);
        for row in self.events.range(start.as_slice()..end.as_slice())? {
            if found.len() >= limit {
                break;
            }
            let (key, value) = row?;
            let events = codec::decode_events(Bytes::copy_from_slice(value.value()))?;
            let numbered = (first_seq(stream, key.value())?..).zip(events);
            found.extend(numbered.filter(|(seq, _)| *seq >= from).take(limit - found.len()));
        }
        Ok(())
    }
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

fn first_seq(stream: &str, key: &[u8]) -> Result<u64, Fault> {
    match split_numbered(stream, key) {
        Some((seq, _)) if seq > 0 => Ok(seq),
        _ => Err(Fault::corrupt(format!("a row of stream `{stream}` has a malformed key"))),
    }
}

fn decode_record(row: &[u8]) -> Result<Versioned, Fault> {
    let (version, bytes) = row.split_first_chunk::<8>().ok_or_else(|| Fault::corrupt("a record has no version"))?;
    Ok(Versioned { version: u64::from_le_bytes(*version), bytes: Bytes::copy_from_slice(bytes) })
}

fn text(bytes: &[u8]) -> Result<String, Fault> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| Fault::corrupt("a name in a table is not utf-8"))
}
