//! Three-valued answers: what no trusted source states is unknown, and stays so through every comparison.

/// Whether something is so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It is not so.
    No,
    /// No trusted source states either.
    #[default]
    Unknown,
    /// It is so.
    Yes,
}

/// How well a rule, or one condition of it, fits a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// The rule is about other calls.
    No,
    /// It cannot be told.
    Unknown,
    /// The rule is about this call.
    Yes,
}

// === impl Certainty ===

impl Certainty {
    /// The opposite; the opposite of unknown is unknown.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }
}

impl From<bool> for Certainty {
    fn from(known: bool) -> Self {
        if known { Self::Yes } else { Self::No }
    }
}

impl From<Option<bool>> for Certainty {
    fn from(known: Option<bool>) -> Self {
        known.map_or(Self::Unknown, Self::from)
    }
}

// === impl Fit ===

impl From<Certainty> for Fit {
    fn from(certainty: Certainty) -> Self {
        match certainty {
            Certainty::No => Self::No,
            Certainty::Unknown => Self::Unknown,
            Certainty::Yes => Self::Yes,
        }
    }
}

impl From<bool> for Fit {
    fn from(known: bool) -> Self {
        if known { Self::Yes } else { Self::No }
    }
}
