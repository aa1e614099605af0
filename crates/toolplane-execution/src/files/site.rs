//! Where a file tool works.

use super::dir::Dir;
use crate::budget::Budget;
use crate::denied::Guard;
use crate::outcome::Outcome;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use toolplane_records::error::ToolError;

/// Set when nobody waits for the work any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// The call is over.
    pub(super) fn want(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where a tool works.
pub(crate) struct Site {
    /// The workspace, open.
    pub(super) dir: Dir,
    /// The same by its path, for what is known of it.
    pub(super) path: PathBuf,
    pub(super) stop: Stop,
    pub(super) budget: Arc<Budget>,
    pub(super) guard: Guard,
}

impl Site {
    /// Whether there is room for a file of `before` bytes (none: a new one) to become one of `after` bytes.
    pub(super) fn admit(&self, before: Option<u64>, after: usize) -> Result<(), ToolError> {
        self.budget.admit(&self.path, before, after as u64)
    }
}

/// One tool: from its input to its outcome, on a thread that may block.
pub(super) trait FileTool: std::fmt::Debug + Send + Sync + 'static {
    type Input: DeserializeOwned + Send + 'static;
    fn run(site: &Site, input: Self::Input) -> Result<Outcome, ToolError>;
}
