//! The parts of one schema and how evaluation moves between them.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolplane_records::error::FieldViolation;

use crate::violations::{Violations, shown};

/// How evaluation gets from one part of a schema to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
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
    pub(super) step: Step,
    pub(super) to: usize,
}

/// One part of a schema: an object or a boolean in a place where a schema is expected.
#[derive(Clone, Debug)]
pub(super) struct Part {
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
    pub(super) parts: Vec<Part>,
    /// How many regular expressions the schema holds.
    pub(super) patterns: usize,
}

impl SchemaGraph {
    /// Walks `root`; every reference must lead to a place inside it.
    pub(super) fn build(root: &Value) -> Result<Self, Vec<FieldViolation>> {
        let mut builder = Builder::new(root);
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
                if edge.step == Step::InPlace && !reached.contains(&edge.to) {
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
    ids: HashMap<String, usize>,
    anchors: HashMap<String, usize>,
    parts: Vec<Part>,
    values: Vec<&'a Value>,
    /// (part, target as written)
    references: Vec<(usize, &'a str)>,
    patterns: usize,
    violations: Violations,
}

impl<'a> Builder<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
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
        self.parts.push(Part { pointer, edges: Vec::new(), weight: 1, looks_again: false });
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
            } else if let Some(&(from, target)) = self.references.get(followed) {
                self.follow(from, target);
                followed += 1;
            } else {
                return;
            }
        }
    }

    fn walk(&mut self, id: usize) {
        let Value::Object(keywords) = self.values[id] else { return };
        let pointer = self.parts[id].pointer.clone();
        for (keyword, value) in keywords {
            let place = format!("{pointer}/{}", escape(keyword));
            self.keyword(id, keyword, value, &place);
        }
    }

    fn keyword(&mut self, id: usize, keyword: &str, value: &'a Value, place: &str) {
        match keyword {
            "$ref" => match value.as_str() {
                Some(target) => self.references.push((id, target)),
                None => self.violations.add(place, "must be a string"),
            },
            "$dynamicRef" | "$recursiveRef" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary" => {
                self.violations.add(place, format!("`{keyword}` is not supported; use `$ref` and `$defs`"));
            }
            "$id" if id != 0 => self.violations.add(place, "`$id` is only supported at the root"),
            "$anchor" => {
                if let Some(name) = value.as_str() {
                    self.anchors.insert(name.to_owned(), id);
                }
            }
            "not" | "if" | "then" | "else" => self.child(id, Step::InPlace, place, value),
            "allOf" | "anyOf" | "oneOf" => self.each(id, place, value, |_| Step::InPlace),
            "dependentSchemas" | "dependencies" => self.members(id, place, value, |_| Step::InPlace),
            "properties" => self.members(id, place, value, |name| Step::Member(name.to_owned())),
            "patternProperties" => {
                self.patterns += value.as_object().map_or(0, Map::len);
                self.members(id, place, value, |_| Step::MatchedMember);
            }
            "propertyNames" => self.child(id, Step::MatchedMember, place, value),
            "additionalProperties" => self.child(id, Step::OtherMember, place, value),
            "unevaluatedProperties" => {
                self.parts[id].looks_again = true;
                self.child(id, Step::OtherMember, place, value);
            }
            "prefixItems" => self.each(id, place, value, Step::Element),
            "items" if value.is_array() => self.each(id, place, value, Step::Element),
            "items" | "additionalItems" | "contains" => self.child(id, Step::AnyElement, place, value),
            "unevaluatedItems" => {
                self.parts[id].looks_again = true;
                self.child(id, Step::AnyElement, place, value);
            }
            // Places that hold schemas nothing evaluates by itself: their references must be local all the same.
            "$defs" | "definitions" => {
                for (name, definition) in value.as_object().into_iter().flatten() {
                    self.intern(format!("{place}/{}", escape(name)), definition);
                }
            }
            "contentSchema" => {
                self.intern(place.to_owned(), value);
            }
            "pattern" => self.patterns += 1,
            _ => self.parts[id].weight += count(value),
        }
    }

    fn child(&mut self, from: usize, step: Step, place: &str, value: &'a Value) {
        let to = self.intern(place.to_owned(), value);
        self.parts[from].edges.push(Edge { step, to });
    }

    fn each(&mut self, from: usize, place: &str, value: &'a Value, step: impl Fn(usize) -> Step) {
        for (index, element) in value.as_array().into_iter().flatten().enumerate() {
            self.child(from, step(index), &format!("{place}/{index}"), element);
        }
    }

    fn members(&mut self, from: usize, place: &str, value: &'a Value, step: impl Fn(&str) -> Step) {
        for (name, member) in value.as_object().into_iter().flatten() {
            self.child(from, step(name), &format!("{place}/{}", escape(name)), member);
        }
    }

    fn follow(&mut self, from: usize, target: &'a str) {
        let place = format!("{}/$ref", self.parts[from].pointer);
        let Some(fragment) = target.strip_prefix('#') else {
            let rule =
                format!("`{}` leaves the schema; only references inside it (`#...`) are allowed", shown(target, 80));
            self.violations.add(place, rule);
            return;
        };
        let found = match fragment.strip_prefix('/') {
            None if fragment.is_empty() => Some(0),
            None => self.anchors.get(fragment).copied(),
            Some(_) => self.place_of(fragment),
        };
        match found {
            Some(to) => self.parts[from].edges.push(Edge { step: Step::InPlace, to }),
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

/// A member name as a token of a JSON pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The member names of a JSON pointer (RFC 6901), decoded; `None` if the text is not a pointer.
pub fn decode_pointer(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    pointer.strip_prefix('/')?.split('/').map(decode_token).collect()
}

fn decode_token(token: &str) -> Option<String> {
    let mut decoded = String::with_capacity(token.len());
    let mut rest = token.chars();
    while let Some(character) = rest.next() {
        match character {
            '~' => decoded.push(match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            }),
            other => decoded.push(other),
        }
    }
    Some(decoded)
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
