//! Measuring a workspace while a tool runs in it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

use super::survey::measure;
use super::visit::free_bytes;
use crate::exit::{LimitHit, LimitKind};
use crate::quota::{Quota, Usage};

/// Shortest time between two looks.
const INTERVAL: Duration = Duration::from_millis(200);
/// How much longer than a look the time between two looks is: of one processor, at most a tenth is spent on looking.
const REST: u32 = 9;

/// Looks again and again; ends when it is dropped.
#[derive(Debug)]
pub(crate) struct WorkspaceWatch {
    task: JoinHandle<LimitHit>,
}

impl WorkspaceWatch {
    #[expect(clippy::disallowed_methods, reason = "it ends with its handle, which whoever watches waits for")]
    pub(super) fn start(workspace: PathBuf, before: Usage, quota: Quota) -> Self {
        let bound = before.and(quota.growth).within(quota.most);
        let task = tokio::spawn(async move {
            let mut wait = INTERVAL;
            loop {
                tokio::time::sleep(wait).await;
                let directory = workspace.clone();
                let look = tokio::task::spawn_blocking(move || {
                    let begin = Instant::now();
                    (over(&directory, bound, quota.reserve_bytes), begin.elapsed())
                });
                match look.await {
                    Ok((Some(hit), _)) => return hit,
                    Ok((None, took)) => wait = INTERVAL.max(took * REST),
                    // The worker is shutting down, and the run with it.
                    Err(_) => std::future::pending().await,
                }
            }
        });
        Self { task }
    }

    /// Waits until a bound is reached.
    pub(crate) async fn reached(&mut self) -> LimitHit {
        match (&mut self.task).await {
            Ok(hit) => hit,
            Err(_) => std::future::pending().await,
        }
    }
}

impl Drop for WorkspaceWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn over(directory: &std::path::Path, bound: Usage, reserve: u64) -> Option<LimitHit> {
    let hit = |limit, allowed, evidence| Some(LimitHit { limit, allowed, evidence });
    if let Some(free) = free_bytes(directory).filter(|free| *free < reserve) {
        return hit(LimitKind::DiskFree, reserve, format!("{free} bytes are free"));
    }
    // One entry more than allowed is enough to know.
    let usage = measure(directory, bound.files.saturating_add(1)).ok()?;
    if usage.bytes > bound.bytes {
        return hit(LimitKind::WorkspaceBytes, bound.bytes, format!("the workspace holds {} bytes", usage.bytes));
    }
    if usage.files > bound.files {
        return hit(LimitKind::WorkspaceFiles, bound.files, format!("the workspace holds {} files", usage.files));
    }
    None
}
