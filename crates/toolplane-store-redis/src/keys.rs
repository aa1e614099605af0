//! What things are called in Redis. Every key of a shard begins with its name in braces, so all of them share one slot of a
//! Redis Cluster and one commit can change any of them. The first shard has the name of the namespace, which is that of a
//! store of one shard; the others are called `<namespace>/<number>`, and no namespace contains a `/`.
//!
//! | key | type | content |
//! | --- | --- | --- |
//! | `{ns}:r:<f>:<id>` | string | the record of a family with its version; families have one letter each |
//! | `{ns}:r:<f>` | sorted set | the ids of the family, in byte order; not of those every call has some of |
//! | `{ns}:x:<index>` | sorted set | the members of an index |
//! | `{ns}:x` | sorted set | the names of the indexes that have members |
//! | `{ns}:s:<stream>` | list | the events of a stream, the first of them sequence 1 |
//! | `{ns}:o:<id>` | string, expires | an operation that was named by its caller |
//! | `{ns}:t:<16 bytes>` | string, expires | an operation that was not |
//! | `{ns}:p` | hash | the patterns that values are told by, by their names, each once more, and a mark that it is there |
//! | `{ns}:id` | string | the name of the store, written when it is first opened |
//! | `{ns}:shards` | string | which of how many shards this is, where there are several |
//! | `{ns}:h` | channel | hints |

use toolplane_store::{Family, RecordKey};

use crate::open_error::OpenError;

/// The longest namespace, in bytes: it is part of every key. Longer than the configured one can be: a role may add its name.
const MAX_NAMESPACE: usize = 64;

/// The keys of one shard of a namespace.
#[derive(Clone, Debug)]
pub(crate) struct KeySpace {
    prefix: String,
}

impl KeySpace {
    /// The keys of shard `number` below `namespace`, or what is wrong with that name.
    pub(crate) fn new(namespace: &str, number: usize) -> Result<Self, OpenError> {
        let fits = (1..=MAX_NAMESPACE).contains(&namespace.len());
        if fits && namespace.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
            let prefix = match number {
                0 => format!("{{{namespace}}}:"),
                other => format!("{{{namespace}/{other}}}:"),
            };
            return Ok(Self { prefix });
        }
        let reason =
            format!("the namespace `{namespace}` must have 1 to {MAX_NAMESPACE} letters, digits, `-`, `_` or `.`");
        Err(OpenError::InvalidOption { reason })
    }

    /// Whether the ids of a family are kept in a set of their own. Those of what each call has are not: a set would take more memory
    /// than what is in it is worth, and nobody asks for all of them but who looks at everything.
    pub(crate) fn is_listed(family: Family) -> bool {
        !matches!(family, Family::Invocation | Family::Payload | Family::Decision | Family::Result | Family::Evidence)
    }

    /// The sets of families that are not listed any more, as earlier versions left them.
    pub(crate) fn former_lists(&self) -> Vec<String> {
        Family::ALL.into_iter().filter(|family| !Self::is_listed(*family)).map(|family| self.family(family)).collect()
    }

    /// The ids of a family.
    pub(crate) fn family(&self, family: Family) -> String {
        self.key(&["r:", letter(family)])
    }

    /// One record.
    pub(crate) fn record(&self, key: &RecordKey) -> String {
        self.key(&["r:", letter(key.family), ":", &key.id])
    }

    /// The names of the indexes.
    pub(crate) fn names(&self) -> String {
        self.key(&["x"])
    }

    /// One index.
    pub(crate) fn index(&self, index: &str) -> String {
        self.key(&["x:", index])
    }

    /// One stream.
    pub(crate) fn stream(&self, stream: &str) -> String {
        self.key(&["s:", stream])
    }

    /// The memory of an operation its caller named.
    pub(crate) fn operation(&self, id: &str) -> Vec<u8> {
        self.key(&["o:", id]).into_bytes()
    }

    /// The memory of a call whose caller did not name the operation.
    pub(crate) fn call(&self, call: &[u8; 16]) -> Vec<u8> {
        [self.prefix.as_bytes(), b"t:", call].concat()
    }

    /// The patterns.
    pub(crate) fn patterns(&self) -> String {
        self.key(&["p"])
    }

    /// The name of the store.
    pub(crate) fn identity(&self) -> String {
        self.key(&["id"])
    }

    /// What is written of the shards.
    pub(crate) fn shards(&self) -> String {
        self.key(&["shards"])
    }

    /// The channel of the hints.
    pub(crate) fn channel(&self) -> String {
        self.key(&["h"])
    }

    /// Made for every part of every commit: in one piece, of its length.
    fn key(&self, parts: &[&str]) -> String {
        let mut key = String::with_capacity(self.prefix.len() + parts.iter().map(|part| part.len()).sum::<usize>());
        key.push_str(&self.prefix);
        parts.iter().for_each(|part| key.push_str(part));
        key
    }
}

// Part of every record's key, for good: a letter that was given away is never given to another family.
fn letter(family: Family) -> &'static str {
    match family {
        Family::Invocation => "i",
        Family::Payload => "p",
        Family::Plan => "l",
        Family::Result => "r",
        Family::Declaration => "d",
        Family::Surface => "s",
        Family::Approval => "a",
        Family::Decision => "e",
        Family::Worker => "w",
        Family::Meta => "m",
        Family::Batch => "b",
        Family::LockDomain => "k",
        Family::Evidence => "v",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use toolplane_store::{Family, RecordKey};

    use super::{KeySpace, MAX_NAMESPACE, letter};

    #[test]
    fn every_key_is_below_the_namespace_and_no_two_meet() {
        let keys = KeySpace::new("ns", 0).unwrap();
        let record = keys.record(&RecordKey::new(Family::Invocation, "x"));
        let mut all = BTreeSet::from([record, keys.names(), keys.index("x"), keys.stream("x"), keys.channel()]);
        all.extend([keys.identity(), keys.shards(), keys.patterns()]);
        all.extend(Family::ALL.map(|family| keys.family(family)));
        assert_eq!(all.len(), 8 + Family::ALL.len());
        assert!(all.iter().all(|key| key.starts_with("{ns}:")), "{all:?}");
        assert_eq!(keys.operation("x"), b"{ns}:o:x");
        assert!(keys.call(&[7; 16]).starts_with(b"{ns}:t:"));
        let letters: BTreeSet<_> = Family::ALL.map(letter).into();
        assert_eq!(letters.len(), Family::ALL.len());
    }

    #[test]
    fn shards_meet_neither_each_other_nor_another_namespace() {
        let names: BTreeSet<_> = (0..70).map(|number| KeySpace::new("ns", number).unwrap().names()).collect();
        assert_eq!(names.len(), 70);
        assert!(names.contains("{ns}:x") && names.contains("{ns/1}:x"));
        assert!(KeySpace::new("ns/1", 0).is_err());
    }

    #[test]
    fn namespaces_that_would_break_the_slot_are_refused() {
        for bad in ["", "a b", "{a}", "a:b", "é", &"x".repeat(MAX_NAMESPACE + 1)] {
            assert!(KeySpace::new(bad, 0).is_err(), "{bad}");
        }
    }
}
