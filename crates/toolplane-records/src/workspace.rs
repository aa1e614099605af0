//! Paths of a workspace as tools are given them: where they lead, and which of them decide what other programs do later.
//!
//! One reading and one list for all parts that have to agree: rules that ask, the check of values before a person is
//! asked, file tools, and the sandbox. Nothing here looks at a file system.

#[cfg(test)]
mod tests;

/// Where sandboxed tools see the workspace; file tools take the same name for it.
pub const WORKSPACE: &str = "/workspace";
/// Longest path, in bytes.
pub const MAX_PATH: usize = 4096;
/// Most names of one path.
pub const MAX_COMPONENTS: usize = 128;

/// Why a path names nothing beneath the workspace, whatever is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathRefusal {
    /// It has a NUL.
    #[error("must not contain NUL")]
    Nul,
    /// It has more bytes or names than a path may have.
    #[error("is longer than {MAX_PATH} bytes or {MAX_COMPONENTS} components")]
    TooLong,
    /// It leads out of the workspace.
    #[error("leads out of the workspace")]
    Outside,
}

/// The path relative to the workspace, without `.`, `..` and empty components; `.` for the workspace itself.
///
/// Paths are taken literally: no `~`, no `%2e`. `..` takes away the component before it even where that is a link, because this
/// is how permission rules read the path: what was decided is what is opened.
///
/// Refused are paths with a NUL ([`PathRefusal::Nul`]), those longer than [`MAX_PATH`] bytes or [`MAX_COMPONENTS`]
/// names ([`PathRefusal::TooLong`]), and those that lead out of the workspace ([`PathRefusal::Outside`]). An absolute
/// path is in the workspace only when it begins with [`WORKSPACE`].
pub fn relative(path: &str) -> Result<String, PathRefusal> {
    if path.contains('\0') {
        return Err(PathRefusal::Nul);
    }
    if path.len() > MAX_PATH || path.split('/').count() > MAX_COMPONENTS {
        return Err(PathRefusal::TooLong);
    }
    let inside = match path.strip_prefix(WORKSPACE) {
        Some("") => "",
        Some(rest) if rest.starts_with('/') => rest.trim_start_matches('/'),
        _ if path.starts_with('/') => return Err(PathRefusal::Outside),
        _ => path,
    };
    let mut kept: Vec<&str> = Vec::new();
    for component in inside.split('/') {
        match component {
            "" | "." => {}
            ".." => drop(kept.pop().ok_or(PathRefusal::Outside)?),
            _ => kept.push(component),
        }
    }
    Ok(if kept.is_empty() { ".".to_owned() } else { kept.join("/") })
}

/// How a path is protected, because its content decides what other programs do later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protection {
    /// A person may let it be written: it is asked about, and no rule allows it that does not name it.
    Asked,
    /// No tool writes it, even if a person says yes; sandboxed programs see it read-only.
    Closed,
}

use Protection::{Asked, Closed};

/// Names that are protected wherever they are, with all that is beneath them; in lower case.
const NAMES: &[(&str, Protection)] = &[
    (".git", Closed),
    (".toolplane", Closed),
    (".gitmodules", Closed),
    (".gitconfig", Closed),
    (".vscode", Closed),
    (".idea", Closed),
    (".mcp.json", Closed),
    (".envrc", Closed),
    (".bashrc", Closed),
    (".bash_profile", Closed),
    (".bash_login", Closed),
    (".bash_logout", Closed),
    (".profile", Closed),
    (".zshrc", Closed),
    (".zshenv", Closed),
    (".zprofile", Closed),
    (".zlogin", Closed),
    (".npmrc", Closed),
    (".pypirc", Closed),
    (".bash_aliases", Asked),
    (".zlogout", Asked),
    (".kshrc", Asked),
    (".cshrc", Asked),
    (".tcshrc", Asked),
    (".inputrc", Asked),
    (".vimrc", Asked),
    (".exrc", Asked),
    (".emacs", Asked),
    (".yarnrc", Asked),
    (".yarnrc.yml", Asked),
    (".netrc", Asked),
    (".wgetrc", Asked),
    (".curlrc", Asked),
    (".ripgreprc", Asked),
    (".pre-commit-config.yaml", Asked),
    (".lldbinit", Asked),
    (".gdbinit", Asked),
    (".tool-versions", Asked),
    (".mise.toml", Asked),
    (".gitattributes", Asked),
    (".hg", Asked),
    (".svn", Asked),
    (".husky", Asked),
    (".githooks", Asked),
    (".devcontainer", Asked),
    (".claude", Asked),
    (".codex", Asked),
    (".cursor", Asked),
    (".ssh", Asked),
    (".gnupg", Asked),
    (".aws", Asked),
    (".kube", Asked),
    (".docker", Asked),
    (".cargo", Asked),
];

/// Paths relative to the workspace that are protected, with all that is beneath them; a person may let them be written.
const PATHS: &[&str] = &[".github/workflows", ".config/git", ".config/fish", ".config/systemd", ".local/bin"];

/// How one name is protected wherever it is, in whatever case it is written: on some file systems `.GIT` is `.git`, and
/// some drop dots and blanks at the end of a name or know streams behind a colon.
pub fn protection_of_name(name: &str) -> Option<Protection> {
    let stem = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    // Every protected name begins with a dot, and most names do not.
    let folded = stem.starts_with('.').then(|| stem.to_lowercase())?;
    NAMES.iter().find(|(known, _)| *known == folded).map(|(_, protection)| *protection)
}

/// How a path is protected that is relative to the workspace and normal as [`relative`] makes it: the strictest of what it
/// leads through.
pub fn protection(path: &str) -> Option<Protection> {
    let by_name = path.split('/').filter_map(protection_of_name).max();
    let beneath = |protected: &&str| {
        let begins = path.get(..protected.len()).is_some_and(|start| start.eq_ignore_ascii_case(protected));
        begins && path[protected.len()..].chars().next().is_none_or(|next| next == '/')
    };
    by_name.or_else(|| PATHS.iter().any(beneath).then_some(Asked))
}

/// The part of such a path that no tool writes, up to the protected name; none when there is none.
pub fn closed_part(path: &str) -> Option<&str> {
    let mut end = 0;
    for name in path.split('/') {
        end += name.len();
        if protection_of_name(name) == Some(Closed) {
            return path.get(..end);
        }
        end += 1;
    }
    None
}
