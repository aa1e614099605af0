//! What subjects are looked for, and what a path subject is.

use crate::path::{PathAccess, PathFact};

/// What kind of subject a tool has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectKind {
    /// Shell commands (`shell_pattern`).
    Command,
    /// Paths (`path_pattern`).
    Path,
    /// URLs (`url_pattern`).
    Url,
}

/// Where the subjects of a tool's input are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectSpec {
    /// The kind.
    pub kind: SubjectKind,
    /// The input's fields that hold them: names (`command`, `input.command`) or JSON pointers; the usual names when empty.
    pub fields: Vec<String>,
    /// What the tool does with paths.
    pub access: PathAccess,
}

/// Where a call happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspace {
    /// The workspace, absolute; empty when it has no place of its own.
    pub root: String,
    /// Further directories that count as inside, absolute.
    pub working_dirs: Vec<String>,
    /// Repositories are trusted: version control may run the programs their configuration and attributes name.
    pub trust_repositories: bool,
}

/// A path of the input, or of a redirection in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSubject {
    /// The path as given.
    pub given: String,
    /// Where it leads. A path in one of the further working directories is inside, and stays absolute.
    pub fact: PathFact,
    /// The path from the root of the file system; empty for an invalid one.
    pub absolute: String,
    /// What is done with it.
    pub access: PathAccess,
    /// Everything beneath it is touched as well.
    pub tree: bool,
    /// False when the path is decided at run time: then it counts as outside, and every deny and ask may be about it.
    pub known: bool,
}

impl SubjectSpec {
    /// The spec of a `permission_matcher` word (`shell_pattern`, `path_pattern`, `url_pattern`); none for another word.
    pub fn of_matcher(matcher: &str, access: PathAccess) -> Option<Self> {
        let kind = match matcher {
            "shell_pattern" => SubjectKind::Command,
            "path_pattern" => SubjectKind::Path,
            "url_pattern" => SubjectKind::Url,
            _ => return None,
        };
        Some(Self { kind, fields: Vec::new(), access })
    }
}
