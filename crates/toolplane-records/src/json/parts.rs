//! JSON values taken apart without reading what is in them: every part keeps its exact spelling.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order. Fails with a [`serde_json::Error`] when `value` is not an object.
pub fn members(value: &RawValue) -> Result<Vec<(String, &RawValue)>, serde_json::Error> {
    struct Members;

    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some(member) = map.next_entry()? {
                members.push(member);
            }
            Ok(members)
        }
    }

    serde_json::Deserializer::from_str(value.get()).deserialize_map(Members)
}

/// The elements of an array. Fails with a [`serde_json::Error`] when `value` is not an array.
pub fn elements(value: &RawValue) -> Result<Vec<&RawValue>, serde_json::Error> {
    serde_json::from_str(value.get())
}
