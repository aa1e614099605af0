//! What needs a simulated disk, or a look inside.

mod faults;
mod layers;
mod log;
mod power;
mod space;

use bytes::Bytes;
use toolplane_store::{Append, Commit, Family, IndexOp, RecordKey, Write};

use crate::files::Files;
use crate::simdisk::{SimDirectory, SimFile};
use crate::space::SpaceSource;
use crate::{EmbeddedOptions, EmbeddedStore, OpenError};

/// The files of a store on a simulated disk.
#[derive(Clone, Default)]
struct SimStore {
    log: SimDirectory,
    state: SimFile,
}

impl SimStore {
    fn open(&self, options: EmbeddedOptions) -> EmbeddedStore {
        self.try_open(options).unwrap()
    }

    fn try_open(&self, options: EmbeddedOptions) -> Result<EmbeddedStore, OpenError> {
        self.open_beside(Box::new(Endless), options)
    }

    fn open_beside(&self, space: Box<dyn SpaceSource>, options: EmbeddedOptions) -> Result<EmbeddedStore, OpenError> {
        let files =
            Files { log: Box::new(self.log.clone()), state: self.state.database(), mended: false, space, _lock: None };
        EmbeddedStore::start(files, options)
    }

    /// What a power cut leaves; see [`SimFile::after_power_cut`].
    fn after_power_cut(&self, mut random: impl FnMut(u64) -> u64) -> Self {
        Self { log: self.log.after_power_cut(&mut random), state: self.state.after_power_cut(&mut random) }
    }
}

/// A disk with room for everything.
struct Endless;

impl SpaceSource for Endless {
    fn path(&self) -> &std::path::Path {
        std::path::Path::new("/store")
    }

    fn free(&self) -> std::io::Result<u64> {
        Ok(u64::MAX)
    }
}

/// Options under which nothing is checkpointed unless asked for.
fn manual() -> EmbeddedOptions {
    EmbeddedOptions { checkpoint_bytes: usize::MAX, checkpoint_interval_ms: 3_600_000, ..EmbeddedOptions::default() }
}

fn key(id: &str) -> RecordKey {
    RecordKey::new(Family::Invocation, id)
}

/// The `n`-th of a series of like commits: its own record, a counter, an index entry and the next event.
fn nth(n: u64) -> Commit {
    let text = Bytes::from(n.to_string());
    Commit {
        operation_id: Some(format!("op-{n}")),
        writes: vec![
            Write::Put { key: key(&format!("r{n:06}")), bytes: text.clone() },
            Write::Put { key: key("last"), bytes: text.clone() },
        ],
        index: vec![IndexOp::Put { index: "all".to_owned(), score: n, member: format!("r{n:06}") }],
        events: vec![Append { stream: "log".to_owned(), first_seq: n, events: vec![text] }],
        ..Commit::default()
    }
}
