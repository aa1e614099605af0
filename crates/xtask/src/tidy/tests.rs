use serde_json::json;

use super::folders::Folder;
use super::modules::Module;
use super::{broken_rules, dependencies, files, folders, manifests, sleeps};
use crate::command;

/// The repository as it is keeps every rule.
#[test]
fn the_house_is_tidy() {
    let broken = broken_rules(command::root()).unwrap();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// What README.md has people make is left alone; anything else at the top is not.
#[test]
fn what_version_control_leaves_out_may_be_at_the_top() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let made = std::process::Command::new("git").args(["init", "--quiet"]).current_dir(root).status().unwrap();
    assert!(made.success());
    std::fs::copy(command::root().join(".gitignore"), root.join(".gitignore")).unwrap();
    for name in ["ann-key", "bot-key", "keys.toml", "numbers.txt", "notes.txt"] {
        std::fs::write(root.join(name), "").unwrap();
    }
    std::fs::create_dir(root.join("tls")).unwrap();
    assert_eq!(files::top_level(root).unwrap(), ["notes.txt: has no place at the top of the repository"]);
}

#[test]
fn a_forbidden_edge_is_found() {
    let package = json!({ "name": "toolplane-surface", "dependencies": [
        { "name": "toolplane-records", "kind": null },
        { "name": "toolplane-scheduler", "kind": null },
        { "name": "redb", "kind": null },
        { "name": "toolplane-testkit", "kind": "dev" },
    ]});
    let broken = dependencies::package(&package);
    let found = |line: &str| broken.iter().any(|broken| broken == line);
    assert!(found("toolplane-surface: may not use toolplane-scheduler"), "{broken:?}");
    assert!(found("toolplane-surface: may not know redb"), "{broken:?}");
    assert!(
        !broken.iter().any(|line| line.contains("toolplane-records") || line.contains("toolplane-testkit")),
        "{broken:?}"
    );
    let idle = "toolplane-surface: does not use toolplane-store; remove it from its line (xtask, tidy/dependencies.rs)";
    assert!(found(idle), "an allowed edge that is not there is an error too: {broken:?}");
}

#[test]
fn a_test_that_sleeps_is_found() {
    let code = "fn wait() {\n    tokio::time::sleep(LONG).await;\n}\n";
    assert_eq!(sleeps::asleep("crates/one/tests/it/a.rs", code), [2]);
    assert_eq!(sleeps::asleep("tests/it/a.rs", "use tokio::time::sleep;\n"), [1]);
    assert!(sleeps::asleep("crates/one/src/a.rs", code).is_empty(), "what runs may wait");
    let with_tests = format!("{code}\n#[cfg(test)]\nmod tests {{\n    {code}}}\n");
    assert_eq!(sleeps::asleep("crates/one/src/a.rs", &with_tests), [8]);
}

/// However a module is named: in a tree of `use`, by `super`, or in the code.
#[test]
fn a_folder_that_names_what_it_must_not_is_found() {
    let rule = [Folder { folder: "crates/one/src/rules", must_not_name: &["transport"], reason: "rules are pure" }];
    let transport = || Module::new("crates/one", "transport.rs", "pub struct Wire;\n");
    for code in [
        "use crate::{fit::Fit, transport::{self, Wire as W}};",
        "use super::super::transport::Wire;",
        "fn told() -> crate::transport::Wire { todo() }",
    ] {
        let modules = [Module::new("crates/one", "rules/inner.rs", code), transport()];
        let broken = folders::broken(&modules, &rule);
        assert_eq!(broken, ["crates/one/src/rules/inner.rs: must not name `transport`: rules are pure"], "{code}");
    }
    let quiet = "// crate::transport\nuse other::transport;\nuse crate::transports::Many;\n#[cfg(test)]\nmod tests {\n    use crate::transport::Wire;\n}\n";
    assert!(folders::broken(&[Module::new("crates/one", "rules.rs", quiet), transport()], &rule).is_empty());
    let gone = folders::broken(&[transport()], &rule);
    assert_eq!(gone, ["crates/one/src/rules: is named in tidy/folders/table.rs and is not there"]);
}

#[test]
fn a_manifest_of_its_own_mind_is_found() {
    let broken =
        manifests::manifest("[package]\nname = \"x\"\n\n[dependencies]\nserde = \"1\"\nclap.workspace = true\n");
    assert_eq!(broken.len(), 2, "{broken:?}");
    let tidy = "[lints]\nworkspace = true\n[dependencies]\nserde = { workspace = true, features = [\"rc\"] }\n";
    assert!(manifests::manifest(tidy).is_empty());
}
