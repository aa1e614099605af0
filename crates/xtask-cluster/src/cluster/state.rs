//! What runs, written down: the cluster outlives the command that started it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toolplane_testkit::Problem;
use toolplane_testkit::layout::Member;

use super::running::Running;
use crate::redis::Redis;

/// The cluster.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    /// In the order in which they are started.
    pub(super) seats: Vec<Seat>,
}

/// One process of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) what: What,
    /// As it was started last; it may have died since.
    pub(super) running: Option<Running>,
}

/// What kind of process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    /// The store of the schedulers, or a shard of it.
    Redis(Redis),
    /// One of ours.
    Member(Member),
}

impl Seat {
    pub(super) fn name(&self) -> &str {
        match &self.what {
            What::Redis(redis) => redis.name(),
            What::Member(member) => &member.name,
        }
    }

    pub(super) fn lives(&self) -> bool {
        self.running.is_some_and(Running::lives)
    }
}

fn file() -> PathBuf {
    super::folder().join("state.json")
}

impl State {
    /// The cluster that was started, if one was.
    pub(super) fn read() -> Result<Option<Self>, Problem> {
        let file = file();
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Problem::File { path: file, source }),
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some).map_err(|error| Problem::Missing(format!("`{}` cannot be read: {error}", file.display())))
    }

    /// The cluster that was started; an error that says how to start one.
    pub(super) fn expect() -> Result<Self, Problem> {
        Self::read()?.ok_or_else(|| Problem::Missing("no cluster was started: `cargo xtask cluster up`".to_owned()))
    }

    /// The process of this name.
    pub(super) fn seat(&mut self, name: &str) -> Result<&mut Seat, Problem> {
        let names: Vec<String> = self.seats.iter().map(|seat| seat.name().to_owned()).collect();
        let found = self.seats.iter_mut().find(|seat| seat.name() == name);
        found.ok_or_else(|| Problem::Missing(format!("`{name}` is none of {}", names.join(", "))))
    }

    /// Writes it down.
    pub(super) fn write(&self) -> Result<(), Problem> {
        let (file, fresh) = (file(), file().with_extension("new"));
        let text = serde_json::to_vec_pretty(self).map_err(|error| Problem::Missing(error.to_string()))?;
        // Whole or not at all: a lost list would leave processes that are not known.
        let written = std::fs::write(&fresh, text).and_then(|()| std::fs::rename(&fresh, &file));
        written.map_err(|source| Problem::File { path: file, source })
    }

    /// Nothing runs any more.
    pub(super) fn forget() -> Result<(), Problem> {
        let file = file();
        std::fs::remove_file(&file).map_err(|source| Problem::File { path: file, source })
    }
}
