//! Rules about files: where they may be, how they are called, how long they may get.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sources::shown;
use crate::command::TaskError;

/// Everything that may be under version control at the top.
const TOP_LEVEL: [&str; 22] = [
    ".cargo",
    ".ci",
    ".git",
    ".gitignore",
    ".rustfmt.toml",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "crates",
    "deny.toml",
    "deploy",
    "docs",
    "proto",
    "schemas",
    "sdk",
    "services",
];
/// Also at the top: the tests, and what builds and runs leave behind.
const TOP_LEVEL_TOO: [&str; 5] = ["tests", "target", ".toolplane", ".toolplane-demo", ".venv"];

/// Most lines of a file without tests.
const FILE_LINES: usize = 500;
/// Most lines of a `main.rs`.
const MAIN_LINES: usize = 100;
/// Most lines of a `lib.rs`.
const LIB_LINES: usize = 200;

/// Nothing new at the top, but what version control leaves out.
pub(super) fn top_level(root: &Path) -> Result<Vec<String>, TaskError> {
    let mut broken = Vec::new();
    for entry in fs::read_dir(root).map_err(TaskError::file(root))? {
        let name = entry.map_err(TaskError::file(root))?.file_name().to_string_lossy().into_owned();
        let known = TOP_LEVEL.contains(&name.as_str()) || TOP_LEVEL_TOO.contains(&name.as_str());
        if !known && !is_ignored(root, &name) {
            broken.push(format!("{name}: has no place at the top of the repository"));
        }
    }
    Ok(broken)
}

/// Whether version control leaves this out. Where that cannot be asked, nothing is.
fn is_ignored(root: &Path, name: &str) -> bool {
    let asked = Command::new("git").args(["check-ignore", "--quiet", "--", name]).current_dir(root).output();
    asked.is_ok_and(|output| output.status.success())
}

/// No file grows too long to be read at once.
pub(super) fn sizes(root: &Path, sources: &[PathBuf]) -> Result<Vec<String>, TaskError> {
    let mut broken = Vec::new();
    for file in sources.iter().filter(|file| !is_test(root, file)) {
        let text = fs::read_to_string(file).map_err(TaskError::file(file))?;
        let lines = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default().lines().count();
        let limit = match file.file_name().and_then(|name| name.to_str()) {
            Some("main.rs") => MAIN_LINES,
            Some("lib.rs") => LIB_LINES,
            _ => FILE_LINES,
        };
        if lines > limit {
            broken.push(format!("{}: has {lines} lines; at most {limit} are allowed", shown(root, file)));
        }
    }
    Ok(broken)
}

/// Modules lie beside their folders, and start by saying what they are.
pub(super) fn names(root: &Path, sources: &[PathBuf]) -> Result<Vec<String>, TaskError> {
    let mut broken = Vec::new();
    for file in sources {
        let place = shown(root, file);
        if file.file_name().is_some_and(|name| name == "mod.rs") {
            broken.push(format!("{place}: a module is `name.rs` beside its folder `name/`, never `mod.rs`"));
        }
        let text = fs::read_to_string(file).map_err(TaskError::file(file))?;
        if !is_test(root, file) && !text.starts_with("//!") {
            broken.push(format!("{place}: does not start by saying what it is (`//! ...`)"));
        }
    }
    Ok(broken)
}

/// Unsafe code only in the sandbox, and where benches count allocations.
pub(super) fn unsafe_code(root: &Path, sources: &[PathBuf]) -> Result<Vec<String>, TaskError> {
    let mut broken = Vec::new();
    let may = ["crates/toolplane-sandbox", "crates/toolplane-allocations"].map(|folder| root.join(folder));
    // Spelled in two parts, so that this file does not find itself.
    let lifted = ["(unsafe", "_code"].concat();
    for file in sources.iter().filter(|file| !may.iter().any(|folder| file.starts_with(folder))) {
        let text = fs::read_to_string(file).map_err(TaskError::file(file))?;
        if text.contains(&lifted) {
            broken.push(format!("{}: unsafe code belongs into crates/toolplane-sandbox", shown(root, file)));
        }
    }
    Ok(broken)
}

/// Tests, their data and what only they use.
pub(super) fn is_test(root: &Path, file: &Path) -> bool {
    let inner = file.strip_prefix(root).unwrap_or(file);
    let named = inner.file_stem().is_some_and(|name| name == "tests");
    named || inner.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "testdata")))
}
