//! Looking at a store that no process has open: every page, every row, every record of the log.

use std::path::{Path, PathBuf};

use redb::{ReadableDatabase, ReadableTable};
use toolplane_store::{Damage, DamageLocation, RecordKey, Write};

use crate::base::RawRow;
use crate::codec;
use crate::fault::{Fault, OpenError, contained};
use crate::files::{DirectoryLock, STATE, failed, open_database};
use crate::handle::EmbeddedStore;
use crate::log::CommitLog;
use crate::log::files::{RealDirectory, is_segment};
use crate::log::read::LogOptions;
use crate::mend::{format_of, mend};
use crate::number::read_number;
use crate::options::EmbeddedOptions;
use crate::tables::{APPLIED, FORMAT, NUMBERS, SALT, SET_ASIDE, WITHOUT_PATTERNS, place_of_record};
use crate::walk::{Seen, WalkReport};

/// What a store's files hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Records that are as they were written.
    pub records: u64,
    /// Entries of indexes.
    pub entries: u64,
    /// Rows of events; each holds a few.
    pub event_rows: u64,
    /// Groups of commits in the log that the tables do not hold yet.
    pub log_groups: u64,
    /// What is damaged, and set aside or read from elsewhere: the store opens without it.
    pub damage: Vec<Damage>,
    /// Why the store does not open, if it does not: a backup is needed.
    pub fatal: Option<String>,
}

impl CheckReport {
    /// Everything is as it was written.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty() && self.fatal.is_none()
    }
}

/// A store that no process has open, and none can open while this is held.
pub struct Idle {
    path: PathBuf,
    _lock: DirectoryLock,
}

impl Idle {
    /// Holds the store in the directory `path`. Fails with [`OpenError::File`] when there is none or its files cannot
    /// be opened, and with [`OpenError::Locked`] while it is in use.
    pub fn hold(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref().to_owned();
        let tables = path.join(STATE);
        std::fs::metadata(&tables).map_err(failed("read", &tables))?;
        let lock = DirectoryLock::acquire(&path)?;
        Ok(Self { path, _lock: lock })
    }

    /// Checks the store's files against every checksum, and changes none of what they say. What is wrong with them is in
    /// the report.
    pub fn check(&self, options: &EmbeddedOptions) -> CheckReport {
        self.check_with(options, |_, _| {})
    }

    /// The same, and shows `seen` every record that holds: first those of the tables, then those the log changes, as it leaves
    /// them, `None` for one that goes.
    pub fn check_with(
        &self,
        options: &EmbeddedOptions,
        mut seen: impl FnMut(&RecordKey, Option<&[u8]>),
    ) -> CheckReport {
        let mut report = CheckReport::default();
        let judged = match open_database(&self.path.join(STATE), options.cache_bytes) {
            Ok(state) => judge(&self.path, state, options, &mut report, &mut seen).map_err(|fault| fault.reason()),
            Err(error) => Err(error.to_string()),
        };
        report.fatal = judged.err();
        report
    }

    /// Takes the rows out that are told as the [`DamageLocation::Part`] `name` because the name of the record cannot be read: no commit
    /// can name them. They go when `keep` has kept them; none is no error.
    ///
    /// Returns an error when the files cannot be opened, read or written (see [`OpenError`]), and when `keep` fails: then no row
    /// is taken out.
    pub fn take_out<E: From<OpenError>>(
        &self,
        name: &str,
        options: &EmbeddedOptions,
        keep: impl FnOnce(&[RawRow]) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.path.join(STATE);
        let state = mend(&self.path, open_database(&path, options.cache_bytes)?, options.cache_bytes)?;
        let failed = |fault: Fault| OpenError::from(fault).below(&path);
        let is_meant = |key: &[u8]| matches!(place_of_record(key), DamageLocation::Part(part) if part == name);
        let mut rows = Vec::new();
        let read = contained(|| {
            for row in state.begin_read()?.open_table(SET_ASIDE)?.iter()? {
                let (key, value) = row?;
                if is_meant(key.value()) {
                    rows.push(RawRow::new(key.value(), value.value()));
                }
            }
            Ok(())
        });
        read.map_err(failed)?;
        keep(&rows)?;
        let removed = contained(|| {
            let mut transaction = state.begin_write()?;
            transaction.set_quick_repair(true);
            transaction.open_table(SET_ASIDE)?.retain(|key, _| !is_meant(key))?;
            Ok(transaction.commit()?)
        });
        Ok(removed.map_err(failed)?)
    }

    /// The files that are the store: a copy of all of them opens as it does. Fails with [`OpenError::File`] when the
    /// directory cannot be read.
    pub fn files(&self) -> Result<Vec<PathBuf>, OpenError> {
        let list = || -> std::io::Result<Vec<PathBuf>> {
            let mut files = Vec::new();
            for entry in std::fs::read_dir(&self.path)? {
                let name = entry?.file_name();
                let is_ours = |name: &str| name == STATE || is_segment(name);
                if name.to_str().is_some_and(is_ours) {
                    files.push(self.path.join(name));
                }
            }
            files.sort();
            Ok(files)
        };
        list().map_err(failed("read", &self.path))
    }
}

impl std::fmt::Debug for Idle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Idle").field("path", &self.path).finish_non_exhaustive()
    }
}

impl EmbeddedStore {
    /// Whether there is a store in the directory `path`, in use or not.
    pub fn exists(path: impl AsRef<Path>) -> bool {
        path.as_ref().join(STATE).exists()
    }

    /// Checks the store in the directory `path`; see [`Idle`]. Returns an error as [`Idle::hold`] does; what is wrong
    /// with the store itself is no error, and is in the report.
    pub fn check(path: impl AsRef<Path>, options: &EmbeddedOptions) -> Result<CheckReport, OpenError> {
        Ok(Idle::hold(path)?.check(options))
    }
}

fn judge(
    path: &Path,
    mut state: redb::Database,
    options: &EmbeddedOptions,
    report: &mut CheckReport,
    seen: Seen<'_>,
) -> Result<(), Fault> {
    let proved = contained(|| Ok(state.check_integrity()?));
    match contained(|| format_of(&state))? {
        Some(FORMAT | WITHOUT_PATTERNS) => {}
        // Without checksums there is nothing to hold a row to but its page.
        Some(_) => return proved.map(drop),
        // Tables were never laid down here; then there is no log either.
        None => return proved.and_then(|_| CommitLog::is_fresh(&RealDirectory(path.to_owned()))),
    }
    let walked = WalkReport::through(&state, None, seen);
    if let Ok(walk) = &walked {
        (report.records, report.entries, report.event_rows) = (walk.records, walk.entries, walk.event_rows);
        report.damage.clone_from(&walk.damage);
        if let (Err(fault), true) = (&proved, walk.damage.is_empty()) {
            // Nothing that is stored, so opening the store makes it good.
            report.damage.push(Damage::new(DamageLocation::Part("a page of the tables".to_owned()), fault.reason()));
        }
    }
    let numbers = contained(|| Ok(state.begin_read()?.open_table(NUMBERS)?))?;
    let (salt, applied_lsn) = (read_number(&numbers, SALT)?, read_number(&numbers, APPLIED)?);
    let log = LogOptions { salt: salt as u32, applied_lsn, segment_bytes: options.segment_bytes };
    CommitLog::read(&RealDirectory(path.to_owned()), log, |_, group| {
        for logged in codec::decode_group(group)?.1 {
            for write in &logged.commit.writes {
                match write {
                    Write::Put { key, bytes } => seen(key, Some(bytes)),
                    Write::Delete { key } => seen(key, None),
                }
            }
        }
        report.log_groups += 1;
        Ok(())
    })?;
    walked.map(drop)
}
