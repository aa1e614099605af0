//! From the files to the state they hold: the tables, and over them what the log has beyond the last checkpoint.

use std::sync::Arc;

use bytes::Bytes;
use redb::{Database, ReadableDatabase, ReadableTable};

use crate::OpenError;
use crate::base::Base;
use crate::checkpoint::decode_operations;
use crate::codec::{self, Logged};
use crate::fault::Fault;
use crate::files::Files;
use crate::group::Group;
use crate::layer::Layer;
use crate::operations::OperationMemory;
use crate::shared::{Lower, Tables};
use crate::tables::{
    EVENTS, FORMAT, INDEX_LEN, INDEX_ORDER, INDEX_SCORE, LOG, META, META_APPLIED, META_CLOCK, META_FORMAT, OPERATIONS,
    RECORDS,
};

/// What a store starts with.
pub(crate) struct Recovered {
    pub(crate) tables: Tables,
    pub(crate) operations: OperationMemory,
    /// The latest clock known to have been read, in milliseconds.
    pub(crate) clock: i64,
    /// The last group of the log, or in the tables.
    pub(crate) last_lsn: u64,
    /// The last group in the tables.
    pub(crate) applied_lsn: u64,
}

/// Reads everything the files hold; creates the tables in fresh files.
pub(crate) fn recover(files: &Files) -> Result<Recovered, OpenError> {
    prepare(files)?;
    let base = Base::open(&files.state)?;
    let applied_lsn = base.meta(META_APPLIED)?.unwrap_or(0);
    let clock = base.meta(META_CLOCK)?.unwrap_or(0).cast_signed();
    let mut operations = OperationMemory::default();
    for row in base.operations()? {
        decode_operations(&row).for_each(|(digest, applied)| operations.insert(digest, applied));
    }
    let lower = Arc::new(Lower { frozen: None, base: Arc::new(base) });
    let tables = Tables { active: Layer::default(), lower };
    let mut recovered = Recovered { tables, operations, clock, last_lsn: applied_lsn, applied_lsn };
    recovered.replay(&files.log)?;
    Ok(recovered)
}

fn prepare(files: &Files) -> Result<(), OpenError> {
    let mut transaction = files.state.begin_write().map_err(Fault::from)?;
    transaction.set_quick_repair(true);
    let fresh = create_tables(&transaction)?;
    transaction.commit().map_err(Fault::from)?;
    let transaction = files.log.begin_write().map_err(Fault::from)?;
    let log = transaction.open_table(LOG).map_err(Fault::from)?;
    let first = log.first().map_err(Fault::from)?.map(|(lsn, _)| lsn.value());
    drop(log);
    transaction.commit().map_err(Fault::from)?;
    match first {
        Some(lsn) if fresh && lsn > 1 => {
            Err(OpenError::Corrupt { reason: format!("the log begins at {lsn} and the tables are empty") })
        }
        _ => Ok(()),
    }
}

// True when the tables were not there before.
fn create_tables(transaction: &redb::WriteTransaction) -> Result<bool, OpenError> {
    let create = || -> Result<Option<u64>, Fault> {
        let mut meta = transaction.open_table(META)?;
        let found = meta.get(META_FORMAT)?.map(|format| format.value());
        if found.is_none() {
            meta.insert(META_FORMAT, FORMAT)?;
            transaction.open_table(RECORDS)?;
            transaction.open_table(INDEX_ORDER)?;
            transaction.open_table(INDEX_SCORE)?;
            transaction.open_table(INDEX_LEN)?;
            transaction.open_table(EVENTS)?;
            transaction.open_table(OPERATIONS)?;
        }
        Ok(found)
    };
    match create()? {
        Some(FORMAT) => Ok(false),
        None => Ok(true),
        Some(found) => Err(OpenError::Format { found, known: FORMAT }),
    }
}

// === impl Recovered ===

impl Recovered {
    // Groups up to the last checkpoint may still lie in the log; they are in the tables and skipped.
    fn replay(&mut self, log: &Database) -> Result<(), Fault> {
        let transaction = log.begin_read()?;
        let groups = transaction.open_table(LOG)?;
        for row in groups.range(self.applied_lsn + 1..)? {
            let (lsn, group) = row?;
            let lsn = lsn.value();
            if lsn != self.last_lsn + 1 {
                let expected = self.last_lsn + 1;
                return Err(Fault::corrupt(format!("the log continues at {lsn} instead of {expected}")));
            }
            self.replay_group(lsn, Bytes::copy_from_slice(group.value()))?;
        }
        Ok(())
    }

    fn replay_group(&mut self, lsn: u64, encoded: Bytes) -> Result<(), Fault> {
        let (clock, commits) = codec::decode_group(encoded)?;
        let mut group = Group::start(clock, Vec::new());
        for Logged { operation, commit } in commits {
            group.apply(commit, operation, &self.tables)?;
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
