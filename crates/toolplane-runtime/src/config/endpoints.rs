//! Where the processes of one role are.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The processes of one role: one URL, or a list of URLs of processes that can do each other's work.
///
/// Written as a text or a list of texts; empty when absent. No URL is named twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "OneOrMany"))]
pub struct Endpoints(Vec<String>);

/// The forms in which endpoints may be written.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Endpoints {
    /// These URLs, in this order.
    pub fn new(urls: impl IntoIterator<Item = String>) -> Self {
        let mut distinct = Vec::new();
        for url in urls {
            if !distinct.contains(&url) {
                distinct.push(url);
            }
        }
        Self(distinct)
    }

    /// The URLs, as written.
    pub fn urls(&self) -> &[String] {
        &self.0
    }

    /// Whether none was given: the role is served by this process.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Endpoints {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Endpoints {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EndpointsVisitor)
    }
}

struct EndpointsVisitor;

impl<'de> Visitor<'de> for EndpointsVisitor {
    type Value = Endpoints;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a URL or a list of URLs")
    }

    fn visit_str<E: Error>(self, url: &str) -> Result<Endpoints, E> {
        Ok(Endpoints(vec![url.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Endpoints, A::Error> {
        let mut urls = Vec::new();
        while let Some(url) = list.next_element::<String>()? {
            urls.push(url);
        }
        Ok(Endpoints::new(urls))
    }
}
