//! One rules file by itself, for who writes rules where no role runs.

use std::path::Path;

use toolplane_records::rule::PermissionRule;
use toolplane_runtime::config::PermissionConfig;

use super::active::Active;
use super::fault::{Fault, Faults};
use super::source::Source;

/// Reads a rules file (TOML, JSON, or the settings of a coding agent) and checks it with its own examples.
///
/// Fails with all [`Faults`], each with its place in the file, when the file cannot be read, or when any rule or
/// example in it is wrong: no rule is returned then. The file is refused as a whole.
pub fn read_file(file: &Path) -> Result<Vec<PermissionRule>, Faults> {
    let section = PermissionConfig {
        rules_files: vec![file.to_owned()],
        // Whether a mode may be used is for the configuration to say, not for the file.
        allow_bypass: true,
        ..PermissionConfig::default()
    };
    match Active::of_source(&Source { section, file: None }) {
        // An empty file has no rules; the built-in one is not of the file.
        Ok(active) => Ok(active.rules().iter().filter(|rule| rule.origin.starts_with("file:")).cloned().collect()),
        Err(Faults(faults)) => Err(Faults(faults.into_iter().map(of_the_file).collect())),
    }
}

/// The fault without the key a configuration would name the file by.
fn of_the_file(fault: Fault) -> Fault {
    let place = fault.place.strip_prefix("permission.rules_files[0]: ").unwrap_or(&fault.place).to_owned();
    Fault { place, ..fault }
}
