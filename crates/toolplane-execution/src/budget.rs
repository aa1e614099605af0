//! How much the workspaces of this worker may hold, and what is known of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_sandbox::workspace::{free_bytes, measure};
use toolplane_sandbox::{Quota, Usage};

use crate::failure::nothing_done;

/// How long a measurement is used at least, and how many times longer than it took.
const BELIEVED: Duration = Duration::from_secs(1);
const BELIEVED_TIMES: u32 = 20;

/// Bounds on the workspaces of a worker. Each tenant has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceBounds {
    /// Most one call may add.
    pub call: Usage,
    /// Most the workspace of one tenant may hold.
    pub tenant: Usage,
    /// Most all workspaces of this worker may hold together.
    pub worker: Usage,
    /// Bytes that stay free on their disk.
    pub reserve_bytes: u64,
}

impl Default for WorkspaceBounds {
    /// Those of [`Quota`] for a call and a tenant; eight times the tenant's for the worker.
    fn default() -> Self {
        let Quota { most, growth, reserve_bytes } = Quota::default();
        let worker = Usage { bytes: most.bytes.saturating_mul(8), files: most.files.saturating_mul(8) };
        Self { call: growth, tenant: most, worker, reserve_bytes }
    }
}

/// Keeps what was measured last, so that nothing is measured for every small write.
#[derive(Debug)]
pub(crate) struct Budget {
    bounds: WorkspaceBounds,
    known: Mutex<HashMap<PathBuf, MeasuredUsage>>,
}

#[derive(Clone, Copy, Debug)]
struct MeasuredUsage {
    usage: Usage,
    until: Instant,
}

impl Budget {
    pub(crate) fn new(bounds: WorkspaceBounds) -> Self {
        Self { bounds, known: Mutex::default() }
    }

    /// What a run in `workspace` must keep to. Refused when the workspaces of this worker are full together.
    pub(crate) fn quota(&self, workspace: &Path) -> Result<Quota, ToolError> {
        let known = self.known.lock();
        let others = known.iter().filter(|(path, _)| path.as_path() != workspace);
        let others = others.fold(Usage::default(), |sum, (_, known)| sum.and(known.usage));
        drop(known);
        let WorkspaceBounds { call, tenant, worker, reserve_bytes } = self.bounds;
        let left = worker.less(others);
        if left.bytes == 0 || left.files == 0 {
            let message = format!(
                "the workspaces of this worker are full: they hold {} bytes of at most {} in {} files of at most {}",
                others.bytes, worker.bytes, others.files, worker.files
            );
            return Err(full(message));
        }
        Ok(Quota { most: tenant.within(left), growth: call, reserve_bytes })
    }

    /// Takes over what was measured.
    pub(crate) fn note(&self, workspace: &Path, usage: Usage, took: Duration) {
        let until = Instant::now() + BELIEVED.max(took * BELIEVED_TIMES);
        let mut known = self.known.lock();
        known.insert(workspace.to_owned(), MeasuredUsage { usage, until });
    }

    /// Whether a file of `before` bytes (none: a new one) may become one of `after` bytes. What does not grow is always let
    /// through. Blocks while the workspace is measured.
    pub(crate) fn admit(&self, workspace: &Path, before: Option<u64>, after: u64) -> Result<(), ToolError> {
        let more = Usage { bytes: after.saturating_sub(before.unwrap_or(0)), files: u64::from(before.is_none()) };
        if more == Usage::default() {
            return Ok(());
        }
        let quota = self.quota(workspace)?;
        let usage = self.usage(workspace, quota.most)?;
        let sum = usage.and(more);
        let Quota { most, growth, reserve_bytes } = quota;
        if sum.bytes > most.bytes || sum.files > most.files || more.bytes > growth.bytes {
            let message = format!(
                "the workspace is full: it would hold {} bytes of at most {} in {} files of at most {}",
                sum.bytes, most.bytes, sum.files, most.files
            );
            return Err(full(message));
        }
        if free_bytes(workspace).is_some_and(|free| free < reserve_bytes.saturating_add(more.bytes)) {
            return Err(full(format!("fewer than {reserve_bytes} bytes would be free on the disk of the workspace")));
        }
        let mut known = self.known.lock();
        known.entry(workspace.to_owned()).and_modify(|known| known.usage = sum);
        Ok(())
    }

    fn usage(&self, workspace: &Path, most: Usage) -> Result<Usage, ToolError> {
        let now = Instant::now();
        let known = self.known.lock().get(workspace).copied();
        if let Some(known) = known.filter(|known| known.until > now) {
            return Ok(known.usage);
        }
        let usage = measure(workspace, most.files.saturating_mul(2).max(1000));
        let usage = usage.map_err(|error| {
            let message = format!("the workspace cannot be measured: {error}");
            nothing_done(ToolError::of(codes::WORKSPACE_UNAVAILABLE, message))
        })?;
        self.note(workspace, usage, now.elapsed());
        Ok(usage)
    }
}

/// There is no room. Nothing a caller can change: a person has to make some.
pub(crate) fn full(message: String) -> ToolError {
    let message = format!("{message}; files have to be removed from it, or `executor.quota` raised");
    nothing_done(ToolError::of(codes::WORKSPACE_FULL, message))
}

#[cfg(test)]
mod tests;
