//! What a shell text will run: every simple command in it, with what cannot be known of each.
//!
//! The parser is for judging, not for running. It is flat (no tree, no recursion but for nested shell code) and bounded in
//! size, depth and count; what it does not understand is never taken for harmless: it makes the text [`Shell::opaque`]. Two
//! readings are kept apart. A text is *plain* when nothing in it but literal words, quotes and `; && || |` decides what runs:
//! only such a text can be allowed by a pattern. And every command that *can* be seen is listed, also inside substitutions,
//! loops, wrappers and nested shells, so that a deny rule has something to fit.

pub mod effect;
mod expand;
pub(crate) mod files;
mod find;
pub(crate) mod git;
mod judge;
mod parsed;
mod reader;
mod risk;
mod sed;
mod shells;
mod simple;
#[cfg(test)]
mod tests;
mod why;
mod word;
mod wrapper;

use simple::MAX_SHOWN_CHARS;
pub use simple::{MAX_COMMANDS, MAX_DEPTH, RedirectKind, Redirection, Risk, Runs, SimpleCommand, Word};

use std::ops::Range;

pub use why::Why;

use parsed::{ParsedShell, StandardInput};

/// Longest text that is parsed, in bytes. A longer one is opaque.
pub const MAX_TEXT: usize = 64 * 1024;
/// A longer text is never plain, in characters.
pub const MAX_PLAIN_CHARS: usize = 10_000;
/// More simple commands are never plain.
pub const MAX_PLAIN_COMMANDS: usize = 64;

/// What a shell text will run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shell {
    /// Every command that can be seen, in order, wrappers before what they run.
    pub commands: Vec<SimpleCommand>,
    /// Set when there may be commands that are not listed.
    pub opaque: Option<Why>,
    /// Why no pattern can allow the text as a whole; empty when patterns can.
    pub why_not_plain: Vec<Why>,
    pub(crate) raw: String,
}

/// Reads a shell text. Never fails: what cannot be read is opaque.
pub fn parse(text: &str) -> Shell {
    let mut found = ParsedShell::default();
    if text.chars().nth(MAX_PLAIN_CHARS).is_some() {
        found.not_plain(Why::TooLong);
    }
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end < text.len() {
        found.opaque(Why::TooLong);
    }
    let text = &text[..end];
    if text.contains('\0') {
        // No program can be given this text; rules still see the commands that were meant.
        found.opaque(Why::ControlCharacter);
        found.read(&text.replace('\0', ""), 0, Runs::Surely);
        found.comments.clear();
    } else {
        found.read(text, 0, Runs::Surely);
    }
    finish(found, text)
}

/// Reads a command given as program and arguments, with no shell between.
pub fn parse_argv(argv: &[&str]) -> Shell {
    let mut found = ParsedShell::default();
    let text = argv.join(" ");
    if text.contains('\0') {
        found.opaque(Why::ControlCharacter);
    }
    if text.len() > MAX_TEXT {
        found.opaque(Why::TooLong);
    } else if !argv.is_empty() {
        let command = SimpleCommand::of_words(argv.iter().map(|word| Word::literal(*word)).collect());
        found.judge(command, &StandardInput::default(), 0, 0);
    }
    finish(found, &text)
}

fn finish(mut found: ParsedShell, text: &str) -> Shell {
    if found.commands.is_empty() {
        found.not_plain(Why::Empty);
    }
    if found.commands.iter().filter(|command| command.runs != Runs::Maybe).count() > MAX_PLAIN_COMMANDS {
        found.not_plain(Why::TooMany);
    }
    let raw = without(text, &found.comments);
    Shell { commands: found.commands, opaque: found.opaque, why_not_plain: found.whys, raw }
}

/// `text` without these parts of it, which are in order.
fn without(text: &str, parts: &[Range<usize>]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for part in parts {
        kept.push_str(text.get(from..part.start).unwrap_or_default());
        from = part.end;
    }
    kept + text.get(from..).unwrap_or_default()
}

// === impl Shell ===

impl Shell {
    /// Whether patterns can allow the text, command by command: everything that runs is there in literal words.
    pub fn is_plain(&self) -> bool {
        let plain = |command: &SimpleCommand| {
            // Arguments that come at run time are for the pattern to judge: it may name the wrapper that adds them.
            let whys = command.why_not_plain.iter();
            command.runs == Runs::Maybe || whys.copied().all(|why| why == Why::UnseenArguments)
        };
        let named = |command: &SimpleCommand| command.words.first().is_none_or(Word::is_known);
        self.opaque.is_none()
            && self.why_not_plain.is_empty()
            && self.commands.iter().all(|command| plain(command) && named(command))
    }

    /// The text as given, without its comments and what is beyond [`MAX_TEXT`].
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The commands that must each be allowed before the text is.
    pub fn parts(&self) -> impl Iterator<Item = &SimpleCommand> {
        self.commands.iter().filter(|command| command.runs == Runs::Surely)
    }
}

// === impl SimpleCommand ===

// === impl Word ===
