use super::*;

#[test]
fn paths_are_read_by_their_text_alone() {
    for (given, expected) in [
        ("a/b", Ok("a/b")),
        ("./a//b/../c", Ok("a/c")),
        ("/workspace/a", Ok("a")),
        ("/workspace", Ok(".")),
        (".", Ok(".")),
        ("", Ok(".")),
        ("a/..", Ok(".")),
        ("/workspaces/a", Err(PathRefusal::Outside)),
        ("/etc/passwd", Err(PathRefusal::Outside)),
        ("../a", Err(PathRefusal::Outside)),
        ("a/../../b", Err(PathRefusal::Outside)),
        ("a\0b", Err(PathRefusal::Nul)),
    ] {
        assert_eq!(relative(given), expected.map(str::to_owned), "{given:?}");
    }
    assert_eq!(relative(&"a/".repeat(129)), Err(PathRefusal::TooLong));
    assert_eq!(relative(&"a".repeat(4097)), Err(PathRefusal::TooLong));
}

#[test]
fn what_decides_what_runs_later_is_protected_wherever_it_stands() {
    for closed in [
        ".git",
        "a/.git/hooks/x",
        ".GIT/config",
        "x/.vscode/tasks.json",
        ".bashrc",
        ".git./x",
        ".git::$DATA",
        ".NPMRC ",
    ] {
        assert_eq!(protection(closed), Some(Protection::Closed), "{closed}");
        assert!(closed_part(closed).is_some(), "{closed}");
    }
    for asked in
        [".github/workflows/ci.yml", ".GitHub/Workflows", "deep/.cargo/config.toml", ".claude/settings.json", ".vimrc"]
    {
        assert_eq!(protection(asked), Some(Protection::Asked), "{asked}");
        assert_eq!(closed_part(asked), None, "{asked}");
    }
    for plain in ["git", ".gitignore", "src/main.rs", ".github/CODEOWNERS", ".github/workflowsx/y", ".", ""] {
        assert_eq!(protection(plain), None, "{plain}");
    }
    assert_eq!(protection(".claude/.git/x"), Some(Protection::Closed), "the strictest counts");
    assert_eq!(closed_part("a/.git/hooks/x"), Some("a/.git"));
}
