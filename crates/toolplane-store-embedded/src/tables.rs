//! The tables on disk and how their keys are composed.
//!
//! Composed keys order like their parts: a name, a nul byte (no name holds one), a big-endian number. So the byte order
//! of the table is the order of the contract.

use redb::TableDefinition;

/// Version of everything this module, the log and the codec lay down on disk.
pub(crate) const FORMAT: u64 = 2;

/// Family, id → version (8 bytes, little-endian) and the record's bytes.
pub(crate) const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");
/// Index, nul, score, member → nothing. The order of each index.
pub(crate) const INDEX_ORDER: TableDefinition<'_, &[u8], ()> = TableDefinition::new("index_order");
/// Index, nul, member → score.
pub(crate) const INDEX_SCORE: TableDefinition<'_, &[u8], u64> = TableDefinition::new("index_score");
/// Index → how many members it has; no row for none.
pub(crate) const INDEX_LEN: TableDefinition<'_, &[u8], u64> = TableDefinition::new("index_len");
/// Stream, nul, sequence of the first event in the row → the row's events.
pub(crate) const EVENTS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("events");
/// Last group of a checkpoint → the operation ids it carried.
pub(crate) const OPERATIONS: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("operations");
/// The numbers below.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// What the checksums of the log start from: random, fixed when the store is created.
pub(crate) const META_SALT: &str = "log_salt";
/// [`FORMAT`] of the data.
pub(crate) const META_FORMAT: &str = "format";
/// The last group the tables hold.
pub(crate) const META_APPLIED: &str = "applied";
/// The clock at the last checkpoint, in milliseconds since the epoch.
pub(crate) const META_CLOCK: &str = "clock_millis";

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

/// Splits what follows `name` and nul in a [`numbered_key`]; nothing when the key is not one of `name`.
pub(crate) fn split_numbered<'a>(name: &str, key: &'a [u8]) -> Option<(u64, &'a [u8])> {
    let rest = key.strip_prefix(name.as_bytes())?.strip_prefix(&[0])?;
    let (number, rest) = rest.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*number), rest))
}
