//! What a rule's pattern is held against: the commands, paths and URLs of one input.

mod field;
mod named;
mod places;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use serde_json::Value;

use crate::command::{self, Shell};
use crate::path::{PathAccess, PathFact};
use crate::url::{self, InvalidUrl, UrlFact};
use field::{Given, StartDirectory};
pub use named::NamedPath;

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

/// The subjects of one input. They are parsed when first asked for, and once.
#[derive(Clone, Debug)]
pub struct Subjects {
    complete: bool,
    kind: Option<SubjectKind>,
    given: Vec<Given>,
    access: PathAccess,
    tree: bool,
    /// The directory a command begins in, as given.
    directory: Option<String>,
    workspace: Workspace,
    commands: OnceLock<Vec<Shell>>,
    paths: OnceLock<Vec<PathSubject>>,
    named: OnceLock<Vec<NamedPath>>,
    urls: OnceLock<Vec<Result<UrlFact, InvalidUrl>>>,
}

/// Finds the subjects of an input.
pub fn extract(spec: &SubjectSpec, input: &Value, workspace: &Workspace) -> Subjects {
    let found = field::find(spec, input);
    let (readable, directory) = match spec.kind {
        SubjectKind::Command => match field::start_directory(input) {
            StartDirectory::Workspace => (true, None),
            StartDirectory::Given(directory) => (true, Some(directory)),
            StartDirectory::Unknown => (false, None),
        },
        SubjectKind::Path | SubjectKind::Url => (true, None),
    };
    Subjects {
        complete: found.complete && readable,
        kind: Some(spec.kind),
        given: found.given,
        access: spec.access,
        tree: field::is_tree(input),
        directory,
        workspace: workspace.clone(),
        ..Subjects::unknown()
    }
}

impl Subjects {
    /// Subjects of which nothing is known.
    pub fn unknown() -> Self {
        Self {
            complete: false,
            kind: None,
            given: Vec::new(),
            access: PathAccess::Write,
            tree: false,
            directory: None,
            workspace: Workspace { root: String::new(), working_dirs: Vec::new(), trust_repositories: false },
            commands: OnceLock::new(),
            paths: OnceLock::new(),
            named: OnceLock::new(),
            urls: OnceLock::new(),
        }
    }

    /// Whether every field that may hold a subject could be read. When not, no pattern is sure to fit or not to.
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// The shell texts, with what can only be said of them in their place: arguments that lead out of the workspace, commands
    /// that run what an untrusted repository names.
    pub fn commands(&self) -> &[Shell] {
        self.commands.get_or_init(|| {
            if self.kind != Some(SubjectKind::Command) {
                return Vec::new();
            }
            let mut shells: Vec<Shell> = self.given.iter().map(Given::shell).collect();
            for shell in &mut shells {
                places::mark(shell, &self.workspace, self.directory.as_deref());
            }
            shells
        })
    }

    /// The paths: those of the input's fields, or the targets of redirections and the directory of a command.
    pub fn paths(&self) -> &[PathSubject] {
        self.paths.get_or_init(|| match self.kind {
            Some(SubjectKind::Path) => {
                let texts = self.given.iter().flat_map(Given::texts);
                texts.map(|text| PathSubject::new(text, &self.workspace, "", self.access, self.tree)).collect()
            }
            Some(SubjectKind::Command) => {
                places::of_commands(self.commands(), &self.workspace, self.directory.as_deref())
            }
            Some(SubjectKind::Url) | None => Vec::new(),
        })
    }

    /// The files that the words of commands name, or may name. Deny and ask rules about paths look at them; nothing has to allow
    /// them beside the command.
    pub fn named(&self) -> &[NamedPath] {
        self.named.get_or_init(|| named::of_commands(self.commands(), &self.workspace, self.directory.as_deref()))
    }

    /// The URLs.
    pub fn urls(&self) -> &[Result<UrlFact, InvalidUrl>] {
        self.urls.get_or_init(|| match self.kind {
            Some(SubjectKind::Url) => self.given.iter().flat_map(Given::texts).map(|text| url::parse(text)).collect(),
            _ => Vec::new(),
        })
    }
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

impl Given {
    fn shell(&self) -> Shell {
        match self {
            Self::Text(text) => command::parse(text),
            Self::Words(words) => command::parse_argv(&words.iter().map(String::as_str).collect::<Vec<_>>()),
        }
    }

    fn texts(&self) -> &[String] {
        match self {
            Self::Text(text) => std::slice::from_ref(text),
            Self::Words(words) => words,
        }
    }
}
