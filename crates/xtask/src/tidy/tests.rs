use serde_json::json;

use super::{broken_rules, dependencies, files, manifests};
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
    assert_eq!(broken, ["toolplane-surface: may not use toolplane-scheduler", "toolplane-surface: may not know redb"]);
}

#[test]
fn a_manifest_of_its_own_mind_is_found() {
    let broken =
        manifests::manifest("[package]\nname = \"x\"\n\n[dependencies]\nserde = \"1\"\nclap.workspace = true\n");
    assert_eq!(broken.len(), 2, "{broken:?}");
    let tidy = "[lints]\nworkspace = true\n[dependencies]\nserde = { workspace = true, features = [\"rc\"] }\n";
    assert!(manifests::manifest(tidy).is_empty());
}
