//! Reserved words: loops, conditions, functions.

use super::{Draft, Level, ShellReader, Why};

impl ShellReader<'_, '_> {
    /// Whether the word was one; then what belongs to it has been read.
    pub(super) fn reserved(&mut self, text: &str, level: &mut Level) -> Result<bool, Why> {
        match text {
            "!" | "{" | "if" | "then" | "elif" | "else" | "while" | "until" | "do" => self.begin(level),
            "}" | "fi" | "done" => self.begin(level),
            "esac" => {
                self.begin(level);
                level.cases.pop().ok_or(Why::Syntax)?;
            }
            "for" | "select" => {
                self.begin(level);
                self.loop_head()?;
            }
            "case" => {
                self.begin(level);
                self.blanks();
                self.word()?;
                self.blanks_and_lines();
                if self.word()?.text != "in" {
                    return Err(Why::Syntax);
                }
                level.cases.push(true);
            }
            "[[" => {
                self.begin(level);
                self.condition()?;
            }
            "function" => {
                self.begin(level);
                self.found.not_plain(Why::Definition);
                self.blanks();
                self.word()?;
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    if !self.eat(")") {
                        return Err(Why::Syntax);
                    }
                }
            }
            // May give the group behind it a name, which is hard to tell from a command.
            "coproc" => return Err(Why::Structure),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn begin(&mut self, level: &mut Level) {
        self.found.not_plain(Why::Structure);
        self.flush(level);
        level.draft = Draft::new(self.at);
    }

    fn loop_head(&mut self) -> Result<(), Why> {
        self.blanks();
        if self.eat("((") {
            return self.arithmetic();
        }
        self.word()?;
        self.blanks_and_lines();
        let before = self.at;
        if self.word()?.text != "in" {
            self.at = before;
            return Ok(());
        }
        loop {
            self.blanks();
            if matches!(self.peek(), None | Some('\n' | ';')) {
                return Ok(());
            }
            let word = self.word()?;
            if word.is_nothing() {
                return Err(Why::Syntax);
            }
        }
    }

    pub(super) fn case_pattern(&mut self, level: &mut Level) -> Result<(), Why> {
        self.blanks_and_lines();
        self.eat("(");
        loop {
            self.blanks_and_lines();
            let word = self.word()?;
            if word.text == "esac" && !word.quoted {
                level.cases.pop();
                return Ok(());
            }
            if word.is_nothing() {
                return Err(Why::Syntax);
            }
            self.blanks();
            if self.eat(")") {
                break;
            }
            if !self.eat("|") {
                return Err(Why::Syntax);
            }
        }
        if let Some(patterns) = level.cases.last_mut() {
            *patterns = false;
        }
        level.draft = Draft::new(self.at);
        Ok(())
    }

    /// From behind `[[` to behind `]]`.
    fn condition(&mut self) -> Result<(), Why> {
        loop {
            while self.eat(" ") || self.eat("\t") || self.eat("\n") || self.eat("\\\n") {}
            match self.peek().ok_or(Why::Syntax)? {
                '(' | ')' | '|' | '&' => self.bump(),
                '<' | '>' if self.peek_at(1) != Some('(') => self.bump(),
                ';' => return Err(Why::Syntax),
                _ => {
                    let word = self.word()?;
                    if word.text == "]]" && !word.quoted {
                        return Ok(());
                    }
                }
            }
        }
    }
}
