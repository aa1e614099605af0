//! `cargo xtask bench`: measurements on real processes and real disks.

use std::path::{Path, PathBuf};

use serde::Serialize;
use toolplane_testkit::{Problem, binary};

pub(crate) mod chain;
pub(crate) mod decide;
pub(crate) mod doors;
pub(crate) mod growth;
pub(crate) mod mcp;

mod bare;
mod commits;
mod echo;
mod load;
mod meters;
mod stores;
mod usage;

pub(crate) use echo::serve as serve_echo;

/// A fresh folder below `target/bench`. Not the system's folder for temporary files: that may be memory, where syncing
/// costs nothing.
fn folder(name: &str) -> Result<PathBuf, Problem> {
    let folder = binary::target().join("bench").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|source| Problem::File { path: folder.clone(), source })?;
    }
    std::fs::create_dir_all(&folder).map_err(|source| Problem::File { path: folder.clone(), source })?;
    Ok(folder)
}

/// Writes figures as JSON.
fn write(out: &Path, figures: &impl Serialize) -> Result<(), Problem> {
    let file = |source| Problem::File { path: out.to_owned(), source };
    if let Some(folder) = out.parent() {
        std::fs::create_dir_all(folder).map_err(file)?;
    }
    let text = serde_json::to_string_pretty(figures).map_err(|error| Problem::Missing(error.to_string()))?;
    std::fs::write(out, text + "\n").map_err(file)?;
    println!("written to {}", out.display());
    Ok(())
}
