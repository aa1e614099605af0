//! Tools as a vendor takes them.

use toolplane_records::payload::JsonPayload;

use crate::loss::{Done, Loss, Losses};
use crate::lower::{ANTHROPIC_STRICT, GEMINI, GEMINI_OPENAPI, NotStrict, OPENAI_STRICT, is_plain, loose, lowered};
use crate::shape::Shape;
use crate::tokens::estimate;
use crate::tool::Tool;
use crate::write;

/// How tools are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// In which shape.
    pub shape: Shape,
    /// Have the vendor hold its model to the schema, where it can and the schema allows it.
    pub strict: bool,
}

/// Tools in a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The array as the vendor takes it.
    pub tools: JsonPayload,
    /// What became of each tool, in the order they were given.
    pub exported: Vec<Exported>,
}

/// What became of one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// Its definition alone, one JSON object.
    pub definition: String,
    /// Whether the vendor holds its model to the schema.
    pub strict: bool,
    /// What was lost, at most 100 things.
    pub losses: Vec<Loss>,
    /// How many more there were.
    pub more_losses: usize,
    /// Tokens of the definition, estimated.
    pub tokens: u64,
}

/// The schema of a tool as a shape has it.
pub(crate) struct Shaped {
    pub(crate) schema: String,
    pub(crate) strict: bool,
    losses: Losses,
}

/// Tools in a shape, in the order in which they are given. Their aliases must differ.
pub fn export<'a>(tools: impl IntoIterator<Item = &'a Tool>, options: Options) -> Export {
    let exported: Vec<Exported> = tools.into_iter().map(|tool| export_one(tool, options)).collect();
    Export { tools: together(options.shape, &exported), exported }
}

/// Tools that were exported one by one, as the vendor takes them together.
pub fn together(shape: Shape, exported: &[Exported]) -> JsonPayload {
    let definitions: Vec<&str> = exported.iter().map(|one| one.definition.as_str()).collect();
    JsonPayload::from_checked(write::array(shape, &definitions))
}

/// One tool in a shape.
pub fn export_one(tool: &Tool, options: Options) -> Exported {
    let mut shaped = shaped(tool, options);
    let description = described(tool, options.shape, &mut shaped.losses);
    let definition = write::definition(options.shape, tool, &description, &shaped);
    if write::leaves_out_output(options.shape) && tool.output_schema.is_some() {
        shaped.losses.add("output_schema", "output_schema", Done::Dropped);
    }
    Exported {
        tokens: estimate(&definition),
        definition,
        strict: shaped.strict,
        losses: shaped.losses.told,
        more_losses: shaped.losses.more,
    }
}

fn described(tool: &Tool, shape: Shape, losses: &mut Losses) -> String {
    let text = if tool.description.is_empty() { &tool.hint } else { &tool.description };
    match shape.longest_description() {
        Some(most) if text.chars().count() > most => {
            losses.noted("description", "length", Done::Cut, format!("at most {most} characters"));
            text.chars().take(most - 1).chain(['…']).collect()
        }
        _ => text.clone(),
    }
}

fn shaped(tool: &Tool, Options { shape, strict }: Options) -> Shaped {
    let schema = tool.schema();
    let exact = || Shaped { schema: tool.schema_text().to_owned(), strict: false, losses: Losses::default() };
    let rules = match shape {
        Shape::JsonSchema => return exact(),
        Shape::Mcp if schema.get("type") == Some(&"object".into()) => return exact(),
        Shape::Gemini => Some(&GEMINI),
        Shape::GeminiOpenApi => Some(&GEMINI_OPENAPI),
        Shape::OpenAiResponses | Shape::OpenAiChat if strict => Some(&OPENAI_STRICT),
        Shape::Anthropic if strict => Some(&ANTHROPIC_STRICT),
        _ => None,
    };
    let mut losses = Losses::default();
    match rules.map(|rules| lowered(&schema, rules)) {
        Some(Ok((schema, losses))) => return Shaped { schema: schema.to_string(), strict: shape.has_strict(), losses },
        Some(Err(NotStrict { pointer, why })) => losses.noted(&pointer, "strict", Done::NotStrict, why.to_owned()),
        None => {}
    }
    let names = shape.parameter_names();
    match loose(&schema, names) {
        Some((schema, more)) => {
            more.told.into_iter().for_each(|loss| losses.noted(&loss.pointer, &loss.rule, loss.done, loss.note));
            losses.more += more.more;
            Shaped { schema: schema.to_string(), strict: false, losses }
        }
        None => {
            debug_assert!(is_plain(&schema), "what is not changed is plain");
            Shaped { losses, ..exact() }
        }
    }
}
