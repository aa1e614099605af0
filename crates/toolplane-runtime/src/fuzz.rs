//! Text of operators: the configuration.

use std::path::Path;

use toolplane_fuzz::fuzz;

use crate::Config;

/// What can be read can be read again, and what cannot is told in words.
#[test]
fn configuration() {
    let example = include_str!("../../../deploy/toolplane.toml");
    // Every key as it would be set.
    let set: String = example
        .lines()
        .map(|line| line.strip_prefix("#: ").unwrap_or(line))
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| [line, "\n"])
        .collect();
    let parts: Vec<&str> = set.split("\n\n").collect();
    fuzz!("configuration", parts, |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        match Config::from_toml(Path::new("fuzzed.toml"), &text) {
            Ok(_) => assert!(Config::from_toml(Path::new("fuzzed.toml"), &text).is_ok()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    });
}
