//! Schemas of a document as JSON Schemas of their own: what they refer to comes along in `$defs`, each part once, so that
//! cycles stay cycles and nothing is written out without end.

mod fit;
mod keywords;

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value, json};

use crate::document::{Document, leaves, missing};
use crate::error::Fault;
pub(crate) use fit::{Fitted, fitted};

/// Deepest nesting of parts inside one part; the catalogue takes 64 levels of JSON, and a part takes two.
const MAX_INLINE_DEPTH: usize = 24;

/// Who writes the values a schema is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The caller: what is read-only is left out.
    Request,
    /// The server: what is write-only need not be there.
    Response,
}

/// How much of the document's schemas is taken over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Most values of the schema.
    pub(crate) nodes: usize,
    /// Most references one after the other from the root.
    pub(crate) depth: usize,
    /// Most characters of a description.
    pub(crate) text: usize,
}

/// Writes one schema.
pub(crate) struct Writer<'d> {
    document: &'d Document,
    direction: Direction,
    budget: Budget,
    definitions: Map<String, Value>,
    /// Names of definitions by the place they come from.
    names: HashMap<String, String>,
    /// Definitions that are named and not yet written: place, name, references from the root.
    waiting: VecDeque<(String, String, usize)>,
    /// References from the root to what is being written.
    depth: usize,
    nodes: usize,
    /// Parts were left out.
    cut: bool,
}

impl<'d> Writer<'d> {
    pub(crate) fn new(document: &'d Document, direction: Direction, budget: Budget) -> Self {
        Self {
            document,
            direction,
            budget,
            definitions: Map::new(),
            names: HashMap::new(),
            waiting: VecDeque::new(),
            depth: 0,
            nodes: 0,
            cut: false,
        }
    }

    /// The schema at `place` of the document; what it refers to is written with [`Writer::finish`].
    pub(crate) fn write(&mut self, schema: &Value, place: &str) -> Result<Value, Fault> {
        self.part(schema, place, 0)
    }

    /// Puts the definitions into `root`, and says whether anything was left out.
    pub(crate) fn finish(mut self, mut root: Value) -> Result<(Value, bool), Fault> {
        while let Some((place, name, depth)) = self.waiting.pop_front() {
            self.depth = depth;
            let document = self.document;
            let schema = document.at(&place).ok_or_else(|| missing(&place, &place))?;
            let written = match depth > self.budget.depth {
                true => self.left_out(),
                false => self.part(schema, &place, 0)?,
            };
            self.definitions.insert(name, written);
        }
        if let Some(root) = root.as_object_mut() {
            if let Some(dialect) = self.document.root().get("jsonSchemaDialect").and_then(Value::as_str)
                && !dialect.starts_with("https://spec.openapis.org/oas/3.")
            {
                root.insert("$schema".to_owned(), json!(dialect));
            }
            if !self.definitions.is_empty() {
                root.insert("$defs".to_owned(), Value::Object(self.definitions));
            }
        }
        Ok((root, self.cut))
    }

    fn part(&mut self, schema: &Value, place: &str, depth: usize) -> Result<Value, Fault> {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(all) => return Ok(Value::Bool(*all)),
            _ => return Ok(json!({})),
        };
        self.nodes += 1;
        if self.nodes >= self.budget.nodes || depth > MAX_INLINE_DEPTH {
            return Ok(self.left_out());
        }
        let Some(target) = members.get("$ref").and_then(Value::as_str) else {
            return self.keywords(members, place, depth);
        };
        let name = self.reference(place, target)?;
        let mut written = match self.document.has_json_schema() {
            true => self.keywords(members, place, depth)?,
            // In 3.0 what stands beside a reference does not count; a description says something all the same.
            false => {
                let text = members.get("description").filter(|text| text.is_string());
                let beside: Map<String, Value> =
                    text.map(|text| ("description".to_owned(), text.clone())).into_iter().collect();
                self.keywords(&beside, place, depth)?
            }
        };
        written["$ref"] = json!(format!("#/$defs/{name}"));
        let nullable = !self.document.has_json_schema() && members.get("nullable") == Some(&Value::Bool(true));
        Ok(if nullable { json!({ "anyOf": [written, { "type": "null" }] }) } else { written })
    }

    /// A part that is not written: anything fits it.
    fn left_out(&mut self) -> Value {
        self.cut = true;
        json!({})
    }

    /// The name of the definition a reference leads to.
    fn reference(&mut self, place: &str, target: &str) -> Result<String, Fault> {
        let document = self.document;
        let inside = document.pointer_of(target).ok_or_else(|| leaves(place, target))?.into_owned();
        if let Some(name) = self.names.get(&inside) {
            return Ok(name.clone());
        }
        document.at(&inside).ok_or_else(|| missing(place, target))?;
        let last = inside.rsplit('/').next().unwrap_or_default();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
        let base: String = last.chars().map(plain).take(80).collect();
        let base = if base.is_empty() { "part".to_owned() } else { base };
        let taken = |name: &String| self.names.values().any(|other| other == name);
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let name = std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base);
        self.names.insert(inside.clone(), name.clone());
        self.waiting.push_back((inside, name.clone(), self.depth + 1));
        Ok(name)
    }
}

/// `text`, or its beginning with how long it is in the document.
pub(crate) fn bounded(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(max_chars) {
        None => text.to_owned(),
        Some((end, _)) => {
            let whole = text.chars().count();
            format!("{} … (cut; {whole} characters in the document)", text[..end].trim_end())
        }
    }
}
