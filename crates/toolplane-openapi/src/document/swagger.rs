//! Swagger 2.0 as OpenAPI 3.0: places that moved are put where 3.0 has them, and references follow.
//!
//! What 2.0 can say and 3.0 cannot (collection format `tsv`) is written as what is nearest. What is wrong in the document stays
//! wrong and is refused where it is read.

use serde_json::{Map, Value, json};

const METHODS: [&str; 7] = ["get", "put", "post", "delete", "options", "head", "patch"];
/// What 2.0 keeps in a parameter or header itself, and 3.0 in its schema.
const SCHEMA_WORDS: [&str; 17] = [
    "type",
    "format",
    "items",
    "default",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "enum",
    "multipleOf",
    "example",
];

/// Converts a whole document.
pub(super) fn convert(mut root: Value) -> Value {
    references(&mut root);
    let Value::Object(mut old) = root else { return root };
    let mut new = Map::new();
    new.insert("openapi".to_owned(), json!("3.0.3"));
    new.insert("servers".to_owned(), servers(&old));
    let consumes = list(&old, "consumes");
    let produces = list(&old, "produces");
    let shared = old.shift_remove("parameters").unwrap_or_default();
    let schemes = old.shift_remove("securityDefinitions").unwrap_or_default();
    let context = Context { consumes, produces, shared };
    if let Some(Value::Object(paths)) = old.shift_remove("paths") {
        let paths = paths.into_iter().map(|(path, item)| (path, context.path_item(item)));
        new.insert("paths".to_owned(), Value::Object(paths.collect()));
    }
    let mut components = Map::new();
    components.insert("schemas".to_owned(), old.shift_remove("definitions").unwrap_or_else(|| json!({})));
    if let Some(Value::Object(responses)) = old.shift_remove("responses") {
        let responses = responses.into_iter().map(|(name, one)| (name, response(one, &context.produces)));
        components.insert("responses".to_owned(), Value::Object(responses.collect()));
    }
    if let Value::Object(parameters) = &context.shared {
        // Bodies and fields of forms are put in place where they are used.
        let plain = parameters.iter().filter(|(_, one)| !is_body(one));
        let plain = plain.map(|(name, one)| (name.clone(), parameter(one.clone())));
        components.insert("parameters".to_owned(), Value::Object(plain.collect()));
    }
    if let Value::Object(schemes) = schemes {
        let schemes = schemes.into_iter().map(|(name, scheme)| (name, security_scheme(scheme)));
        components.insert("securitySchemes".to_owned(), Value::Object(schemes.collect()));
    }
    new.insert("components".to_owned(), Value::Object(components));
    for key in ["info", "security", "tags", "externalDocs"] {
        if let Some(value) = old.shift_remove(key) {
            new.insert(key.to_owned(), value);
        }
    }
    Value::Object(new)
}

/// Rewrites references to the places of 3.0.
fn references(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                match member {
                    Value::String(target) if key == "$ref" => {
                        for (old, new) in
                            [("definitions", "schemas"), ("parameters", "parameters"), ("responses", "responses")]
                        {
                            if let Some(rest) = target.strip_prefix(&format!("#/{old}/")) {
                                *target = format!("#/components/{new}/{rest}");
                                break;
                            }
                        }
                    }
                    other => references(other),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(references),
        _ => {}
    }
}

fn servers(old: &Map<String, Value>) -> Value {
    let text = |key: &str| old.get(key).and_then(Value::as_str).unwrap_or_default();
    let (host, base) = (text("host"), text("basePath"));
    let base = if base.starts_with('/') || base.is_empty() { base.to_owned() } else { format!("/{base}") };
    if host.is_empty() {
        return json!([{ "url": if base.is_empty() { "/" } else { &base } }]);
    }
    let mut schemes = list(old, "schemes");
    // The safe one first; without any it is the scheme by which the document was fetched.
    schemes.retain(|scheme| scheme == "http" || scheme == "https");
    schemes.sort_by_key(|scheme| scheme != "https");
    if schemes.is_empty() {
        return json!([{ "url": format!("//{host}{base}") }]);
    }
    schemes.iter().map(|scheme| json!({ "url": format!("{scheme}://{host}{base}") })).collect()
}

fn list(of: &Map<String, Value>, key: &str) -> Vec<String> {
    let words = of.get(key).and_then(Value::as_array).into_iter().flatten();
    words.filter_map(|word| word.as_str().map(str::to_owned)).collect()
}

fn is_body(parameter: &Value) -> bool {
    matches!(parameter.get("in").and_then(Value::as_str), Some("body" | "formData"))
}

struct Context {
    consumes: Vec<String>,
    produces: Vec<String>,
    shared: Value,
}

impl Context {
    fn path_item(&self, item: Value) -> Value {
        let Value::Object(mut item) = item else { return item };
        let all = item.shift_remove("parameters").unwrap_or_default();
        let all: Vec<Value> = self.resolved(&all);
        for method in METHODS {
            if let Some(operation) = item.get_mut(method) {
                let old = std::mem::take(operation);
                *operation = self.operation(old, &all);
            }
        }
        Value::Object(item)
    }

    /// Parameters, with those of all operations put in place of their references.
    fn resolved(&self, parameters: &Value) -> Vec<Value> {
        let resolve = |one: &Value| {
            let name = one.get("$ref").and_then(Value::as_str)?.strip_prefix("#/components/parameters/")?;
            self.shared.get(name.replace("~1", "/").replace("~0", "~")).cloned()
        };
        let each = parameters.as_array().into_iter().flatten();
        each.map(|one| resolve(one).unwrap_or_else(|| one.clone())).collect()
    }

    fn operation(&self, operation: Value, of_path: &[Value]) -> Value {
        let Value::Object(mut operation) = operation else { return operation };
        let own = self.resolved(&operation.shift_remove("parameters").unwrap_or_default());
        let key = |one: &Value| (one.get("in").cloned(), one.get("name").cloned());
        let from_path = of_path.iter().filter(|one| own.iter().all(|own| key(own) != key(one))).cloned();
        let (bodies, plain): (Vec<Value>, Vec<Value>) = from_path.chain(own.iter().cloned()).partition(is_body);
        let consumes =
            if operation.contains_key("consumes") { list(&operation, "consumes") } else { self.consumes.clone() };
        let produces =
            if operation.contains_key("produces") { list(&operation, "produces") } else { self.produces.clone() };
        operation.insert("parameters".to_owned(), plain.into_iter().map(parameter).collect());
        if let Some(body) = request_body(bodies, &consumes) {
            operation.insert("requestBody".to_owned(), body);
        }
        if let Some(Value::Object(responses)) = operation.get_mut("responses") {
            for (_, one) in responses.iter_mut() {
                *one = response(std::mem::take(one), &produces);
            }
        }
        Value::Object(operation)
    }
}

/// The members of `value` that say what it may be, as a schema.
fn schema_of(value: &mut Map<String, Value>) -> Value {
    let mut schema = Map::new();
    for word in SCHEMA_WORDS {
        if let Some(said) = value.shift_remove(word) {
            schema.insert(word.to_owned(), said);
        }
    }
    if schema.get("type").and_then(Value::as_str) == Some("file") {
        return json!({ "type": "string", "format": "binary" });
    }
    Value::Object(schema)
}

fn parameter(one: Value) -> Value {
    let Value::Object(mut one) = one else { return one };
    if one.contains_key("$ref") || one.contains_key("schema") {
        return Value::Object(one);
    }
    let (style, explode) = match one.shift_remove("collectionFormat").as_ref().and_then(Value::as_str) {
        Some("ssv" | "tsv") => (Some("spaceDelimited"), false),
        Some("pipes") => (Some("pipeDelimited"), false),
        Some("multi") => (Some("form"), true),
        _ => (None, false),
    };
    let schema = schema_of(&mut one);
    if schema.get("type").and_then(Value::as_str) == Some("array") {
        let in_query = one.get("in").and_then(Value::as_str) == Some("query");
        if let Some(style) = style.filter(|_| in_query) {
            one.insert("style".to_owned(), json!(style));
        }
        one.insert("explode".to_owned(), json!(explode && in_query));
    }
    one.insert("schema".to_owned(), schema);
    Value::Object(one)
}

fn request_body(bodies: Vec<Value>, consumes: &[String]) -> Option<Value> {
    let whole = bodies.iter().find(|one| one.get("in").and_then(Value::as_str) == Some("body"));
    if let Some(whole) = whole {
        let schema = whole.get("schema").cloned().unwrap_or_else(|| json!({}));
        let types = if consumes.is_empty() { vec!["application/json".to_owned()] } else { consumes.to_vec() };
        let content: Map<String, Value> =
            types.into_iter().map(|kind| (kind, json!({ "schema": schema.clone() }))).collect();
        let required = whole.get("required").cloned().unwrap_or(json!(false));
        let description = whole.get("description").cloned().unwrap_or_default();
        return Some(json!({ "content": content, "required": required, "description": description }));
    }
    if bodies.is_empty() {
        return None;
    }
    let (mut properties, mut required, mut encoding) = (Map::new(), Vec::new(), Map::new());
    let mut has_file = false;
    for body in bodies {
        let Value::Object(mut field) = body else { continue };
        let Some(Value::String(name)) = field.shift_remove("name") else { continue };
        if field.get("required") == Some(&json!(true)) {
            required.push(json!(name));
        }
        has_file |= field.get("type").and_then(Value::as_str) == Some("file");
        let multi = field.shift_remove("collectionFormat").as_ref().and_then(Value::as_str) == Some("multi");
        let description = field.shift_remove("description");
        let mut schema = schema_of(&mut field);
        if schema.get("type").and_then(Value::as_str) == Some("array") {
            encoding.insert(name.clone(), json!({ "style": "form", "explode": multi }));
        }
        if let (Some(text), Some(schema)) = (description, schema.as_object_mut()) {
            schema.insert("description".to_owned(), text);
        }
        properties.insert(name, schema);
    }
    let multipart = has_file
        || (consumes.iter().any(|kind| kind == "multipart/form-data")
            && !consumes.iter().any(|kind| kind == "application/x-www-form-urlencoded"));
    let kind = if multipart { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
    let any_required = !required.is_empty();
    let mut schema = json!({ "type": "object", "properties": properties });
    if any_required {
        schema["required"] = Value::Array(required);
    }
    let media = json!({ "schema": schema, "encoding": encoding });
    Some(json!({ "content": { kind: media }, "required": any_required }))
}

fn response(one: Value, produces: &[String]) -> Value {
    let Value::Object(mut one) = one else { return one };
    if let Some(Value::Object(headers)) = one.get_mut("headers") {
        for header in headers.values_mut() {
            if let Value::Object(header) = header {
                let schema = schema_of(header);
                header.insert("schema".to_owned(), schema);
            }
        }
    }
    if let Some(schema) = one.shift_remove("schema") {
        let is_file = schema.get("type").and_then(Value::as_str) == Some("file");
        let schema = if is_file { json!({ "type": "string", "format": "binary" }) } else { schema };
        let types = if produces.is_empty() { vec!["application/json".to_owned()] } else { produces.to_vec() };
        let content: Map<String, Value> =
            types.into_iter().map(|kind| (kind, json!({ "schema": schema.clone() }))).collect();
        one.insert("content".to_owned(), Value::Object(content));
    }
    Value::Object(one)
}

fn security_scheme(scheme: Value) -> Value {
    match scheme.get("type").and_then(Value::as_str) {
        Some("basic") => json!({ "type": "http", "scheme": "basic" }),
        Some("oauth2") => {
            let text = |key: &str| scheme.get(key).cloned().unwrap_or(json!(""));
            let flow = match text("flow").as_str() {
                Some("application") => "clientCredentials",
                Some("accessCode") => "authorizationCode",
                Some("password") => "password",
                _ => "implicit",
            };
            let scopes = scheme.get("scopes").cloned().unwrap_or_else(|| json!({}));
            json!({ "type": "oauth2", "flows": { flow: { "tokenUrl": text("tokenUrl"), "scopes": scopes } } })
        }
        _ => scheme,
    }
}
