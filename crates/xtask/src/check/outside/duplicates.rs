//! One version of each crate, or a line that says why not.

use std::collections::{BTreeMap, BTreeSet};

use super::Built;
use super::policy::Skip;

/// Crates that are built in several versions without a line for all but one, and lines that nothing needs.
pub(super) fn check(built: &BTreeSet<Built>, skip: &[Skip]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in built {
        versions.entry(&one.name).or_default().push(&one.version);
    }
    let mut broken = Vec::new();
    for (name, versions) in &versions {
        let left: Vec<_> =
            versions.iter().filter(|version| !skip.iter().any(|line| covers(line, name, version))).collect();
        if left.len() > 1 {
            let left = left.into_iter().copied().collect::<Vec<_>>().join(", ");
            broken.push(format!(
                "{name}: is built in the versions {left}; `cargo tree --invert {name}@VERSION` says for whom"
            ));
        }
    }
    for line in skip {
        let covered = versions.get(line.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        if covered.len() < 2 || !covered.iter().any(|version| covers(line, &line.name, version)) {
            broken.push(format!("deny.toml: `bans.skip` names {}@{}, and nothing needs it", line.name, line.version));
        }
    }
    broken
}

fn covers(line: &Skip, name: &str, version: &str) -> bool {
    let rest = version.strip_prefix(line.version.as_str());
    line.name == name && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '+']))
}
