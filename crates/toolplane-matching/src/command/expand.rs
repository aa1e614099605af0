//! Expansions: what begins with a dollar sign or a backquote. What they come to is not known; the code inside them is read.

use super::Why;
use super::reader::{End, ShellReader};
use super::word::Lexed;

/// Nested expansions of one word deeper than this are not read.
const MAX_NEST: usize = 32;

impl ShellReader<'_, '_> {
    /// Reads what begins with a dollar sign.
    pub(super) fn dollar(&mut self, word: &mut Lexed, quoted: bool) -> Result<(), Why> {
        let start = self.at;
        self.nest += 1;
        if self.nest > MAX_NEST {
            return Err(Why::TooDeep);
        }
        self.bump();
        match self.peek() {
            Some('(') if self.peek_at(1) == Some('(') => {
                self.skip(2);
                self.arithmetic()?;
            }
            Some('(') => {
                self.bump();
                self.deeper(|inner| inner.level(End::Paren))?;
            }
            Some('{') => self.braced()?,
            Some('[') => return Err(Why::Syntax),
            Some('\'') if !quoted => {
                self.nest -= 1;
                return self.ansi_quoted(word);
            }
            Some('"') if !quoted => {
                self.nest -= 1;
                word.why(Why::UnusualWord);
                return self.double_quoted(word);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.bump();
                }
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => self.bump(),
            _ => {
                self.nest -= 1;
                word.why(Why::UnusualWord);
                word.text.push('$');
                return Ok(());
            }
        }
        self.nest -= 1;
        let source = self.since(start);
        word.unknown(Why::Expansion, source);
        Ok(())
    }

    /// `${...}`: only the code inside it matters.
    fn braced(&mut self) -> Result<(), Why> {
        self.bump();
        // `${ command; }` and `${| command; }` run a command in newer shells.
        if self.peek().is_none_or(|c| c.is_whitespace() || c == '|' || c == '(') {
            return Err(Why::Syntax);
        }
        self.until(|reader| (reader.peek() == Some('}')).then_some(1))
    }

    /// From behind `((` to behind `))`: only the code inside it matters.
    pub(super) fn arithmetic(&mut self) -> Result<(), Why> {
        let mut open = 0_usize;
        self.until(move |reader| {
            match reader.peek() {
                Some('(') => open += 1,
                Some(')') if open > 0 => open -= 1,
                // A lone bracket: these were subshells and no arithmetic. The text ends unread.
                Some(')') => return Some(if reader.peek_at(1) == Some(')') { 2 } else { usize::MAX }),
                _ => {}
            }
            None
        })
    }

    /// Reads on, finding nested code, until `end` says how many characters close what was begun.
    fn until(&mut self, mut end: impl FnMut(&Self) -> Option<usize>) -> Result<(), Why> {
        let mut unused = Lexed::default();
        loop {
            let c = self.peek().ok_or(Why::Syntax)?;
            match end(self) {
                Some(usize::MAX) => return Err(Why::Syntax),
                Some(length) => {
                    self.skip(length);
                    return Ok(());
                }
                None => {}
            }
            match c {
                '$' => self.dollar(&mut unused, false)?,
                '`' => self.backquoted(&mut unused, false)?,
                '\'' => self.single_quoted(&mut unused)?,
                '"' => self.double_quoted(&mut unused)?,
                '\\' => self.escaped(&mut unused)?,
                '<' | '>' if self.peek_at(1) == Some('(') => self.process_substitution(&mut unused)?,
                _ => self.bump(),
            }
            unused.text.clear();
        }
    }

    /// Reads old-style substitution: its text is code once one level of backslashes is taken off.
    pub(super) fn backquoted(&mut self, word: &mut Lexed, quoted: bool) -> Result<(), Why> {
        let start = self.at;
        self.bump();
        let mut code = String::new();
        loop {
            let c = self.peek().ok_or(Why::Syntax)?;
            self.bump();
            match (c, self.peek()) {
                ('`', _) => break,
                ('\\', Some(next @ ('$' | '`' | '\\'))) => {
                    self.bump();
                    code.push(next);
                }
                ('\\', Some('"')) if quoted => {
                    self.bump();
                    code.push('"');
                }
                _ => code.push(c),
            }
        }
        self.nested(&code, self.runs);
        let source = self.since(start);
        word.unknown(Why::Expansion, source);
        Ok(())
    }

    /// `$'...'`: escapes stand for characters.
    fn ansi_quoted(&mut self, word: &mut Lexed) -> Result<(), Why> {
        self.bump();
        word.quote();
        word.why(Why::UnusualWord);
        let start = word.text.len();
        loop {
            let c = self.peek().ok_or(Why::Syntax)?;
            self.bump();
            match c {
                '\'' => break,
                '\\' => match self.ansi_escape()? {
                    // Byte values above ASCII, and NUL, which cuts the string short, are not followed.
                    Some(decoded) if decoded != '\0' => word.text.push(decoded),
                    _ => word.unknown(Why::UnusualWord, "?"),
                },
                c => word.text.push(c),
            }
        }
        let inner = word.text[start..].to_owned();
        if inner.contains("$(") || inner.contains('`') {
            self.maybe_code(&inner);
        }
        Ok(())
    }

    fn ansi_escape(&mut self) -> Result<Option<char>, Why> {
        let c = self.peek().ok_or(Why::Syntax)?;
        self.bump();
        let value = match c {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            'x' => return Ok(self.digits(16, 2, 0).filter(|value| *value < 0x80).and_then(char::from_u32)),
            'u' => return Ok(self.digits(16, 4, 0).and_then(char::from_u32)),
            'U' => return Ok(self.digits(16, 8, 0).and_then(char::from_u32)),
            '0'..='7' => {
                let first = c.to_digit(8).unwrap_or(0);
                return Ok(self.digits(8, 2, first).filter(|value| *value < 0x80).and_then(char::from_u32));
            }
            'c' => {
                self.bump();
                return Ok(None);
            }
            '\\' | '\'' | '"' | '?' => return Ok(Some(c)),
            _ => return Ok(None),
        };
        Ok(char::from_u32(value))
    }

    fn digits(&mut self, radix: u32, most: usize, first: u32) -> Option<u32> {
        let mut value = first;
        let mut read = 0;
        while read < most {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value.checked_mul(radix)?.checked_add(digit)?;
            self.bump();
            read += 1;
        }
        (read > 0 || radix == 8).then_some(value)
    }
}
