use std::fs;
use std::path::Path;

use super::ProtectedSnapshot;
use crate::workspace::survey::Survey;

fn take(root: &Path) -> ProtectedSnapshot {
    Survey::take(root).unwrap().protected
}

fn paths(root: &Path) -> Vec<String> {
    let mut paths: Vec<_> = take(root).paths.into_iter().map(|path| path.path).collect();
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
    let mut repositories = take(root.path()).repositories;
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
    let refusal = take(root.path()).unprotectable().unwrap();
    assert!(refusal.contains("`.git` as a symbolic link"), "{refusal}");
}

#[test]
fn tells_what_is_new_or_replaced() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join(".git/hooks")).unwrap();
    fs::write(root.path().join(".envrc"), "x").unwrap();
    let before = take(root.path());
    fs::write(root.path().join(".envrc"), "changed in place").unwrap();
    assert_eq!(take(root.path()).new_since(&before), Vec::<String>::new());
    fs::rename(root.path().join(".git"), root.path().join("old")).unwrap();
    fs::create_dir_all(root.path().join(".git/hooks")).unwrap();
    fs::write(root.path().join(".mcp.json"), "{}").unwrap();
    let mut new = take(root.path()).new_since(&before);
    new.sort();
    assert_eq!(new, [".git/hooks", ".mcp.json"]);
}

#[test]
fn nothing_hides_behind_many_directories_or_a_name_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let root = tempfile::tempdir().unwrap();
    // More directories side by side than this process may have files open.
    for number in 0..3000 {
        fs::create_dir(root.path().join(format!("d{number}"))).unwrap();
    }
    fs::create_dir_all(root.path().join("z/.git/hooks")).unwrap();
    fs::create_dir_all(root.path().join("d2999/.vscode")).unwrap();
    assert_eq!(paths(root.path()), ["d2999/.vscode", "z/.git/hooks"]);
    let odd = root.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
    fs::create_dir_all(odd.join("plain")).unwrap();
    assert_eq!(take(root.path()).unprotectable(), None);
    fs::write(odd.join(".envrc"), "x").unwrap();
    assert!(take(root.path()).unprotectable().unwrap().contains("is no text"));
}

#[test]
fn files_with_another_name_are_protected_by_every_name() {
    let root = tempfile::tempdir().unwrap();
    let workspace = root.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    for file in ["inside", ".envrc", "../outside"] {
        fs::write(workspace.join(file), "x").unwrap();
    }
    for (from, to) in [("inside", "again"), (".envrc", "same"), ("../outside", "shared")] {
        fs::hard_link(workspace.join(from), workspace.join(to)).unwrap();
    }
    let linked: Vec<_> = take(&workspace).linked.into_iter().map(|path| path.path).collect();
    assert_eq!(linked, ["same", "shared"]);
    for number in 0..300 {
        fs::write(root.path().join("many"), "x").unwrap();
        fs::rename(root.path().join("many"), root.path().join(format!("many{number}"))).unwrap();
        fs::hard_link(root.path().join(format!("many{number}")), workspace.join(format!("m{number}"))).unwrap();
    }
    assert!(take(&workspace).unprotectable().unwrap().contains("hard links"));
}
