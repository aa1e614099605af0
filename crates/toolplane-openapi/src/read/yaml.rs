//! YAML as JSON values, built event by event: every bound is checked before the value that would break it is made.
//!
//! An alias is a copy, and counts as large as what it stands for, so a few lines cannot stand for millions of values. Keys
//! are texts as they are written, because `200:` of responses is the same key as `"200":`. Tags beyond those of the core
//! schema are ignored.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Number, Value};

use crate::error::shown;
use crate::limits::DocumentLimits;

/// Reads one YAML document.
pub(super) fn read(text: &str, limits: &DocumentLimits) -> Result<Value, String> {
    let mut builder = Builder { limits, nodes: 0, open: Vec::new(), anchors: HashMap::new(), done: None };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| format!("is not valid YAML: {}", shown(&error.to_string())))?;
        let line = span.start.line();
        builder.event(event).map_err(|rule| format!("{rule} (line {line})"))?;
    }
    builder.done.map(|kept| kept.value).ok_or_else(|| "is empty".to_owned())
}

/// A finished value with what a copy of it costs.
#[derive(Clone)]
struct Kept {
    value: Value,
    nodes: usize,
    depth: usize,
}

/// A collection that is not finished.
struct Open {
    anchor: usize,
    nodes: usize,
    depth: usize,
    part: Part,
}

enum Part {
    List(Vec<Value>),
    Map { members: Map<String, Value>, key: Option<(String, bool)>, merged: Vec<Value> },
}

struct Builder<'a> {
    limits: &'a DocumentLimits,
    nodes: usize,
    open: Vec<Open>,
    anchors: HashMap<usize, Kept>,
    done: Option<Kept>,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let wants_text = tag.as_ref().is_some_and(|tag| tag.suffix == "str");
                let plain = matches!(style, ScalarStyle::Plain);
                if let Some(Open { part: Part::Map { key: key @ None, .. }, .. }) = self.open.last_mut() {
                    *key = Some((text.to_string(), plain && text == "<<"));
                    if anchor != 0 {
                        let value = Value::String(text.into_owned());
                        self.anchors.insert(anchor, Kept { value, nodes: 1, depth: 0 });
                    }
                    return Ok(());
                }
                let value = match plain && !wants_text {
                    true => plain_scalar(&text),
                    false => Value::String(text.into_owned()),
                };
                self.count(1)?;
                self.finished(anchor, Kept { value, nodes: 1, depth: 0 })
            }
            Event::SequenceStart(anchor, _) => self.begin(anchor, Part::List(Vec::new())),
            Event::MappingStart(anchor, _) => {
                self.begin(anchor, Part::Map { members: Map::new(), key: None, merged: Vec::new() })
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => self.alias(anchor),
            Event::DocumentStart(_) if self.done.is_some() => Err("holds more than one YAML document".to_owned()),
            _ => Ok(()),
        }
    }

    fn count(&mut self, nodes: usize) -> Result<(), String> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.max_nodes {
            return Err(format!("holds more than {} values, aliases counted in full", self.limits.max_nodes));
        }
        Ok(())
    }

    fn begin(&mut self, anchor: usize, part: Part) -> Result<(), String> {
        if self.open.len() >= self.limits.max_depth {
            return Err(format!("is nested deeper than {} levels", self.limits.max_depth));
        }
        if matches!(self.open.last(), Some(Open { part: Part::Map { key: None, .. }, .. })) {
            return Err("has a key that is not a text".to_owned());
        }
        self.count(1)?;
        self.open.push(Open { anchor, nodes: 1, depth: 1, part });
        Ok(())
    }

    fn end(&mut self) -> Result<(), String> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.part {
            Part::List(elements) => Value::Array(elements),
            Part::Map { mut members, merged, .. } => {
                for other in merged {
                    merge(&mut members, other);
                }
                Value::Object(members)
            }
        };
        self.finished(open.anchor, Kept { value, nodes: open.nodes, depth: open.depth })
    }

    fn alias(&mut self, anchor: usize) -> Result<(), String> {
        // One that stands inside what it names is not finished yet.
        let Some(kept) = self.anchors.get(&anchor) else { return Err("has an alias that holds itself".to_owned()) };
        if let Some(Open { part: Part::Map { key: key @ None, .. }, .. }) = self.open.last_mut() {
            let Value::String(text) = &kept.value else { return Err("has a key that is not a text".to_owned()) };
            *key = Some((text.clone(), false));
            return Ok(());
        }
        if self.open.len() + kept.depth > self.limits.max_depth {
            return Err(format!("is nested deeper than {} levels", self.limits.max_depth));
        }
        let nodes = kept.nodes;
        self.count(nodes)?;
        let Some(kept) = self.anchors.get(&anchor).cloned() else { return Ok(()) };
        self.finished(0, kept)
    }

    /// Puts a finished value where it belongs.
    fn finished(&mut self, anchor: usize, kept: Kept) -> Result<(), String> {
        if anchor != 0 {
            // The copy that is kept for aliases takes memory too.
            self.count(kept.nodes)?;
            self.anchors.insert(anchor, kept.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.done = Some(kept);
            return Ok(());
        };
        open.nodes = open.nodes.saturating_add(kept.nodes);
        open.depth = open.depth.max(kept.depth + 1);
        match &mut open.part {
            Part::List(elements) => elements.push(kept.value),
            Part::Map { members, key, merged } => match key.take() {
                Some((_, true)) => merged.push(kept.value),
                Some((name, false)) => {
                    if members.contains_key(&name) {
                        return Err(format!("has the key `{}` twice in one object", shown(&name)));
                    }
                    members.insert(name, kept.value);
                }
                None => return Err("has a key that is not a text".to_owned()),
            },
        }
        Ok(())
    }
}

/// The members of a merge key (`<<`): those that are there already win.
fn merge(members: &mut Map<String, Value>, other: Value) {
    match other {
        Value::Object(more) => {
            for (name, value) in more {
                members.entry(name).or_insert(value);
            }
        }
        Value::Array(list) => list.into_iter().for_each(|one| merge(members, one)),
        _ => {}
    }
}

/// A scalar without quotes, by the core schema of YAML 1.2. What no JSON number can hold is a text.
fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

fn number(text: &str) -> Option<Number> {
    let radix = |prefix: &str, radix| u64::from_str_radix(text.strip_prefix(prefix)?, radix).ok();
    if let Some(whole) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Some(whole.into());
    }
    let digits = text.trim_start_matches(['-', '+']);
    if text.len() - digits.len() > 1 || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let text = text.strip_prefix('+').unwrap_or(text);
        let whole = text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from));
        if let Ok(whole) = whole {
            return Some(whole);
        }
    }
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    if !plain || !digits.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Number::from_f64(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reads(text: &str) -> Result<Value, String> {
        let limits = DocumentLimits { max_nodes: 1_000, max_depth: 20, ..DocumentLimits::default() };
        read(text, &limits)
    }

    #[test]
    fn scalars_are_those_of_the_core_schema() {
        let text = "a: 1\nb: '1'\nc: 1.5e3\nd: yes\ne: ~\nf: TRUE\ng: 0x1F\nh: 2020-01-02\ni: -3\nj: !!str 7\n\
                    k: 1.2.3\nl: .inf\n200: ok\n";
        let expected = json!({
            "a": 1, "b": "1", "c": 1500.0, "d": "yes", "e": null, "f": true, "g": 31, "h": "2020-01-02", "i": -3,
            "j": "7", "k": "1.2.3", "l": ".inf", "200": "ok"
        });
        assert_eq!(reads(text), Ok(expected));
    }

    #[test]
    fn aliases_are_copies_and_merge_keys_add() {
        let text = "base: &b {x: 1, y: 2}\nuse: *b\nmore:\n  <<: *b\n  y: 3\n";
        assert_eq!(
            reads(text),
            Ok(json!({"base": {"x": 1, "y": 2}, "use": {"x": 1, "y": 2}, "more": {"y": 3, "x": 1}}))
        );
    }

    #[test]
    fn what_would_explode_is_refused_before_it_does() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let uses = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
        }
        assert!(reads(&bomb).unwrap_err().contains("more than 1000 values"));
        assert!(reads("a: &a [*a]").unwrap_err().contains("itself"));
        assert!(reads(&"[".repeat(50)).unwrap_err().contains("deeper than 20"));
        assert!(reads("a: 1\na: 2\n").unwrap_err().contains("`a` twice"));
        assert!(reads("a: 1\n---\nb: 2\n").unwrap_err().contains("more than one"));
        assert!(reads("? [x]\n: 1\n").is_err());
        assert!(reads("").is_err());
    }
}
