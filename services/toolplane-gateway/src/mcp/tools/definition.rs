//! What a tool says of itself, as clients of MCP are told.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tonic::Status;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::safety_fact::Fact;
use toolplane_records::json::compact;

use super::listing::Entry;
use crate::mcp::version::Version;
use crate::upstream::Upstream;

/// Most definitions that are kept; a registration is known by its digest.
const KEPT: usize = 8192;
/// A wish that arguments be sent as headers too. It is the wish of the server the tool comes from, and not for our clients.
const HEADER_WISH: &str = "x-mcp-header";

/// A tool, ready to be told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    /// It is listed whatever else is.
    pub(crate) always_load: bool,
    pub(crate) title: String,
    pub(crate) description: String,
    /// JSON.
    pub(crate) input_schema: String,
    /// JSON, and whether it is the schema of an object.
    pub(crate) output_schema: Option<(String, bool)>,
    annotations: Value,
}

impl Definition {
    /// What was registered, as it is told.
    pub(crate) fn of(registration: &v1::ToolRegistration) -> Self {
        let declaration = registration.declaration.clone().unwrap_or_default();
        let interface = registration.interface.clone().unwrap_or_default();
        let (input, output) = (declaration.input_contract.as_ref(), declaration.output_contract.as_ref());
        let input = interface.model_input_schema.as_ref().or(input.and_then(|input| input.model_input_schema.as_ref()));
        let output = interface.output_schema.as_ref().or(output.and_then(|output| output.structured_schema.as_ref()));
        let mut annotations = Map::new();
        if !declaration.title.is_empty() {
            annotations.insert("title".to_owned(), declaration.title.clone().into());
        }
        // What is not known is not told: a hint that is left out means the worst.
        for (hint, fact) in [
            ("readOnlyHint", &interface.is_read_only),
            ("destructiveHint", &interface.is_destructive),
            ("idempotentHint", &interface.is_idempotent),
            ("openWorldHint", &interface.is_open_world),
        ] {
            if let Some(v1::SafetyFact { fact: Some(Fact::Known(known)) }) = fact {
                annotations.insert(hint.to_owned(), (*known).into());
            }
        }
        Self {
            always_load: interface.always_load.unwrap_or_default(),
            title: declaration.title,
            description: declaration.description,
            input_schema: of_object(text(input)),
            output_schema: text(output).map(|schema| {
                let parsed: Option<Value> = serde_json::from_str(&schema).ok();
                let of_object = parsed.is_some_and(|schema| schema.get("type") == Some(&json!("object")));
                (schema, of_object)
            }),
            annotations: Value::Object(annotations),
        }
    }

    /// The tool as clients of this version are told, one JSON object.
    pub(crate) fn write(&self, entry: &Entry, version: Version) -> String {
        let mut tool = format!(r#"{{"name":{}"#, Value::from(entry.name.as_str()));
        let mut put = |name: &str, json: &str| {
            tool.push_str(&format!(r#","{name}":{json}"#));
        };
        if !self.title.is_empty() && version >= Version::V2025June {
            put("title", &Value::from(self.title.as_str()).to_string());
        }
        put("description", &Value::from(self.description.as_str()).to_string());
        put("inputSchema", &self.input_schema);
        if let Some((schema, of_object)) = &self.output_schema
            && version >= Version::V2025June
            && (*of_object || version.has_any_output())
        {
            put("outputSchema", schema);
        }
        put("annotations", &self.annotations.to_string());
        if version >= Version::V2025June {
            put("_meta", &json!({ "toolplane/name": entry.full_name, "toolplane/tool_id": entry.tool_id }).to_string());
        }
        tool.push('}');
        tool
    }
}

fn text(payload: Option<&v1::JsonPayload>) -> Option<String> {
    match payload?.body.as_ref()? {
        Body::Inline(bytes) => std::str::from_utf8(bytes).ok().map(compact),
        Body::Ref(_) => None,
    }
}

/// The schema as the protocol wants it: of an object. Its values stay as they were written where that is so already.
fn of_object(schema: Option<String>) -> String {
    let Some(schema) = schema else { return r#"{"type":"object"}"#.to_owned() };
    let Ok(Value::Object(mut parsed)) = serde_json::from_str::<Value>(&schema) else {
        return r#"{"type":"object"}"#.to_owned();
    };
    let says = parsed.get("type") == Some(&json!("object"));
    let wishes = schema.contains(HEADER_WISH);
    if says && !wishes {
        return schema;
    }
    parsed.insert("type".to_owned(), "object".into());
    let mut parsed = Value::Object(parsed);
    if wishes {
        forget(&mut parsed, HEADER_WISH);
    }
    parsed.to_string()
}

fn forget(value: &mut Value, key: &str) {
    match value {
        Value::Object(members) => {
            members.shift_remove(key);
            members.values_mut().for_each(|value| forget(value, key));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|value| forget(value, key)),
        _ => {}
    }
}

/// Definitions that were read, by the digest of the registration.
#[derive(Debug, Default)]
pub(crate) struct Definitions(Mutex<HashMap<String, Arc<Definition>>>);

impl Definitions {
    /// The definition of a tool; `None` where it is gone by now.
    pub(crate) async fn of(&self, upstream: &Upstream, entry: &Entry) -> Result<Option<Arc<Definition>>, Status> {
        if let Some(known) = self.0.lock().get(&entry.digest) {
            return Ok(Some(Arc::clone(known)));
        }
        let tool = Some(v1::get_tool_request::Tool::ToolId(entry.tool_id.clone()));
        let answer = match upstream.surfaces().get_tool(v1::GetToolRequest { tool, ..Default::default() }).await {
            Ok(answer) => answer.into_inner(),
            Err(status) if status.code() == tonic::Code::NotFound => return Ok(None),
            Err(status) => return Err(status),
        };
        let Some(registration) = answer.registration else { return Ok(None) };
        let made = Arc::new(Definition::of(&registration));
        let mut kept = self.0.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(answer.digest, Arc::clone(&made));
        Ok(Some(made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(json: &str) -> Option<v1::JsonPayload> {
        Some(v1::JsonPayload { body: Some(Body::Inline(json.to_owned().into())), ..Default::default() })
    }

    fn entry() -> Entry {
        Entry {
            name: "a__b".to_owned(),
            full_name: "a.b".to_owned(),
            tool_id: "tool_b".to_owned(),
            digest: String::new(),
            loaded: true,
        }
    }

    #[test]
    fn only_what_is_known_is_told() {
        let known = |known| Some(v1::SafetyFact { fact: Some(Fact::Known(known)) });
        let registration = v1::ToolRegistration {
            declaration: Some(v1::ToolDeclaration { title: "B".to_owned(), ..Default::default() }),
            interface: Some(v1::ToolInterface {
                is_read_only: known(true),
                is_destructive: known(false),
                is_open_world: Some(v1::SafetyFact { fact: Some(Fact::Rule("classifier:x".to_owned())) }),
                output_schema: payload(r#"{"type":"array"}"#),
                ..Default::default()
            }),
            ..Default::default()
        };
        let definition = Definition::of(&registration);
        let told: Value = serde_json::from_str(&definition.write(&entry(), Version::V2025November)).unwrap();
        assert_eq!(told["annotations"], json!({ "title": "B", "readOnlyHint": true, "destructiveHint": false }));
        assert_eq!((&told["inputSchema"], told.get("outputSchema")), (&json!({ "type": "object" }), None));
        let told: Value = serde_json::from_str(&definition.write(&entry(), Version::V2026July)).unwrap();
        assert_eq!(told["outputSchema"], json!({ "type": "array" }));
        let told: Value = serde_json::from_str(&definition.write(&entry(), Version::V2025March)).unwrap();
        assert_eq!((told.get("title"), told.get("_meta")), (None, None));
    }

    #[test]
    fn a_schema_stays_as_it_was_written_where_it_can() {
        let exact = r#"{ "type": "object", "properties": {"n": {"maximum": 1.50e3}} }"#;
        assert_eq!(of_object(Some(exact.to_owned())), exact);
        assert_eq!(of_object(Some(r#"{"properties":{}}"#.to_owned())), r#"{"properties":{},"type":"object"}"#);
        let wish = r#"{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}"#;
        assert_eq!(of_object(Some(wish.to_owned())), r#"{"type":"object","properties":{"a":{"type":"string"}}}"#);
        for odd in ["true", "[]", "x"] {
            assert_eq!(of_object(Some(odd.to_owned())), r#"{"type":"object"}"#);
        }
    }
}
