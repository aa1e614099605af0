//! Schemas brought down to what a vendor takes, with what was lost.
//!
//! References are put in place, what all of several schemas say is put together, and what the vendor does not know is dropped and said in
//! the description. What comes out allows at least what the schema allows, wherever the vendor has a way to say it; where a strict mode has
//! none, it is not strict. The work is bounded: a schema of a few hundred bytes can mean a tree without end.

mod gather;
mod node;
mod object;
mod root;
mod rules;
mod texts;

use serde_json::{Map, Value};

use crate::loss::{Done, Losses};
use crate::pointer::below;
use crate::shape::ParameterNames;
pub(crate) use root::is_plain;
use rules::Strict;
pub(crate) use rules::{ANTHROPIC_STRICT, CARD, GEMINI, GEMINI_OPENAPI, OPENAI_STRICT, Rules};

/// Most parts a lowered schema has.
const MOST_PARTS: usize = 5_000;
/// Deepest nesting of a lowered schema.
const DEEPEST: usize = 24;

/// Why a schema cannot be had in a strict mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotStrict {
    pub(crate) pointer: String,
    pub(crate) why: &'static str,
}

/// A schema while it is lowered.
pub(crate) struct Lower<'a> {
    root: &'a Value,
    rules: &'static Rules,
    pub(crate) losses: Losses,
    /// What is being looked at, by pointer: a reference to it would never end.
    open: Vec<String>,
    parts: usize,
    counted: Counted,
}

/// What a strict mode counts.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    properties: usize,
    values: usize,
    characters: usize,
}

/// The schema as these rules allow it; an error where a strict mode cannot hold it.
pub(crate) fn lowered(root: &Value, rules: &'static Rules) -> Result<(Value, Losses), NotStrict> {
    let mut lower = Lower::new(root, rules);
    let top = lower.top();
    let members = lower.node(top, "", 1)?;
    lower.is_within_bounds()?;
    Ok((members.into(), lower.losses))
}

/// The schema with only its top brought into shape, and parameters named as the vendor wants them; nothing where it is so already.
pub(crate) fn loose(root: &Value, names: ParameterNames) -> Option<(Value, Losses)> {
    // References stay as they are below the top, so it does not matter which rules there are.
    let mut lower = Lower::new(root, &CARD);
    let mut top = match is_plain(root) {
        true => root.clone(),
        false => Value::Object(lower.top()),
    };
    let renamed = rename(&mut top, names, "", &mut lower.losses, 0);
    (renamed || !is_plain(root)).then_some((top, lower.losses))
}

impl<'a> Lower<'a> {
    fn new(root: &'a Value, rules: &'static Rules) -> Self {
        Self { root, rules, losses: Losses::default(), open: Vec::new(), parts: 0, counted: Counted::default() }
    }

    /// One more part; whether there is room for it. Without room a strict mode cannot hold the schema.
    fn has_room(&mut self, at: &str, depth: usize) -> Result<bool, NotStrict> {
        self.parts += 1;
        let deepest = if self.rules.strict == Some(Strict::OpenAi) { 10 } else { DEEPEST };
        if self.parts <= MOST_PARTS && depth <= deepest {
            return Ok(true);
        }
        self.strictly(at, "it is too large or nested too deep")?;
        self.losses.add(at, "size", Done::Cut);
        Ok(false)
    }

    /// Something that no strict mode can hold.
    fn strictly(&self, at: &str, why: &'static str) -> Result<(), NotStrict> {
        match self.rules.strict {
            Some(_) => Err(NotStrict { pointer: at.to_owned(), why }),
            None => Ok(()),
        }
    }

    fn is_within_bounds(&self) -> Result<(), NotStrict> {
        let Counted { properties, values, characters } = self.counted;
        if properties > 5_000 || values > 1_000 || characters > 120_000 {
            self.strictly("", "it has too many members or values")?;
        }
        Ok(())
    }
}

/// Gives the parameters of every object in a schema names that are allowed; whether any had another.
fn rename(schema: &mut Value, names: ParameterNames, at: &str, losses: &mut Losses, depth: usize) -> bool {
    let Value::Object(members) = schema else { return false };
    if names == ParameterNames::Any || depth > 64 {
        return false;
    }
    let mut renamed = false;
    if let Some(Value::Object(properties)) = members.get_mut("properties")
        && properties.keys().any(|name| names.of(name) != *name)
    {
        renamed = true;
        let before: Map<String, Value> = std::mem::take(properties);
        for (name, schema) in before {
            let allowed = names.of(&name);
            if allowed != name {
                losses.noted(&below(&below(at, "properties"), &name), "name", Done::Renamed, allowed.clone());
            }
            properties.insert(allowed, schema);
        }
        if let Some(Value::Array(required)) = members.get_mut("required") {
            for name in required {
                *name = name.as_str().map(|name| names.of(name)).into();
            }
        }
    }
    for (keyword, value) in members {
        let at = below(at, keyword);
        let mut each = |value: &mut Value, at: &str| renamed |= rename(value, names, at, losses, depth + 1);
        match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(parts),
            ) => {
                parts.iter_mut().for_each(|(name, part)| each(part, &below(&at, name)));
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(parts)) => {
                parts.iter_mut().enumerate().for_each(|(index, part)| each(part, &format!("{at}/{index}")));
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "additionalItems",
                part,
            ) => each(part, &at),
            _ => {}
        }
    }
    renamed
}
