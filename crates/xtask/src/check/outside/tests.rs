use std::collections::BTreeSet;

use serde_json::json;

use super::policy::{Policy, Skip};
use super::{Built, broken, duplicates, of_package, spdx};
use crate::command;

/// The part of a policy that every test needs.
const BASE: &str = "[graph]\ntargets = [\"x86_64-unknown-linux-gnu\"]\n[licenses]\nallow = [\"MIT\", \"Apache-2.0 WITH LLVM-exception\"]\n";

/// Our own reader agrees with the repository as it is, whether or not cargo-deny is installed.
#[test]
fn what_comes_from_outside_keeps_the_policy() {
    let text = std::fs::read_to_string(command::root().join("deny.toml")).unwrap();
    let broken = broken(command::root(), &Policy::read(&text).unwrap()).unwrap();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_key_nobody_checks_is_refused() {
    let more = format!("{BASE}[advisories]\nyanked = \"deny\"\n");
    assert_eq!(Policy::read(&more).unwrap_err(), "`advisories.yanked` is not known to `cargo xtask check`");
    let weaker = format!("{BASE}[bans]\nmultiple-versions = \"warn\"\n");
    assert_eq!(
        Policy::read(&weaker).unwrap_err(),
        "`bans.multiple-versions` must be \"deny\": nothing else is checked"
    );
    let mute = format!("{BASE}[bans]\nskip = [{{ crate = \"a@1\" }}]\n");
    assert_eq!(Policy::read(&mute).unwrap_err(), "`bans.skip`: a@1 has no reason");
}

#[test]
fn a_licence_that_is_not_allowed_is_found() {
    let policy = Policy::read(BASE).unwrap();
    let package = |licence: &str| json!({ "name": "a", "version": "1.0.0", "license": licence });
    assert_eq!(of_package(&package("MIT OR GPL-3.0"), &policy), None);
    let found = of_package(&package("MIT AND GPL-3.0"), &policy).unwrap();
    assert_eq!(found, "a 1.0.0: its licence `MIT AND GPL-3.0` is not allowed by deny.toml");
    assert_eq!(of_package(&json!({ "name": "a", "version": "1.0.0" }), &policy).unwrap(), "a 1.0.0: names no licence");
}

#[test]
fn a_crate_from_elsewhere_is_found() {
    let package = json!({ "name": "a", "version": "1.0.0", "license": "MIT", "source": "git+https://example.com/a" });
    let found = of_package(&package, &Policy::read(BASE).unwrap()).unwrap();
    assert_eq!(found, "a 1.0.0: comes from git+https://example.com/a, not from crates.io");
}

#[test]
fn licence_expressions_are_read_as_they_are_meant() {
    let allowed = ["MIT".to_owned(), "Apache-2.0".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()];
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0 OR Apache-2.0", true),
        ("MIT AND (GPL-3.0 OR ISC)", false),
        ("(MIT OR GPL-3.0) AND Apache-2.0", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("MIT WITH LLVM-exception", false),
    ] {
        assert_eq!(spdx::is_allowed(expression, &allowed), Ok(met), "{expression}");
    }
    for wrong in ["", "MIT OR", "(MIT", "MIT)", "MIT ISC", "AND", "MIT WITH"] {
        assert!(spdx::is_allowed(wrong, &allowed).is_err(), "{wrong}");
    }
}

#[test]
fn a_second_version_and_an_idle_line_are_found() {
    let one = |name: &str, version: &str| Built { name: name.to_owned(), version: version.to_owned() };
    let skip = |name: &str, version: &str| Skip { name: name.to_owned(), version: version.to_owned() };
    let built = BTreeSet::from([one("a", "1.2.0"), one("a", "2.0.0"), one("b", "1.0.0")]);
    let broken = duplicates::check(&built, &[]);
    assert_eq!(broken.len(), 1);
    assert!(broken[0].starts_with("a: is built in the versions 1.2.0, 2.0.0;"), "{broken:?}");
    assert!(duplicates::check(&built, &[skip("a", "1.2")]).is_empty());
    // `1` does not cover 12, and nothing is twice that is not there twice.
    let idle = duplicates::check(&built, &[skip("a", "1"), skip("b", "1.0.0"), skip("c", "1")]);
    assert_eq!(idle.len(), 2, "{idle:?}");
}
