//! The files that the words of a command name, seen from the workspace.

use super::places::{bases, locate};
use super::spec::{PathSubject, Workspace};
use crate::command::{Shell, SimpleCommand, Word, files};
use crate::path::{PathAccess, PathFact};

/// Most files of one input; more count as decided at run time.
const MAX_NAMED: usize = 4096;
/// Most further spellings of one command.
const MAX_SPELLINGS: usize = 64;

/// A file that a command names, or may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// The file.
    pub path: PathSubject,
    /// The command surely does that with it; otherwise rules may be about it.
    pub sure: bool,
}

/// The files of every command, from every directory the text may be in.
pub(super) fn of_commands(shells: &[Shell], workspace: &Workspace, directory: Option<&str>) -> Vec<NamedPath> {
    let mut named: Vec<NamedPath> = Vec::new();
    for shell in shells {
        let bases = bases(shell, directory);
        for file in shell.commands.iter().flat_map(files::of) {
            for access in file.access {
                let seen: Vec<PathSubject> = match &bases {
                    _ if !file.known || named.len() > MAX_NAMED => vec![PathSubject::at_run_time(&file.text, *access)],
                    Some(bases) => {
                        let path = |base: &String| PathSubject::new(&file.text, workspace, base, *access, file.tree);
                        bases.iter().map(path).collect()
                    }
                    None if file.text.starts_with('/') => {
                        vec![PathSubject::new(&file.text, workspace, "", *access, file.tree)]
                    }
                    None => vec![PathSubject::at_run_time(&file.text, *access)],
                };
                for path in seen {
                    // What is no path at all is no file either.
                    let file = NamedPath { sure: file.sure && path.known, path };
                    if !matches!(file.path.fact, PathFact::Invalid(_)) && !named.contains(&file) {
                        named.push(file);
                    }
                }
                if named.len() > MAX_NAMED + 1 {
                    return named;
                }
            }
        }
        if shell.opaque.is_some() {
            for access in [PathAccess::Read, PathAccess::Write] {
                named.push(NamedPath { path: PathSubject::at_run_time("what cannot be seen", access), sure: false });
            }
        }
    }
    named
}

/// The words of a command as patterns against it may spell them: paths relative to the workspace, without options, and
/// with each file alone. `bases` are the directories it may run in, when they are known.
pub(super) fn spellings(command: &SimpleCommand, workspace: &Workspace, bases: Option<&[String]>) -> Vec<Vec<Word>> {
    let Some(program) = command.words.first().filter(|word| word.is_known()) else { return Vec::new() };
    let operands = files::operands(command);
    let mut found: Vec<Vec<Word>> = Vec::new();
    let mut add = |words: Vec<Word>| {
        if words != command.words && !found.contains(&words) && found.len() < MAX_SPELLINGS {
            found.push(words);
        }
    };
    let nowhere = [String::new()];
    for base in bases.unwrap_or(&nowhere) {
        let spelt = |(at, word): (usize, &Word)| {
            let file = operands.as_ref().is_some_and(|operands| operands.contains(&at));
            spelt(word, workspace, base, file)
        };
        let words: Vec<(usize, Word)> = command
            .words
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, word)| word.text != "--")
            .map(|(at, word)| (at, spelt((at, word))))
            .collect();
        let with = |words: Vec<Word>| std::iter::once(program.clone()).chain(words).collect::<Vec<Word>>();
        add(with(words.iter().map(|(_, word)| word.clone()).collect()));
        let Some(operands) = &operands else { continue };
        let is_file = |at: &usize| operands.contains(at);
        let bare = words.iter().filter(|(at, word)| is_file(at) || !word.text.starts_with('-'));
        add(with(bare.map(|(_, word)| word.clone()).collect()));
        for (_, word) in words.iter().filter(|(at, _)| is_file(at)) {
            add(with(vec![word.clone()]));
        }
    }
    found
}

/// A word as the path it leads to from the workspace, where it is one.
fn spelt(word: &Word, workspace: &Workspace, base: &str, file: bool) -> Word {
    let text = word.text.as_str();
    let path =
        file || (!text.starts_with('-') && !text.contains("://") && (text.contains('/') || text.starts_with('.')));
    if !path || !word.is_known() {
        return word.clone();
    }
    match locate(text, workspace, if file { base } else { "" }) {
        PathFact::Inside(inside) if !inside.is_empty() => Word::literal(inside),
        PathFact::Outside(outside) => Word::literal(outside),
        _ => word.clone(),
    }
}
