//! The description of the API as an OpenAPI 3.1 document, made from the descriptors of the contract and its comments.
//!
//! It is made once, when the contract changes (`cargo xtask gen`), because a running program does not carry the comments.

use std::collections::BTreeSet;

use prost_reflect::{DescriptorPool, MessageDescriptor};
use serde_json::{Map, Value, json};
use toolplane_runtime::server::access;

use super::methods::{self, Method, Shape};

mod comments;
mod schemas;
#[cfg(test)]
mod tests;

use comments::Comments;
use schemas::Schemas;

/// The document as it is served.
pub(crate) const DOCUMENT: &str = include_str!("../../../../schemas/openapi.json");

/// The descriptors given to [`describe`] cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the descriptors cannot be read: {0}")]
pub struct UnreadableDescriptors(String);

/// The OpenAPI document of the public methods, as JSON text with a line for each member. `descriptors` is an encoded
/// `google.protobuf.FileDescriptorSet` of the contract; comments of the protos become descriptions where it has them. The same
/// descriptors give the same text.
///
/// Fails with [`UnreadableDescriptors`].
pub fn describe(descriptors: &[u8]) -> Result<String, UnreadableDescriptors> {
    let unreadable = |error: &dyn std::fmt::Display| UnreadableDescriptors(error.to_string());
    let pool = DescriptorPool::decode(descriptors).map_err(|error| unreadable(&error))?;
    let document = Document { comments: Comments::of(&pool), methods: methods::public(&pool) }.value();
    let mut text = serde_json::to_string_pretty(&document).map_err(|error| unreadable(&error))?;
    text.push('\n');
    Ok(text)
}

struct Document {
    comments: Comments,
    methods: Vec<Method>,
}

impl Document {
    fn value(&self) -> Value {
        let mut schemas = Schemas::new(&self.comments);
        let mut paths = Map::new();
        for method in &self.methods {
            paths.insert(method.route.clone(), json!({ "post": self.operation(method, &mut schemas) }));
        }
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Toolplane",
                "version": "v1",
                "summary": "The tool plane of an agent platform: declare tools, search them, call them, follow every call.",
                "description": INTRODUCTION,
                "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
            },
            "servers": [{ "url": "/", "description": "The listener of the gateway role (`[gateway]`)." }],
            "security": [{ "bearer": [] }, { "api_key": [] }, {}],
            "tags": self.tags(),
            "paths": paths,
            "components": {
                "securitySchemes": security_schemes(),
                "parameters": parameters(),
                "responses": { "Error": error_response() },
                "schemas": schemas.finish(),
            },
        })
    }

    /// The services, as groups of methods.
    fn tags(&self) -> Vec<Value> {
        let names: BTreeSet<&str> = self.methods.iter().map(Method::service).collect();
        names.into_iter().map(|name| json!({ "name": name, "description": self.comments.service(name) })).collect()
    }

    fn operation(&self, method: &Method, schemas: &mut Schemas<'_>) -> Value {
        let text = self.comments.method(&method.name);
        let mut operation = Map::new();
        operation.insert("operationId".to_owned(), method.short_name().into());
        operation.insert("tags".to_owned(), json!([method.service()]));
        operation.insert("summary".to_owned(), first_sentence(text).into());
        operation.insert("description".to_owned(), format!("{text}{}", needs(method)).into());
        let headers = headers(method);
        if !headers.is_empty() {
            let refs = headers.iter().map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
            operation.insert("parameters".to_owned(), refs.collect());
        }
        operation.insert("requestBody".to_owned(), body(method, schemas));
        operation.insert("responses".to_owned(), responses(method, schemas));
        Value::Object(operation)
    }
}

const INTRODUCTION: &str = "Each path is a method of the gRPC contract (`proto/toolplane/v1`), asked with `POST` and a JSON object; an empty body is an \
    object without fields. Fields are written in snake_case and read in camelCase, too. Fields that have their default value are left \
    out of answers, unknown fields of requests are refused. Integers of 64 bits are numbers as long as a double holds them exactly, and \
    text beyond that; both are read. JSON values (arguments, results, schemas) are themselves, and keep their exact bytes; one that is \
    kept elsewhere is told beside its field, as `<field>@ref`.";

/// What a caller has to be.
fn needs(method: &Method) -> String {
    let roles: Vec<String> = access::open_to(&method.name).iter().map(|role| format!("`{role}`")).collect();
    format!("\n\nNeeds the role {}, where callers are known.", roles.join(" or "))
}

fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").or_else(|| text.find(['\n', ':'])).unwrap_or(text.len());
    text[..end].trim_end_matches('.')
}

/// The headers that say something about a call of this method.
fn headers(method: &Method) -> Vec<&'static str> {
    let mut names = vec!["Timeout"];
    if let Some(spec) = message_field(&method.input, "spec") {
        if spec.get_field_by_name("idempotency_key").is_some() {
            names.push("IdempotencyKey");
        }
        let of_batch = message_field(&spec, "calls").and_then(|call| message_field(&call, "spec"));
        if [Some(&spec), of_batch.as_ref()]
            .into_iter()
            .flatten()
            .any(|spec| message_field(spec, "native_ids").is_some())
        {
            names.push("RequestId");
        }
    }
    let watches = ["from_seq", "from_revision", "after_yield_seq"];
    if method.shape == Shape::Stream && watches.iter().any(|name| method.input.get_field_by_name(name).is_some()) {
        names.push("LastEventId");
    }
    if method.shape == Shape::Download {
        names.push("Range");
    }
    names
}

fn message_field(message: &MessageDescriptor, name: &str) -> Option<MessageDescriptor> {
    message.get_field_by_name(name)?.kind().as_message().cloned()
}

fn parameters() -> Value {
    let header = |name: &str, schema: Value, text: &str| json!({ "name": name, "in": "header", "required": false, "schema": schema, "description": text });
    json!({
        "Timeout": header("Timeout", json!({ "type": "number", "exclusiveMinimum": 0 }),
            "How long the caller waits, in seconds. `grpc-timeout` is read, too."),
        "IdempotencyKey": header("Idempotency-Key", json!({ "type": "string" }),
            "The same as `spec.idempotency_key`: the same key and the same call is accepted once."),
        "RequestId": header("X-Request-Id", json!({ "type": "string", "maxLength": 256 }),
            "Fills `native_ids.http_request_id` of the call, or of each call of a batch, where the body has none."),
        "LastEventId": header("Last-Event-ID", json!({ "type": "string" }),
            "The last `id:` that was seen of such a stream: it goes on after it."),
        "Range": header("Range", json!({ "type": "string", "examples": ["bytes=0-99"] }),
            "Which bytes, where not all of them are wanted."),
    })
}

fn body(method: &Method, schemas: &mut Schemas<'_>) -> Value {
    match method.shape {
        Shape::Upload => json!({
            "required": true,
            "description": "The bytes themselves.",
            "content": { "application/octet-stream": { "schema": {} } },
        }),
        _ => json!({
            "required": requires(&method.input),
            "content": { "application/json": { "schema": schemas.request(&method.input) } },
        }),
    }
}

/// Whether a body is of use: a message without fields needs none.
fn requires(input: &MessageDescriptor) -> bool {
    input.get_field_by_name("spec").is_some()
}

fn responses(method: &Method, schemas: &mut Schemas<'_>) -> Value {
    let answer = |media: &str, schema: Value, text: &str| {
        let mut content = Map::new();
        content.insert(media.to_owned(), json!({ "schema": schema }));
        json!({ "description": text, "content": content })
    };
    let mut responses = Map::new();
    match method.shape {
        Shape::Unary | Shape::Upload => {
            let schema = schemas.message(&method.output);
            responses.insert("200".to_owned(), answer("application/json", schema, "The answer."));
        }
        Shape::Stream => {
            let schema = schemas.message(&method.output);
            responses.insert("200".to_owned(), answer("text/event-stream", schema, EVENTS));
        }
        Shape::Download => {
            responses.insert("200".to_owned(), answer("*/*", json!({}), "The bytes, under their own media type."));
            responses.insert("206".to_owned(), answer("*/*", json!({}), "The bytes of `Range`."));
        }
    }
    responses.insert("default".to_owned(), json!({ "$ref": "#/components/responses/Error" }));
    Value::Object(responses)
}

const EVENTS: &str = "Server-sent events: each `data:` is one such object, and `id:` says from where the stream can be taken up again. The \
    last event is of the kind `end`, or `error` with an error object.";

fn security_schemes() -> Value {
    json!({
        "bearer": {
            "type": "http",
            "scheme": "bearer",
            "description": "A bearer token, an API key or a JSON Web Token, as `[server.auth]` says. Without that section nothing is asked for.",
        },
        "api_key": { "type": "apiKey", "in": "header", "name": "x-api-key", "description": "An API key (`toolplane keys new`)." },
    })
}

fn error_response() -> Value {
    json!({
        "description": "The request was refused, and nothing was done. `docs/errors.md` has every reason with its cause and its cure.",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } },
    })
}
