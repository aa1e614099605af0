use std::collections::{BTreeMap, BTreeSet};

fn check(name: &str, value: &str, declared: &[&str], accepted: bool) {
    let added = BTreeMap::from([(name.to_owned(), value.to_owned())]);
    let declared: BTreeSet<_> = declared.iter().map(|name| (*name).to_owned()).collect();
    let outcome = super::check(&added, &declared);
    assert_eq!(outcome.is_ok(), accepted, "{name:?}={value:?}: {outcome:?}");
}

#[test]
fn names_that_change_what_runs_need_a_declaration() {
    for name in
        ["LD_PRELOAD", "BASH_ENV", "PATH", "GIT_SSH_COMMAND", "PYTHONSTARTUP", "NODE_OPTIONS", "IFS", "ld_audit"]
    {
        check(name, "x", &[], false);
        check(name, "x", &[name], true);
    }
    check("MY_TOKEN_FILE", "x", &[], true);
}

#[test]
fn what_is_no_variable_is_refused() {
    for name in ["", "A=B", "N\0UL", "1A", "a b", "BASH_FUNC_x%%"] {
        check(name, "x", &[name], false);
    }
    check("OK", "a\0b", &[], false);
    check("OK", &"x".repeat(70_000), &[], false);
}

#[test]
fn the_fixed_part_is_always_there() {
    let env = super::complete(&BTreeMap::from([("A".to_owned(), "1".to_owned())]));
    assert_eq!(env["TERM"], "dumb");
    assert_eq!(env["A"], "1");
}
