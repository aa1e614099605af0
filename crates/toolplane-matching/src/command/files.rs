//! Which words of a command are files that it reads or writes.
//!
//! Programs that are commonly used on files are listed with what they do to their operands. Of a program that is not
//! listed nothing is known: any of its words may be a file, so what rules say about paths may be about it. This is for
//! deny and ask rules alone; that a command reads nothing is never concluded from it.

mod table;

use super::{Runs, SimpleCommand};
use crate::path::PathAccess;
use table::{Operands, Program};

/// A file that a command names, or may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileWord {
    /// The file as the command names it.
    pub(crate) text: String,
    /// Nothing of it is decided at run time.
    pub(crate) known: bool,
    /// What is done with it; both when that is not known.
    pub(crate) access: &'static [PathAccess],
    /// It is surely a file, and surely used so.
    pub(crate) sure: bool,
    /// What lies beneath it is used as well.
    pub(crate) tree: bool,
}

const READ: &[PathAccess] = &[PathAccess::Read];
const WRITE: &[PathAccess] = &[PathAccess::Write];
const BOTH: &[PathAccess] = &[PathAccess::Read, PathAccess::Write];

/// The files of `command`.
pub(crate) fn of(command: &SimpleCommand) -> Vec<FileWord> {
    if command.runs == Runs::Through {
        return Vec::new();
    }
    let mut files = match command.program() {
        Some(name) if table::opens_nothing(name) => Vec::new(),
        Some(name) => match table::find(name) {
            Some(program) => program.files(command),
            None => unlisted(command, if name == "git" { git(command) } else { BOTH }),
        },
        None => unlisted(command, BOTH),
    };
    if command.runs == Runs::Maybe {
        files.retain(|file| file.known);
        files.iter_mut().for_each(|file| file.sure = false);
    }
    files
}

/// The operands that are surely files, as indexes of words.
pub(crate) fn operands(command: &SimpleCommand) -> Option<Vec<usize>> {
    let program = command.program().and_then(table::find)?;
    Some(program.operands_of(command).into_iter().map(|(at, _)| at).collect())
}

/// What git does with the files its words name, as far as its subcommand tells.
fn git(command: &SimpleCommand) -> &'static [PathAccess] {
    let words = command.canonical.as_ref().unwrap_or(&command.words);
    match words.get(1).map(|word| word.text.as_str()) {
        Some("diff" | "log" | "show" | "status" | "blame" | "grep" | "ls-files" | "ls-tree" | "cat-file") => READ,
        _ => BOTH,
    }
}

/// Every word that may be a file.
fn unlisted(command: &SimpleCommand, access: &'static [PathAccess]) -> Vec<FileWord> {
    let mut files = Vec::new();
    // A program that is decided at run time may bring arguments along.
    let program = command.words.first().filter(|word| !word.is_known());
    for word in program.into_iter().chain(command.words.iter().skip(1)) {
        let file = |text: &str, known| FileWord { text: text.to_owned(), known, access, sure: false, tree: false };
        if !word.is_known() {
            files.push(file(&word.text, false));
            continue;
        }
        files.extend(pieces(&word.text).map(|piece| file(piece, true)));
    }
    files
}

/// What in a word may be a path: all of it, the text behind `=`, `@`, `:` or a comma, and the text behind the letter of
/// an option.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let option = text.starts_with('-');
    let attached = (option && !text.starts_with("--")).then(|| text.get(2..)).flatten();
    let whole = (!option).then_some(text);
    let parts =
        text.split(['=', '@', ':', ',']).filter(move |part| *part != text && !(option && part.starts_with('-')));
    whole.into_iter().chain(parts).chain(attached).filter(|piece| !piece.is_empty() && !text.contains("://"))
}

impl Program {
    /// The operands that are files, with what is done to each.
    fn operands_of(&self, command: &SimpleCommand) -> Vec<(usize, &'static [PathAccess])> {
        let (mut operands, mut at, mut options) = (Vec::new(), 1, true);
        while let Some(word) = command.words.get(at) {
            let text = word.text.as_str();
            let option = options && text.starts_with('-') && text.len() > 1 && word.known > 0;
            if option && text == "--" {
                options = false;
            } else if option && self.expression && !matches!(text, "-H" | "-L" | "-P") {
                break;
            } else if option {
                at += self.value_of(text);
            } else if self.expression && matches!(text, "(" | "!") {
                break;
            } else {
                operands.push(at);
            }
            at += 1;
        }
        let lead = if self.has_no_lead(command) { 0 } else { self.lead };
        let files: Vec<usize> = operands.into_iter().skip(lead).collect();
        let last = files.len().saturating_sub(1);
        let writes = command.words.iter().any(|word| is_given(&word.text, self.writes_with, self.writes_with_long));
        let access = |index: usize| match self.operands {
            _ if writes => BOTH,
            Operands::Read => READ,
            Operands::Write => WRITE,
            Operands::Both => BOTH,
            Operands::Copy if index == last && last > 0 => WRITE,
            Operands::Copy => READ,
        };
        files.into_iter().enumerate().map(|(index, at)| (at, access(index))).collect()
    }

    fn files(&self, command: &SimpleCommand) -> Vec<FileWord> {
        let tree = self.tree
            || command.words.iter().any(|word| is_given(&word.text, self.tree_with, &["recursive", "archive"]));
        let operands = self.operands_of(command);
        let of_word = |(at, access): (usize, &'static [PathAccess])| {
            let word = &command.words[at];
            let (sure, known) = (word.is_known(), word.is_known());
            FileWord { text: word.text.clone(), known, access, sure, tree }
        };
        let mut files: Vec<FileWord> = operands.iter().copied().map(of_word).collect();
        if files.is_empty() && (self.here || (tree && self.tree_with == "rR")) {
            files.push(FileWord { text: ".".to_owned(), known: true, access: READ, sure: true, tree });
        }
        // Values of options, and what some programs take a part of an operand for.
        for (at, word) in command.words.iter().enumerate().skip(1) {
            let (operand, option) = (operands.iter().any(|(operand, _)| *operand == at), word.text.starts_with('-'));
            if !word.is_known() {
                if !operand {
                    files.push(FileWord { text: word.text.clone(), known: false, access: BOTH, sure: false, tree });
                }
                continue;
            }
            if self.expression {
                if !operand && !option {
                    files.push(FileWord { text: word.text.clone(), known: true, access: BOTH, sure: false, tree });
                }
                continue;
            }
            let assigned = word.text.split_once('=');
            if let Some((name, value)) = assigned.filter(|(_, value)| !value.is_empty() && (option || self.assigns)) {
                let access = match name {
                    "if" => READ,
                    "of" => WRITE,
                    _ => BOTH,
                };
                files.push(FileWord { text: value.to_owned(), known: true, access, sure: self.assigns, tree });
            }
            if option || word.text.contains(['@', ':']) {
                let parts = pieces(&word.text).filter(|piece| *piece != word.text);
                files.extend(parts.map(|piece| FileWord {
                    text: piece.to_owned(),
                    known: true,
                    access: BOTH,
                    sure: false,
                    tree,
                }));
            }
        }
        files
    }

    /// 1 when the word behind this option is its value and no file.
    fn value_of(&self, option: &str) -> usize {
        let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let last = letters.and_then(|letters| letters.chars().next_back());
        // A letter before the last would have its value in the same word.
        let first = letters.and_then(|letters| letters.find(|letter| self.values.contains(letter)));
        let alone = letters.map(str::len).zip(first).is_some_and(|(length, first)| first + 1 == length);
        usize::from(alone && last.is_some_and(|letter| self.values.contains(letter)))
    }

    /// The first operand is a file too: what it would be is given by an option.
    fn has_no_lead(&self, command: &SimpleCommand) -> bool {
        let options = command.words.iter().skip(1).take_while(|word| word.text != "--");
        options.into_iter().any(|word| is_given(&word.text, self.no_lead_with, self.no_lead_with_long))
    }
}

/// Whether a word gives one of these options, alone, in a group of letters, or as the beginning of a long one.
fn is_given(text: &str, letters: &str, long: &[&str]) -> bool {
    if let Some(given) = text.strip_prefix("--") {
        let name = given.split('=').next().unwrap_or_default();
        return name.len() > 1 && long.iter().any(|option| option.starts_with(name));
    }
    text.strip_prefix('-').is_some_and(|given| given.chars().any(|letter| letters.contains(letter)))
}

#[cfg(test)]
mod tests;
