//! Questions as forms that clients can show: flat objects.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;

use super::state::Question;
use crate::mcp::version::Version;

/// The one field of a form around a value that is no object.
pub(crate) const ANSWER: &str = "answer";
/// Words of a schema that make it more than a flat object.
const NESTING: [&str; 12] = [
    "properties",
    "patternProperties",
    "allOf",
    "not",
    "if",
    "$ref",
    "$dynamicRef",
    "dependentSchemas",
    "prefixItems",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
];

/// A question with the values it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) message: String,
    /// JSON Schema of a flat object, as it was written where the tool wrote it.
    pub(crate) schema: String,
}

impl Form {
    /// The parameters of `elicitation/create`.
    pub(crate) fn params(&self, version: Version) -> String {
        let mode = if version >= Version::V2025November { r#""mode":"form","# } else { "" };
        let message = Value::from(self.message.as_str());
        format!(r#"{{{mode}"message":{message},"requestedSchema":{}}}"#, self.schema)
    }
}

/// The question of a tool as a form; nothing where it wants what no form can give.
pub(crate) fn of_input(open: &v1::PendingInput) -> Option<(Question, Form)> {
    let (id, message) = (open.input_id.clone(), open.prompt.clone());
    let schema = match open.schema.as_ref().map(|schema| &schema.body) {
        None => None,
        Some(Some(Body::Inline(schema))) => Some(std::str::from_utf8(schema).ok()?.to_owned()),
        Some(_) => return None,
    };
    let Some(schema) = schema else {
        let around = json!({ "type": "object", "properties": { ANSWER: { "type": "string" } }, "required": [ANSWER] });
        return Some((Question::Value(id), Form { message, schema: around.to_string() }));
    };
    let parsed: Value = serde_json::from_str(&schema).ok()?;
    if is_flat(&parsed) {
        return Some((Question::Input(id), Form { message, schema }));
    }
    if !is_plain(&parsed) {
        return None;
    }
    let around = json!({ "type": "object", "properties": { ANSWER: parsed }, "required": [ANSWER] });
    Some((Question::Value(id), Form { message, schema: around.to_string() }))
}

/// Whether a schema is of an object whose fields are all plain.
fn is_flat(schema: &Value) -> bool {
    let Some(object) = schema.as_object().filter(|object| object.get("type") == Some(&json!("object"))) else {
        return false;
    };
    let fields = object.get("properties").and_then(Value::as_object);
    let only_fields =
        !object.keys().any(|key| key != "properties" && NESTING.contains(&key.as_str()) || is_choice(key));
    only_fields && fields.is_some_and(|fields| fields.values().all(is_plain))
}

fn is_choice(key: &str) -> bool {
    matches!(key, "oneOf" | "anyOf")
}

/// Whether a schema is of one value a form has a field for: a text, a number, yes or no, one or several of given texts.
fn is_plain(schema: &Value) -> bool {
    let Some(object) = schema.as_object() else { return false };
    if object.keys().any(|key| NESTING.contains(&key.as_str())) {
        return false;
    }
    let choices = |schema: &Value| {
        let titled = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)).and_then(Value::as_array);
        let titled = titled.is_some_and(|all| all.iter().all(|one| one.get("const").is_some_and(Value::is_string)));
        let plain = schema.get("enum").and_then(Value::as_array).is_some_and(|all| all.iter().all(Value::is_string));
        titled || plain
    };
    match object.get("type").and_then(Value::as_str) {
        Some("string") => !object.keys().any(|key| is_choice(key)) || choices(schema),
        Some("number" | "integer" | "boolean") => !object.keys().any(|key| is_choice(key)),
        Some("array") => object.get("items").is_some_and(choices),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(schema: Option<&str>) -> Option<(Question, Form)> {
        let schema = schema
            .map(|schema| v1::JsonPayload { body: Some(Body::Inline(schema.to_owned().into())), ..Default::default() });
        of_input(&v1::PendingInput {
            input_id: "q1".to_owned(),
            prompt: "Which?".to_owned(),
            schema,
            ..Default::default()
        })
    }

    #[test]
    fn a_flat_object_is_asked_for_as_it_is() {
        let schema = r#"{ "type": "object", "properties": {"n": {"type":"integer","maximum": 1.0e2},
            "c": {"type":"string","enum":["a","b"],"enumNames":["A","B"]},
            "t": {"type":"string","oneOf":[{"const":"a","title":"A"}]},
            "m": {"type":"array","items":{"type":"string","enum":["a"]}}}, "required":["n"]}"#;
        let (question, form) = asked(Some(schema)).unwrap();
        assert_eq!((question, form.schema.as_str()), (Question::Input("q1".to_owned()), schema));
        assert!(
            form.params(Version::V2025November)
                .starts_with(r#"{"mode":"form","message":"Which?","requestedSchema":{ "#)
        );
        assert!(form.params(Version::V2025June).starts_with(r#"{"message":"Which?","#));
    }

    #[test]
    fn one_value_is_asked_for_in_a_form_around_it() {
        for schema in [None, Some(r#"{"type":"string","minLength":1}"#), Some(r#"{"type":"boolean"}"#)] {
            let (question, form) = asked(schema).unwrap();
            let parsed: Value = serde_json::from_str(&form.schema).unwrap();
            assert_eq!((question, &parsed["required"]), (Question::Value("q1".to_owned()), &json!(["answer"])));
        }
    }

    #[test]
    fn what_no_form_can_give_is_not_asked_for() {
        for schema in [
            r#"{"type":"object","properties":{"o":{"type":"object","properties":{}}}}"#,
            r##"{"type":"object","properties":{"o":{"$ref":"#/x"}}}"##,
            r#"{"type":"object","properties":{"o":{"type":"array","items":{"type":"number"}}}}"#,
            r#"{"type":"object","properties":{"s":{"type":"string","anyOf":[{"minLength":2}]}}}"#,
            r#"{"type":"object"}"#,
            r#"{"type":"object","properties":{},"oneOf":[]}"#,
            r#"{"type":["string","null"]}"#,
            "true",
        ] {
            assert_eq!(asked(Some(schema)), None, "{schema}");
        }
    }
}
