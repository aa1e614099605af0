//! What else is taken out when something damaged is taken out for good: roles know, and the code that takes it out asks
//! them.

use toolplane_store::RecordKey;

pub use toolplane_store::DamageLocation;

/// What a role says about something damaged of its own of which there is no backup.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It may be removed, and with it what is of no use without it.
    Goes(Along),
    /// It must not, and what is to be done instead.
    Stays(&'static str),
}

/// What is taken out together.
#[derive(Clone, Debug, Default)]
pub struct Along {
    /// Records, whether they are damaged or not.
    pub records: Vec<RecordKey>,
    /// Streams, with all their events.
    pub streams: Vec<String>,
    /// Its places in lists and queues.
    pub entries: Option<Entries>,
}

/// Entries of many indexes.
#[derive(Clone, Debug)]
pub struct Entries {
    /// The member they have.
    pub member: String,
    /// Whether such a member of the index of this name stands for what goes.
    pub stand_for_it: fn(&str) -> bool,
}

impl Along {
    /// This record and nothing else.
    pub fn record(key: &RecordKey) -> Self {
        Self { records: vec![key.clone()], ..Self::default() }
    }
}

impl Verdict {
    /// What holds for every role: a record is removed alone, and nothing else of a store can be removed.
    pub fn usual(place: &DamageLocation) -> Self {
        match place {
            DamageLocation::Record(key) => Self::Goes(Along::record(key)),
            // Its name cannot be read, so nothing else is taken out.
            DamageLocation::Part(_) => Self::Goes(Along::default()),
            DamageLocation::Index(_) => Self::Stays("the role repairs an index when it starts"),
            DamageLocation::Stream { .. } => Self::Stays("other records depend on this stream: restore a backup"),
        }
    }
}
