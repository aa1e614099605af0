//! What a shape could not hold of a tool, said beside it. The cluster holds every call to the whole schema all the same.

use std::fmt;

/// Most losses that are told of one tool.
const MOST: usize = 100;

/// What was done with something that a shape cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It is left out.
    Dropped,
    /// It is left out, and said in the description instead.
    Described,
    /// What it refers to stands in its place.
    Inlined,
    /// Its parts were put together.
    Merged,
    /// It is shorter, or ends earlier.
    Cut,
    /// `anyOf` stands in its place: that exactly one fits is not said.
    AnyOf,
    /// Members that are not named are not allowed any more.
    Closed,
    /// It must be given, and is `null` where it is meant to be left out.
    Nullable,
    /// It has another name; the way back knows it.
    Renamed,
    /// It is offered as less than any value, or as more than was declared.
    Approximated,
    /// The tool is not strict because of it.
    NotStrict,
}

/// Something a shape could not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where in the schema: a JSON pointer; `description` for that of the tool.
    pub pointer: String,
    /// The keyword or the rule it is about.
    pub rule: String,
    /// What was done.
    pub done: Done,
    /// More about it; empty where that says all.
    pub note: String,
}

/// The losses of one tool, at most 100, and how many more there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    pub(crate) told: Vec<Loss>,
    pub(crate) more: usize,
}

impl Done {
    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dropped => "dropped",
            Self::Described => "described",
            Self::Inlined => "inlined",
            Self::Merged => "merged",
            Self::Cut => "cut",
            Self::AnyOf => "any_of",
            Self::Closed => "closed",
            Self::Nullable => "nullable",
            Self::Renamed => "renamed",
            Self::Approximated => "approximated",
            Self::NotStrict => "not_strict",
        }
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Losses {
    pub(crate) fn add(&mut self, pointer: &str, rule: &str, done: Done) {
        self.noted(pointer, rule, done, String::new());
    }

    pub(crate) fn noted(&mut self, pointer: &str, rule: &str, done: Done, note: String) {
        let loss = Loss { pointer: pointer.to_owned(), rule: rule.to_owned(), done, note };
        if self.told.contains(&loss) {
            return;
        }
        match self.told.len() < MOST {
            true => self.told.push(loss),
            false => self.more += 1,
        }
    }
}
