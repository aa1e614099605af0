//! Messages and vocabularies as schemas, those that are used and no others.

use std::collections::{BTreeMap, BTreeSet};

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value, json};

use super::comments::Comments;
use crate::json::words::{self, Form, REFERENCE};

/// The schemas of a document while it is made.
pub(super) struct Schemas<'a> {
    comments: &'a Comments,
    found: BTreeMap<String, Value>,
    /// What is sent: a field that is not known is refused there.
    requests: BTreeSet<String>,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(comments: &'a Comments) -> Self {
        let (found, requests) = (BTreeMap::new(), BTreeSet::new());
        Self { comments, found, requests }
    }

    /// Where the schema of a message is that is only sent.
    pub(super) fn request(&mut self, message: &MessageDescriptor) -> Value {
        self.requests.insert(message.name().to_owned());
        self.message(message)
    }

    /// Where the schema of a message is.
    pub(super) fn message(&mut self, message: &MessageDescriptor) -> Value {
        match words::form(message) {
            Form::Instant => return json!({ "type": "string", "format": "date-time" }),
            Form::Payload => return json!({}),
            Form::Object => {}
        }
        let name = message.name().to_owned();
        if !self.found.contains_key(&name) {
            // First, because a message may hold another one of its kind.
            self.found.insert(name.clone(), Value::Null);
            let schema = self.object(message);
            self.found.insert(name.clone(), schema);
        }
        json!({ "$ref": format!("#/components/schemas/{name}") })
    }

    /// All that were used.
    pub(super) fn finish(mut self) -> Value {
        self.found.insert("Error".to_owned(), error());
        self.found.insert("PayloadReference".to_owned(), reference());
        self.found.into_iter().collect::<Map<String, Value>>().into()
    }

    fn object(&mut self, message: &MessageDescriptor) -> Value {
        let (mut properties, mut elsewhere) = (Map::new(), Map::new());
        for field in message.fields() {
            properties.insert(field.name().to_owned(), self.field(&field));
            if words::is_payload(&field) && !self.requests.contains(message.name()) {
                elsewhere.insert(format!("{}{REFERENCE}", field.name()), kept(&field));
            }
        }
        properties.extend(elsewhere);
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        insert_text(&mut schema, self.comments.message(message));
        schema.insert("properties".to_owned(), properties.into());
        if self.requests.contains(message.name()) {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        schema.into()
    }

    fn field(&mut self, field: &FieldDescriptor) -> Value {
        let kind = field.kind();
        let entry = kind.as_message().filter(|_| field.is_map()).cloned();
        let schema = match entry {
            Some(entry) => {
                let values = self.kind(&entry.map_entry_value_field().kind());
                json!({ "type": "object", "additionalProperties": values })
            }
            None if field.is_list() => json!({ "type": "array", "items": self.kind(&kind) }),
            None => self.kind(&kind),
        };
        let mut schema = schema.as_object().cloned().unwrap_or_default();
        insert_text(&mut schema, self.text(field));
        schema.into()
    }

    /// What a field means, with what it excludes.
    fn text(&self, field: &FieldDescriptor) -> String {
        let text = self.comments.field(field);
        let others = field.containing_oneof().map(|choice| {
            choice
                .fields()
                .filter(|other| other != field)
                .map(|other| format!("`{}`", other.name()))
                .collect::<Vec<_>>()
        });
        match others.filter(|others| !others.is_empty()) {
            Some(others) => format!("{text} Not beside {}.", others.join(", ")).trim().to_owned(),
            None => text,
        }
    }

    fn kind(&mut self, kind: &Kind) -> Value {
        match kind {
            Kind::Bool => json!({ "type": "boolean" }),
            Kind::String => json!({ "type": "string" }),
            Kind::Bytes => json!({ "type": "string", "contentEncoding": "base64" }),
            Kind::Double | Kind::Float => json!({ "type": "number" }),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => json!({ "type": "integer", "format": "int32" }),
            Kind::Uint32 | Kind::Fixed32 => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => json!({ "type": ["integer", "string"], "format": "int64" }),
            Kind::Uint64 | Kind::Fixed64 => {
                json!({ "type": ["integer", "string"], "format": "uint64", "minimum": 0, "pattern": "^[0-9]+$" })
            }
            Kind::Enum(words) => self.words(words),
            Kind::Message(message) => self.message(message),
        }
    }

    fn words(&mut self, words: &EnumDescriptor) -> Value {
        let name = words.name().to_owned();
        if !self.found.contains_key(&name) {
            let names: Vec<String> = words.values().map(|word| word.name().to_owned()).collect();
            let meanings = words.values().map(|word| (word.name().to_owned(), self.comments.word(&word)));
            let meanings = meanings.filter(|(_, text)| !text.is_empty());
            let list: String = meanings.map(|(word, text)| format!("\n- `{word}`: {text}")).collect();
            let text = format!("{}\n{list}", self.comments.words(words));
            let mut schema = Map::new();
            schema.insert("type".to_owned(), "string".into());
            insert_text(&mut schema, text.trim().to_owned());
            schema.insert("enum".to_owned(), names.into());
            self.found.insert(name.clone(), schema.into());
        }
        json!({ "$ref": format!("#/components/schemas/{name}") })
    }
}

fn insert_text(schema: &mut Map<String, Value>, text: String) {
    if !text.is_empty() {
        schema.insert("description".to_owned(), text.into());
    }
}

/// What stands beside a field whose JSON value is kept elsewhere.
fn kept(field: &FieldDescriptor) -> Value {
    let one = json!({ "$ref": "#/components/schemas/PayloadReference" });
    let text = format!("Where the value of `{}` is, when it is kept elsewhere.", field.name());
    match field.is_list() {
        true => {
            json!({ "type": "object", "additionalProperties": one, "readOnly": true, "description": format!("{text} By position.") })
        }
        false => json!({ "$ref": "#/components/schemas/PayloadReference", "readOnly": true, "description": text }),
    }
}

fn reference() -> Value {
    json!({
        "type": "object",
        "description": "A JSON value that is kept elsewhere; `/v1/read-payload` has it, by `uri`.",
        "properties": {
            "uri": { "type": "string" },
            "sha256": { "type": "string", "description": "Hex, over the exact bytes." },
            "size_bytes": { "type": ["integer", "string"] },
            "media_type": { "type": "string" },
        },
    })
}

fn error() -> Value {
    let text = |text: &str| json!({ "type": "string", "description": text });
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "status", "message"],
                "properties": {
                    "code": { "type": "integer", "description": "The HTTP status." },
                    "status": text("The gRPC status, e.g. `NOT_FOUND`."),
                    "reason": text("The stable code, e.g. `ROLE_REQUIRED`; see `docs/errors.md`."),
                    "message": text("For people."),
                    "violations": {
                        "type": "array",
                        "description": "The wrong fields.",
                        "items": {
                            "type": "object",
                            "properties": { "field": text("Its path."), "rule": text("The rule it breaks.") },
                        },
                    },
                    "resource": text("The thing that is meant, as its kind and its name."),
                    "retry_after_ms": { "type": "integer", "description": "When the same request may be tried again." },
                },
            },
        },
    })
}
