//! What has been found so far: the list of commands and what is not plain about the text.

use std::ops::Range;

use super::reader::{End, ShellReader};
use super::simple::{MAX_COMMANDS, MAX_DEPTH, MAX_SHOWN_CHARS, Redirection, Runs, SimpleCommand, Word};
use super::why::Why;
use super::word::Lexed;

/// Bytes of nested code that are read for one text; more makes it opaque.
const MAX_NESTED_BYTES: usize = 512 * 1024;

/// A command while it is read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) start: usize,
    pub(super) words: Vec<Word>,
    pub(super) env: Vec<(String, String)>,
    pub(super) redirections: Vec<Redirection>,
    pub(super) whys: Vec<Why>,
    /// Texts it reads: here-documents and here-strings.
    pub(super) input: Vec<Word>,
    /// Its input is redirected.
    pub(super) reads_input: bool,
    pub(super) touched: bool,
}

impl Draft {
    pub(super) fn new(start: usize) -> Self {
        Self { start, ..Self::default() }
    }

    pub(super) fn why(&mut self, why: Why) {
        self.touched = true;
        if !self.whys.contains(&why) {
            self.whys.push(why);
        }
    }

    pub(super) fn push(&mut self, word: Lexed) {
        word.whys.iter().for_each(|why| self.why(*why));
        self.words.push(word.into_word());
    }

    pub(super) fn is_untouched(&self) -> bool {
        !self.touched && self.words.is_empty() && self.env.is_empty() && self.redirections.is_empty()
    }

    /// Whether a reserved word may be here. `time` may come before one.
    pub(super) fn takes_reserved_words(&self) -> bool {
        let timed = !self.words.is_empty() && self.words.iter().all(|word| matches!(word.text.as_str(), "time" | "-p"));
        self.is_untouched() || (timed && self.env.is_empty() && self.redirections.is_empty())
    }
}

/// What has been found so far.
#[derive(Debug, Default)]
pub(super) struct ParsedShell {
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) opaque: Option<Why>,
    pub(super) whys: Vec<Why>,
    /// Where the comments of the text itself are; those of nested code are not noted.
    pub(super) comments: Vec<Range<usize>>,
    nested_bytes: usize,
}

impl ParsedShell {
    pub(super) fn not_plain(&mut self, why: Why) {
        if !self.whys.contains(&why) {
            self.whys.push(why);
        }
    }

    pub(super) fn opaque(&mut self, why: Why) {
        self.opaque.get_or_insert(why);
        self.not_plain(why);
    }

    pub(super) fn has_structure(&self) -> bool {
        self.whys.contains(&Why::Structure)
    }

    /// Reads code inside code. Code that only may run leaves nothing but commands that may run.
    pub(super) fn nested(&mut self, code: &str, depth: usize, runs: Runs) {
        self.nested_bytes += code.len();
        if depth >= MAX_DEPTH {
            return self.opaque(Why::TooDeep);
        }
        if self.nested_bytes > MAX_NESTED_BYTES {
            return self.opaque(Why::TooLong);
        }
        if runs == Runs::Maybe {
            let mut inner = Self { nested_bytes: self.nested_bytes, ..Self::default() };
            inner.read(code, depth + 1, runs);
            self.nested_bytes = inner.nested_bytes;
            inner.commands.into_iter().for_each(|command| self.push(command));
        } else {
            self.read(code, depth + 1, runs);
        }
    }

    /// Reads one text from its beginning to its end.
    pub(super) fn read(&mut self, text: &str, depth: usize, runs: Runs) {
        let mut reader = ShellReader { text, at: 0, depth, nest: 0, runs, found: self };
        if let Err(why) = reader.level(End::Text) {
            self.opaque(why);
        }
    }

    /// Lists a command that has been read, and what it runs in turn.
    pub(super) fn finish(&mut self, draft: Draft, source: &str, runs: Runs, depth: usize) {
        let command = SimpleCommand {
            words: draft.words,
            env: draft.env,
            redirections: draft.redirections,
            text: source.trim().chars().take(MAX_SHOWN_CHARS).collect(),
            runs,
            why_not_plain: draft.whys,
            risks: Vec::new(),
            canonical: None,
            spellings: Vec::new(),
            wrapped: None,
        };
        let input = StandardInput { texts: draft.input, redirected: draft.reads_input };
        self.judge(command, &input, depth, 0);
    }

    pub(super) fn push(&mut self, command: SimpleCommand) {
        if self.commands.len() < MAX_COMMANDS {
            self.commands.push(command);
        } else {
            self.opaque(Why::TooMany);
        }
    }
}

/// What a command reads on its standard input, as far as the text says.
#[derive(Debug, Default)]
pub(super) struct StandardInput {
    pub(super) texts: Vec<Word>,
    pub(super) redirected: bool,
}
