//! What a store found that is not as it was written: named, set aside, never believed.

use std::collections::BTreeMap;
use std::fmt;

use parking_lot::Mutex;

use crate::RecordKey;

/// The most damaged places a store remembers by name. Beyond them it only says that there are more, in its log.
const MAX_NAMED: usize = 10_000;

/// Where damage was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// A record.
    Record(RecordKey),
    /// Entries of this index.
    Index(String),
    /// Events of this stream, from this sequence on.
    Stream {
        /// The stream.
        stream: String,
        /// The first sequence that cannot be read.
        from_seq: u64,
    },
    /// A part of the store whose content has no readable name.
    Part(String),
}

impl Place {
    /// The family of a record, or `index`, `stream` or `part`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Record(key) => key.family.as_str(),
            Self::Index(_) => "index",
            Self::Stream { .. } => "stream",
            Self::Part(_) => "part",
        }
    }

    /// The name within its kind.
    pub fn name(&self) -> &str {
        match self {
            Self::Record(key) => &key.id,
            Self::Index(name) | Self::Stream { stream: name, .. } | Self::Part(name) => name,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(key) => write!(f, "record `{key}`"),
            Self::Index(index) => write!(f, "index `{index}`"),
            Self::Stream { stream, from_seq } => write!(f, "stream `{stream}` from event {from_seq} on"),
            Self::Part(part) => f.write_str(part),
        }
    }
}

/// One damaged thing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} is damaged: {reason}")]
pub struct Damage {
    /// Where.
    pub place: Place,
    /// What was met there; never stored content.
    pub reason: String,
}

impl Damage {
    /// Damage at `place`.
    pub fn new(place: Place, reason: impl Into<String>) -> Self {
        Self { place, reason: reason.into() }
    }

    /// A record that does not fit its checksum.
    pub fn of_record(key: &RecordKey, reason: impl Into<String>) -> Self {
        Self::new(Place::Record(key.clone()), reason)
    }
}

/// The damage a store knows of. Each place is told to the log once.
#[derive(Debug, Default)]
pub struct DamageList(Mutex<BTreeMap<Place, String>>);

impl DamageList {
    /// Takes note of `damage`, and gives it back.
    pub fn note(&self, damage: Damage) -> Damage {
        let mut known = self.0.lock();
        if !known.contains_key(&damage.place) && known.len() < MAX_NAMED {
            let (kind, name, reason) = (damage.place.kind(), damage.place.name(), &damage.reason);
            tracing::error!(
                kind,
                name,
                reason,
                "stored data is damaged and set aside; `toolplane store check` lists it"
            );
            known.insert(damage.place.clone(), damage.reason.clone());
        }
        damage
    }

    /// Whether `place` is known to be damaged.
    pub fn knows(&self, place: &Place) -> bool {
        self.0.lock().contains_key(place)
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Forgets what was deleted.
    pub fn forget(&self, place: &Place) {
        self.0.lock().remove(place);
    }

    /// Forgets a stream that was forgotten.
    pub fn forget_stream(&self, forgotten: &str) {
        self.0.lock().retain(|place, _| !matches!(place, Place::Stream { stream, .. } if stream == forgotten));
    }

    /// All of it, in the order of its places.
    pub fn all(&self) -> Vec<Damage> {
        self.0.lock().iter().map(|(place, reason)| Damage::new(place.clone(), reason)).collect()
    }
}
