//! What a rule's pattern is compared with: the commands, paths and URLs of one input.

mod field;
mod named;
mod places;
mod spec;
#[cfg(test)]
mod tests;

pub use spec::{PathSubject, SubjectKind, SubjectSpec, Workspace};

use std::sync::OnceLock;

use serde_json::Value;

use crate::command::{self, Shell};
use crate::path::PathAccess;
use crate::url::{self, InvalidUrl, UrlFact};
use field::{Given, StartDirectory};
pub use named::NamedPath;

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
