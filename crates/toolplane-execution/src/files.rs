//! Tools on files beneath the workspace: `files.read_file`, `files.list_dir`, `files.search_text`, `files.write_file`,
//! `files.edit_file`.
//!
//! Every file is opened through the directory of the workspace, one component at a time in the kernel, so that no link
//! and no race leads out of it. Only regular files are read and replaced, whatever else is there is refused at once. Paths
//! that decide what other programs do later are never written. A file that has a name which rules deny is not opened by another
//! name either. Everything is bounded: bytes, lines, entries, depth and time.

mod change;
mod dir;
mod edit;
mod list;
mod place;
mod read;
mod replace;
mod search;
mod site;
mod target;
mod walk;
mod write;

pub(crate) use dir::Dir;
use site::FileTool;
pub(crate) use site::{Site, Stop};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::adapter::Adapter;
use crate::budget::Budget;
use crate::call::{Call, Context};
use crate::deadline::bounded;
use crate::denied::Guard;
use crate::failure::{invalid_binding, worker_failed};
use crate::input;
use crate::outcome::Outcome;

/// Stops the work when the call is over, however it is over.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.want();
    }
}

/// The adapter around a [`FileTool`].
#[derive(Debug)]
pub(crate) struct Files<T> {
    workspace: PathBuf,
    default_timeout: Duration,
    budget: Arc<Budget>,
    tool: std::marker::PhantomData<fn() -> T>,
}

pub(crate) type ReadFile = Files<read::Read>;
pub(crate) type ListDir = Files<list::List>;
pub(crate) type SearchText = Files<search::Search>;
pub(crate) type WriteFile = Files<write::Write>;
pub(crate) type EditFile = Files<edit::Edit>;

impl<T> Files<T> {
    pub(crate) fn new(workspace: &Path, default_timeout: Duration, budget: &Arc<Budget>) -> Self {
        let (workspace, budget) = (workspace.to_owned(), Arc::clone(budget));
        Self { workspace, default_timeout, budget, tool: std::marker::PhantomData }
    }
}

impl<T: FileTool> Adapter for Files<T> {
    fn pool(&self) -> &'static str {
        "files"
    }

    fn needs_sandbox(&self) -> bool {
        false
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        let work = async move {
            let input = match input::read::<T::Input>(&call.input) {
                Ok(input) => input,
                Err(error) => return Outcome::failure(error),
            };
            let workspace = call.place.workspace.clone().unwrap_or_else(|| self.workspace.clone());
            let stop = Stop::default();
            let _guard = StopOnDrop(stop.clone());
            let budget = Arc::clone(&self.budget);
            let guard = Guard::new(call.place.denied.clone(), workspace.clone());
            let work = move || {
                let dir = Dir::at(&workspace)
                    .map_err(|error| invalid_binding(format!("the workspace cannot be opened: {error}")))?;
                T::run(&Site { dir, path: workspace, stop, budget, guard }, input)
            };
            match tokio::task::spawn_blocking(work).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(error)) => Outcome::failure(error),
                Err(_) => Outcome::failure(worker_failed()),
            }
        };
        Box::pin(bounded(call.limits.timeout.unwrap_or(self.default_timeout), context, work))
    }
}
