//! Tests wait for events; where they cannot, they say why, and one crate sleeps for them.

use std::fs;
use std::path::{Path, PathBuf};

use super::sources::shown;
use crate::command::TaskError;

/// The crate that sleeps.
const HOME: &str = "crates/toolplane-wait/";
/// Where sleeps are not looked at: benches and clusters of people wait for processes; the scheduler's tests are to follow.
const APART: [&str; 3] = ["crates/xtask/", "crates/xtask-cluster/", "services/toolplane-scheduler/"];

/// No test sleeps by itself.
pub(super) fn check(root: &Path, sources: &[PathBuf]) -> Result<Vec<String>, TaskError> {
    let mut broken = Vec::new();
    for file in sources {
        let place = shown(root, file);
        if place.starts_with(HOME) || APART.iter().any(|apart| place.starts_with(apart)) {
            continue;
        }
        let text = fs::read_to_string(file).map_err(TaskError::file(file))?;
        let lines = asleep(&place, &text);
        broken.extend(lines.into_iter().map(|line| {
            format!("{place}:{line}: a test waits for an event, or by `toolplane_wait`, which asks for the reason")
        }));
    }
    Ok(broken)
}

/// The lines of test code that sleep.
pub(super) fn asleep(place: &str, text: &str) -> Vec<usize> {
    let is_test = place.starts_with("tests/")
        || place.contains("/tests/")
        || place.ends_with("/tests.rs")
        || place.contains("testkit/");
    let own_tests = text.find("\n#[cfg(test)]\nmod tests {").map(|at| text[..at].lines().count());
    let first = if is_test { Some(0) } else { own_tests };
    let Some(first) = first else { return Vec::new() };
    let sleeps = |line: &str| ["tokio::time::sleep", "thread::sleep"].iter().any(|call| line.contains(call));
    text.lines().zip(1..).filter(|(line, number)| *number > first && sleeps(line)).map(|(_, number)| number).collect()
}
