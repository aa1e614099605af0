//! Redirections and here-documents.

use super::{Level, Lexed, ShellReader, Why};
use crate::command::{RedirectKind, Redirection, Word};

impl ShellReader<'_, '_> {
    pub(super) fn redirection(&mut self, level: &mut Level) -> Result<(), Why> {
        if self.eat("<<<") {
            self.blanks();
            let word = self.word()?;
            level.draft.why(Why::HereDocument);
            level.draft.input.push(word.into_word());
            return Ok(());
        }
        if self.eat("<<") {
            return self.document_head(level);
        }
        let operators: [(&str, RedirectKind, bool); 9] = [
            ("&>>", RedirectKind::Write, false),
            ("&>", RedirectKind::Write, false),
            (">>", RedirectKind::Write, false),
            (">|", RedirectKind::Write, false),
            (">&", RedirectKind::Write, true),
            ("<&", RedirectKind::Read, true),
            ("<>", RedirectKind::Write, false),
            (">", RedirectKind::Write, false),
            ("<", RedirectKind::Read, false),
        ];
        let operator = operators.into_iter().find(|(operator, ..)| self.rest().starts_with(operator));
        let (operator, kind, descriptors) = operator.ok_or(Why::Syntax)?;
        self.skip(operator.len());
        self.blanks();
        let target = self.word()?;
        if target.is_nothing() {
            return Err(Why::Syntax);
        }
        level.draft.touched = true;
        target.whys.iter().for_each(|why| level.draft.why(*why));
        let target = target.into_word();
        if descriptors && is_descriptor(&target.text) {
            return Ok(());
        }
        if !target.is_known() || target.text.starts_with("/dev/tcp/") || target.text.starts_with("/dev/udp/") {
            level.draft.why(Why::Redirection);
        }
        if !matches!(target.text.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin") {
            level.draft.redirections.push(Redirection { kind, target });
        }
        if kind == RedirectKind::Read {
            level.draft.reads_input = true;
        }
        Ok(())
    }

    fn document_head(&mut self, level: &mut Level) -> Result<(), Why> {
        let strip_tabs = self.eat("-");
        self.blanks();
        let mark = self.word()?;
        if mark.is_nothing() {
            return Err(Why::Syntax);
        }
        level.draft.why(Why::HereDocument);
        // What a shell is given to read is code: its text is looked up when the command is finished.
        level.draft.input.push(Word::literal(self.document_text(&mark.text, strip_tabs, level.documents.len())));
        level.documents.push((mark.text, strip_tabs, !mark.quoted));
        Ok(())
    }

    /// The text of a here-document that begins on the next line, without reading on. Only the first of a line is found.
    fn document_text(&self, mark: &str, strip_tabs: bool, before: usize) -> String {
        if before > 0 {
            return String::new();
        }
        let Some(start) = self.rest().find('\n') else { return String::new() };
        let lines = self.rest()[start + 1..].lines();
        let strip = |line: &str| if strip_tabs { line.trim_start_matches('\t').to_owned() } else { line.to_owned() };
        lines.map(strip).take_while(|line| line != mark).collect::<Vec<_>>().join("\n")
    }

    /// Reads over the text of a here-document, finding the code in it.
    pub(super) fn document(&mut self, mark: &str, strip_tabs: bool, expanded: bool) -> Result<(), Why> {
        let start = self.at;
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return Err(Why::Syntax);
            }
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = &rest[..length];
            let line = if strip_tabs { line.trim_start_matches('\t') } else { line };
            let end = self.at;
            self.skip(length + 1);
            if line == mark {
                return if expanded { self.document_code(start, end) } else { Ok(()) };
            }
        }
    }

    fn document_code(&mut self, start: usize, end: usize) -> Result<(), Why> {
        let text = self.text.get(start..end).unwrap_or_default();
        let mut inner =
            ShellReader { text, at: 0, depth: self.depth, nest: 0, runs: self.runs, found: &mut *self.found };
        let mut unused = Lexed::default();
        while let Some(c) = inner.peek() {
            match c {
                '\\' => inner.skip(1 + inner.peek_at(1).map_or(0, char::len_utf8)),
                '$' => inner.dollar(&mut unused, true)?,
                '`' => inner.backquoted(&mut unused, true)?,
                _ => inner.bump(),
            }
        }
        Ok(())
    }
}

fn is_descriptor(text: &str) -> bool {
    let digits = text.strip_suffix('-').unwrap_or(text);
    !text.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
