//! Programs that run the rest of their arguments: where the inner command begins.
//!
//! Each has its own grammar of options. An option that is not in the table leaves the beginning unsure, and then nothing is
//! guessed: every argument counts as one that may begin a command.

mod grammar;

use super::word::is_name;
use super::{SimpleCommand, Word};
use grammar::{GRAMMARS, Grammar, LAUNCHERS, NONE};

/// What a command runs beside itself.
pub(super) enum Unwrapped {
    /// Nothing that can be seen.
    No,
    /// The command that begins at word `at`. `through` when the wrapper changes nothing but its time, its priority or its
    /// buffers; `completed` when arguments are added at run time, in place of a mark or at the end.
    Inner { at: usize, env: Vec<(String, String)>, through: bool, completed: Option<String> },
    /// This shell code; `known` when nothing of it is decided at run time.
    Code { code: String, known: bool },
    /// Something, and it is not known surely where it begins.
    Unsure,
}

/// What `command`, whose program is `name`, runs beside itself.
pub(super) fn unwrap(name: &str, command: &SimpleCommand) -> Unwrapped {
    let words = &command.words;
    if name == "watch" {
        return watch(words);
    }
    if name == "env"
        && let Some(code) = split_string(words)
    {
        return code;
    }
    if LAUNCHERS.contains(&name) && words.len() > 1 {
        return Unwrapped::Unsure;
    }
    let Some(grammar) = GRAMMARS.iter().find(|grammar| grammar.name == name) else { return Unwrapped::No };
    if name == "command" && words.get(1).is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V" | "-pv" | "-pV")) {
        return Unwrapped::No;
    }
    let Some(behind) = grammar.behind_options(words) else { return Unwrapped::Unsure };
    if name == "flock" && words.get(behind + 1).is_some_and(|word| word.text == "-c") {
        return words.get(behind + 2).map_or(Unwrapped::Unsure, |word| code_of(std::slice::from_ref(word)));
    }
    let mut at = behind;
    let mut env = Vec::new();
    while let Some((name, value)) = words.get(at).filter(|_| grammar.assigns).and_then(assignment) {
        env.push((name, value));
        at += 1;
    }
    if words[at.min(words.len())..].iter().take(grammar.operands).any(|word| !word.is_known()) {
        return Unwrapped::Unsure;
    }
    at += grammar.operands;
    if at >= words.len() {
        return Unwrapped::No;
    }
    // With variables of its own the inner command is not the one a rule may allow by its words.
    let through = grammar.through && env.is_empty();
    let completed = (name == "xargs").then(|| replaced_mark(&words[1..at]));
    Unwrapped::Inner { at, env, through, completed }
}

/// `env -S` makes a command of a text, written in any of its ways; none when it is not used.
fn split_string(words: &[Word]) -> Option<Unwrapped> {
    let mut at = 1;
    loop {
        let option = words.get(at)?.text.strip_prefix('-')?;
        if let Some(long) = option.strip_prefix('-') {
            // Any beginning of the name that no other option has stands for it.
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            if name.starts_with('s') && "split-string".starts_with(name) {
                return Some(behind(words, at, value.unwrap_or_default()));
            }
            at += 1;
            continue;
        }
        let Some((place, letter)) = option.char_indices().find(|(_, letter)| matches!(letter, 'S' | 'u' | 'C')) else {
            at += 1;
            continue;
        };
        let value = &option[place + 1..];
        match letter {
            'S' => return Some(behind(words, at, value)),
            _ => at += if value.is_empty() { 2 } else { 1 },
        }
    }
}

/// The code of `-S`: the rest of its own word, and all words after it.
fn behind(words: &[Word], at: usize, value: &str) -> Unwrapped {
    let rest = words[at + 1..].iter().map(|word| word.text.as_str());
    let code: Vec<&str> = std::iter::once(value).filter(|text| !text.is_empty()).chain(rest).collect();
    Unwrapped::Code { code: code.join(" "), known: words[at..].iter().all(Word::is_known) }
}

/// `NAME=value` before a command.
fn assignment(word: &Word) -> Option<(String, String)> {
    let (name, value) = word.text.split_once('=')?;
    is_name(name).then(|| (name.to_owned(), value.to_owned()))
}

/// What `xargs` replaces in the command; empty when it puts arguments at the end.
fn replaced_mark(options: &[Word]) -> String {
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match word.text.strip_prefix("-I").or_else(|| word.text.strip_prefix("--replace=")) {
            Some("") => return words.next().map(|word| word.text.clone()).unwrap_or_default(),
            Some(mark) => return mark.to_owned(),
            None if word.text == "-i" || word.text == "--replace" => return "{}".to_owned(),
            None => {}
        }
    }
    String::new()
}

/// `watch` hands the rest of its arguments to a shell.
fn watch(words: &[Word]) -> Unwrapped {
    let grammar = Grammar {
        flags: "bcdegprtwx",
        values: "nq",
        long: &["beep", "color", "differences", "errexit", "chgexit", "no-title", "exec", "interval="],
        ..NONE
    };
    match grammar.behind_options(words) {
        Some(at) if at < words.len() => code_of(&words[at..]),
        Some(_) => Unwrapped::No,
        None => Unwrapped::Unsure,
    }
}

fn code_of(words: &[Word]) -> Unwrapped {
    let code: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    Unwrapped::Code { code: code.join(" "), known: words.iter().all(Word::is_known) }
}
