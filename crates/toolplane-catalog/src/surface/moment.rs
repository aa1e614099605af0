//! A moment in the life of a surface.

use std::fmt;
use std::str::FromStr;

/// Of a surface: after so many own changes, at this revision of its catalog. What it showed then is known from the moment alone,
/// as long as the surface remembers its changes and the catalog its declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// How often the surface itself had been changed.
    pub changes: u64,
    /// The revision of the catalog.
    pub catalog: u64,
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.changes, self.catalog)
    }
}

/// A text that is no [`Moment`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMoment;

/// Why a surface was never at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongMoment {
    /// It has not come to it.
    Ahead,
    /// It is from before the surface was made, so it is one of another surface.
    Foreign,
}

impl WrongMoment {
    /// The rule it breaks, in words.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Ahead => "is a moment this surface has not come to; take it from an answer about this surface",
            Self::Foreign => "is a moment before this surface was made; take it from an answer about this surface",
        }
    }
}

impl FromStr for Moment {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<Self, NoMoment> {
        let (changes, catalog) = text.split_once('.').ok_or(NoMoment)?;
        let number = |text: &str| text.parse().map_err(|_| NoMoment);
        let moment = Self { changes: number(changes)?, catalog: number(catalog)? };
        // One moment has one text.
        if moment.to_string() == text { Ok(moment) } else { Err(NoMoment) }
    }
}
