//! Putting real values back where a hook left the mark of a redacted field.
//!
//! A hook is shown the observable copy of an input, in which sensitive fields are [`REDACTED`]. The input it gives back
//! replaces the whole; fields it left alone keep their real value without the hook ever having seen it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use toolplane_records::json;
use toolplane_records::payload::{JsonPayload, REDACTED};

/// An input that cannot be completed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// There is a mark where no sensitive field was: it was moved or copied, and what it stands for must not follow.
    #[error("`{pointer}` holds the mark of a redacted field, and no such field was there")]
    Moved {
        /// Where.
        pointer: String,
    },
    /// One of the values is no JSON this program can take apart.
    #[error("the input cannot be read")]
    Unreadable,
}

/// `updated` with the values of `real` at every sensitive field it left marked.
///
/// `sensitive` are JSON pointers; a segment `*` stands for every element of an array and every member of an object. Within
/// arrays a mark is only known by its place, so an array whose length changed must hold no marks. Everything else keeps
/// its exact spelling; an input without marks is returned as it is.
///
/// # Errors
///
/// - [`RestoreError::Moved`] when `updated` has the mark where `real` has neither a sensitive field nor this very text,
///   and when it has the mark in an array that has another length in `real`.
/// - [`RestoreError::Unreadable`] when one of the two is not JSON.
pub fn restore(updated: &JsonPayload, real: &JsonPayload, sensitive: &[String]) -> Result<JsonPayload, RestoreError> {
    let pointers: Vec<Vec<String>> = sensitive.iter().map(|pointer| segments(pointer)).collect();
    let paths: Vec<&[String]> = pointers.iter().map(Vec::as_slice).collect();
    let mut merger = Merger { text: String::with_capacity(updated.bytes().len()), restored: 0 };
    let value = raw(updated.text())?;
    let original = raw(real.text())?;
    merger.merge(value, Some(original), &paths, "")?;
    if merger.restored == 0 { Ok(updated.clone()) } else { Ok(JsonPayload::from_checked(merger.text)) }
}

fn raw(text: &str) -> Result<&RawValue, RestoreError> {
    serde_json::from_str(text).map_err(|_| RestoreError::Unreadable)
}

/// The segments of a JSON pointer.
fn segments(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|segment| segment.replace("~1", "/").replace("~0", "~")).collect()
}

struct Merger {
    text: String,
    restored: usize,
}

impl Merger {
    /// Writes `value`, with what is marked taken from `real`. `paths` are the sensitive fields below it.
    fn merge(
        &mut self,
        value: &RawValue,
        real: Option<&RawValue>,
        paths: &[&[String]],
        at: &str,
    ) -> Result<(), RestoreError> {
        let text = value.get();
        match text.as_bytes().first() {
            Some(b'"') if is_mark(value) => self.mark(value, real, paths, at),
            Some(b'{') => self.object(value, real, paths, at),
            Some(b'[') => self.array(value, real, paths, at),
            _ => {
                self.text.push_str(text);
                Ok(())
            }
        }
    }

    fn mark(
        &mut self,
        value: &RawValue,
        real: Option<&RawValue>,
        paths: &[&[String]],
        at: &str,
    ) -> Result<(), RestoreError> {
        let is_sensitive = paths.iter().any(|path| path.is_empty());
        match real {
            Some(real) if is_sensitive => {
                self.restored += 1;
                self.text.push_str(real.get());
                Ok(())
            }
            // The text itself was there all along.
            Some(real) if is_mark(real) => {
                self.text.push_str(value.get());
                Ok(())
            }
            _ => Err(RestoreError::Moved { pointer: at.to_owned() }),
        }
    }

    fn object(
        &mut self,
        value: &RawValue,
        real: Option<&RawValue>,
        paths: &[&[String]],
        at: &str,
    ) -> Result<(), RestoreError> {
        let members = members(value)?;
        let theirs: BTreeMap<String, &RawValue> = match real {
            Some(real) if real.get().starts_with('{') => self::members(real)?.into_iter().collect(),
            _ => BTreeMap::new(),
        };
        self.text.push('{');
        for (index, (name, member)) in members.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            self.text.push_str(&serde_json::to_string(name).map_err(|_| RestoreError::Unreadable)?);
            self.text.push(':');
            let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            self.merge(member, theirs.get(name).copied(), &below(paths, name), &place)?;
        }
        self.text.push('}');
        Ok(())
    }

    fn array(
        &mut self,
        value: &RawValue,
        real: Option<&RawValue>,
        paths: &[&[String]],
        at: &str,
    ) -> Result<(), RestoreError> {
        let items = items(value)?;
        let theirs = match real {
            Some(real) if real.get().starts_with('[') => self::items(real)?,
            _ => Vec::new(),
        };
        let same_places = theirs.len() == items.len();
        self.text.push('[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.text.push(',');
            }
            let segment = index.to_string();
            let its = theirs.get(index).copied().filter(|_| same_places);
            self.merge(item, its, &below(paths, &segment), &format!("{at}/{segment}"))?;
        }
        self.text.push(']');
        Ok(())
    }
}

/// The paths that go on below the member or element `name`.
fn below<'a>(paths: &[&'a [String]], name: &str) -> Vec<&'a [String]> {
    let inner = paths.iter().filter_map(|path| path.split_first());
    inner.filter(|(first, _)| *first == name || *first == "*").map(|(_, rest)| rest).collect()
}

fn is_mark(value: &RawValue) -> bool {
    serde_json::from_str::<String>(value.get()).is_ok_and(|text| text == REDACTED)
}

fn items(value: &RawValue) -> Result<Vec<&RawValue>, RestoreError> {
    json::elements(value).map_err(|_| RestoreError::Unreadable)
}

fn members(value: &RawValue) -> Result<Vec<(String, &RawValue)>, RestoreError> {
    json::members(value).map_err(|_| RestoreError::Unreadable)
}

#[cfg(test)]
mod tests;
