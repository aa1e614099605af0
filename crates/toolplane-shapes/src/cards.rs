//! Tool cards: what a tool does and takes, in one line for a prompt.

use serde_json::{Map, Value};
use toolplane_records::visible;

use crate::lower::{CARD, lowered};
use crate::tokens::estimate;
use crate::tool::Tool;

/// Longest sentence of a card, in characters.
const SENTENCE: usize = 160;
/// Most parameters of a card.
const PARAMETERS: usize = 12;
/// Most values of a parameter, and the longest of them.
const VALUES: (usize, usize) = (6, 24);
/// How deep parameters are told.
const DEPTH: usize = 2;

/// One tool in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// `alias(parameters): what it does`.
    pub text: String,
    /// Its tokens, estimated; the end of its line is one of them.
    pub tokens: u64,
}

/// Cards of tools within a budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cards {
    /// In the order of the tools: those there was room for.
    pub cards: Vec<(usize, Card)>,
    /// Which tools there was no room for, by position.
    pub left_out: Vec<usize>,
    /// Tokens of all cards together, estimated.
    pub tokens: u64,
}

/// Cards of tools, in their order, as many as `most` tokens allow: the first that does not fit and all after it are left out, so that
/// who comes first is who is told. Without `most`, all of them.
pub fn cards<'a>(tools: impl IntoIterator<Item = &'a Tool>, most: Option<u64>) -> Cards {
    let mut all = Cards::default();
    for (at, tool) in tools.into_iter().enumerate() {
        let card = Card::of(tool);
        let fits = most.is_none_or(|most| all.tokens + card.tokens <= most);
        if fits && all.left_out.is_empty() {
            all.tokens += card.tokens;
            all.cards.push((at, card));
        } else {
            all.left_out.push(at);
        }
    }
    all
}

impl Card {
    /// The card of a tool.
    pub fn of(tool: &Tool) -> Self {
        let parameters = match lowered(&tool.schema(), &CARD) {
            Ok((schema, _)) => schema.as_object().map(|schema| object(schema, DEPTH)).unwrap_or_default(),
            Err(_) => String::new(),
        };
        let text = if tool.description.trim().is_empty() { &tool.hint } else { &tool.description };
        let sentence = sentence(text);
        let said = if sentence.is_empty() { String::new() } else { format!(": {sentence}") };
        let text = format!("{}({parameters}){said}", tool.alias);
        let tokens = estimate(&text) + 1;
        Self { text, tokens }
    }
}

/// The first sentence or paragraph, in one line.
fn sentence(text: &str) -> String {
    let first = text.trim().split("\n\n").next().unwrap_or_default();
    let line = first.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    visible::excerpt(&line[..end], SENTENCE)
}

fn object(schema: &Map<String, Value>, depth: usize) -> String {
    let Some(Value::Object(properties)) = schema.get("properties") else { return String::new() };
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let is_required = |name: &str| required.contains(&name);
    // What must be given is told first.
    let (first, then): (Vec<_>, Vec<_>) = properties.iter().partition(|(name, _)| is_required(name));
    let mut told: Vec<String> = first
        .into_iter()
        .chain(then)
        .take(PARAMETERS)
        .map(|(name, schema)| {
            let optional = if is_required(name) { "" } else { "?" };
            format!("{}{optional}: {}", visible::line(name), kind(schema, depth))
        })
        .collect();
    if properties.len() > PARAMETERS {
        told.push(format!("+{} more", properties.len() - PARAMETERS));
    }
    told.join(", ")
}

fn kind(schema: &Value, depth: usize) -> String {
    let value = |value: &Value| visible::excerpt(&value.to_string(), VALUES.1);
    if let Some(Value::Array(values)) = schema.get("enum") {
        let mut told: Vec<String> = values.iter().take(VALUES.0).map(value).collect();
        if values.len() > VALUES.0 {
            told.push("…".to_owned());
        }
        return told.join("|");
    }
    if let Some(Value::Array(branches)) = schema.get("anyOf") {
        let mut told: Vec<String> = branches.iter().take(VALUES.0).map(|branch| kind(branch, depth)).collect();
        told.dedup();
        return told.join("|");
    }
    match schema.get("type") {
        Some(Value::String(one)) if one == "array" => {
            format!("{}[]", schema.get("items").map_or_else(|| "any".to_owned(), |items| kind(items, depth)))
        }
        Some(Value::String(one)) if one == "object" && depth > 1 => {
            match schema.as_object().map(|all| object(all, depth - 1)) {
                Some(members) if !members.is_empty() => format!("{{{members}}}"),
                _ => "object".to_owned(),
            }
        }
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(some)) => some.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ => "any".to_owned(),
    }
}
