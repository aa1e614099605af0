//! Paths: what they normalise to, and which are protected.

use super::*;

#[test]
fn paths_are_folded_by_their_text() {
    let inside = |path: &str| PathFact::Inside(path.to_owned());
    let outside = |path: &str| PathFact::Outside(path.to_owned());
    for (text, root, wanted) in [
        ("a/b", "/ws", inside("a/b")),
        ("./a//b/", "/ws", inside("a/b")),
        ("a/../b", "/ws", inside("b")),
        (".", "/ws", inside("")),
        ("/ws", "/ws", inside("")),
        ("/ws/./a", "/ws/", inside("a")),
        ("//ws///a", "/ws", inside("a")),
        ("/wsx/a", "/ws", outside("/wsx/a")),
        ("..", "/ws", outside("/")),
        ("../../etc/passwd", "/ws", outside("/etc/passwd")),
        ("a/../../ws/b", "/ws", inside("b")),
        ("/ws/../etc/shadow", "/ws", outside("/etc/shadow")),
        ("sub/../.git/config", "/ws", inside(".git/config")),
        ("..%2f..%2fetc", "/ws", inside("..%2f..%2fetc")),
        ("~/../../etc/passwd", "/ws", outside("/etc/passwd")),
        ("~/x", "/ws", inside("~/x")),
        ("...", "/ws", inside("...")),
        ("/proc/self/fd/3", "/ws", outside("/proc/self/fd/3")),
        ("a/b", "", inside("a/b")),
        ("a/../..", "", outside("/")),
        ("../a", "", outside("/a")),
        ("/a", "", outside("/a")),
        ("/", "/ws", outside("/")),
        ("/a", "/", inside("a")),
    ] {
        let wanted = if root == "/" { PathFact::Outside("/a".to_owned()) } else { wanted };
        assert_eq!(normalize(text, root), wanted, "{text} in {root}");
    }
}

#[test]
fn what_is_no_path_is_invalid() {
    let long = "a/".repeat(3_000);
    let name = "a".repeat(256);
    for text in ["", "a\0b", "a\nb", "a\u{7f}", "a\u{85}b", long.as_str(), name.as_str()] {
        assert!(matches!(normalize(text, "/ws"), PathFact::Invalid(_)), "{text:?}");
    }
}

#[test]
fn protected_paths_are_known_in_every_spelling() {
    for path in [
        ".git/config",
        ".git",
        "a/.git/hooks/pre-commit",
        ".GIT/config",
        ".git./config",
        ".git::$DATA/x",
        ".toolplane/x",
        ".bashrc",
        "home/.zshrc",
        ".vscode/tasks.json",
        ".mcp.json",
        ".envrc",
        ".github/workflows/ci.yml",
        ".gitmodules",
        ".bashrc/x",
    ] {
        assert!(toolplane_records::workspace::protection(path).is_some(), "{path}");
    }
    for path in ["", "a", ".gitignore", "git/config", "src/bashrc", ".github/CODEOWNERS", "a.git/x"] {
        assert!(toolplane_records::workspace::protection(path).is_none(), "{path}");
    }
}

proptest::proptest! {
    #[test]
    fn a_tool_on_files_opens_what_was_decided_about(text in "(/workspace|/workspaces)?[ab./~%é\u{7}]{0,24}") {
        use toolplane_records::workspace::{WORKSPACE, relative};
        match (relative(&text), normalize(&text, WORKSPACE)) {
            (Ok(opened), PathFact::Inside(decided)) => {
                proptest::prop_assert_eq!(if opened == "." { "" } else { opened.as_str() }, decided);
            }
            (Ok(opened), PathFact::Outside(decided)) => {
                proptest::prop_assert!(false, "{text:?}: opened {opened:?}, decided about {decided:?}");
            }
            (Err(_), _) | (_, PathFact::Invalid(_)) => {}
        }
    }

    #[test]
    fn folding_twice_changes_nothing(text in "[a./~]{0,24}", root in "(/[ab]){0,3}") {
        let first = normalize(&text, &root);
        if let PathFact::Inside(path) | PathFact::Outside(path) = &first {
            proptest::prop_assert!(path.split('/').all(|name| name != ".." && name != "."));
            if let PathFact::Inside(path) = &first && !path.is_empty() {
                proptest::prop_assert_eq!(normalize(path, &root), first.clone());
            }
        }
    }
}
