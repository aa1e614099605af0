//! What comes from outside keeps what `deny.toml` says: licences, one version of each crate, known places to get it from.
//!
//! cargo-deny says it where it is installed. Building it takes longer than all other checks together, so where it is not, a
//! reader of the same file answers: it knows the keys that are used there, and refuses others.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::cargo;
use crate::command::{self, TaskError};

mod duplicates;
mod policy;
mod spdx;
#[cfg(test)]
mod tests;

use policy::Policy;

/// One crate that is built from outside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Built {
    name: String,
    version: String,
}

/// Fails with every crate that does not keep the policy.
pub(super) fn check(root: &Path) -> Result<(), TaskError> {
    let file = root.join("deny.toml");
    let text = std::fs::read_to_string(&file).map_err(TaskError::file(&file))?;
    // Read in any case: a key that only cargo-deny knows would otherwise go unnoticed until it is not there.
    let policy = Policy::read(&text).map_err(|error| TaskError::Answer(format!("deny.toml: {error}")))?;
    if command::works("cargo", &["deny", "--version"]) {
        let deny = ["deny", "--log-level", "error", "check", "--deny", "unmatched-skip", "--deny", "unnecessary-skip"];
        let mut deny = cargo(root, &deny);
        deny.args(["licenses", "bans", "sources"]);
        return command::run(deny);
    }
    let broken = broken(root, &policy)?;
    if broken.is_empty() { Ok(()) } else { Err(TaskError::Answer(broken.join("\n"))) }
}

/// Every line of the policy that is broken, as our own reader sees it.
fn broken(root: &Path, policy: &Policy) -> Result<Vec<String>, TaskError> {
    let text = command::capture(cargo(root, &["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_slice(&text).map_err(|error| TaskError::Answer(error.to_string()))?;
    let mut built = BTreeSet::new();
    for target in &policy.targets {
        built.extend(built_for(root, target)?);
    }
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_built = |package: &&Value| {
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        let version = package["version"].as_str().unwrap_or_default().to_owned();
        built.contains(&Built { name, version })
    };
    let packages: Vec<_> = packages.iter().filter(is_built).collect();
    let mut broken: Vec<_> = packages.iter().filter_map(|package| of_package(package, policy)).collect();
    broken.extend(duplicates::check(&built, &policy.skip));
    Ok(broken)
}

/// What is built for a target, tests and build scripts included: features decide, so cargo is asked.
fn built_for(root: &Path, target: &str) -> Result<Vec<Built>, TaskError> {
    let tree =
        ["tree", "--workspace", "--locked", "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p}"];
    let mut tree = cargo(root, &tree);
    tree.args(["--target", target]);
    let text = command::capture(tree)?;
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next()?, words.next()?);
        Some(Built { name: name.to_owned(), version: version.trim_start_matches('v').to_owned() })
    });
    Ok(lines.collect())
}

/// What is wrong with one package, if anything: its licence, or where it comes from.
fn of_package(package: &Value, policy: &Policy) -> Option<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let version = package["version"].as_str().unwrap_or_default();
    let source = package["source"].as_str();
    if source.is_some_and(|source| source != "registry+https://github.com/rust-lang/crates.io-index") {
        return Some(format!("{name} {version}: comes from {}, not from crates.io", source.unwrap_or_default()));
    }
    match package["license"].as_str() {
        None => Some(format!("{name} {version}: names no licence")),
        Some(expression) => match spdx::is_allowed(expression, &policy.licences) {
            Ok(true) => None,
            Ok(false) => Some(format!("{name} {version}: its licence `{expression}` is not allowed by deny.toml")),
            Err(error) => Some(format!("{name} {version}: its licence `{expression}` cannot be read: {error}")),
        },
    }
}
