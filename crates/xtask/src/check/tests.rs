//! Each check finds what it is there for. They look at small packages of their own, without dependencies.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::{format, lints, rustdoc, toolchain, unused};

/// A package with one file. Each has a name of its own: where the environment names one target folder for all of them, cargo
/// takes packages of one name for the same, and answers for the second with what it found in the first.
fn package(code: &str) -> TempDir {
    let folder = tempfile::Builder::new().prefix("small-").tempdir().unwrap();
    let name = folder.path().file_name().unwrap().to_str().unwrap().to_lowercase();
    let manifest =
        format!("[workspace]\n\n[package]\nname = \"{name}\"\nedition = \"2024\"\nrust-version = \"1.90\"\n");
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), code).unwrap();
    folder
}

#[track_caller]
fn holds_for(check: fn(&Path) -> Result<(), crate::command::TaskError>, good: &str, bad: &str) {
    let (good, bad) = (package(good), package(bad));
    check(good.path()).unwrap();
    check(bad.path()).unwrap_err();
}

#[test]
fn code_that_is_not_formatted_is_found() {
    holds_for(format::check, "//! Small.\n", "//! Small.\npub fn  wide( ) { }\n");
}

#[test]
fn a_warning_is_found() {
    holds_for(lints::check, "//! Small.\n", "//! Small.\nfn nobody_calls() {}\n");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    holds_for(rustdoc::check, "//! Small.\n", "//! Small: see [`Missing`].\n");
}

#[test]
fn a_dependency_that_needs_a_newer_rust_is_found() {
    let ours = |rust: &str| json!({ "name": "ours", "version": "0.1.0", "source": null, "rust_version": rust });
    let theirs = json!({ "name": "theirs", "version": "2.1.0", "source": "registry", "rust_version": "1.90.1" });
    let found = toolchain::too_new(&json!({ "packages": [ours("1.90"), theirs] }));
    assert_eq!(found, ["theirs 2.1.0: needs Rust 1.90.1, and we name 1.90"]);
    assert!(toolchain::too_new(&json!({ "packages": [ours("1.100"), theirs] })).is_empty());
    let mute = json!({ "name": "mute", "source": null });
    assert_eq!(toolchain::too_new(&json!({ "packages": [mute] })), ["mute: names no `rust-version`"]);
}

#[test]
fn code_the_named_rust_does_not_know_is_found() {
    let folder = package("//! Small.\n");
    let manifest = folder.path().join("Cargo.toml");
    fs::write(&manifest, "[workspace]\n").unwrap();
    assert_eq!(toolchain::builds(folder.path()).unwrap_err().to_string(), "Cargo.toml: names no `rust-version`");
    // What is not installed cannot be asked, and is told.
    fs::write(&manifest, "[package]\nrust-version = \"1.1\"\n").unwrap();
    toolchain::builds(folder.path()).unwrap();
}

#[test]
fn a_dependency_nobody_names_is_found() {
    let package = json!({ "dependencies": [
        { "name": "some-crate", "rename": null },
        { "name": "other", "rename": "known" },
        { "name": "idle", "rename": null },
    ]});
    let words: BTreeSet<String> =
        unused::heads("use some_crate;\nlet x = known::idle();\n// idle::nothing\n").map(str::to_owned).collect();
    assert_eq!(unused::unused(&package, &words), ["idle"]);
}
