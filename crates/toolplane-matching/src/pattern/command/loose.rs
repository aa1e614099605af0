//! Deny and ask patterns against words: what fits, and what may fit under another spelling.

use crate::command::{Word, git};
use crate::fit::Fit;

/// How well a command fits the `wanted` words; with `rest` it may have more.
///
/// It fits when it begins with them, however the program is reached (`/bin/rm`). It may fit when options come between
/// them, when flags are grouped otherwise (`-fr` for `-rf`), when a word is decided at run time, or when a subcommand
/// of git is not one of git's own.
pub(super) fn fit(wanted: &[Word], rest: bool, words: &[Word]) -> Fit {
    let (Some((program, wanted)), Some((first, words))) = (wanted.split_first(), words.split_first()) else {
        return Fit::No;
    };
    let reached = program_fit(&program.text, first);
    if reached == Fit::No {
        return Fit::No;
    }
    // Behind a program that is decided at run time the arguments may be shifted.
    if !first.is_known() {
        return Fit::Unknown;
    }
    let arguments = arguments_fit(wanted, rest, words);
    let alias = program.text == "git"
        && !wanted.is_empty()
        && words.first().is_some_and(|word| !word.text.starts_with('-') && !git::is_subcommand(&word.text));
    reached.min(if alias { arguments.max(Fit::Unknown) } else { arguments })
}

/// Whether the program of a pattern is the one of a command.
fn program_fit(wanted: &str, word: &Word) -> Fit {
    let name = base(wanted);
    if !word.is_known() {
        return Fit::from(name.starts_with(base(word.known_text()))).min(Fit::Unknown);
    }
    if word.text == wanted {
        return Fit::Yes;
    }
    match (base(&word.text) == name, wanted.contains('/')) {
        (false, _) => Fit::No,
        (true, false) => Fit::Yes,
        // Another path to a program of that name, which may be the same file.
        (true, true) => Fit::Unknown,
    }
}

/// The name of a program without its directory.
fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or_default()
}

fn arguments_fit(wanted: &[Word], rest: bool, words: &[Word]) -> Fit {
    for (index, want) in wanted.iter().enumerate() {
        match words.get(index) {
            Some(word) if !word.is_known() => return Fit::Unknown,
            Some(word) if word.text == want.text => {}
            _ => return Fit::from(rest && may_follow(wanted, words)).min(Fit::Unknown),
        }
    }
    if rest {
        return Fit::Yes;
    }
    // A word decided at run time may turn out to be none.
    match words[wanted.len()..].iter().find(|word| word.is_known()) {
        Some(_) => Fit::No,
        None if words.len() > wanted.len() => Fit::Unknown,
        None => Fit::Yes,
    }
}

/// Whether the wanted words occur in order with nothing but options between them, and the wanted options anywhere.
fn may_follow(wanted: &[Word], words: &[Word]) -> bool {
    let mut rest = words.iter().peekable();
    for want in wanted {
        if want.text.starts_with('-') && want.text.len() > 1 {
            if !words.iter().any(|word| !word.is_known() || is_option(&word.text, &want.text)) {
                return false;
            }
            continue;
        }
        loop {
            let Some(word) = rest.next() else { return false };
            if !word.is_known() || word.text == want.text {
                break;
            }
            if !word.text.starts_with('-') {
                return false;
            }
            // The word behind an option may be its value.
            if !word.text.contains('=') {
                rest.next_if(|next| next.is_known() && next.text != want.text && !next.text.starts_with('-'));
            }
        }
    }
    true
}

/// Whether an option of a command is the wanted one: alone, with a value, shortened, or in a group of letters.
fn is_option(given: &str, wanted: &str) -> bool {
    if given == wanted {
        return true;
    }
    let name = |text: &str| text.split('=').next().map(str::to_owned).unwrap_or_default();
    if wanted.starts_with("--") {
        return given.len() > 2 && given.starts_with("--") && wanted.starts_with(&name(given));
    }
    // Groups may be cut and ordered in any way: each letter for itself may be here.
    let letters = given.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    letters.is_some_and(|letters| wanted[1..].chars().any(|letter| letters.contains(letter)))
}
