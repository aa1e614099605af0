//! A moment in the life of a surface.

use std::fmt;
use std::str::FromStr;

use super::lineage::Above;

/// Of a surface: after so many own changes, and so many of each surface above it, at this revision of its catalog. What it showed then is known
/// from the moment alone, as long as the surfaces remember their changes and the catalog its declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moment {
    /// How often the surface itself had been changed.
    pub changes: u64,
    /// How often those above it had been.
    pub above: Above,
    /// The revision of the catalog.
    pub catalog: u64,
    /// Stands for what kept tools from being used then, where that is told with it: another number where that was something else, and 0 where
    /// nothing did. It says nothing of what the surface showed.
    pub shut: u32,
}

impl Moment {
    /// Whether nothing of it is less than in `other`, a moment of the same surface.
    pub fn reaches(&self, other: &Self) -> bool {
        self.changes >= other.changes && self.catalog >= other.catalog && self.above.reaches(&other.above)
    }

    /// The same moment, with what stands for what kept tools from being used then.
    #[must_use]
    pub fn with_shut(self, shut: u32) -> Self {
        Self { shut, ..self }
    }

    /// Whether both are of surfaces with as many above them.
    pub fn is_like(&self, other: &Self) -> bool {
        self.above.as_slice().len() == other.above.as_slice().len()
    }

    /// Whether these are its changes, of the surface and of those above it.
    pub(super) fn has_changes(&self, changes: &[u64]) -> bool {
        changes.split_first().is_some_and(|(own, above)| self.changes == *own && self.above.as_slice() == above)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.", self.changes)?;
        self.above.as_slice().iter().try_for_each(|changes| write!(f, "{changes}."))?;
        write!(f, "{}", self.catalog)?;
        if self.shut == 0 { Ok(()) } else { write!(f, "-{:08x}", self.shut) }
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
        let (place, shut) = text.split_once('-').map_or((text, None), |(place, shut)| (place, Some(shut)));
        let shut = shut.map_or(Ok(0), |shut| u32::from_str_radix(shut, 16).map_err(|_| NoMoment))?;
        let (changes, rest) = place.split_once('.').ok_or(NoMoment)?;
        let number = |text: &str| text.parse().map_err(|_| NoMoment);
        let (between, catalog) = rest.rsplit_once('.').map_or((None, rest), |(between, last)| (Some(between), last));
        let mut above = Above::default();
        for changes in between.into_iter().flat_map(|between| between.split('.')) {
            if !above.push(number(changes)?) {
                return Err(NoMoment);
            }
        }
        let moment = Self { changes: number(changes)?, above, catalog: number(catalog)?, shut };
        // One moment has one text.
        if moment.to_string() == text { Ok(moment) } else { Err(NoMoment) }
    }
}
