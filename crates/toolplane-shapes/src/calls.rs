//! The calls in what a model said, in any shape.

use serde_json::value::RawValue;
use toolplane_records::json::{elements, members};

use crate::shape::Shape;

/// Most calls of one answer that are read.
const MOST: usize = 256;

/// A call as a model made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// In which shape. Those of Gemini are one; that of MCP is also that of what has just a name and arguments.
    pub shape: Shape,
    /// The name it used.
    pub alias: String,
    /// What the model calls the call; empty where it does not.
    pub call_id: String,
    /// What it gave.
    pub arguments: Arguments,
}

/// The arguments of a call, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// JSON.
    Json(String),
    /// A text in which there should be JSON.
    Text(String),
    /// None were given.
    Nothing,
}

/// There is no call in it, in any shape that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoCall(&'static str);

/// The members of one object.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

/// The calls in `said`: one call, a list of calls or of parts of an answer, or the whole answer of a model; none where it called nothing.
///
/// # Errors
///
/// [`NoCall`] where it is neither, or holds more calls than a model makes at once.
pub fn calls(said: &str) -> Result<Vec<ModelCall>, NoCall> {
    let said: &RawValue = serde_json::from_str(said).map_err(|_| NoCall("is not one JSON value"))?;
    let found = if said.get().starts_with('[') {
        of_list(said)
    } else {
        let fields =
            Fields::of(said).ok_or(NoCall("is neither a call, nor a list of calls, nor the answer of a model"))?;
        match one(&fields) {
            Some(call) => vec![call],
            None => in_answer(&fields)
                .ok_or(NoCall("is neither a call nor the answer of a model in a shape that is known"))?,
        }
    };
    if found.len() > MOST { Err(NoCall("holds more than 256 calls")) } else { Ok(found) }
}

fn of_list(list: &RawValue) -> Vec<ModelCall> {
    let parts = elements(list).unwrap_or_default();
    parts.into_iter().filter_map(Fields::of).filter_map(|fields| one(&fields)).take(MOST + 1).collect()
}

/// The calls of a whole answer: `output` of OpenAI's Responses, `choices` or `tool_calls` of its Chat Completions, `content` of
/// Anthropic, `candidates` or `parts` of Gemini.
fn in_answer(answer: &Fields<'_>) -> Option<Vec<ModelCall>> {
    if let Some(output) = answer.list("output") {
        return Some(of_list(output));
    }
    if let Some(choices) = answer.list("choices") {
        let messages =
            elements(choices).ok()?.into_iter().filter_map(Fields::of).filter_map(|choice| choice.object("message"));
        return Some(messages.filter_map(|message| message.list("tool_calls").map(of_list)).flatten().collect());
    }
    if let Some(called) = answer.list("tool_calls") {
        return Some(of_list(called));
    }
    if let Some(content) = answer.list("content") {
        return Some(of_list(content));
    }
    if let Some(candidates) = answer.list("candidates") {
        let contents = elements(candidates)
            .ok()?
            .into_iter()
            .filter_map(Fields::of)
            .filter_map(|candidate| candidate.object("content"));
        return Some(contents.filter_map(|content| content.list("parts").map(of_list)).flatten().collect());
    }
    if let Some(parts) = answer.list("parts") {
        return Some(of_list(parts));
    }
    // A message that says something and calls nothing.
    (answer.text("role").as_deref() == Some("assistant")).then(Vec::new)
}

/// One call.
fn one(item: &Fields<'_>) -> Option<ModelCall> {
    let kind = item.text("type");
    let make = |shape, of: &Fields<'_>, call_id: Option<String>, arguments: &str| {
        let alias = of.text("name")?;
        Some(ModelCall { shape, alias, call_id: call_id.unwrap_or_default(), arguments: of.arguments(arguments) })
    };
    match kind.as_deref() {
        Some("function_call") => return make(Shape::OpenAiResponses, item, item.text("call_id"), "arguments"),
        Some("tool_use") => return make(Shape::Anthropic, item, item.text("id"), "input"),
        _ => {}
    }
    if let Some(function) = item.object("function") {
        return make(Shape::OpenAiChat, &function, item.text("id"), "arguments");
    }
    if let Some(call) = item.object("functionCall").or_else(|| item.object("function_call")) {
        return make(Shape::Gemini, &call, call.text("id"), "args");
    }
    if item.text("method").as_deref() == Some("tools/call") {
        let id = item.text("id").or_else(|| item.get("id").map(|id| id.get().to_owned()).filter(|id| id != "null"));
        return make(Shape::Mcp, &item.object("params")?, id, "arguments");
    }
    match kind {
        None if item.get("args").is_some() => make(Shape::Gemini, item, item.text("id"), "args"),
        None if item.get("arguments").is_some() => make(Shape::Mcp, item, item.text("id"), "arguments"),
        _ => None,
    }
}

impl<'a> Fields<'a> {
    fn of(value: &'a RawValue) -> Option<Self> {
        members(value).ok().map(Self)
    }

    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    fn object(&self, name: &str) -> Option<Self> {
        Self::of(self.get(name)?)
    }

    fn list(&self, name: &str) -> Option<&'a RawValue> {
        self.get(name).filter(|value| value.get().starts_with('['))
    }

    fn arguments(&self, name: &str) -> Arguments {
        match self.get(name).map(RawValue::get) {
            None | Some("null") => Arguments::Nothing,
            Some(json) if json.starts_with('"') => match self.text(name) {
                Some(text) if text.trim().is_empty() => Arguments::Nothing,
                Some(text) => Arguments::Text(text),
                None => Arguments::Json(json.to_owned()),
            },
            Some(json) => Arguments::Json(json.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_read_in_every_shape_and_answer() {
        let args = r#"{ "n":123456789012345678901234567890 , "f":1.10 }"#;
        let text = serde_json::to_string(args).unwrap();
        let responses = format!(r#"{{"type":"function_call","call_id":"c1","name":"a__b","arguments":{text}}}"#);
        let chat = format!(r#"{{"id":"c1","type":"function","function":{{"name":"a__b","arguments":{text}}}}}"#);
        let anthropic = format!(r#"{{"type":"tool_use","id":"c1","name":"a__b","input":{args}}}"#);
        let gemini = format!(r#"{{"functionCall":{{"id":"c1","name":"a__b","args":{args}}}}}"#);
        let mcp = format!(
            r#"{{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{{"name":"a__b","arguments":{args}}}}}"#
        );
        let whole = [
            (Shape::OpenAiResponses, &responses, format!(r#"{{"output":[{{"type":"reasoning"}},{responses}]}}"#)),
            (
                Shape::OpenAiChat,
                &chat,
                format!(r#"{{"choices":[{{"message":{{"role":"assistant","tool_calls":[{chat}]}}}}]}}"#),
            ),
            (Shape::Anthropic, &anthropic, format!(r#"{{"content":[{{"type":"text","text":"x"}},{anthropic}]}}"#)),
            (Shape::Gemini, &gemini, format!(r#"{{"candidates":[{{"content":{{"parts":[{gemini}]}}}}]}}"#)),
            (Shape::Mcp, &mcp, format!("[{mcp}]")),
        ];
        for (shape, alone, answer) in whole {
            for said in [alone, &answer] {
                let [call] = <[ModelCall; 1]>::try_from(calls(said).unwrap()).unwrap();
                assert_eq!((call.shape, call.alias.as_str(), call.call_id.as_str()), (shape, "a__b", "c1"), "{said}");
                let (Arguments::Json(given) | Arguments::Text(given)) = &call.arguments else { panic!("{call:?}") };
                assert_eq!(given, args);
            }
        }
    }

    #[test]
    fn what_calls_nothing_has_no_call_and_what_is_no_answer_is_refused() {
        for nothing in [
            json!({ "output": [{ "type": "message" }] }),
            json!({ "role": "assistant", "content": "hi" }),
            json!({ "choices": [{ "message": { "content": "hi", "tool_calls": null } }] }),
            json!([]),
        ] {
            assert_eq!(calls(&nothing.to_string()), Ok(Vec::new()), "{nothing}");
        }
        for wrong in ["", "1", r#""call a tool""#, r#"{"a":1}"#, r#"{"type":"function_call"}"#] {
            assert!(calls(wrong).is_err(), "{wrong}");
        }
        let many = format!("[{}]", vec![r#"{"name":"a","args":{}}"#; 300].join(","));
        assert!(calls(&many).is_err());
    }
}
