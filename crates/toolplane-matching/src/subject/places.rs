//! Where the paths in a command lead.

use super::named;
use super::spec::{PathSubject, Workspace};
use crate::command::{RedirectKind, Runs, Shell, SimpleCommand, Why, git};
use crate::path::{PathAccess, PathFact, normalize};

/// Directories a text may be in at some point; more are not followed.
const MAX_DIRECTORIES: usize = 8;

impl PathSubject {
    /// The path `text`, relative to the directory `base` when it is not absolute.
    pub(super) fn new(text: &str, workspace: &Workspace, base: &str, access: PathAccess, tree: bool) -> Self {
        let fact = locate(text, workspace, base);
        let absolute = match &fact {
            PathFact::Invalid(_) => String::new(),
            PathFact::Outside(path) => path.clone(),
            PathFact::Inside(_) if text.starts_with('/') => match normalize(text, "") {
                PathFact::Outside(path) => path,
                _ => String::new(),
            },
            PathFact::Inside(inside) => format!("{}/{inside}", workspace.root.trim_end_matches('/')),
        };
        Self { given: text.to_owned(), fact, absolute, access, tree, known: true }
    }

    pub(super) fn at_run_time(text: &str, access: PathAccess) -> Self {
        let text = text.to_owned();
        Self {
            fact: PathFact::Outside(text.clone()),
            absolute: text.clone(),
            given: text,
            access,
            tree: false,
            known: false,
        }
    }
}

/// Where `text` leads, seen from the directory `base` beneath the workspace or elsewhere.
pub(super) fn locate(text: &str, workspace: &Workspace, base: &str) -> PathFact {
    let joined;
    let text = if base.is_empty() || text.is_empty() || text.starts_with('/') {
        text
    } else {
        joined = format!("{base}/{text}");
        &joined
    };
    let fact = normalize(text, &workspace.root);
    if !matches!(fact, PathFact::Outside(_)) {
        return fact;
    }
    let others = workspace.working_dirs.iter().filter(|dir| !dir.is_empty());
    let in_other = others.map(|dir| normalize(text, dir)).any(|fact| text.starts_with('/') && fact.is_inside());
    match fact {
        PathFact::Outside(path) if in_other => PathFact::Inside(path),
        fact => fact,
    }
}

/// Notes in every command what can only be said of it in its place.
pub(super) fn mark(shell: &mut Shell, workspace: &Workspace, directory: Option<&str>) {
    let bases = bases(shell, directory);
    for command in &mut shell.commands {
        command.spellings = named::spellings(command, workspace, bases.as_deref());
        if !workspace.trust_repositories && git::may_run_named_programs(command) {
            command.why(Why::UntrustedRepository);
        }
        if command.runs == Runs::Maybe {
            continue;
        }
        for at in 1..command.words.len() {
            if leads_outside(&command.words[at].text, workspace, &bases) {
                command.risk(at, Why::OutsideWorkspace);
            }
        }
    }
}

/// The files that commands read and write by redirection, and the directory they begin in.
pub(super) fn of_commands(shells: &[Shell], workspace: &Workspace, directory: Option<&str>) -> Vec<PathSubject> {
    let begin = directory.map(|directory| PathSubject::new(directory, workspace, "", PathAccess::Read, false));
    let mut paths: Vec<PathSubject> = begin.into_iter().collect();
    for shell in shells {
        let bases = bases(shell, directory);
        let commands = shell.commands.iter().filter(|command| command.runs != Runs::Maybe);
        for redirection in commands.flat_map(|command| &command.redirections) {
            let access = match redirection.kind {
                RedirectKind::Read => PathAccess::Read,
                RedirectKind::Write => PathAccess::Write,
            };
            let target = &redirection.target;
            match &bases {
                Some(bases) if target.is_known() => {
                    for base in bases {
                        let path = PathSubject::new(&target.text, workspace, base, access, false);
                        if !paths.contains(&path) {
                            paths.push(path);
                        }
                    }
                }
                None if target.is_known() && target.text.starts_with('/') => {
                    paths.push(PathSubject::new(&target.text, workspace, "", access, false));
                }
                _ => paths.push(PathSubject::at_run_time(&target.text, access)),
            }
        }
    }
    paths
}

/// Every directory the text may be in when a command runs; none when that is not known. Which `cd` counts for which command
/// is not followed: groups and pipelines make that hard, and taking all of them is safe.
pub(super) fn bases(shell: &Shell, directory: Option<&str>) -> Option<Vec<String>> {
    let mut bases = vec![directory.unwrap_or_default().to_owned()];
    for command in &shell.commands {
        if command.runs == Runs::Maybe || !matches!(command.program(), Some("cd" | "pushd" | "popd")) {
            continue;
        }
        let target = operand(command)?;
        let next: Vec<String> = bases.iter().map(|base| join(base, target)).collect();
        for base in next {
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
        if bases.len() > MAX_DIRECTORIES {
            return None;
        }
    }
    Some(bases)
}

/// The one directory that `cd` is given.
fn operand(command: &SimpleCommand) -> Option<&str> {
    let mut operands = command.words[1..].iter().filter(|word| !word.text.starts_with('-') || word.text == "-");
    match (operands.next(), operands.next()) {
        (Some(word), None) if word.is_known() && word.text != "-" && !word.text.is_empty() => Some(&word.text),
        _ => None,
    }
}

fn join(base: &str, target: &str) -> String {
    if base.is_empty() || target.starts_with('/') { target.to_owned() } else { format!("{base}/{target}") }
}

/// Whether an argument names a path outside the workspace, alone or behind an option, an `=`, an `@`, a `:` or a comma.
fn leads_outside(text: &str, workspace: &Workspace, bases: &Option<Vec<String>>) -> bool {
    if !text.contains('/') && text != ".." && !text.ends_with("=..") {
        return false;
    }
    if text.contains("://") {
        return false;
    }
    let attached = text.starts_with('-').then(|| text.find('/').map(|at| &text[at..])).flatten();
    let pieces = text.split(['=', '@', ':', ',']).chain(attached);
    pieces.filter(|piece| piece.starts_with('/') || piece.split('/').any(|name| name == "..")).any(|piece| {
        let outside = |base: &str| !matches!(locate(piece, workspace, base), PathFact::Inside(_));
        match bases {
            _ if piece == "/dev/null" => false,
            _ if piece.starts_with('/') => outside(""),
            Some(bases) => bases.iter().any(|base| outside(base)),
            None => true,
        }
    })
}
