//! Why a text is not plain.

use std::fmt;

/// Why something cannot be taken for what it looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Why {
    /// The text is empty or only comments.
    Empty,
    /// Longer than is judged.
    TooLong,
    /// More commands than are judged.
    TooMany,
    /// Nested deeper than is judged.
    TooDeep,
    /// A character no shell text should have: NUL, a control character, a line end of another system.
    ControlCharacter,
    /// Not finished or not shell syntax.
    Syntax,
    /// A variable, substitution or arithmetic decides what runs.
    Expansion,
    /// Braces, `*`, `?`, `[` or `~` stand for other words.
    Glob,
    /// A backslash, `$'...'` or a character outside the plain ones.
    UnusualWord,
    /// Variables are set for the command.
    Assignment,
    /// Loops, conditions, groups, subshells, background jobs.
    Structure,
    /// Later commands may mean something else: functions, aliases, traps, sourced files, changed settings.
    Definition,
    /// A here-document or here-string.
    HereDocument,
    /// A redirection whose target is not a literal file.
    Redirection,
    /// A shell or interpreter runs what it is given at run time.
    UnseenCode,
    /// The arguments are completed at run time.
    UnseenArguments,
    /// A program that runs other programs, in a way that is not known surely.
    Launcher,
    /// An option that writes files or runs programs.
    DangerousOption,
    /// An argument leads out of the workspace.
    OutsideWorkspace,
    /// It may run programs that the repository names, and repositories are not trusted.
    UntrustedRepository,
}

impl Why {
    /// The reason in a few words, for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "there is no command in it",
            Self::TooLong => "it is too long to be judged",
            Self::TooMany => "it has too many commands to be judged",
            Self::TooDeep => "its shell code is nested too deep to be judged",
            Self::ControlCharacter => "it has control characters",
            Self::Syntax => "it is not shell syntax that can be read surely",
            Self::Expansion => "variables or substitutions decide what runs",
            Self::Glob => "patterns or braces stand for other words",
            Self::UnusualWord => "it has unusual characters or escapes",
            Self::Assignment => "it sets variables for a command",
            Self::Structure => "it has loops, conditions, groups or background jobs",
            Self::Definition => "it may change what later commands mean",
            Self::HereDocument => "it has a here-document",
            Self::Redirection => "it redirects to something that is not a plain file",
            Self::UnseenCode => "it runs code that cannot be seen",
            Self::UnseenArguments => "its arguments are completed when it runs",
            Self::Launcher => "it runs other programs in a way that cannot be seen surely",
            Self::DangerousOption => "it has an option that writes files or runs programs",
            Self::OutsideWorkspace => "it names a path outside the workspace",
            Self::UntrustedRepository => {
                "it may run programs that the repository names (`permission.trust_repositories` is off)"
            }
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
