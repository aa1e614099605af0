//! The tables on disk and how their keys are composed.
//!
//! Composed keys order like their parts: a name, a nul byte (no name holds one), a big-endian number. So the byte order
//! of the table is the order of the contract.

use redb::TableDefinition;
use toolplane_store::DamageLocation;

use crate::row::SealedNumber;

/// Version of everything this module, the log and the codec lay down on disk. Each row carries a checksum since 3, and may be
/// told by what differs from a pattern since 4; a store of format 2 is brought to the present one when it is opened.
pub(crate) const FORMAT: u64 = 4;
/// The format before this one. Its rows are rows of this one, so it becomes this one where it lies.
pub(crate) const WITHOUT_PATTERNS: u64 = 3;

/// Family, id → sum, version (8 bytes, little-endian) and the record's bytes, or what differs from a pattern.
pub(crate) const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");
/// Index, nul, score, member → sum. The order of each index.
pub(crate) const INDEX_ORDER: TableDefinition<'_, &[u8], u32> = TableDefinition::new("index_order");
/// Index, nul, member → score.
pub(crate) const INDEX_SCORE: TableDefinition<'_, &[u8], SealedNumber> = TableDefinition::new("index_score");
/// Index → how many members it has; no row for none.
pub(crate) const INDEX_LEN: TableDefinition<'_, &[u8], SealedNumber> = TableDefinition::new("index_len");
/// Stream, nul, sequence of the first event in the row → sums and the row's events.
pub(crate) const EVENTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("events");
/// Last group of a checkpoint → sum and the operation ids it carried.
pub(crate) const OPERATIONS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("operations");
/// The numbers below.
pub(crate) const NUMBERS: TableDefinition<'_, &str, SealedNumber> = TableDefinition::new("numbers");
/// Damaged rows of records, as they were found: key → row. Nothing reads them as records.
pub(crate) const SET_ASIDE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("set_aside");
/// Damaged rows of events whose place in their stream is not known for certain.
pub(crate) const SET_ASIDE_EVENTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("set_aside_events");
/// Number → sum, kind and bytes of a pattern that rows are like.
pub(crate) const PATTERNS: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("patterns");
/// The same once more: many rows are lost with a pattern.
pub(crate) const PATTERNS_AGAIN: TableDefinition<'_, u32, &[u8]> = TableDefinition::new("patterns_again");
/// [`FORMAT`] of the data under [`META_FORMAT`]. The same in every format, so that it can be read first.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// The name of the format.
pub(crate) const META_FORMAT: &str = "format";
/// What the checksums of the log start from: random, fixed when the store is created.
pub(crate) const SALT: &str = "log_salt";
/// The last group the tables hold.
pub(crate) const APPLIED: &str = "applied";
/// The clock at the last checkpoint, in milliseconds since the epoch.
pub(crate) const CLOCK: &str = "clock_millis";

/// `family`'s byte on disk. Fixed by hand: the order of the enum may change, this may not.
pub(crate) fn family_byte(family: toolplane_store::Family) -> u8 {
    use toolplane_store::Family;
    match family {
        Family::Invocation => 1,
        Family::Payload => 2,
        Family::Plan => 3,
        Family::Result => 4,
        Family::Declaration => 5,
        Family::Surface => 6,
        Family::Approval => 7,
        Family::Decision => 8,
        Family::Worker => 9,
        Family::Meta => 10,
        Family::Batch => 11,
        Family::LockDomain => 12,
        Family::Evidence => 13,
    }
}

/// The family with this byte.
pub(crate) fn family_of(byte: u8) -> Option<toolplane_store::Family> {
    toolplane_store::Family::ALL.into_iter().find(|family| family_byte(*family) == byte)
}

/// Key of a record.
pub(crate) fn record_key(family: toolplane_store::Family, id: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + id.len());
    key.push(family_byte(family));
    key.extend_from_slice(id.as_bytes());
    key
}

/// The record a key is of; nothing when it is not one of [`record_key`].
pub(crate) fn record_of(key: &[u8]) -> Option<toolplane_store::RecordKey> {
    let (family, id) = key.split_first()?;
    Some(toolplane_store::RecordKey::new(family_of(*family)?, std::str::from_utf8(id).ok()?))
}

/// What the row under `key` is called, as well as it can be read.
pub(crate) fn place_of_record(key: &[u8]) -> DamageLocation {
    match record_of(key) {
        Some(record) => DamageLocation::Record(record),
        None => DamageLocation::Part(format!("a record whose name cannot be read ({})", key.escape_ascii())),
    }
}

/// The same of a row of events.
pub(crate) fn place_of_events(key: &[u8]) -> DamageLocation {
    let from_seq = key.last_chunk::<8>().map_or(0, |seq| u64::from_be_bytes(*seq));
    DamageLocation::Stream { stream: name_of(key), from_seq }
}

/// `name`, nul, `rest`: key of a member's score.
pub(crate) fn named_key(name: &str, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1 + rest.len());
    key.extend_from_slice(name.as_bytes());
    key.push(0);
    key.extend_from_slice(rest);
    key
}

/// `name`, nul, `number`, `rest`: key of an index entry, or of a row of events.
pub(crate) fn numbered_key(name: &str, number: u64, rest: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 9 + rest.len());
    key.extend_from_slice(name.as_bytes());
    key.push(0);
    key.extend_from_slice(&number.to_be_bytes());
    key.extend_from_slice(rest);
    key
}

/// The smallest key greater than every key [`numbered_key`] makes for `name`.
pub(crate) fn name_end(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 1);
    key.extend_from_slice(name.as_bytes());
    key.push(1);
    key
}

/// The name a key made by [`named_key`] or [`numbered_key`] begins with, as well as it can be read.
pub(crate) fn name_of(key: &[u8]) -> String {
    let name = key.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

/// Splits what follows `name` and nul in a [`numbered_key`]; nothing when the key is not one of `name`.
pub(crate) fn split_numbered<'a>(name: &str, key: &'a [u8]) -> Option<(u64, &'a [u8])> {
    let rest = key.strip_prefix(name.as_bytes())?.strip_prefix(&[0])?;
    let (number, rest) = rest.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*number), rest))
}
