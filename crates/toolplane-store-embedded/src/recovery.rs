//! From the files to the state they hold: the tables, and over them what the log has beyond the last checkpoint.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use bytes::Bytes;
use redb::{Database, ReadableTable, WriteTransaction};

use crate::alike::read_patterns;
use crate::base::{Base, KnownDamage};
use crate::checkpoint::decode_operations;
use crate::codec::{self, Logged};
use crate::fault::{Fault, OpenError};
use crate::group::Group;
use crate::layer::Layer;
use crate::log::CommitLog;
use crate::log::files::LogDirectory;
use crate::log::read::LogOptions;
use crate::number::write_number;
use crate::operations::OperationMemory;
use crate::options::EmbeddedOptions;
use crate::shared::{Lower, Tables};
use crate::tables::{
    APPLIED, CLOCK, EVENTS, FORMAT, INDEX_LEN, INDEX_ORDER, INDEX_SCORE, META, META_FORMAT, OPERATIONS, PATTERNS,
    PATTERNS_AGAIN, RECORDS, SALT, SET_ASIDE, SET_ASIDE_EVENTS, WITHOUT_PATTERNS,
};

/// What a store starts with.
pub(crate) struct Recovered {
    pub(crate) tables: Tables,
    pub(crate) operations: OperationMemory,
    /// The latest clock known to have been read, in milliseconds.
    pub(crate) clock: i64,
    /// The last group of the log, or in the tables.
    pub(crate) last_lsn: u64,
    pub(crate) log: CommitLog,
}

/// Reads everything the files hold; creates the tables and the log of a fresh store.
pub(crate) fn recover(
    state: &Database,
    log: Box<dyn LogDirectory>,
    mended: bool,
    options: &EmbeddedOptions,
) -> Result<Recovered, OpenError> {
    prepare(state, &*log)?;
    let (patterns, damaged) = read_patterns(state)?;
    let known = KnownDamage::read(state, &patterns, mended)?;
    damaged.into_iter().for_each(|damage| drop(known.damage.note(damage)));
    let base = Base::open(state, Arc::new(known), Arc::new(patterns))?;
    let applied_lsn = base.number(APPLIED)?;
    let salt = base.number(SALT)? as u32;
    let clock = base.number(CLOCK)?.cast_signed();
    let mut operations = OperationMemory::default();
    for row in base.operations()? {
        decode_operations(&row).for_each(|(digest, applied)| operations.insert(digest, applied));
    }
    let lower = Arc::new(Lower { frozen: None, base: Arc::new(base) });
    let tables = Tables { active: Layer::default(), lower };
    let mut replay = Replay { tables, operations, clock, last_lsn: applied_lsn };
    let options = LogOptions { salt, applied_lsn, segment_bytes: options.segment_bytes };
    let log = CommitLog::open(log, options, |lsn, group| replay.group(lsn, group))?;
    let Replay { tables, operations, clock, last_lsn } = replay;
    Ok(Recovered { tables, operations, clock, last_lsn, log })
}

// The tables are there once their format is, and the log is there before that.
fn prepare(state: &Database, log: &dyn LogDirectory) -> Result<(), OpenError> {
    let mut transaction = state.begin_write().map_err(Fault::from)?;
    transaction.set_quick_repair(true);
    let create = || -> Result<Option<u64>, Fault> {
        let found = transaction.open_table(META)?.get(META_FORMAT)?.map(|format| format.value());
        match found {
            None => {
                CommitLog::create(log)?;
                create_tables(&transaction, None)?;
            }
            // An earlier version must not read what is written from here on.
            Some(WITHOUT_PATTERNS) => create_patterns(&transaction)?,
            Some(_) => {}
        }
        Ok(found)
    };
    match create()? {
        Some(FORMAT) => {}
        None | Some(WITHOUT_PATTERNS) => transaction.commit().map_err(Fault::from)?,
        Some(found) => return Err(OpenError::Format { found, known: FORMAT }),
    }
    Ok(())
}

/// Lays down the tables of this format, empty, and the salt of the log: a new one, or the one there is.
pub(crate) fn create_tables(transaction: &WriteTransaction, salt: Option<u64>) -> Result<(), Fault> {
    create_patterns(transaction)?;
    // The keys of a hasher are random, so what it makes of anything is.
    let salt = salt.unwrap_or_else(|| RandomState::new().hash_one(FORMAT) & u64::from(u32::MAX));
    for (name, number) in [(SALT, salt), (APPLIED, 0), (CLOCK, 0)] {
        write_number(transaction, name, number)?;
    }
    transaction.open_table(SET_ASIDE)?;
    transaction.open_table(SET_ASIDE_EVENTS)?;
    transaction.open_table(RECORDS)?;
    transaction.open_table(INDEX_ORDER)?;
    transaction.open_table(INDEX_SCORE)?;
    transaction.open_table(INDEX_LEN)?;
    transaction.open_table(EVENTS)?;
    transaction.open_table(OPERATIONS)?;
    Ok(())
}

/// Says that the tables are of this format, which has patterns.
fn create_patterns(transaction: &WriteTransaction) -> Result<(), Fault> {
    transaction.open_table(PATTERNS)?;
    transaction.open_table(PATTERNS_AGAIN)?;
    transaction.open_table(META)?.insert(META_FORMAT, FORMAT)?;
    Ok(())
}

// === impl Replay ===

/// What is known of the state while the log is read.
struct Replay {
    tables: Tables,
    operations: OperationMemory,
    clock: i64,
    last_lsn: u64,
}

impl Replay {
    fn group(&mut self, lsn: u64, encoded: Bytes) -> Result<(), Fault> {
        let (clock, commits) = codec::decode_group(encoded)?;
        let mut group = Group::start(clock, Vec::new());
        for Logged { operation, commit } in commits {
            group.replay(commit, operation, &self.tables)?;
            if let Some(digest) = operation {
                self.operations.insert(digest, clock);
            }
        }
        drop(self.tables.active.absorb(group, lsn));
        self.last_lsn = lsn;
        self.clock = self.clock.max(clock);
        Ok(())
    }
}
