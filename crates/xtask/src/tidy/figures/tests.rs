use std::collections::BTreeSet;

use super::{names, rings, structs};
use crate::tidy::modules::{Module, edges};

fn module(inner: &str, code: &str) -> Module {
    Module::new("services/one", inner, code)
}

#[test]
fn files_that_lead_to_each_other_are_a_ring() {
    let code = |next: &str| format!("//! Part.\nuse crate::{next}::Thing;\n");
    let mut parts: Vec<_> = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("e", "a")]
        .iter()
        .map(|(name, next)| module(&format!("{name}.rs"), &code(next)))
        .collect();
    let found = rings::rings(&edges(&parts)).into_iter().map(|ring| ring.len()).collect::<Vec<_>>();
    assert_eq!(found, [4], "`e` leads into the ring, and nothing leads back");
    parts.truncate(3);
    assert!(rings::rings(&edges(&parts)).is_empty());
}

#[test]
fn a_wide_struct_many_open_is_told() {
    let fields: String = (0..11).map(|number| format!("    pub(crate) f{number}: u8,\n")).collect();
    let mut parts = vec![module("wide.rs", &format!("pub(crate) struct Wide {{\n{fields}}}\n"))];
    parts.extend((0..6).map(|number| module(&format!("user{number}.rs"), "fn read() { wide.f3; }\n")));
    let found = structs::reached_into(&parts);
    assert_eq!(found.iter().map(|wide| (wide.name.as_str(), wide.files.len())).collect::<Vec<_>>(), [("Wide", 6)]);
    parts.pop();
    assert!(structs::reached_into(&parts).is_empty());
}

#[test]
fn one_name_for_two_types_is_told() {
    let parts = [module("a.rs", "pub struct Place;\n"), module("b.rs", "pub enum Place {}\npub struct Other;\n")];
    let found: BTreeSet<&str> = names::shared(&parts).into_keys().collect();
    assert_eq!(found, BTreeSet::from(["Place"]));
}
