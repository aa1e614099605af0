//! Names of tools that every vendor takes.

use sha2::{Digest as _, Sha256};

/// Longest name.
const LONGEST: usize = 64;
/// How much is kept of a name that is cut.
const KEPT: usize = 55;

/// The name under which the packages for Python and TypeScript offer a tool: `files__read_file` for `files.read_file`.
pub(crate) fn alias(name: &str, tool_id: &str) -> String {
    let mut alias = String::with_capacity(name.len() + 2);
    for character in name.chars() {
        match character {
            '.' => alias.push_str("__"),
            c if c.is_ascii_alphanumeric() || c == '_' || c == '-' => alias.push(c),
            _ => alias.push('_'),
        }
    }
    if !alias.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        alias.insert(0, '_');
    }
    if alias.len() > LONGEST {
        let digest = hex::encode(Sha256::digest(tool_id.as_bytes()));
        alias.truncate(KEPT);
        alias = format!("{alias}_{}", &digest[..8]);
    }
    alias
}

#[cfg(test)]
mod tests {
    use super::alias;

    #[test]
    fn a_name_is_one_that_every_vendor_takes() {
        assert_eq!(alias("files.read_file", "t"), "files__read_file");
        assert_eq!(alias("9 lives", "t"), "_9_lives");
        assert_eq!(alias("weather__now", "t"), "weather__now");
        let long = alias(&"x".repeat(80), "tool:1");
        assert_eq!((long.len(), &long[..56]), (64, &*format!("{}_", "x".repeat(55))));
    }
}
