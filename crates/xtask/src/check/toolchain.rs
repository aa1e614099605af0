//! The oldest Rust we name (`rust-version`) is one that builds this.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::cargo;
use crate::command::{self, TaskError};

/// No dependency asks for a newer Rust than we name.
pub(super) fn versions(root: &Path) -> Result<(), TaskError> {
    let text = command::capture(cargo(root, &["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_slice(&text).map_err(|error| TaskError::Answer(error.to_string()))?;
    let broken = too_new(&metadata);
    if broken.is_empty() { Ok(()) } else { Err(TaskError::Answer(broken.join("\n"))) }
}

/// The packages that ask for a newer Rust than the oldest one a package of ours names.
pub(super) fn too_new(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (ours, theirs): (Vec<_>, Vec<_>) = packages.iter().partition(|package| package["source"].is_null());
    let mut broken = Vec::new();
    for package in ours.iter().filter(|package| package["rust_version"].is_null()) {
        broken.push(format!("{}: names no `rust-version`", text(package, "name")));
    }
    let Some(named) = ours.iter().filter_map(|package| package["rust_version"].as_str()).min_by_key(|it| numbers(it))
    else {
        return broken;
    };
    for package in theirs {
        let wanted = text(package, "rust_version");
        if numbers(wanted) > numbers(named) {
            let (name, version) = (text(package, "name"), text(package, "version"));
            broken.push(format!("{name} {version}: needs Rust {wanted}, and we name {named}"));
        }
    }
    broken
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_default()
}

/// A version as it is compared: `1.90` is older than `1.90.1`.
fn numbers(version: &str) -> Vec<u32> {
    version.split('.').filter_map(|part| part.parse().ok()).collect()
}

/// Builds everything with the Rust we name, where it is installed. It has a target folder of its own, which compilers
/// cannot share.
pub(super) fn builds(root: &Path) -> Result<(), TaskError> {
    let manifest = root.join("Cargo.toml");
    let manifest = std::fs::read_to_string(&manifest).map_err(TaskError::file(&manifest))?;
    let named = manifest.lines().find_map(|line| line.strip_prefix("rust-version = \"")?.strip_suffix('"'));
    let Some(named) = named else {
        return Err(TaskError::Answer("Cargo.toml: names no `rust-version`".to_owned()));
    };
    let Some(toolchain) = installed(named) else {
        println!(
            "Rust {named} is not installed here, so nothing was built with it: `rustup toolchain install {named}`"
        );
        return Ok(());
    };
    let mut check = Command::new("rustup");
    check.current_dir(root).args(["run", &toolchain, "cargo", "check", "--workspace", "--locked", "--quiet"]);
    // What cargo tells the programs it runs belongs to the other toolchain.
    for inherited in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        check.env_remove(inherited);
    }
    check.env("CARGO_TARGET_DIR", root.join("target").join(format!("rust-{named}")));
    command::run(check)
}

/// The toolchain of rustup that is this version.
fn installed(named: &str) -> Option<String> {
    let listed = Command::new("rustup").args(["toolchain", "list"]).output().ok()?;
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let fits = |name: &&str| name.strip_prefix(named).is_some_and(|rest| rest.starts_with(['.', '-']));
    listed.lines().filter_map(|line| line.split_whitespace().next()).find(fits).map(str::to_owned)
}
