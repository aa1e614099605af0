//! Writing and reading histories.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use super::{Entry, Record};
use crate::trouble::Trouble;

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Everything that happened, in the order it was recorded.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The lines.
    pub entries: Vec<Entry>,
}

impl History {
    /// Reads a file of lines; a last line that is cut off, as a killed writer leaves it, is left out.
    pub fn read(path: &Path) -> Result<Self, Trouble> {
        let text = std::fs::read_to_string(path).map_err(Trouble::file(path))?;
        let mut entries = Vec::new();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            entries.push(serde_json::from_str(line).map_err(|error| Trouble::Said(format!("{line}: {error}")))?);
        }
        Ok(Self { entries })
    }

    /// Adds the lines of another history.
    pub fn add(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    /// What the lines say.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.entries.iter().map(|entry| &entry.record)
    }
}

/// Takes records from everywhere in this process: into memory for the checker, and into a file for people. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: BufWriter<File>,
    history: History,
}

impl Recorder {
    /// A recorder that also writes to `path`.
    pub fn create(path: &Path) -> Result<Self, Trouble> {
        let file = File::create(path).map_err(Trouble::file(path))?;
        let state = State { file: BufWriter::new(file), history: History::default() };
        Ok(Self(Arc::new(Inner { path: path.to_owned(), state: Mutex::new(state) })))
    }

    /// Records what happens now.
    pub fn record(&self, record: Record) {
        let entry = Entry { at_ms: now_ms(), record };
        let mut state = self.0.state.lock();
        // The file is for people who look into a red run; the verdict is made from memory.
        if serde_json::to_writer(&mut state.file, &entry).is_ok() {
            let _ = state.file.write_all(b"\n");
        }
        state.history.entries.push(entry);
    }

    /// Everything recorded so far.
    pub fn history(&self) -> History {
        let mut state = self.0.state.lock();
        let _ = state.file.flush();
        state.history.clone()
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}
