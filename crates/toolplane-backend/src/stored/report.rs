//! What a check of everything stored says.

use serde::Serialize;
use toolplane_store::Damage;

/// What was looked at, and what is wrong with it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Everything is as it was written.
    pub sound: bool,
    /// The roles' stores.
    pub stores: Vec<Part>,
    /// The payloads.
    pub objects: Objects,
}

/// One role's store.
#[derive(Debug, Serialize)]
pub struct Part {
    /// The role.
    pub role: &'static str,
    /// Its directory, or its key space in Redis.
    pub place: String,
    /// Records that are as they were written.
    pub records: u64,
    /// Entries of indexes, where they are counted.
    pub entries: u64,
    /// Events, or rows of them.
    pub events: u64,
    /// Set aside, or read from elsewhere: the store opens without it.
    pub damaged: Vec<Named>,
    /// Why the store does not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fatal: Option<String>,
}

/// Something damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The family of a record, or `index`, `stream`, `part` or `payload`.
    pub kind: String,
    /// Its name among them.
    pub name: String,
    /// What was found there.
    pub reason: String,
}

/// The payloads.
#[derive(Debug, Default, Serialize)]
pub struct Objects {
    /// How many were held to their digests.
    pub files: u64,
    /// The bucket they are in, where none was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<String>,
    /// Those whose bytes are not what they are named after, and those that a record names and that are not there.
    pub damaged: Vec<Named>,
}

impl From<&Damage> for Named {
    fn from(damage: &Damage) -> Self {
        let (kind, name) = (damage.place.kind().to_owned(), damage.place.name().to_owned());
        Self { kind, name, reason: damage.reason.clone() }
    }
}
