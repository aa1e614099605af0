use std::fs;
use std::path::Path;

use super::{Snapshot, protects};

fn paths(root: &Path) -> Vec<String> {
    let mut paths: Vec<_> = Snapshot::take(root).unwrap().paths.into_iter().map(|path| path.path).collect();
    paths.sort();
    paths
}

#[test]
fn finds_protected_names_at_every_level_whatever_their_case() {
    let root = tempfile::tempdir().unwrap();
    for dir in [".git/hooks", ".git/refs/heads", "sub/.GIT/Hooks", "sub/.vscode", "plain"] {
        fs::create_dir_all(root.path().join(dir)).unwrap();
    }
    for file in
        [".git/config", ".git/refs/heads/config", "sub/.vscode/tasks.json", ".envrc", "plain/config", "plain/.Bashrc"]
    {
        fs::write(root.path().join(file), "x").unwrap();
    }
    let expected = [".envrc", ".git/config", ".git/hooks", "plain/.Bashrc", "sub/.GIT/Hooks", "sub/.vscode"];
    assert_eq!(paths(root.path()), expected);
    let mut repositories = Snapshot::take(root.path()).unwrap().repositories;
    repositories.sort();
    assert_eq!(repositories, [".git", "sub/.GIT"]);
}

#[test]
fn does_not_follow_links_and_refuses_linked_protected_paths() {
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join(".vscode")).unwrap();
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
    assert_eq!(paths(root.path()), Vec::<String>::new());
    std::os::unix::fs::symlink(outside.path(), root.path().join(".git")).unwrap();
    let refusal = Snapshot::take(root.path()).unwrap().unprotectable().unwrap();
    assert!(refusal.contains("`.git` as a symbolic link"), "{refusal}");
}

#[test]
fn tells_what_is_new_or_replaced() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join(".git/hooks")).unwrap();
    fs::write(root.path().join(".envrc"), "x").unwrap();
    let before = Snapshot::take(root.path()).unwrap();
    fs::write(root.path().join(".envrc"), "changed in place").unwrap();
    assert_eq!(Snapshot::take(root.path()).unwrap().new_since(&before), Vec::<String>::new());
    fs::rename(root.path().join(".git"), root.path().join("old")).unwrap();
    fs::create_dir_all(root.path().join(".git/hooks")).unwrap();
    fs::write(root.path().join(".mcp.json"), "{}").unwrap();
    let mut new = Snapshot::take(root.path()).unwrap().new_since(&before);
    new.sort();
    assert_eq!(new, [".git/hooks", ".mcp.json"]);
}

#[test]
fn tells_the_protected_part_of_a_path() {
    let check = |path: &str, expected: Option<&str>| assert_eq!(protects(path), expected, "{path}");
    check(".git/hooks/pre-commit", Some(".git"));
    check(".git", Some(".git"));
    check("sub/.Git/objects/ab", Some("sub/.Git"));
    check("a/.VSCode/tasks.json", Some("a/.VSCode"));
    check("a/.bashrc", Some("a/.bashrc"));
    check(".gitignore", None);
    check("git/config", None);
    check("a/.git.bak", None);
    check("", None);
}
