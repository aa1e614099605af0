//! Rules about manifests: one lint table, one list of versions, one integration binary per package.

use std::fs;
use std::path::{Path, PathBuf};

use super::sources::shown;
use crate::command::TaskError;

pub(super) fn check(root: &Path) -> Result<Vec<String>, TaskError> {
    let mut broken = Vec::new();
    for folder in packages(root)? {
        let file = folder.join("Cargo.toml");
        let text = fs::read_to_string(&file).map_err(TaskError::file(&file))?;
        let place = shown(root, &file);
        broken.extend(manifest(&text).into_iter().map(|rule| format!("{place}: {rule}")));
        let name = package_of(root, &folder);
        if !text.contains(&format!("name = \"{name}\"")) {
            broken.push(format!("{place}: the package is not called like its folder"));
        }
        if folder != root.join("tests") {
            broken.extend(integration_binaries(root, &folder));
        }
    }
    Ok(broken)
}

fn packages(root: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let mut found = vec![root.join("tests")];
    for group in ["crates", "services", "tests"] {
        let group = root.join(group);
        for entry in fs::read_dir(&group).map_err(TaskError::file(&group))? {
            found.push(entry.map_err(TaskError::file(&group))?.path());
        }
    }
    found.retain(|folder| folder.join("Cargo.toml").is_file());
    Ok(found)
}

/// What the package in a folder is called: like the folder, those of tests with our name before it.
fn package_of(root: &Path, folder: &Path) -> String {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let of_tests = folder.starts_with(root.join("tests"));
    if of_tests { format!("toolplane-{name}") } else { name.to_owned() }
}

/// The rules one manifest breaks.
pub(super) fn manifest(text: &str) -> Vec<String> {
    let mut broken = Vec::new();
    let mut section = "";
    let mut lints = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if section == "[lints]" && line == "workspace = true" {
            lints = true;
        } else if section.ends_with("dependencies]") && is_own_version(line) {
            broken.push(format!("`{line}` does not take its version from the workspace"));
        }
    }
    if !lints {
        broken.push("does not take its lints from the workspace".to_owned());
    }
    broken
}

fn is_own_version(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#') && !line.contains("workspace = true")
}

fn integration_binaries(root: &Path, package: &Path) -> Option<String> {
    let entries = fs::read_dir(package.join("tests")).ok()?;
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let count = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")).count();
    (count > 1).then(|| format!("{}: has {count} integration binaries; one is enough", shown(root, package)))
}
