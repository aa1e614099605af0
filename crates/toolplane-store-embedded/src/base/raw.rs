//! Rows as they lie in the tables, damaged or not: for a caller that backs up what is about to be taken out.

use redb::ReadableTable;
use toolplane_store::RecordKey;

use super::Base;
use crate::fault::{Fault, contained};
use crate::tables::{name_end, numbered_key, record_key};

/// A row as it lies in the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRow {
    /// Its key.
    pub key: Vec<u8>,
    /// The bytes that are there.
    pub value: Vec<u8>,
}

impl RawRow {
    pub(crate) fn new(key: &[u8], value: &[u8]) -> Self {
        Self { key: key.to_vec(), value: value.to_vec() }
    }
}

impl Base {
    /// The rows of these records and streams, and what was set aside for them.
    pub(crate) fn rows(&self, records: &[RecordKey], streams: &[String]) -> Result<Vec<RawRow>, Fault> {
        contained(|| {
            let mut rows = Vec::new();
            for name in records.iter().map(|key| record_key(key.family, &key.id)) {
                for table in [&self.records, &self.set_aside] {
                    rows.extend(table.get(name.as_slice())?.map(|value| RawRow::new(&name, value.value())));
                }
            }
            for stream in streams {
                let (start, end) = (numbered_key(stream, 0, &[]), name_end(stream));
                for row in self.events.range(start.as_slice()..end.as_slice())? {
                    let (key, value) = row?;
                    rows.push(RawRow::new(key.value(), value.value()));
                }
                for row in self.set_aside_events.iter()? {
                    let (key, value) = row?;
                    if super::known_damage::is_of(key.value(), stream) {
                        rows.push(RawRow::new(key.value(), value.value()));
                    }
                }
            }
            Ok(rows)
        })
    }
}
