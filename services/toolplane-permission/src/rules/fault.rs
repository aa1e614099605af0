//! What is wrong with configured rules, each with its place.

use std::fmt;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: a key of the configuration (`permission.rules[3].tool`), or a file and the place in it.
    pub place: String,
    /// The rule it breaks, as a phrase.
    pub rule: String,
}

impl Fault {
    pub(crate) fn new(place: impl Into<String>, rule: impl fmt::Display) -> Self {
        Self { place: place.into(), rule: rule.to_string() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.place, self.rule)
    }
}

/// Everything that is wrong with a set of rules. None of it came into force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            write!(f, "{}{fault}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

impl From<Fault> for Faults {
    fn from(fault: Fault) -> Self {
        Self(vec![fault])
    }
}
