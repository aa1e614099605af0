//! What a schema says for people, and what is said there because the vendor has no keyword for it.

use serde_json::{Map, Value};

use super::Lower;
use crate::loss::Done;
use crate::pointer::below;

/// Longest value that is said in a description.
const LONGEST_VALUE: usize = 200;

/// Keywords that bound a value: what is dropped of them is said in the description.
const BOUNDS: [&str; 19] = [
    "format",
    "pattern",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
    "const",
    "enum",
    "contentEncoding",
    "contentMediaType",
];

/// Keywords that say nothing of what may be given.
const SILENT: [&str; 14] = [
    "$schema",
    "$id",
    "id",
    "$comment",
    "$defs",
    "definitions",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
    "title",
    "description",
    "deprecated",
    "x-mcp-header",
];

impl Lower<'_> {
    /// The keywords of `part` that are left when its structure was taken: kept, said in the description, or dropped. Those in `used` were
    /// looked at already.
    pub(super) fn rest(&mut self, part: &Map<String, Value>, used: &[&str], at: &str, into: &mut Map<String, Value>) {
        let mut said = Vec::new();
        for (keyword, value) in part {
            let keyword = keyword.as_str();
            if used.contains(&keyword) || SILENT.contains(&keyword) {
                continue;
            }
            if self.keeps(keyword, value) {
                into.insert(keyword.to_owned(), value.clone());
                continue;
            }
            let is_bound = BOUNDS.contains(&keyword);
            self.losses.add(&below(at, keyword), keyword, if is_bound { Done::Described } else { Done::Dropped });
            if is_bound {
                let value = value.to_string();
                let short: String = value.chars().take(LONGEST_VALUE).collect();
                said.push(format!("{keyword}: {short}"));
            }
        }
        self.describe(part, &said, into);
    }

    fn keeps(&self, keyword: &str, value: &Value) -> bool {
        match keyword {
            "format" => {
                self.rules.formats.is_none_or(|known| value.as_str().is_some_and(|format| known.contains(&format)))
            }
            "minItems" if self.rules.strict == Some(super::Strict::Anthropic) => {
                value.as_u64().is_some_and(|least| least < 2)
            }
            // Draft 4 says it of its neighbour.
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => false,
            keyword => self.rules.keywords.contains(&keyword),
        }
    }

    /// The description, with what is said in it alone.
    pub(super) fn describe(&self, part: &Map<String, Value>, said: &[String], into: &mut Map<String, Value>) {
        let own =
            part.get("description").or_else(|| part.get("title")).and_then(Value::as_str).unwrap_or_default().trim();
        let more = if said.is_empty() { String::new() } else { format!("({})", said.join("; ")) };
        let text = [own, more.as_str()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            into.insert("description".to_owned(), text.into());
        }
    }
}
