//! What a tool is called where its full name cannot be used: the one rule for every shape, program and package.
//!
//! Model vendors take names of letters, digits, `_` and `-`, at most 64 characters of them, with a letter or `_` first. An alias is made
//! of the full name and the id of its tool alone, so it stays whatever other tools come and go, and every process makes the same one.

use std::collections::HashMap;

use crate::payload::Digest;

/// Longest alias.
pub const LONGEST: usize = 64;
/// How much is kept of a name that ends in a digest.
const KEPT: usize = 55;
/// Digits of the digest at first; aliases that would be alike all the same get more.
const DIGITS: usize = 8;

/// Names of tools that agents' loops and the MCP server have of their own, to find, load and call other tools. No alias is one of them.
pub const RESERVED: [&str; 4] = ["tool_search", "tool_load", "tool_call", "tool_result"];

/// The alias of a tool: its full name with `__` for every dot. Where that is too long, reserved, or has anything else changed, it ends in
/// a digest of the tool's id, so that no two tools get the same by it.
pub fn of(full_name: &str, tool_id: &str) -> String {
    let plain = plain(full_name);
    let is_exact = full_name.chars().all(|c| c == '.' || is_allowed(c)) && begins_well(full_name);
    match is_exact && plain.len() <= LONGEST && !RESERVED.contains(&plain.as_str()) {
        true => plain,
        false => with_digest(&plain, tool_id, DIGITS),
    }
}

/// The aliases of tools, given as full names and ids, in their order: each is that of [`of`], unless several would be the same. Then all of
/// these get more digits, until no two are alike; the order of the tools does not matter. Ids must differ.
pub fn of_all<'a>(tools: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let tools: Vec<(&str, &str)> = tools.collect();
    let mut aliases: Vec<String> = tools.iter().map(|(name, id)| of(name, id)).collect();
    for digits in [DIGITS, 16, 32, LONGEST - 1] {
        let mut times: HashMap<&str, usize> = HashMap::with_capacity(aliases.len());
        for alias in &aliases {
            *times.entry(alias).or_default() += 1;
        }
        let shared: Vec<usize> = (0..aliases.len()).filter(|at| times[aliases[*at].as_str()] > 1).collect();
        if shared.is_empty() {
            break;
        }
        for at in shared {
            aliases[at] = with_digest(&plain(tools[at].0), tools[at].1, digits);
        }
    }
    aliases
}

/// `__` for every dot, `_` for whatever else is not allowed, and before what may not be first.
fn plain(full_name: &str) -> String {
    let mut plain = String::with_capacity(full_name.len() + 4);
    if !begins_well(full_name) {
        plain.push('_');
    }
    for character in full_name.chars() {
        match character {
            '.' => plain.push_str("__"),
            c if is_allowed(c) => plain.push(c),
            _ => plain.push('_'),
        }
    }
    plain
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

fn begins_well(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '.'))
}

/// As much of the name as there is room for, and so many digits of a digest.
fn with_digest(plain: &str, id: &str, digits: usize) -> String {
    let kept = KEPT.min(LONGEST - 1 - digits).min(plain.len());
    format!("{}_{}", &plain[..kept], &Digest::of(id.as_bytes()).hex()[..digits])
}

/// A name of at most 64 characters, made of one that may have others: a digest tells those apart that would be alike. For names that are
/// not those of tools, e.g. of parameters.
pub fn narrowed(name: &str, is_allowed: impl Fn(char) -> bool, begins: impl Fn(char) -> bool) -> String {
    let mut plain: String = name.chars().map(|c| if is_allowed(c) { c } else { '_' }).collect();
    if !plain.starts_with(begins) {
        plain.insert(0, '_');
    }
    match plain == name && plain.len() <= LONGEST {
        true => plain,
        false => with_digest(&plain, name, DIGITS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_portable(alias: &str) -> bool {
        alias.len() <= LONGEST && alias.chars().all(is_allowed) && begins_well(alias) && !alias.starts_with('.')
    }

    #[test]
    fn an_alias_is_what_every_vendor_takes() {
        for (full, expected) in [
            ("small.echo", "small__echo"),
            ("local.shell.exec", "local__shell__exec"),
            ("alone", "alone"),
            ("a.read-file", "a__read-file"),
            ("weather__now", "weather__now"),
        ] {
            assert_eq!(of(full, "id"), expected);
        }
        let long = "company.".to_owned() + &"very_long_".repeat(20);
        for odd in ["9.x", "-a", "a.b:c/d@e+f", "ünï.cöde", "tool_search", "", long.as_str()] {
            let (one, two) = (of(odd, "tool_1"), of(odd, "tool_2"));
            assert!(is_portable(&one) && one != two, "{odd}: {one}");
            assert!(!RESERVED.contains(&one.as_str()));
        }
    }

    #[test]
    fn aliases_that_would_be_alike_are_told_apart_in_any_order() {
        let squatter = of("tool_call", "1");
        let tools = [
            ("a.b__c", "1"),
            ("a.b.c", "2"),
            ("a.d", "3"),
            ("tool_call", "1x"),
            (squatter.as_str(), "4"),
            ("tool_call", "1"),
        ];
        let aliases = of_all(tools.iter().copied());
        let distinct: std::collections::HashSet<_> = aliases.iter().collect();
        assert_eq!((distinct.len(), aliases[2].as_str()), (tools.len(), "a__d"));
        assert!(aliases.iter().all(|alias| is_portable(alias)), "{aliases:?}");
        let mut turned = of_all(tools.iter().rev().copied());
        turned.reverse();
        assert_eq!(aliases, turned);
    }

    #[test]
    fn names_of_parameters_are_narrowed_and_stay_apart() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let first = |c: char| c.is_ascii_alphabetic() || c == '_';
        assert_eq!(narrowed("city", word, first), "city");
        assert_ne!(narrowed("a-b", word, first), narrowed("a.b", word, first));
        assert_eq!(narrowed(&"x".repeat(80), word, first).len(), 64);
    }
}
