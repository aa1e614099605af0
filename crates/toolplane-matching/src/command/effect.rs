//! What can be said of the effect of a shell text from its words alone.
//!
//! No answer is unsafe: whatever is not read surely gets none.

#[cfg(test)]
mod tests;

use super::{Runs, SimpleCommand, Word, parse};

/// A longer text gets no answer, bytes.
const MAX_TEXT: usize = 4096;

/// Programs that only read and write to their output whatever their arguments say.
const READERS: &[&str] = &[
    "basename",
    "cat",
    "cmp",
    "comm",
    "cut",
    "df",
    "dirname",
    "du",
    "echo",
    "false",
    "grep",
    "head",
    "id",
    "ls",
    "md5sum",
    "nl",
    "pwd",
    "readlink",
    "realpath",
    "seq",
    "sha256sum",
    "sleep",
    "stat",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "uname",
    "wc",
    "whoami",
];

/// Words that destroy something when a shell runs them.
const DESTROYERS: &[&str] = &[
    "rm",
    "rmdir",
    "shred",
    "unlink",
    "truncate",
    "dd",
    "wipefs",
    "mkfs",
    "fdisk",
    "parted",
    "blkdiscard",
    "mv",
    "kill",
    "pkill",
    "killall",
    "reboot",
    "shutdown",
    "halt",
    "poweroff",
    "chown",
    "chmod",
    "chattr",
    "userdel",
    "groupdel",
    "-delete",
    "--delete",
    "--force",
    "--hard",
    "drop",
];

/// Whether a shell text only reads: `Some(true)` when every command is a known reader, `Some(false)` when something that destroys
/// is called by name, `None` when the words do not tell.
pub fn is_read_only(text: &str) -> Option<bool> {
    let shell = parse(text);
    // What only may be run is run by no reader.
    let mut run = shell.commands.iter().filter(|command| command.runs != Runs::Maybe);
    let whole = text.len() <= MAX_TEXT && shell.opaque.is_none() && shell.why_not_plain.is_empty();
    match () {
        () if whole && run.all(is_reader) => Some(true),
        // What is beyond what is parsed may still name one.
        () if names_a_destroyer(if text.len() > super::MAX_TEXT { text } else { shell.raw() }) => Some(false),
        () => None,
    }
}

/// Whether all of a command is there in literal words, and these only read.
fn is_reader(command: &SimpleCommand) -> bool {
    let literal = command.words.iter().all(Word::is_known) && command.runs == Runs::Surely;
    let alone = command.env.is_empty() && command.redirections.is_empty() && command.why_not_plain.is_empty();
    let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
    literal && alone && only_reads(&words)
}

fn only_reads(words: &[&str]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let short_with = |letters: &'static str| {
        move |argument: &&str| {
            argument.starts_with('-') && !argument.starts_with("--") && argument.contains(|c| letters.contains(c))
        }
    };
    let operands = arguments.iter().filter(|argument| !argument.starts_with('-')).count();
    let long = arguments.iter().any(|argument| argument.starts_with("--"));
    match *program {
        // `-o` writes a file, `-T` writes temporary ones; long options can be abbreviated to the same.
        "sort" => !long && !arguments.iter().any(short_with("oT")),
        // A second operand is the output file.
        "uniq" => !long && operands <= 1,
        // Operands and `-s` set the clock.
        "date" => !long && arguments.iter().all(|a| a.starts_with('+') || (a.starts_with('-') && !a.contains('s'))),
        // `-C` writes a compiled file, `-z` runs decompressors.
        "file" => !long && !arguments.iter().any(short_with("CzZ")),
        "printf" => !arguments.iter().any(short_with("v")),
        other => READERS.contains(&other),
    }
}

fn names_a_destroyer(command: &str) -> bool {
    let words = command.split(|c: char| !(c.is_ascii_alphanumeric() || "_.-".contains(c)));
    words.into_iter().any(|word| DESTROYERS.contains(&word) || word.starts_with("mkfs."))
}
