//! No package names a dependency that its code does not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::cargo;
use crate::command::{self, TaskError};

/// Fails with every dependency no source file of its package names.
pub(super) fn check(root: &Path) -> Result<(), TaskError> {
    let text = command::capture(cargo(root, &["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_slice(&text).map_err(|error| TaskError::Answer(error.to_string()))?;
    let mut broken = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap_or_default());
        let words = words_below(manifest.parent().unwrap_or(root))?;
        let name = package["name"].as_str().unwrap_or_default();
        broken
            .extend(unused(package, &words).into_iter().map(|dependency| format!("{name}: does not use {dependency}")));
    }
    if broken.is_empty() { Ok(()) } else { Err(TaskError::Answer(broken.join("\n"))) }
}

/// The dependencies of a package that are not among the words of its sources.
pub(super) fn unused(package: &Value, words: &BTreeSet<String>) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut unused = BTreeSet::new();
    for dependency in dependencies {
        let name = dependency["name"].as_str().unwrap_or_default();
        // Tests that turn on features of their own package.
        if dependency["name"] == package["name"] {
            continue;
        }
        let said = dependency["rename"].as_str().unwrap_or(name).replace('-', "_");
        if !words.contains(&said) {
            unused.insert(name.to_owned());
        }
    }
    unused.into_iter().collect()
}

/// Every first word of a path in the code below a folder that belongs to one package.
fn words_below(folder: &Path) -> Result<BTreeSet<String>, TaskError> {
    let mut words = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(TaskError::file(&folder))? {
            let path = entry.map_err(TaskError::file(&folder))?.path();
            let is_target = path.file_name().is_some_and(|name| name == "target");
            let is_package = path.join("Cargo.toml").is_file();
            if path.is_dir() && !is_package && !is_target {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).map_err(TaskError::file(&path))?;
                words.extend(heads(&text).map(str::to_owned));
            }
        }
    }
    Ok(words)
}

/// The words that can name a crate: before `::`, or after `use`. Comments name crates too, and use none.
pub(super) fn heads(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    code.flat_map(|line| {
        let before = line.split("::").filter_map(last_word);
        let used = line.split_once("use ").and_then(|(_, rest)| rest.split([';', ':', ' ']).next());
        before.chain(used)
    })
}

fn last_word(text: &str) -> Option<&str> {
    text.rsplit(|character: char| !character.is_alphanumeric() && character != '_').next()
}
