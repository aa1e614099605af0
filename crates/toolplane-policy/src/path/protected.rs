//! Paths whose change would change what runs later: never written without a question.

/// Directories whose whole content is protected, wherever they stand in the workspace. In lower case, as all names here.
const DIRECTORIES: &[&str] = &[
    ".git",
    ".toolplane",
    ".hg",
    ".svn",
    ".husky",
    ".githooks",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".claude",
    ".codex",
    ".cursor",
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".cargo",
];

/// Files that are protected wherever they stand.
const FILES: &[&str] = &[
    ".gitmodules",
    ".gitconfig",
    ".gitattributes",
    ".mcp.json",
    ".envrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".vimrc",
    ".exrc",
    ".emacs",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".netrc",
    ".wgetrc",
    ".curlrc",
    ".ripgreprc",
    ".pre-commit-config.yaml",
    ".lldbinit",
    ".gdbinit",
    ".tool-versions",
    ".mise.toml",
];

/// Paths protected as they stand from the workspace.
const PATHS: &[&str] = &[".github/workflows", ".config/git", ".config/fish", ".config/systemd", ".local/bin"];

/// Whether a normalised path beneath the workspace is protected, in whatever case it is written: on some file systems `.GIT`
/// is `.git`.
pub fn is_protected(inside: &str) -> bool {
    let folded = inside.to_lowercase();
    let mut names = folded.split('/').map(without_tricks).peekable();
    let by_name = loop {
        let Some(name) = names.next() else { break false };
        if DIRECTORIES.contains(&name) || (names.peek().is_none() && FILES.contains(&name)) {
            break true;
        }
    };
    let beneath = |path: &str| folded.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    by_name || PATHS.iter().any(|path| beneath(path))
}

/// Some file systems drop dots and blanks at the end of a name and know streams behind a colon.
fn without_tricks(name: &str) -> &str {
    let stem = name.split(':').next().unwrap_or(name);
    stem.trim_end_matches(['.', ' '])
}
