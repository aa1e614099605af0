//! One document: its version, and the places its references lead to.

mod swagger;

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use toolplane_catalog::schema::decode_pointer;

use crate::error::{DocumentError, Fault, shown};
use crate::limits::DocumentLimits;
use crate::operations::{self, Import, ImportOptions, Selection, SelectionError};
use crate::read;

/// Longest chain of references from one place to what it stands for.
const MAX_HOPS: usize = 16;

/// The version of the specification a document is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// Swagger 2.0; such a document is converted, and read as 3.0 from there on.
    Swagger20,
    /// OpenAPI 3.0.
    V30,
    /// OpenAPI 3.1.
    V31,
    /// OpenAPI 3.2.
    V32,
}

/// A document within its bounds, of a version that is known.
#[derive(Debug)]
pub struct Document {
    root: Value,
    version: Version,
    limits: DocumentLimits,
}

impl Document {
    /// Reads a document in JSON or YAML.
    ///
    /// # Errors
    ///
    /// A [`DocumentError`] when the bytes are no JSON or YAML, break one of `limits`, are no object with `paths` (or, from
    /// 3.1 on, `webhooks` or `components`), or name a version that is not known here.
    pub fn read(bytes: &[u8], limits: &DocumentLimits) -> Result<Self, DocumentError> {
        let mut root = read::read(bytes, limits)?;
        if !root.is_object() {
            return Err(Fault::at("", "must be an object").into());
        }
        let version = version(&root)?;
        if version == Version::Swagger20 {
            root = swagger::convert(root);
        }
        match root.get("paths") {
            Some(Value::Object(_)) => {}
            None | Some(Value::Null) if version >= Version::V31 => {}
            None => return Err(Fault::at("/paths", "is missing").into()),
            Some(_) => return Err(Fault::at("/paths", "must be an object").into()),
        }
        let document = Self { root, version, limits: limits.clone() };
        let count = operations::count(&document);
        if count > limits.max_operations {
            let rule = format!("has {count} operations; at most {} are allowed", limits.max_operations);
            return Err(Fault::at("/paths", rule).into());
        }
        Ok(document)
    }

    /// The version it is written for.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Its title, as it is written; empty when it has none.
    pub fn title(&self) -> &str {
        self.root.pointer("/info/title").and_then(Value::as_str).unwrap_or_default()
    }

    /// Its own version, as it is written; empty when it has none.
    pub fn edition(&self) -> &str {
        self.root.pointer("/info/version").and_then(Value::as_str).unwrap_or_default()
    }

    /// How many operations it has, whether they can be imported or not.
    pub fn operation_count(&self) -> usize {
        operations::count(self)
    }

    /// The selected operations, each as a tool or as a refusal, in the order of the document.
    ///
    /// # Errors
    ///
    /// A [`SelectionError`] when the selection names a tag, an operation, a method or a path that the document does not have.
    pub fn operations(&self, selection: &Selection, options: &ImportOptions) -> Result<Import, SelectionError> {
        operations::import(self, selection, options)
    }

    pub(crate) fn root(&self) -> &Value {
        &self.root
    }

    pub(crate) fn limits(&self) -> &DocumentLimits {
        &self.limits
    }

    /// Whether schemas are JSON Schema, and not the dialect of 3.0.
    pub(crate) fn has_json_schema(&self) -> bool {
        self.version >= Version::V31
    }

    /// The JSON pointer a reference leads to, if it stays in the document.
    pub(crate) fn pointer_of<'a>(&self, reference: &'a str) -> Option<Cow<'a, str>> {
        let fragment = match reference.split_once('#') {
            Some(("", fragment)) => fragment,
            // From 3.2 on a document may name itself.
            Some((before, fragment)) if self.root.get("$self").and_then(Value::as_str) == Some(before) => fragment,
            _ => return None,
        };
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return None;
        }
        percent_decode_str(fragment).decode_utf8().ok()
    }

    /// The value at a JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&Value> {
        let mut value = &self.root;
        for token in decode_pointer(pointer)? {
            value = match value {
                Value::Object(members) => members.get(&token)?,
                Value::Array(elements) => elements.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// What `value`, which stands at `pointer`, is: itself, or what its `$ref` leads to, with the place of that.
    pub(crate) fn follow<'a>(
        &'a self,
        value: &'a Value,
        pointer: &str,
    ) -> Result<(&'a Map<String, Value>, String), Fault> {
        let (mut value, mut place) = (value, pointer.to_owned());
        for _ in 0..MAX_HOPS {
            let Some(members) = value.as_object() else { return Err(Fault::at(place, "must be an object")) };
            let Some(reference) = members.get("$ref") else { return Ok((members, place)) };
            let target = reference.as_str().unwrap_or_default();
            let inside = self.pointer_of(target).ok_or_else(|| leaves(&place, target))?;
            value = self.at(&inside).ok_or_else(|| missing(&place, target))?;
            place = inside.into_owned();
        }
        Err(Fault::at(pointer, "refers back to itself"))
    }
}

/// A reference that leaves the document.
pub(crate) fn leaves(place: &str, target: &str) -> Fault {
    let rule = format!("refers to `{}`; only references inside the document (`#/...`) are followed", shown(target));
    Fault::at(place, rule)
}

/// A reference to nothing.
pub(crate) fn missing(place: &str, target: &str) -> Fault {
    Fault::at(place, format!("refers to `{}`, which does not exist", shown(target)))
}

fn version(root: &Value) -> Result<Version, DocumentError> {
    // In YAML `2.0` and `3.1` without quotes are numbers.
    let said = |key: &str| match root.get(key) {
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    let Some(text) = said("openapi").or_else(|| said("swagger")) else {
        return Err(Fault::at("", "has neither `openapi` nor `swagger` that says its version").into());
    };
    let is =
        |wanted: &str| text == wanted || text.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(['.', '-']));
    match () {
        () if root.get("openapi").is_none() && text == "2.0" => Ok(Version::Swagger20),
        () if is("3.0") => Ok(Version::V30),
        () if is("3.1") => Ok(Version::V31),
        () if is("3.2") => Ok(Version::V32),
        () => Err(DocumentError::Version(shown(&text))),
    }
}
