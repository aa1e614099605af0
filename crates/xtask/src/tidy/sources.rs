//! The source files of the repository.

use crate::command::TaskError;
use std::path::{Path, PathBuf};

/// Every Rust file of the workspace, generated ones left out.
pub(super) fn sources(root: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = ["crates", "services", "tests"].iter().map(|name| root.join(name)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(TaskError::file(&folder))? {
            let path = entry.map_err(TaskError::file(&folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() && !matches!(name, "gen" | "target" | "node_modules") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A path as people write it: from the root.
pub(super) fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
