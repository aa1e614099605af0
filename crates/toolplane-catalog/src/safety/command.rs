//! What can be said about a shell command from its words alone.
//!
//! The grammar is far smaller than the shell's, on purpose: whatever is outside it gets no answer, and no answer is unsafe.

/// Longest command that is looked at, bytes.
const MAX_COMMAND: usize = 4096;
/// More simple commands than this get no answer.
const MAX_SIMPLE_COMMANDS: usize = 64;

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

/// `Some(true)` when every simple command is a known reader; `Some(false)` when something destructive is called by name;
/// `None` when the words do not tell.
pub(super) fn is_read_only(command: &str) -> Option<bool> {
    let command = without_comments(command);
    match simple_commands(&command) {
        Some(commands) if commands.iter().all(|words| only_reads(words)) => Some(true),
        _ if names_a_destroyer(&command) => Some(false),
        _ => None,
    }
}

/// `Some(false)` for commands that only read, `Some(true)` when something destructive is called by name, else `None`.
pub(super) fn is_destructive(command: &str) -> Option<bool> {
    is_read_only(command).map(|read_only| !read_only)
}

/// `command` without what the shell skips as comments. From the first thing on whose end is not plain to see (substitutions,
/// here-documents, unclosed quotes), everything stays: a word too many alarms, one too few does not.
fn without_comments(command: &str) -> String {
    let mut kept = String::with_capacity(command.len());
    let mut rest = command;
    let mut word_may_begin = true;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '#' if word_may_begin => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '\'' => rest[1..].find('\'').map(|end| end + 2),
            '"' => rest[1..].find('"').map(|end| end + 2).filter(|end| !rest[..*end].contains(['$', '`', '\\'])),
            '\\' => rest[1..].chars().next().map(|next| 1 + next.len_utf8()),
            '`' => None,
            '$' if rest[1..].starts_with(['(', '{', '\'', '"', '[']) => None,
            '<' if rest[1..].starts_with('<') => None,
            c => Some(c.len_utf8()),
        };
        let Some(length) = length else { break };
        kept.push_str(&rest[..length]);
        rest = &rest[length..];
        word_may_begin = matches!(c, ' ' | '\t' | '\n' | ';' | '&' | '|');
    }
    kept + rest
}

/// The plain simple commands of `command`, joined by `;`, `&&`, `||`, `|` or a new line; `None` for anything else. Quoted text is
/// part of its word, as long as nothing in it means anything to the shell.
fn simple_commands(command: &str) -> Option<Vec<Vec<String>>> {
    if command.len() > MAX_COMMAND {
        return None;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c);
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut rest = command.trim_matches([' ', '\t', '\n']);
    while let Some(first) = rest.chars().next() {
        if plain(first) || matches!(first, '\'' | '"') {
            let mut word = String::new();
            while let Some(next) = rest.chars().next() {
                let (part, after) = match next {
                    '\'' => rest[1..].split_once('\'')?,
                    '"' => rest[1..].split_once('"').filter(|(text, _)| !text.contains(['$', '`', '\\', '!']))?,
                    _ if plain(next) => rest.split_at(rest.find(|c| !plain(c)).unwrap_or(rest.len())),
                    _ => break,
                };
                word.push_str(part);
                rest = after;
            }
            words.push(word);
        } else if matches!(first, ' ' | '\t') {
            rest = &rest[1..];
        } else {
            let joiner = ["&&", "||", "|", ";", "\n"].into_iter().find(|joiner| rest.starts_with(joiner))?;
            rest = rest[joiner.len()..].trim_start_matches([' ', '\t', '\n']);
            // A separator may end the text; the other joiners need a command on both sides.
            if words.is_empty() || (rest.is_empty() && !matches!(joiner, ";" | "\n")) {
                return None;
            }
            commands.push(std::mem::take(&mut words));
        }
    }
    if !words.is_empty() {
        commands.push(words);
    }
    (!commands.is_empty() && commands.len() <= MAX_SIMPLE_COMMANDS).then_some(commands)
}

fn only_reads(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let short_with = |letters: &'static str| {
        move |argument: &String| {
            argument.starts_with('-') && !argument.starts_with("--") && argument.contains(|c| letters.contains(c))
        }
    };
    let operands = arguments.iter().filter(|argument| !argument.starts_with('-')).count();
    let long = arguments.iter().any(|argument| argument.starts_with("--"));
    match program.as_str() {
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
