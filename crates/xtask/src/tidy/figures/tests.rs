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

/// A struct of eleven fields with these words before each, and files that name one of them.
fn wide_and_its_users(visibility: &str, users: usize) -> Vec<Module> {
    let fields: String = (0..11).map(|number| format!("    {visibility}f{number}: u8,\n")).collect();
    let mut parts = vec![module("wide.rs", &format!("pub(crate) struct Wide {{\n{fields}}}\n"))];
    parts.extend((0..users).map(|number| module(&format!("user{number}.rs"), "fn read() { wide.f3; }\n")));
    parts
}

#[test]
fn a_wide_struct_many_open_is_told() {
    for visibility in ["pub ", "pub(crate) ", "pub(super) ", "pub(in crate::part) "] {
        let found = structs::reached_into(&wide_and_its_users(visibility, 6));
        let found: Vec<_> = found.iter().map(|wide| (wide.name.as_str(), wide.files.len())).collect();
        assert_eq!(found, [("Wide", 6)], "{visibility}");
        assert!(structs::reached_into(&wide_and_its_users(visibility, 5)).is_empty(), "{visibility}");
    }
}

#[test]
fn private_fields_are_not_told() {
    assert!(structs::reached_into(&wide_and_its_users("", 6)).is_empty());
}

#[test]
fn one_name_for_two_types_is_told() {
    let parts = [module("a.rs", "pub struct Place;\n"), module("b.rs", "pub enum Place {}\npub struct Other;\n")];
    let found: BTreeSet<&str> = names::shared(&parts).into_keys().collect();
    assert_eq!(found, BTreeSet::from(["Place"]));
}
