//! The strict JSON gate: what untrusted JSON bytes must satisfy before anything else looks at them; and the form in which texts that
//! say the same are the same ([`canonical()`]).

mod canonical;
mod compact;
mod parts;
mod rewrite;

use crate::codes;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

pub use canonical::{canonical, canonical_number};
pub use compact::compact;
pub use parts::{elements, members};
pub use rewrite::{NotJson, Rewrite, rewrite};

/// Bounds on one JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonLimits {
    /// Most bytes of the whole text.
    pub max_bytes: usize,
    /// Deepest nesting of arrays and objects.
    pub max_depth: usize,
    /// Most values (members and elements, at all levels).
    pub max_nodes: usize,
}

impl Default for JsonLimits {
    /// 1 MiB, depth 64, 100,000 values.
    fn default() -> Self {
        Self { max_bytes: 1024 * 1024, max_depth: 64, max_nodes: 100_000 }
    }
}

/// Why JSON bytes were refused. The text names the rule and, where there is one, the key or position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonRefusal {
    /// More bytes than allowed.
    #[error("is {size} bytes; at most {limit} are allowed")]
    TooLarge {
        /// Bytes given.
        size: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("is not valid UTF-8 at byte {0}")]
    NotUtf8(usize),
    /// Nested deeper than allowed.
    #[error("is nested deeper than {0} levels")]
    TooDeep(usize),
    /// More values than allowed.
    #[error("holds more than {0} values")]
    TooManyNodes(usize),
    /// An object with the same key twice.
    #[error("has the key `{0}` twice in one object")]
    DuplicateKey(String),
    /// Not RFC 8259 JSON, or a number no program can hold.
    #[error("is not valid JSON: {0}")]
    Syntax(String),
}

impl JsonRefusal {
    /// Stable machine-readable name of the rule.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => codes::JSON_TOO_LARGE.as_str(),
            Self::NotUtf8(_) => codes::JSON_NOT_UTF8.as_str(),
            Self::TooDeep(_) => codes::JSON_TOO_DEEP.as_str(),
            Self::TooManyNodes(_) => codes::JSON_TOO_MANY_VALUES.as_str(),
            Self::DuplicateKey(_) => codes::JSON_DUPLICATE_KEY.as_str(),
            Self::Syntax(_) => codes::JSON_SYNTAX.as_str(),
        }
    }
}

/// Checks that `bytes` are exactly one JSON value: UTF-8, RFC 8259, no duplicate keys, within `limits`.
///
/// Runs in one pass without building a tree; keys are compared decoded, so `"a"` and `"\u0061"` are the same key.
///
/// Fails with the first [`JsonRefusal`] it meets.
pub fn check(bytes: &[u8], limits: &JsonLimits) -> Result<(), JsonRefusal> {
    if bytes.len() > limits.max_bytes {
        return Err(JsonRefusal::TooLarge { size: bytes.len(), limit: limits.max_bytes });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| JsonRefusal::NotUtf8(error.valid_up_to()))?;
    let refusal = Cell::new(None);
    let nodes = Cell::new(0);
    let gate = Gate { limits, depth: 0, nodes: &nodes, refusal: &refusal };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    // The gate bounds the depth itself, well below what the stack can take.
    let outcome = gate.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match (refusal.take(), outcome) {
        (Some(refusal), _) => Err(refusal),
        (None, Err(error)) if error.to_string().starts_with("recursion limit") => {
            Err(JsonRefusal::TooDeep(limits.max_depth))
        }
        (None, Err(error)) => Err(JsonRefusal::Syntax(error.to_string())),
        (None, Ok(())) => Ok(()),
    }
}

#[derive(Clone, Copy)]
struct Gate<'a> {
    limits: &'a JsonLimits,
    depth: usize,
    nodes: &'a Cell<usize>,
    refusal: &'a Cell<Option<JsonRefusal>>,
}

impl Gate<'_> {
    fn refuse<E: serde::de::Error>(&self, refusal: JsonRefusal) -> E {
        let error = E::custom(&refusal);
        self.refusal.set(Some(refusal));
        error
    }

    fn deeper<E: serde::de::Error>(&self) -> Result<Self, E> {
        if self.depth >= self.limits.max_depth {
            return Err(self.refuse(JsonRefusal::TooDeep(self.limits.max_depth)));
        }
        Ok(Self { depth: self.depth + 1, ..*self })
    }

    fn count<E: serde::de::Error>(&self) -> Result<(), E> {
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > self.limits.max_nodes {
            return Err(self.refuse(JsonRefusal::TooManyNodes(self.limits.max_nodes)));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Gate<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Gate<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        while seq.next_element_seed(inner)?.is_some() {
            self.count()?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let inner = self.deeper()?;
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            self.count()?;
            let shown: String = key.chars().take(64).collect();
            if !seen.insert(key) {
                return Err(self.refuse(JsonRefusal::DuplicateKey(shown)));
            }
            map.next_value_seed(inner).map_err(A::Error::custom)?;
        }
        Ok(())
    }
}
