//! The compact form in which the records of a call are stored and told to other schedulers.
//!
//! It says the same as the standard's JSON, which stays the form in which records are shown and exported, in a third of the
//! bytes: names of fields and words of the vocabularies are numbers, digests are bytes, instants are milliseconds, JSON payloads
//! are copied as they are, and a text that comes again is told by its place. It describes itself, so that fields may
//! come and go as in JSON. Records that an earlier version stored as JSON are read as they are.
//!
//! ```
//! use toolplane_records::stored;
//!
//! let mut bytes = Vec::new();
//! stored::write(&("succeeded", 7), &mut bytes)?;
//! assert_eq!(stored::read::<(String, u64)>(&bytes)?, ("succeeded".to_owned(), 7));
//! assert_eq!(stored::read::<(String, u64)>(br#"["succeeded",7]"#)?, ("succeeded".to_owned(), 7));
//! # Ok::<_, stored::StoredError>(())
//! ```

mod form;
mod read;
#[cfg(test)]
mod tests;
mod textless;
mod words;
mod write;

use serde::{Deserialize, Serialize};

pub use textless::without_texts;

/// Bytes that are not a record, or a value that cannot be one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoredError {
    /// A record that is stored as JSON cannot be read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The bytes do not have the stored form; what is wrong.
    #[error("not in the stored form: {0}")]
    Form(&'static str),
    /// The value does not fit the record.
    #[error("not the record that is expected: {0}")]
    Value(String),
}

impl serde::ser::Error for StoredError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Value(message.to_string())
    }
}

impl serde::de::Error for StoredError {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Self::Value(message.to_string())
    }
}

/// Writes `value` to the end of `bytes`. Fails with [`StoredError`] for what no record is made of: numbers of more than 64 bits,
/// and keys that are no text.
pub fn write<T: Serialize + ?Sized>(value: &T, bytes: &mut Vec<u8>) -> Result<(), StoredError> {
    RecordWriter::default().write(value, bytes)
}

/// Writes many records, each as [`write()`] does, with the same memory for what it notes meanwhile.
#[derive(Debug, Default)]
pub struct RecordWriter {
    seen: write::Seen,
}

impl RecordWriter {
    /// Writes `value` to the end of `bytes`. Fails as [`write()`] does.
    pub fn write<T: Serialize + ?Sized>(&mut self, value: &T, bytes: &mut Vec<u8>) -> Result<(), StoredError> {
        bytes.push(form::FORM);
        value.serialize(&mut write::Writer::new(bytes, &mut self.seen))
    }
}

/// Reads what was written, or the same value as JSON. Fails with [`StoredError`] when the bytes are neither, and when they are
/// not all read.
pub fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, StoredError> {
    match bytes.split_first() {
        Some((&form::FORM, record)) => {
            let mut reader = read::Reader::new(record);
            let value = T::deserialize(&mut reader)?;
            if reader.is_at_end() { Ok(value) } else { Err(StoredError::Form("something follows it")) }
        }
        _ => Ok(serde_json::from_slice(bytes)?),
    }
}
