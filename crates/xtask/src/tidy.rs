//! `cargo xtask tidy`: rules of the house that no compiler checks. Runs as a test too.

use std::path::{Path, PathBuf};

use crate::command::{self, TaskError};

mod codes;
mod dependencies;
mod figures;
mod files;
mod folders;
mod manifests;
mod modules;
mod sleeps;
#[cfg(test)]
mod tests;

/// What is asked.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also print what the structure of the code can be judged by; nothing of it fails.
    #[arg(long)]
    figures: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    if args.figures {
        figures::print(command::root())?;
    }
    check(command::root())?;
    println!("tidy");
    Ok(())
}

/// Fails with every broken rule.
pub(crate) fn check(root: &Path) -> Result<(), TaskError> {
    let broken = broken_rules(root)?;
    if broken.is_empty() { Ok(()) } else { Err(TaskError::Untidy(broken)) }
}

/// Every broken rule, one line each.
fn broken_rules(root: &Path) -> Result<Vec<String>, TaskError> {
    let mut broken = files::top_level(root)?;
    let sources = sources(root)?;
    broken.extend(files::sizes(root, &sources)?);
    broken.extend(files::names(root, &sources)?);
    broken.extend(files::unsafe_code(root, &sources)?);
    broken.extend(sleeps::check(root, &sources)?);
    broken.extend(codes::typed_elsewhere(root, &sources)?);
    broken.extend(manifests::check(root)?);
    broken.extend(dependencies::check()?);
    broken.extend(folders::check(&modules::read(root, &sources)?));
    broken.sort();
    Ok(broken)
}

/// Every Rust file of the workspace, generated ones left out.
fn sources(root: &Path) -> Result<Vec<PathBuf>, TaskError> {
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
fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}
