//! One word of a shell text: quotes taken off, and what is decided at run time marked as such.

use super::reader::{End, ShellReader};
use super::simple::Word;
use super::why::Why;

/// A word as it was read.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    /// The word without quotes.
    pub(super) text: String,
    /// Where the first part begins that is decided at run time.
    pub(super) unknown_from: Option<usize>,
    /// Some of it was quoted or escaped: it is no reserved word and no number of a descriptor.
    pub(super) quoted: bool,
    /// Where the first quote or escape is.
    quoted_from: Option<usize>,
    /// What is not plain about it.
    pub(super) whys: Vec<Why>,
}

impl Lexed {
    pub(super) fn why(&mut self, why: Why) {
        if !self.whys.contains(&why) {
            self.whys.push(why);
        }
    }

    pub(super) fn unknown(&mut self, why: Why, source: &str) {
        self.unknown_from.get_or_insert(self.text.len());
        self.text.push_str(source);
        self.why(why);
    }

    pub(super) fn quote(&mut self) {
        self.quoted = true;
        self.quoted_from.get_or_insert(self.text.len());
    }

    /// Whether nothing was there to be read.
    pub(super) fn is_nothing(&self) -> bool {
        self.text.is_empty() && !self.quoted && self.unknown_from.is_none()
    }

    /// Whether the word begins with `NAME=` or `NAME+=`, outside quotes.
    pub(super) fn is_assignment(&self) -> bool {
        let Some(until) = self.text.find('=') else { return false };
        let bare = self.quoted_from.is_none_or(|quote| quote > until) && self.unknown_from.is_none_or(|at| at > until);
        bare && is_name(self.text[..until].strip_suffix('+').unwrap_or(&self.text[..until]))
    }

    pub(super) fn into_word(self) -> Word {
        Word { known: self.unknown_from.unwrap_or(self.text.len()), text: self.text }
    }
}

/// Whether the text can be the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Characters a word may have without quotes. Each stands for itself in every shell and everywhere in a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_./:=@%+,-".contains(c)
}

impl ShellReader<'_, '_> {
    /// Reads the word that begins here; empty only when none does.
    pub(super) fn word(&mut self) -> Result<Lexed, Why> {
        let mut word = Lexed::default();
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' => break,
                '<' | '>' if self.peek_at(1) == Some('(') => self.process_substitution(&mut word)?,
                '<' | '>' => break,
                '\'' => self.single_quoted(&mut word)?,
                '"' => self.double_quoted(&mut word)?,
                '\\' => self.escaped(&mut word)?,
                '$' => self.dollar(&mut word, false)?,
                '`' => self.backquoted(&mut word, false)?,
                '*' | '?' | '[' | '{' => self.pattern(&mut word, c),
                '~' | '^' if word.text.ends_with(|before: char| before.is_ascii_alphanumeric()) => {
                    // Behind a letter or digit both are ordinary: `HEAD~1`, `HEAD^`.
                    self.bump();
                    word.text.push(c);
                }
                '~' => {
                    self.bump();
                    word.unknown(Why::Glob, "~");
                }
                _ => {
                    self.bump();
                    if !is_plain(c) {
                        word.why(if c.is_control() { Why::ControlCharacter } else { Why::UnusualWord });
                    }
                    word.text.push(c);
                }
            }
        }
        Ok(word)
    }

    fn pattern(&mut self, word: &mut Lexed, c: char) {
        let alone = word.text.is_empty() && !word.quoted;
        let after = |offset: usize| self.peek_at(offset).is_none_or(|next| " \t\n;&|()<>".contains(next));
        // Empty braces stand for themselves, `{` alone is a reserved word and `[` alone a command.
        let literal = match c {
            '{' if self.peek_at(1) == Some('}') => "{}",
            '{' | '[' if alone && after(1) => &self.rest()[..1],
            _ => "",
        };
        if literal.is_empty() {
            self.bump();
            let mut buffer = [0; 4];
            word.unknown(Why::Glob, c.encode_utf8(&mut buffer));
        } else {
            let literal = literal.to_owned();
            literal.chars().for_each(|_| self.bump());
            if literal != "[" {
                word.why(Why::UnusualWord);
            }
            word.text.push_str(&literal);
        }
    }

    pub(super) fn process_substitution(&mut self, word: &mut Lexed) -> Result<(), Why> {
        let start = self.at;
        self.skip(2);
        self.deeper(|inner| inner.level(End::Paren))?;
        let source = self.since(start);
        word.unknown(Why::Expansion, source);
        Ok(())
    }

    pub(super) fn single_quoted(&mut self, word: &mut Lexed) -> Result<(), Why> {
        self.bump();
        let length = self.rest().find('\'').ok_or(Why::Syntax)?;
        let inner = &self.rest()[..length];
        word.quote();
        inner.chars().for_each(|c| check_quoted(c, word));
        word.text.push_str(inner);
        self.skip(length + 1);
        // Some builtins evaluate their arguments once more, so code that is only text here may still run.
        if inner.contains("$(") || inner.contains('`') {
            self.maybe_code(inner);
        }
        Ok(())
    }

    /// Reads from the opening quote to behind the closing one.
    pub(super) fn double_quoted(&mut self, word: &mut Lexed) -> Result<(), Why> {
        self.bump();
        word.quote();
        loop {
            match self.peek().ok_or(Why::Syntax)? {
                '"' => {
                    self.bump();
                    return Ok(());
                }
                '\\' => {
                    self.bump();
                    match self.peek().ok_or(Why::Syntax)? {
                        '\n' => word.why(Why::UnusualWord),
                        c @ ('$' | '`' | '"' | '\\') => word.text.push(c),
                        c => {
                            word.why(Why::UnusualWord);
                            word.text.push('\\');
                            word.text.push(c);
                        }
                    }
                    self.bump();
                }
                '$' => self.dollar(word, true)?,
                '`' => self.backquoted(word, true)?,
                c => {
                    self.bump();
                    check_quoted(c, word);
                    word.text.push(c);
                }
            }
        }
    }

    pub(super) fn escaped(&mut self, word: &mut Lexed) -> Result<(), Why> {
        self.bump();
        let c = self.peek().ok_or(Why::Syntax)?;
        self.bump();
        word.why(Why::UnusualWord);
        if c != '\n' {
            word.quote();
            word.text.push(c);
        }
        Ok(())
    }
}

fn check_quoted(c: char, word: &mut Lexed) {
    if c.is_control() && c != '\n' && c != '\t' {
        word.why(Why::ControlCharacter);
    }
}
