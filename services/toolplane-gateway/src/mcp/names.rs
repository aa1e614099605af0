//! What tools are called here: their aliases, or where the operator wants it so, shorter ones.

use std::collections::HashMap;

use toolplane_records::alias;

/// The names of all tools of a surface, in the order of `tools`, which are full names and ids. `short` names are without the namespace,
/// where that is enough to tell the tool from all others.
pub(crate) fn all<'a>(tools: impl Iterator<Item = (&'a str, &'a str)> + Clone, short: bool) -> Vec<String> {
    let long = alias::of_all(tools.clone());
    if !short {
        return long;
    }
    let bare = |full_name: &'a str| full_name.split_once('.').map_or(full_name, |(_, rest)| rest);
    let wanted: Vec<String> = tools.map(|(full_name, tool_id)| alias::of(bare(full_name), tool_id)).collect();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for name in long.iter().chain(&wanted) {
        *seen.entry(name).or_default() += 1;
    }
    let is_enough = |short: &str| seen.get(short).is_none_or(|times| *times == 1);
    long.iter().zip(&wanted).map(|(long, short)| if is_enough(short) { short } else { long }.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_short_where_that_is_enough() {
        let tools = [("a.x", "1"), ("b.x", "2"), ("a.y.z", "3"), ("alone", "4")];
        assert_eq!(all(tools.iter().copied(), true), ["a__x", "b__x", "y__z", "alone"]);
        assert_eq!(all(tools.iter().copied(), false), ["a__x", "b__x", "a__y__z", "alone"]);
        // Those of the front door are never taken.
        let [name] = <[String; 1]>::try_from(all([("a.tool_load", "5")].into_iter(), true)).unwrap();
        assert!(name.starts_with("tool_load_"), "{name}");
    }
}
