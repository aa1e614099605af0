//! One command of a shell text.

use super::why::Why;

/// More simple commands are not listed; the text is opaque then.
pub const MAX_COMMANDS: usize = 1024;

/// Shell code nested deeper (substitutions, `bash -c`, `eval`) is not parsed; the text is opaque then.
pub const MAX_DEPTH: usize = 8;

/// Characters of a command that are shown.
pub(super) const MAX_SHOWN_CHARS: usize = 400;

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word without its quotes. What is decided at run time stands as it was written.
    pub text: String,
    /// How many leading bytes of `text` are surely the beginning of the word; `text.len()` when all of it is known.
    pub known: usize,
}

/// What is done with the target of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RedirectKind {
    /// Read from.
    Read,
    /// Written, appended or created.
    Write,
}

/// A redirection to or from a file. Descriptors (`2>&1`) and `/dev/null` are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// What is done with it.
    pub kind: RedirectKind,
    /// The file.
    pub target: Word,
}

/// An argument that a wide pattern must not allow; one that names it word by word may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Risk {
    /// Index of the word.
    pub word: usize,
    /// Why.
    pub why: Why,
}

/// How a listed command came to be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runs {
    /// It is run when its turn comes.
    Surely,
    /// Some program may run it: an argument of a launcher, the value of a variable.
    Maybe,
    /// It only runs the command listed after it and changes nothing (`timeout 5 ...`); nothing needs to allow it.
    Through,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Program and arguments.
    pub words: Vec<Word>,
    /// Variables set for it, as written.
    pub env: Vec<(String, String)>,
    /// Files it reads or writes by redirection.
    pub redirections: Vec<Redirection>,
    /// The command as written, for people; at most 400 characters.
    pub text: String,
    /// How it came to be listed.
    pub runs: Runs,
    /// Why no pattern can allow it; empty when one can.
    pub why_not_plain: Vec<Why>,
    /// Arguments a wide pattern must not allow.
    pub risks: Vec<Risk>,
    /// The words once more as deny and ask rules see them, when they differ: `git` without its global options.
    pub canonical: Option<Vec<Word>>,
    /// The same with its files named as they stand from the workspace, without options, and for each file alone. They are known
    /// once the command has its place.
    pub spellings: Vec<Vec<Word>>,
    /// The words with the wrapper the command stands in (`xargs grep`), and where the command begins in them.
    pub wrapped: Option<(Vec<Word>, usize)>,
}

impl SimpleCommand {
    pub(crate) fn of_words(words: Vec<Word>) -> Self {
        let shown: Vec<&str> = words.iter().take(64).map(|word| word.text.as_str()).collect();
        Self {
            text: shown.join(" ").chars().take(MAX_SHOWN_CHARS).collect(),
            words,
            env: Vec::new(),
            redirections: Vec::new(),
            runs: Runs::Surely,
            why_not_plain: Vec::new(),
            risks: Vec::new(),
            canonical: None,
            spellings: Vec::new(),
            wrapped: None,
        }
    }

    /// The program without its directory, when it is known.
    pub fn program(&self) -> Option<&str> {
        let word = self.words.first().filter(|word| word.is_known())?;
        word.text.rsplit('/').next()
    }

    pub(crate) fn why(&mut self, why: Why) {
        if !self.why_not_plain.contains(&why) {
            self.why_not_plain.push(why);
        }
    }

    pub(crate) fn risk(&mut self, word: usize, why: Why) {
        self.risks.push(Risk { word, why });
    }
}

impl Word {
    /// A word that is known in full.
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { known: text.len(), text }
    }

    /// Whether nothing of the word is decided at run time.
    pub fn is_known(&self) -> bool {
        self.known == self.text.len()
    }

    /// The beginning that is surely so.
    pub fn known_text(&self) -> &str {
        self.text.get(..self.known).unwrap_or_default()
    }

    /// From the first `mark` on, the word is decided at run time.
    pub(crate) fn forget_from(&mut self, mark: &str) {
        if let Some(at) = self.text.find(mark).filter(|_| !mark.is_empty()) {
            self.known = self.known.min(at);
        }
    }
}
