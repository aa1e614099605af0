//! What needs a simulated disk, or a look inside.

mod faults;
mod layers;
mod power;

use bytes::Bytes;
use toolplane_store::{Append, Commit, Family, IndexOp, RecordKey, Write};

use crate::files::Files;
use crate::simdisk::SimFile;
use crate::{EmbeddedStore, Options};

/// The two files of a store on a simulated disk.
#[derive(Clone, Default)]
struct SimStore {
    log: SimFile,
    state: SimFile,
}

impl SimStore {
    fn open(&self, options: Options) -> EmbeddedStore {
        let files = Files { log: self.log.database(), state: self.state.database(), _lock: None };
        EmbeddedStore::start(files, options).unwrap()
    }
}

/// Options under which nothing is checkpointed unless asked for.
fn manual() -> Options {
    Options { checkpoint_bytes: usize::MAX, checkpoint_interval_ms: 3_600_000, ..Options::default() }
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
