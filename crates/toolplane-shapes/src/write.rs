//! The definition of one tool in each shape, written member by member in one order.

use toolplane_forms::object::Object;
use toolplane_records::payload::JsonPayload;

use crate::export::Shaped;
use crate::shape::Shape;
use crate::tool::Tool;

/// One tool.
pub(crate) fn definition(shape: Shape, tool: &Tool, description: &str, shaped: &Shaped) -> String {
    let named = Object::new().with("name", &tool.alias).text("description", description);
    let schema = shaped.schema.as_str();
    match shape {
        // Left out, `strict` would mean: if the schema allows it.
        Shape::OpenAiResponses => Object::typed("function")
            .with("name", &tool.alias)
            .text("description", description)
            .raw("parameters", schema)
            .with("strict", &shaped.strict),
        Shape::OpenAiChat => Object::typed("function")
            .object("function", &named.raw("parameters", schema).with("strict", &shaped.strict)),
        Shape::Anthropic => named.raw("input_schema", schema).maybe("strict", shaped.strict.then_some(true)),
        Shape::Gemini => named.raw("parametersJsonSchema", schema),
        // An object of no members is no schema there: a tool without parameters says nothing of them.
        Shape::GeminiOpenApi if has_no_members(schema) => named,
        Shape::GeminiOpenApi => named.raw("parameters", schema),
        Shape::Mcp => {
            let named =
                Object::new().with("name", &tool.alias).text("title", &tool.title).text("description", description);
            with_output(named.raw("inputSchema", schema), "outputSchema", tool)
                .object("annotations", &annotations(tool))
        }
        Shape::JsonSchema => with_output(named.raw("input_schema", schema), "output_schema", tool),
    }
    .json()
}

/// Definitions as the vendor takes them together.
pub(crate) fn array(shape: Shape, definitions: &[&str]) -> String {
    let all = format!("[{}]", definitions.join(","));
    match shape {
        Shape::Gemini | Shape::GeminiOpenApi if !definitions.is_empty() => {
            format!(r#"[{{"functionDeclarations":{all}}}]"#)
        }
        _ => all,
    }
}

/// Whether a shape says nothing of results.
pub(crate) const fn leaves_out_output(shape: Shape) -> bool {
    !matches!(shape, Shape::Mcp | Shape::JsonSchema)
}

fn has_no_members(schema: &str) -> bool {
    let parsed: Option<serde_json::Value> = serde_json::from_str(schema).ok();
    parsed
        .is_some_and(|schema| schema.get("properties").and_then(|all| all.as_object()).is_none_or(|all| all.is_empty()))
}

fn with_output(object: Object, name: &str, tool: &Tool) -> Object {
    match tool.output_schema.as_ref().map(JsonPayload::text) {
        Some(schema) => object.raw(name, schema),
        None => object,
    }
}

/// What is not known is not told: a hint that is left out means the worst.
fn annotations(tool: &Tool) -> Object {
    Object::new()
        .text("title", &tool.title)
        .maybe("readOnlyHint", tool.hints.read_only)
        .maybe("destructiveHint", tool.hints.destructive)
        .maybe("idempotentHint", tool.hints.idempotent)
        .maybe("openWorldHint", tool.hints.open_world)
}
