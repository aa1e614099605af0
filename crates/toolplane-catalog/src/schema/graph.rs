//! The parts of one schema and how evaluation moves between them.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolplane_records::error::FieldViolation;

use super::dialect::Dialect;
use super::pointer::{decode_pointer, escape, percent_decode};
use crate::violations::{Violations, shown};

/// How evaluation gets from one part of a schema to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SchemaStep {
    /// Same place of the instance: `$ref`, `allOf`, `not` ...
    InPlace,
    /// The member of that name.
    Member(String),
    /// Members matched by a pattern; `propertyNames`.
    MatchedMember,
    /// Members that no `properties` entry of the same part names.
    OtherMember,
    /// The array element at that index.
    Element(usize),
    /// Any array element.
    AnyElement,
}

#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub(super) step: SchemaStep,
    pub(super) to: usize,
}

/// One part of a schema: an object or a boolean in a place where a schema is expected.
#[derive(Clone, Debug)]
pub(super) struct Subschema {
    /// JSON pointer from the root of the schema.
    pub(super) pointer: String,
    pub(super) edges: Vec<Edge>,
    /// Values the part looks at itself, itself included: the price of evaluating it once.
    pub(super) weight: u64,
    /// `unevaluatedProperties` or `unevaluatedItems` look through every in-place part again.
    pub(super) looks_again: bool,
}

/// Every part of one schema. Part 0 is the root.
#[derive(Clone, Debug)]
pub(super) struct SchemaGraph {
    pub(super) parts: Vec<Subschema>,
    /// How many regular expressions the schema holds.
    pub(super) patterns: usize,
}

impl SchemaGraph {
    /// Walks `root` as a schema of `dialect`; every reference must lead to a place inside it.
    pub(super) fn build(root: &Value, dialect: Dialect) -> Result<Self, Vec<FieldViolation>> {
        let mut builder = Builder::new(root, dialect);
        builder.intern(String::new(), root);
        builder.run();
        let graph = Self { parts: builder.parts, patterns: builder.patterns };
        builder.violations.into_result().map(|()| graph)
    }

    /// The parts that apply to the same place of the instance as the root does, the root first.
    pub(super) fn in_place_of_root(&self) -> Vec<usize> {
        let mut reached = vec![0];
        let mut next = 0;
        while let Some(&id) = reached.get(next) {
            for edge in &self.parts[id].edges {
                if edge.step == SchemaStep::InPlace && !reached.contains(&edge.to) {
                    reached.push(edge.to);
                }
            }
            next += 1;
        }
        reached
    }
}

struct Builder<'a> {
    root: &'a Value,
    dialect: Dialect,
    /// What the root calls itself, without a fragment; references by that name stay inside. Empty when it has no name.
    name: &'a str,
    ids: HashMap<String, usize>,
    anchors: HashMap<String, usize>,
    parts: Vec<Subschema>,
    values: Vec<&'a Value>,
    /// (part, keyword, target as written)
    references: Vec<(usize, &'static str, &'a str)>,
    patterns: usize,
    violations: Violations,
}

impl<'a> Builder<'a> {
    fn new(root: &'a Value, dialect: Dialect) -> Self {
        let name = root.get(dialect.id_keyword()).and_then(Value::as_str).unwrap_or_default();
        Self {
            root,
            dialect,
            name: name.split('#').next().unwrap_or_default(),
            ids: HashMap::new(),
            anchors: HashMap::new(),
            parts: Vec::new(),
            values: Vec::new(),
            references: Vec::new(),
            patterns: 0,
            violations: Violations::default(),
        }
    }

    fn intern(&mut self, pointer: String, value: &'a Value) -> usize {
        if let Some(&id) = self.ids.get(&pointer) {
            return id;
        }
        let id = self.parts.len();
        self.ids.insert(pointer.clone(), id);
        self.parts.push(Subschema { pointer, edges: Vec::new(), weight: 1, looks_again: false });
        self.values.push(value);
        id
    }

    /// Walks parts and follows references until neither brings anything new.
    fn run(&mut self) {
        let (mut walked, mut followed) = (0, 0);
        loop {
            if walked < self.parts.len() {
                self.walk(walked);
                walked += 1;
            } else if let Some(&(from, keyword, target)) = self.references.get(followed) {
                self.follow(from, keyword, target);
                followed += 1;
            } else {
                return;
            }
        }
    }

    fn walk(&mut self, id: usize) {
        let Value::Object(keywords) = self.values[id] else { return };
        let pointer = self.parts[id].pointer.clone();
        // Definitions beside a reference that is alone can still be referred to.
        let alone = self.dialect.ref_stands_alone() && keywords.contains_key("$ref");
        let counts = |keyword: &str| !alone || matches!(keyword, "$ref" | "definitions" | "$defs" | "$schema");
        for (keyword, value) in keywords.iter().filter(|(keyword, _)| counts(keyword)) {
            let place = format!("{pointer}/{}", escape(keyword));
            if keyword == self.dialect.id_keyword() {
                self.id(id, value, &place);
            } else {
                self.keyword(id, keyword, value, &place);
            }
        }
    }

    /// The name of a part. Before 2019-09 it can be an anchor.
    fn id(&mut self, id: usize, value: &'a Value, place: &str) {
        match value.as_str().and_then(|name| name.strip_prefix('#')) {
            Some("") => {}
            Some(anchor) if self.dialect.ref_stands_alone() => self.anchor(id, anchor, place),
            _ if id == 0 => {}
            _ => {
                let keyword = self.dialect.id_keyword();
                self.violations.add(place, format!("`{keyword}` is only supported at the root"));
            }
        }
    }

    fn anchor(&mut self, id: usize, name: &str, place: &str) {
        if self.anchors.insert(name.to_owned(), id).is_some_and(|other| other != id) {
            self.violations.add(place, format!("`{}` is given twice", shown(name, 80)));
        }
    }

    fn keyword(&mut self, id: usize, keyword: &str, value: &'a Value, place: &str) {
        use Dialect::{Draft06, Draft07, Draft201909, Draft202012};
        let dialect = self.dialect;
        match keyword {
            "$ref" => self.reference(id, "$ref", value, place),
            // The schema is one resource, so whatever the way that led here, these lead where `$ref` would.
            "$dynamicRef" if dialect == Draft202012 => self.reference(id, "$dynamicRef", value, place),
            "$recursiveRef" if dialect == Draft201909 => self.reference(id, "$recursiveRef", value, place),
            "$recursiveAnchor" if dialect == Draft201909 => {}
            "$anchor" if dialect >= Draft201909 => self.anchor(id, value.as_str().unwrap_or_default(), place),
            "$dynamicAnchor" if dialect == Draft202012 => self.anchor(id, value.as_str().unwrap_or_default(), place),
            // To pass over these would be to leave out what the writer asked for.
            "$dynamicRef" | "$recursiveRef" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary" => {
                let rule = format!("`{keyword}` is not supported in JSON Schema {}; use `$ref`", dialect.name());
                self.violations.add(place, rule);
            }
            "$schema" if id != 0 => {
                if Dialect::named(value) != Ok(dialect) {
                    self.violations.add(place, format!("must be `{}` like the root's, or left out", dialect.uri()));
                }
            }
            "not" => self.child(id, SchemaStep::InPlace, place, value),
            "if" | "then" | "else" if dialect >= Draft07 => self.child(id, SchemaStep::InPlace, place, value),
            "allOf" | "anyOf" | "oneOf" => self.each(id, place, value, |_| SchemaStep::InPlace),
            "dependentSchemas" if dialect >= Draft201909 => self.members(id, place, value, |_| SchemaStep::InPlace),
            "dependencies" => self.members(id, place, value, |_| SchemaStep::InPlace),
            "properties" => self.members(id, place, value, |name| SchemaStep::Member(name.to_owned())),
            "patternProperties" => {
                self.patterns += value.as_object().map_or(0, Map::len);
                self.members(id, place, value, |_| SchemaStep::MatchedMember);
            }
            "propertyNames" if dialect >= Draft06 => self.child(id, SchemaStep::MatchedMember, place, value),
            "additionalProperties" => self.child(id, SchemaStep::OtherMember, place, value),
            "unevaluatedProperties" if dialect >= Draft201909 => {
                self.parts[id].looks_again = true;
                self.child(id, SchemaStep::OtherMember, place, value);
            }
            "prefixItems" if dialect == Draft202012 => self.each(id, place, value, SchemaStep::Element),
            "items" if value.is_array() => self.each(id, place, value, SchemaStep::Element),
            "items" | "additionalItems" => self.child(id, SchemaStep::AnyElement, place, value),
            "contains" if dialect >= Draft06 => self.child(id, SchemaStep::AnyElement, place, value),
            "unevaluatedItems" if dialect >= Draft201909 => {
                self.parts[id].looks_again = true;
                self.child(id, SchemaStep::AnyElement, place, value);
            }
            // Places that hold schemas nothing evaluates by itself: their references must still be local.
            "$defs" | "definitions" => {
                for (name, definition) in value.as_object().into_iter().flatten() {
                    self.intern(format!("{place}/{}", escape(name)), definition);
                }
            }
            "contentSchema" if dialect >= Draft201909 => {
                self.intern(place.to_owned(), value);
            }
            "pattern" => self.patterns += 1,
            _ => self.parts[id].weight += count(value),
        }
    }

    fn reference(&mut self, id: usize, keyword: &'static str, value: &'a Value, place: &str) {
        match value.as_str() {
            Some(target) => self.references.push((id, keyword, target)),
            None => self.violations.add(place, "must be a string"),
        }
    }

    fn child(&mut self, from: usize, step: SchemaStep, place: &str, value: &'a Value) {
        let to = self.intern(place.to_owned(), value);
        self.parts[from].edges.push(Edge { step, to });
    }

    fn each(&mut self, from: usize, place: &str, value: &'a Value, step: impl Fn(usize) -> SchemaStep) {
        for (index, element) in value.as_array().into_iter().flatten().enumerate() {
            self.child(from, step(index), &format!("{place}/{index}"), element);
        }
    }

    fn members(&mut self, from: usize, place: &str, value: &'a Value, step: impl Fn(&str) -> SchemaStep) {
        for (name, member) in value.as_object().into_iter().flatten() {
            self.child(from, step(name), &format!("{place}/{}", escape(name)), member);
        }
    }

    fn follow(&mut self, from: usize, keyword: &str, target: &'a str) {
        let place = format!("{}/{}", self.parts[from].pointer, escape(keyword));
        let (document, fragment) = target.split_once('#').unwrap_or((target, ""));
        let inside = if document.is_empty() { target.starts_with('#') } else { document == self.name };
        if !inside {
            let rule =
                format!("`{}` leaves the schema; only references inside it (`#...`) are allowed", shown(target, 80));
            self.violations.add(place, rule);
            return;
        }
        let found = match fragment.strip_prefix('/') {
            None if fragment.is_empty() => Some(0),
            None => self.anchors.get(fragment).copied(),
            Some(_) => self.place_of(fragment),
        };
        match found {
            Some(to) => self.parts[from].edges.push(Edge { step: SchemaStep::InPlace, to }),
            None => self.violations.add(place, format!("`{}` does not exist in the schema", shown(target, 80))),
        }
    }

    fn place_of(&mut self, fragment: &str) -> Option<usize> {
        let tokens = decode_pointer(&percent_decode(fragment)?)?;
        let mut value = self.root;
        let mut pointer = String::new();
        for token in &tokens {
            value = match value {
                Value::Object(members) => members.get(token)?,
                Value::Array(elements) => elements.get(token.parse::<usize>().ok()?)?,
                _ => return None,
            };
            pointer.push('/');
            pointer.push_str(&escape(token));
        }
        Some(self.intern(pointer, value))
    }
}

fn count(value: &Value) -> u64 {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(count).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(count).sum::<u64>(),
        _ => 1,
    }
}
