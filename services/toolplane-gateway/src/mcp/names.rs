//! What tools are called here: names any model provider takes, made from full names the same way by every process.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

/// Longest name.
const LONGEST: usize = 64;
/// How much is kept of a name that is made unlike others by a digest.
const KEPT: usize = 55;

/// The name of a tool: its namespace and the rest with `__` between, `_` for what may not be in a name; cut, with a digest, where it
/// would be too long.
pub(crate) fn plain(full_name: &str, tool_id: &str) -> String {
    let (namespace, rest) = full_name.split_once('.').unwrap_or(("", full_name));
    let mut name = String::with_capacity(full_name.len() + 2);
    if !namespace.is_empty() {
        name.extend(namespace.chars().map(allowed));
        name.push_str("__");
    }
    name.extend(rest.chars().map(allowed));
    if name.starts_with(|first: char| !first.is_ascii_alphabetic() && first != '_') {
        name.insert(0, '_');
    }
    if name.len() > LONGEST { distinct(&name, tool_id) } else { name }
}

/// A name that says which tool it is of by a digest.
fn distinct(name: &str, tool_id: &str) -> String {
    let digest = hex::encode(Sha256::digest(tool_id.as_bytes()));
    format!("{}_{}", &name[..name.len().min(KEPT)], &digest[..8])
}

fn allowed(character: char) -> char {
    if character.is_ascii_alphanumeric() || matches!(character, '_' | '-') { character } else { '_' }
}

/// The names of all tools of a surface, in the order of `tools`, which are full names and ids. Those that would be alike get a
/// digest each, so that none of them depends on the others' order. `taken` are names that stand for something else. `short` names are without
/// the namespace, where that is enough.
pub(crate) fn all<'a>(
    tools: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    taken: &[&str],
    short: bool,
) -> Vec<String> {
    let long: Vec<String> = tools.clone().map(|(full_name, tool_id)| plain(full_name, tool_id)).collect();
    let bare = |full_name: &'a str| full_name.split_once('.').map_or(full_name, |(_, rest)| rest);
    let wanted: Vec<String> = match short {
        true => tools
            .clone()
            .map(|(full_name, tool_id)| plain(bare(full_name).replace('.', "_").as_str(), tool_id))
            .collect(),
        false => Vec::new(),
    };
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for name in long.iter().chain(&wanted) {
        *seen.entry(name).or_default() += 1;
    }
    let alone = |name: &str| seen.get(name).is_none_or(|times| *times == 1) && !taken.contains(&name);
    let named = long.iter().zip(tools).enumerate();
    let choose = |at: usize, long: &String, tool_id: &str| match wanted.get(at).filter(|short| alone(short)) {
        Some(short) => short.clone(),
        None if alone(long) => long.clone(),
        None => distinct(long, tool_id),
    };
    named.map(|(at, (long, (_, tool_id)))| choose(at, long, tool_id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_every_provider_takes() {
        for (full, expected) in [
            ("small.echo", "small__echo"),
            ("local.shell.exec", "local__shell_exec"),
            ("a.b:c/d@e+f", "a__b_c_d_e_f"),
            ("9.x", "_9__x"),
            ("alone", "alone"),
        ] {
            assert_eq!(plain(full, "id"), expected);
        }
        let long = plain(&format!("ns.{}", "x".repeat(200)), "tool_1");
        assert_eq!((long.len(), &long[..9]), (64, "ns__xxxxx"));
        assert_ne!(long, plain(&format!("ns.{}", "x".repeat(200)), "tool_2"));
    }

    #[test]
    fn names_that_would_be_alike_are_told_apart_in_any_order() {
        let tools = [("a.b_c", "1"), ("a.b.c", "2"), ("a.d", "3"), ("tool_search", "4")];
        let names = all(tools.iter().copied(), &["tool_search"], false);
        assert_eq!(names[2], "a__d");
        assert_ne!(names[0], names[1]);
        assert!(names[3].starts_with("tool_search_"));
        let mut turned = all(tools.iter().rev().copied(), &["tool_search"], false);
        turned.reverse();
        assert_eq!(names, turned);
        let tools = [("a.x", "1"), ("b.x", "2"), ("a.y.z", "3"), ("a.tool_load", "4")];
        assert_eq!(all(tools.iter().copied(), &["tool_load"], true), ["a__x", "b__x", "y_z", "a__tool_load"]);
    }
}
