//! Tables that are not as they were written, or of an older format: written anew into a file of their own, which then
//! takes the place of the old one.

use std::fs;
use std::path::{Path, PathBuf};

use redb::{Database, ReadableDatabase, WriteTransaction};

use crate::fault::{Fault, OpenError, contained};
use crate::files::{STATE, failed, flush_directory, open_database};
use crate::number::write_number;
use crate::recovery::create_tables;
use crate::row;
use crate::tables::{EVENTS, FORMAT, META, META_FORMAT, OPERATIONS, RECORDS, WITHOUT_PATTERNS};
use crate::walk::{Entries, WalkReport, each_row, write_indexes};

/// The format before rows carried checksums.
const UNSEALED: u64 = 2;
/// What the new file is called until it is whole.
const NEW: &str = "state.redb.new";

/// Proves the tables in `directory`, and gives them back as they are to be used.
///
/// Rows that do not fit their checksum are set aside and everything else is kept; the damaged file stays beside the new
/// one, under a name of its own. Refuses when not every row can be reached: then only a backup has all of them.
pub(crate) fn mend(directory: &Path, mut state: Database, cache_bytes: usize) -> Result<Database, OpenError> {
    let path = directory.join(STATE);
    let corrupt = |fault: Fault| OpenError::from(fault).below(&path);
    let proved = contained(|| Ok(state.check_integrity()?));
    if let Err(Fault::Storage(_)) = proved {
        return Err(corrupt(proved.err().unwrap_or_else(|| Fault::corrupt("it cannot be read"))));
    }
    let format = contained(|| format_of(&state)).map_err(corrupt)?;
    match (proved, format) {
        (Ok(_), None | Some(FORMAT | WITHOUT_PATTERNS)) => Ok(state),
        (Ok(_), Some(UNSEALED)) => {
            tracing::info!(path = %path.display(), "the tables are brought to format {FORMAT}, with checksums");
            write_anew(directory, cache_bytes, |target| upgrade(&state, target))?;
            replace(directory, state, None)?;
            open_database(&path, cache_bytes)
        }
        (Ok(_), Some(found)) => Err(OpenError::Format { found, known: FORMAT }),
        (Err(fault), Some(FORMAT | WITHOUT_PATTERNS)) => {
            // What the failed proof has left in memory is not to be used.
            close(state);
            let state = open_database(&path, cache_bytes)?;
            let kept = free_name(directory);
            tracing::error!(
                path = %path.display(), reason = fault.reason(), kept = %kept.display(),
                "the tables are damaged: they are written anew, and the damaged file is kept"
            );
            write_anew(directory, cache_bytes, |target| {
                WalkReport::through(&state, Some(target), &mut |_, _| {}).map(drop)
            })?;
            replace(directory, state, Some(&kept))?;
            open_database(&path, cache_bytes)
        }
        (Err(fault), _) => Err(corrupt(fault)),
    }
}

/// The format of the tables; nothing while they were never laid down.
pub(crate) fn format_of(state: &Database) -> Result<Option<u64>, Fault> {
    match state.begin_read()?.open_table(META) {
        Ok(meta) => Ok(meta.get(META_FORMAT)?.map(|format| format.value())),
        Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Makes the new file whole and durable.
fn write_anew(
    directory: &Path,
    cache_bytes: usize,
    fill: impl FnOnce(&WriteTransaction) -> Result<(), Fault>,
) -> Result<(), OpenError> {
    let path = directory.join(NEW);
    if path.exists() {
        // Left by an attempt that was cut short.
        fs::remove_file(&path).map_err(failed("remove", &path))?;
    }
    let state = open_database(&path, cache_bytes)?;
    let written = contained(|| {
        let mut transaction = state.begin_write()?;
        transaction.set_quick_repair(true);
        create_tables(&transaction, None)?;
        fill(&transaction)?;
        transaction.commit()?;
        Ok(())
    });
    written.map_err(|fault| OpenError::from(fault).below(&directory.join(STATE)))
}

/// Puts the new file in the place of the old one, which is kept as `kept` if it has to be.
fn replace(directory: &Path, old: Database, kept: Option<&Path>) -> Result<(), OpenError> {
    close(old);
    let (path, new) = (directory.join(STATE), directory.join(NEW));
    if let Some(kept) = kept {
        fs::hard_link(&path, kept).map_err(failed("keep", &path))?;
    }
    fs::rename(&new, &path).map_err(failed("rename", &new))?;
    flush_directory(directory)
}

fn close(state: Database) {
    // Closing writes, and what it is about to write may be damaged; the file is not used again.
    let closed = contained(|| {
        drop(state);
        Ok(())
    });
    if let Err(fault) = closed {
        tracing::debug!(reason = fault.reason(), "a damaged file was closed");
    }
}

/// What damaged files are kept as begins with this.
const KEPT: &str = "state.redb.damaged-";

/// Whether a damaged file lies beside the tables. Once they are written anew, their pages do not tell of damage any more.
pub(crate) fn was_mended(directory: &Path) -> Result<bool, OpenError> {
    let entries = fs::read_dir(directory).map_err(failed("read", directory))?;
    Ok(entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(KEPT)))
}

fn free_name(directory: &Path) -> PathBuf {
    let name = |number: u32| directory.join(format!("{KEPT}{number}"));
    (1..u32::MAX).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(u32::MAX))
}

// === format 2 ===

mod unsealed {
    use redb::TableDefinition;

    pub(super) const INDEX_SCORE: TableDefinition<'_, &[u8], u64> = TableDefinition::new("index_score");
    pub(super) const META: [&str; 3] = [crate::tables::SALT, crate::tables::APPLIED, crate::tables::CLOCK];
}

/// The same rows with checksums.
fn upgrade(state: &Database, target: &WriteTransaction) -> Result<(), Fault> {
    let snapshot = state.begin_read()?;
    let meta = snapshot.open_table(META)?;
    for name in unsealed::META {
        if let Some(number) = meta.get(name)? {
            write_number(target, name, number.value())?;
        }
    }
    let mut records = target.open_table(RECORDS)?;
    each_row(&snapshot, RECORDS, |key, value| {
        let record = row::unsealed_record(value).map_err(Fault::corrupt)?;
        records.insert(key, row::seal_record(key, &record).as_slice())?;
        Ok(())
    })?;
    let mut events = target.open_table(EVENTS)?;
    each_row(&snapshot, EVENTS, |key, value| {
        events.insert(key, row::seal_encoded_events(key, value).as_slice())?;
        Ok(())
    })?;
    let mut operations = target.open_table(OPERATIONS)?;
    each_row(&snapshot, OPERATIONS, |lsn, value| {
        operations.insert(lsn, row::seal_operations(lsn, value).as_slice())?;
        Ok(())
    })?;
    let mut entries = Entries::new();
    each_row(&snapshot, unsealed::INDEX_SCORE, |key, score| {
        entries.insert(key.to_vec(), score);
        Ok(())
    })?;
    write_indexes(target, &entries)
}
