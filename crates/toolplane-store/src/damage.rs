//! What a store found that is not as it was written: named, set aside, never used.

use std::collections::BTreeMap;
use std::fmt;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::key::RecordKey;

/// The most damaged places a store remembers by name. Beyond them it only says that there are more, in its log.
const MAX_NAMED: usize = 10_000;

/// Where damage was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DamageLocation {
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

impl DamageLocation {
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

impl fmt::Display for DamageLocation {
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
    pub place: DamageLocation,
    /// What was found there; never stored content.
    pub reason: String,
}

impl Damage {
    /// Damage at `place`.
    pub fn new(place: DamageLocation, reason: impl Into<String>) -> Self {
        Self { place, reason: reason.into() }
    }

    /// A record that does not fit its checksum.
    pub fn of_record(key: &RecordKey, reason: impl Into<String>) -> Self {
        Self::new(DamageLocation::Record(key.clone()), reason)
    }
}

/// The damage a store knows of. Each place is told to the log once.
#[derive(Debug, Default)]
pub struct DamageList {
    known: Mutex<BTreeMap<DamageLocation, String>>,
    /// How many places that are. Set while `known` is held, so that it never falls behind.
    count: watch::Sender<usize>,
}

impl DamageList {
    /// Takes note of `damage`, and gives it back.
    pub fn note(&self, damage: Damage) -> Damage {
        let mut known = self.known.lock();
        if !known.contains_key(&damage.place) && known.len() < MAX_NAMED {
            let (kind, name, reason) = (damage.place.kind(), damage.place.name(), &damage.reason);
            tracing::error!(
                kind,
                name,
                reason,
                "stored data is damaged and set aside; `toolplane store check` lists it"
            );
            known.insert(damage.place.clone(), damage.reason.clone());
            self.count.send_replace(known.len());
        }
        damage
    }

    /// Whether `place` is known to be damaged.
    pub fn knows(&self, place: &DamageLocation) -> bool {
        self.known.lock().contains_key(place)
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.known.lock().is_empty()
    }

    /// Forgets what was deleted.
    pub fn forget(&self, place: &DamageLocation) {
        self.retain(|known| known != place);
    }

    /// Forgets a stream that was forgotten.
    pub fn forget_stream(&self, forgotten: &str) {
        self.retain(|place| !matches!(place, DamageLocation::Stream { stream, .. } if stream == forgotten));
    }

    /// How many places are known, and every change of that.
    pub fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// All of it, in the order of its places.
    pub fn all(&self) -> Vec<Damage> {
        self.known.lock().iter().map(|(place, reason)| Damage::new(place.clone(), reason)).collect()
    }

    fn retain(&self, keep: impl Fn(&DamageLocation) -> bool) {
        let mut known = self.known.lock();
        let before = known.len();
        known.retain(|place, _| keep(place));
        if known.len() != before {
            self.count.send_replace(known.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[tokio::test]
    async fn the_count_follows_what_is_known() {
        let list = DamageList::default();
        let mut count = list.count();
        let of = |id: &str| Damage::of_record(&RecordKey::new(Family::Meta, id), "flipped");
        let event = |from_seq| Damage::new(DamageLocation::Stream { stream: "s".to_owned(), from_seq }, "flipped");
        for damage in [of("a"), of("b"), event(1), event(7)] {
            list.note(damage);
        }
        assert_eq!(*count.borrow_and_update(), 4);
        list.note(of("a"));
        list.forget(&of("never").place);
        assert!(!count.has_changed().unwrap(), "nothing became known, and nothing was forgotten");
        list.forget(&of("a").place);
        count.changed().await.unwrap();
        assert_eq!(*count.borrow_and_update(), 3);
        list.forget_stream("s");
        assert_eq!((*list.count().borrow(), list.all().len()), (1, 1));
    }
}
