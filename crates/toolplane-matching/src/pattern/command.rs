//! Patterns of commands.

mod loose;
mod text;

use regex::{Regex, RegexBuilder};
use toolplane_records::vocabulary::Behavior;

use super::invalid::{InvalidPattern, MAX_PATTERN};
use crate::command::{Runs, Shell, SimpleCommand, Why, Word, git};
use crate::fit::Fit;
use text::{SPACE, Template};

/// Largest compiled regular expression, in bytes.
const MAX_REGEX: usize = 1 << 20;

/// Which commands a rule is about.
///
/// `git diff` is that command and nothing more; `git diff:*` and `git diff *` that command with any further arguments
/// (a word is never cut: `ls:*` is not about `lsof`). A `*` elsewhere stands for any characters: `git * main`. `*`
/// alone fits everything. Quotes group words as in a shell. For deny and ask rules there are two more forms: a pattern
/// with `;`, `|` or `&` is compared with the whole text, and `regex:...` against every command and the whole text.
#[derive(Clone, Debug)]
pub struct CommandPattern {
    text: String,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Any,
    /// These words, and with `rest` any after them.
    Words {
        words: Vec<Word>,
        rest: bool,
    },
    /// Words with stars in them.
    Template(Template),
    /// A text with operators.
    Whole(Template),
    Regex(Regex),
}

// === impl CommandPattern ===

impl CommandPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        let refuse = |why: &str| Err(InvalidPattern(why.to_owned()));
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return refuse("must not be empty");
        }
        if text.len() > MAX_PATTERN {
            return refuse("is longer than 4096 bytes");
        }
        if text.chars().any(char::is_control) {
            return refuse("must not contain control characters");
        }
        let form = if trimmed == ":*" || trimmed.bytes().all(|byte| byte == b'*') {
            Form::Any
        } else if let Some(regex) = trimmed.strip_prefix("regex:") {
            let built = RegexBuilder::new(regex).size_limit(MAX_REGEX).dfa_size_limit(MAX_REGEX).build();
            Form::Regex(built.map_err(|error| InvalidPattern(first_line(&error)))?)
        } else {
            parse_words(trimmed)?
        };
        Ok(Self { text: trimmed.to_owned(), form })
    }

    /// Whether the pattern fits every command there is.
    pub fn is_any(&self) -> bool {
        matches!(self.form, Form::Any)
    }

    /// Checks that the pattern can be used in a rule that allows.
    ///
    /// # Errors
    ///
    /// [`InvalidPattern`] when the pattern is a regular expression (`regex:...`), or has a shell operator or expansion
    /// outside quotes, e.g. `|`, `;`, `&`, `>` or `$`.
    pub fn check_allow(&self) -> Result<(), InvalidPattern> {
        let why = match &self.form {
            Form::Any | Form::Words { .. } | Form::Template(_) => return Ok(()),
            Form::Whole(_) => "an allow is about one command: write a rule for each of those joined by operators",
            Form::Regex(_) => "a regular expression may only deny or ask",
        };
        Err(InvalidPattern(why.to_owned()))
    }

    /// The program the pattern is about, without its directory, when it names one. A plain text ([`Shell::is_plain`]) in none
    /// of whose commands that program occurs is not what the pattern is about.
    pub fn program(&self) -> Option<&str> {
        let first = match &self.form {
            Form::Words { words, .. } => words.first().map(|word| word.text.as_str()),
            Form::Template(template) => template.first_word(),
            Form::Any | Form::Whole(_) | Form::Regex(_) => None,
        };
        first.and_then(|first| first.rsplit('/').next()).filter(|program| !program.is_empty())
    }

    /// How well the pattern fits a whole text: for an allow every part must fit, for the others the best fit counts, and what
    /// cannot be seen may fit.
    pub fn fit(&self, behavior: Behavior, shell: &Shell) -> Fit {
        if self.is_any() {
            return Fit::Yes;
        }
        if behavior == Behavior::Allow {
            let parts = shell.parts().map(|command| self.fit_part(behavior, command));
            return if shell.is_plain() { parts.min().unwrap_or(Fit::No) } else { Fit::No };
        }
        let seen = shell.commands.iter().map(|command| self.fit_part(behavior, command)).max().unwrap_or(Fit::No);
        let whole = match &self.form {
            Form::Whole(template) => Fit::from(template.fits(&text::squeezed(shell.raw()), ' ')),
            Form::Regex(regex) => Fit::from(regex.is_match(shell.raw())),
            _ => Fit::No,
        };
        let best = seen.max(whole);
        if best == Fit::No && (shell.opaque.is_some() || self.is_named_in(shell)) { Fit::Unknown } else { best }
    }

    /// How well the pattern fits one command. Allowing the whole text needs a fitting rule for each of [`Shell::parts`], and
    /// [`Shell::is_plain`] unless the rule is `*`.
    pub fn fit_part(&self, behavior: Behavior, command: &SimpleCommand) -> Fit {
        match (&self.form, behavior) {
            (Form::Any, _) => Fit::Yes,
            (_, Behavior::Allow) => self.allow(command),
            _ => {
                let forms = [Some(&command.words), command.canonical.as_ref()].into_iter().flatten();
                let forms = forms.chain(&command.spellings);
                let best = forms.map(|words| self.against(words)).max().unwrap_or(Fit::No);
                if command.runs == Runs::Maybe { best.min(Fit::Unknown) } else { best }
            }
        }
    }

    /// An allow fits literally or not at all.
    fn allow(&self, command: &SimpleCommand) -> Fit {
        if command.why_not_plain.is_empty() {
            let own = self.allow_words(command, &command.words, 0);
            if own != Fit::No {
                return own;
            }
        }
        // A rule that names the wrapper and the command in it has seen both.
        match &command.wrapped {
            Some((words, at)) if command.why_not_plain.iter().all(|why| *why == Why::UnseenArguments) => {
                if self.literals() > *at { self.allow_words(command, words, *at) } else { Fit::No }
            }
            _ => Fit::No,
        }
    }

    fn allow_words(&self, command: &SimpleCommand, words: &[Word], offset: usize) -> Fit {
        if !words.iter().all(Word::is_known) {
            return Fit::No;
        }
        let (fits, exact) = match &self.form {
            Form::Words { words: wanted, rest } => {
                (words.starts_with(wanted) && (*rest || words.len() == wanted.len()), !rest)
            }
            Form::Template(template) => (template.fits(&text::joined(words, SPACE), SPACE), false),
            _ => (false, false),
        };
        let named = self.literals();
        let risky = command.risks.iter().any(|risk| offset + risk.word >= named);
        match (fits, exact || !risky) {
            (false, _) => Fit::No,
            (true, true) => Fit::Yes,
            (true, false) => Fit::Unknown,
        }
    }

    /// How many words the pattern names in full before anything is left open.
    fn literals(&self) -> usize {
        match &self.form {
            Form::Words { words, .. } => words.len(),
            Form::Template(template) => template.literals(),
            _ => 0,
        }
    }

    /// A deny or ask pattern against the words of a command.
    pub(crate) fn against(&self, words: &[Word]) -> Fit {
        match &self.form {
            Form::Any => Fit::Yes,
            Form::Words { words: wanted, rest } => loose::fit(wanted, *rest, words),
            Form::Template(template) => template.against(words),
            Form::Whole(_) => Fit::No,
            Form::Regex(regex) => {
                let known = words.iter().all(Word::is_known);
                match (regex.is_match(&text::joined(words, ' ')), known) {
                    (true, _) => Fit::Yes,
                    (false, true) => Fit::No,
                    (false, false) => Fit::Unknown,
                }
            }
        }
    }

    /// The second net: in a text whose shape leaves anything open, the words of the pattern are enough to doubt when
    /// they are where no listed command accounts for them.
    fn is_named_in(&self, shell: &Shell) -> bool {
        let (false, Some(program)) = (shell.is_plain(), self.program()) else { return false };
        let listed = shell.commands.iter().filter(|command| command.runs != Runs::Maybe);
        let accounted = listed.filter(|command| command.program() == Some(program)).count();
        let others = match &self.form {
            Form::Words { words, .. } => words.get(1..).unwrap_or_default(),
            _ => &[],
        };
        text::count(shell.raw(), program) > accounted && others.iter().all(|word| shell.raw().contains(&word.text))
    }
}

impl PartialEq for CommandPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for CommandPattern {}

fn parse_words(text: &str) -> Result<Form, InvalidPattern> {
    let (body, rest) = match text.strip_suffix(":*").or_else(|| text.strip_suffix(" *")) {
        Some(body) => (body.trim_end(), true),
        None => (text, false),
    };
    if body.contains(":* ") {
        return Err(InvalidPattern("may have `:*` only at the end".to_owned()));
    }
    if text::has_operators(body) {
        return Ok(Form::Whole(Template::whole(&text::squeezed(body), rest)));
    }
    let words = text::split(body)?;
    if words.is_empty() {
        return Ok(Form::Any);
    }
    if words.iter().any(|word| word.has_star()) {
        return Ok(Form::Template(Template::new(&words, rest)));
    }
    let mut words: Vec<Word> = words.into_iter().map(text::PatternWord::into_word).collect();
    if words[0].text == "git" {
        git::without_harmless(&mut words);
    }
    Ok(Form::Words { words, rest })
}

fn first_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    format!("is not a regular expression that can be used: {}", line.trim())
}
