//! Permission modes: what happens to calls no rule is about.

use std::fmt;

/// A permission mode of a caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Asks.
    #[default]
    Default,
    /// Allows edits of files beneath the workspace, asks about the rest.
    AcceptEdits,
    /// Denies everything that is not known to leave no trace.
    Plan,
    /// Allows; only where the operator lets it, otherwise the same as the default.
    Bypass,
    /// Denies whatever would be asked about.
    DontAsk,
}

impl Mode {
    /// Every mode.
    pub const ALL: &'static [Self] = &[Self::Default, Self::AcceptEdits, Self::Plan, Self::Bypass, Self::DontAsk];
    /// Every spelling [`Mode::parse`] knows.
    pub const WORDS: &'static [&'static str] = &[
        "default",
        "manual",
        "accept_edits",
        "acceptEdits",
        "plan",
        "bypass",
        "bypassPermissions",
        "dont_ask",
        "dontAsk",
    ];

    /// Their names in records, for people.
    pub const SHOWN: &'static str = "`default`, `accept_edits`, `plan`, `bypass` or `dont_ask`";

    /// The mode of that name; the empty name is the default mode, an unknown one is none.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "" | "default" | "manual" => Some(Self::Default),
            "accept_edits" | "acceptEdits" => Some(Self::AcceptEdits),
            "plan" => Some(Self::Plan),
            "bypass" | "bypassPermissions" => Some(Self::Bypass),
            "dont_ask" | "dontAsk" => Some(Self::DontAsk),
            _ => None,
        }
    }

    /// Its name in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept_edits",
            Self::Plan => "plan",
            Self::Bypass => "bypass",
            Self::DontAsk => "dont_ask",
        }
    }

    /// Its name in what users of coding agents write and read.
    pub const fn agent_word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Bypass => "bypassPermissions",
            Self::DontAsk => "dontAsk",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Mode;

    #[test]
    fn every_word_is_a_mode_and_every_mode_has_its_word() {
        for word in Mode::WORDS {
            assert!(Mode::parse(word).is_some(), "{word}");
        }
        for mode in Mode::ALL {
            assert_eq!(Mode::parse(mode.as_str()), Some(*mode));
            assert_eq!(Mode::parse(mode.agent_word()), Some(*mode));
        }
        assert_eq!(Mode::parse(""), Some(Mode::Default));
        assert_eq!(Mode::parse("Plan"), None);
    }
}
