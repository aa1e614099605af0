//! The flat parser: from a shell text to the simple commands in it.

mod redirect;
mod reserved;

use super::parsed::{Draft, ParsedShell};
use super::simple::{MAX_DEPTH, Runs};
use super::why::Why;
use super::word::Lexed;

/// What ends a level of code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The text.
    Text,
    /// The bracket that was opened before it.
    Paren,
}

/// Reads one shell text; nested code is read by readers of its own.
pub(super) struct ShellReader<'t, 'f> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) nest: usize,
    pub(super) runs: Runs,
    pub(super) found: &'f mut ParsedShell,
}

/// Where one level of code is.
#[derive(Default)]
struct Level {
    draft: Draft,
    open: usize,
    /// One entry for each `case` that is open; true while its patterns are read.
    cases: Vec<bool>,
    /// Here-documents whose text begins on the next line: end mark, tabs stripped, expanded.
    documents: Vec<(String, bool, bool)>,
    /// An operator was read that needs a command behind it.
    wants_command: bool,
}

impl<'t> ShellReader<'t, '_> {
    // --- characters ---

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<char> {
        self.rest().chars().nth(offset)
    }

    pub(super) fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Goes on by bytes of what was looked at before.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
    }

    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let fits = self.rest().starts_with(wanted);
        if fits {
            self.at += wanted.len();
        }
        fits
    }

    fn blanks(&mut self) {
        while self.eat(" ") || self.eat("\t") || self.eat("\\\n") {}
    }

    fn blanks_and_lines(&mut self) {
        loop {
            self.blanks();
            if self.peek() == Some('#') {
                self.comment();
            } else if !self.eat("\n") {
                return;
            }
        }
    }

    fn comment(&mut self) {
        let length = self.rest().find('\n').unwrap_or(self.rest().len());
        if self.depth == 0 {
            self.found.comments.push(self.at..self.at + length);
        }
        self.skip(length);
    }

    // --- nested code ---

    pub(super) fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Why>) -> Result<(), Why> {
        if self.depth >= MAX_DEPTH {
            return Err(Why::TooDeep);
        }
        self.depth += 1;
        let outcome = read(self);
        self.depth -= 1;
        outcome
    }

    pub(super) fn nested(&mut self, code: &str, runs: Runs) {
        self.found.nested(code, self.depth, runs);
    }

    pub(super) fn maybe_code(&mut self, code: &str) {
        self.nested(code, Runs::Maybe);
    }

    // --- the levels ---

    /// Reads until `end`, listing every command on the way.
    pub(super) fn level(&mut self, end: End) -> Result<(), Why> {
        let mut level = Level { draft: Draft::new(self.at), ..Level::default() };
        let outcome = self.steps(end, &mut level);
        if outcome.is_err() {
            // A shell would refuse the line; whatever reads it otherwise may run this.
            self.flush_as(&mut level, Runs::Maybe);
        }
        outcome
    }

    fn steps(&mut self, end: End, level: &mut Level) -> Result<(), Why> {
        loop {
            if level.cases.last() == Some(&true) {
                self.case_pattern(level)?;
                continue;
            }
            self.blanks();
            if level.draft.is_untouched() {
                level.draft.start = self.at;
            }
            let Some(c) = self.peek() else {
                let open = end == End::Paren || level.open > 0 || !level.cases.is_empty();
                if open || (level.wants_command && level.draft.is_untouched()) || !level.documents.is_empty() {
                    return Err(Why::Syntax);
                }
                self.flush(level);
                return Ok(());
            };
            match c {
                '#' => self.comment(),
                '\n' => self.line_end(level)?,
                ';' | '&' | '|' if !self.rest().starts_with("&>") => self.operator(level)?,
                '(' => self.open(level)?,
                ')' => {
                    self.flush(level);
                    self.bump();
                    if level.open > 0 {
                        level.open -= 1;
                    } else if end == End::Paren {
                        return if level.cases.is_empty() && !level.wants_command { Ok(()) } else { Err(Why::Syntax) };
                    } else {
                        return Err(Why::Syntax);
                    }
                }
                '<' | '>' if self.peek_at(1) != Some('(') => self.redirection(level)?,
                '&' => self.redirection(level)?,
                _ => self.token(level)?,
            }
        }
    }

    fn flush(&mut self, level: &mut Level) {
        let runs = self.runs;
        self.flush_as(level, runs);
        level.wants_command = false;
    }

    fn flush_as(&mut self, level: &mut Level, runs: Runs) {
        let draft = std::mem::replace(&mut level.draft, Draft::new(self.at));
        if !draft.is_untouched() {
            let source = self.since(draft.start);
            self.found.finish(draft, source, runs, self.depth);
        }
    }

    fn line_end(&mut self, level: &mut Level) -> Result<(), Why> {
        // Behind `&&`, `||` and `|` the command may come on a later line.
        if !level.wants_command || !level.draft.is_untouched() {
            self.flush(level);
        }
        self.bump();
        for (mark, strip_tabs, expanded) in std::mem::take(&mut level.documents) {
            self.document(&mark, strip_tabs, expanded)?;
        }
        Ok(())
    }

    fn operator(&mut self, level: &mut Level) -> Result<(), Why> {
        let empty = level.draft.is_untouched();
        let in_case = !level.cases.is_empty();
        for close in [";;&", ";;", ";&"] {
            if self.rest().starts_with(close) {
                self.flush(level);
                self.skip(close.len());
                return match level.cases.last_mut() {
                    Some(patterns) => {
                        *patterns = true;
                        Ok(())
                    }
                    None => Err(Why::Syntax),
                };
            }
        }
        // A compound command leaves nothing behind it in the draft, so emptiness is an error only in plain code.
        if empty && !in_case && (level.wants_command || !self.found.has_structure()) {
            return Err(Why::Syntax);
        }
        self.flush(level);
        if self.eat("&&") || self.eat("||") || self.eat("|&") || self.eat("|") {
            level.wants_command = true;
        } else if !self.eat(";") {
            self.bump();
            self.found.not_plain(Why::Structure);
        }
        Ok(())
    }

    fn open(&mut self, level: &mut Level) -> Result<(), Why> {
        if level.draft.is_untouched() {
            self.found.not_plain(Why::Structure);
            self.bump();
            if self.eat("(") {
                return self.arithmetic();
            }
            level.open += 1;
            level.wants_command = false;
            return Ok(());
        }
        // `name()` begins a function.
        self.bump();
        self.blanks();
        if level.draft.words.len() == 1 && level.draft.env.is_empty() && self.eat(")") {
            self.found.not_plain(Why::Definition);
            level.draft = Draft::new(self.at);
            return Ok(());
        }
        Err(Why::Syntax)
    }

    fn token(&mut self, level: &mut Level) -> Result<(), Why> {
        let word = self.word()?;
        if word.is_nothing() {
            // Only a backslash at the end of a line was there.
            return if word.whys.is_empty() { Err(Why::Syntax) } else { Ok(()) };
        }
        let number = !word.quoted && word.text.bytes().all(|byte| byte.is_ascii_digit());
        let variable = word.text.starts_with('{') && word.text.ends_with('}') && word.text.len() > 2;
        if (number || variable) && matches!(self.peek(), Some('<' | '>')) {
            if variable {
                level.draft.why(Why::Redirection);
            }
            return self.redirection(level);
        }
        let ready = level.draft.takes_reserved_words();
        if ready && !word.quoted && word.unknown_from.is_none() && self.reserved(&word.text, level)? {
            return Ok(());
        }
        if level.draft.words.is_empty() && word.is_assignment() {
            return self.assignment(word, level);
        }
        level.draft.push(word);
        Ok(())
    }

    fn assignment(&mut self, word: Lexed, level: &mut Level) -> Result<(), Why> {
        level.draft.why(Why::Assignment);
        if self.peek() == Some('(') && word.text.ends_with('=') {
            self.bump();
            loop {
                self.blanks_and_lines();
                if self.eat(")") {
                    break;
                }
                let element = self.word()?;
                if element.is_nothing() {
                    return Err(Why::Syntax);
                }
            }
        }
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        // Programs run what some variables say: an editor, a pager, a remote shell.
        self.maybe_code(value);
        level.draft.env.push((name.to_owned(), value.to_owned()));
        Ok(())
    }
}
