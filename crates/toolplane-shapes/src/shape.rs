//! The shapes in which tools are offered, and what each of them can hold.

use std::fmt;
use std::str::FromStr;

use toolplane_records::alias;

/// A way in which tools are offered to a model, and in which it calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// OpenAI's Responses API.
    OpenAiResponses,
    /// OpenAI's Chat Completions, and whatever is made like it.
    OpenAiChat,
    /// Anthropic's Messages API.
    Anthropic,
    /// Gemini, with `parametersJsonSchema`.
    Gemini,
    /// Gemini, with `parameters`: the older subset of OpenAPI's schemas.
    GeminiOpenApi,
    /// The tools of the Model Context Protocol.
    Mcp,
    /// A name, a description and the JSON Schema as it was declared.
    JsonSchema,
}

/// There is no shape of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is none of `openai-responses`, `openai-chat`, `anthropic`, `gemini`, `gemini-openapi`, `mcp` and `json-schema`"
)]
pub struct UnknownShape;

/// Which names a shape allows for parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterNames {
    /// Any.
    Any,
    /// 1 to 64 letters, digits, `_`, `.` and `-`.
    Anthropic,
    /// A letter or `_`, then letters, digits and `_`, at most 64.
    Gemini,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::OpenAiResponses,
        Self::OpenAiChat,
        Self::Anthropic,
        Self::Gemini,
        Self::GeminiOpenApi,
        Self::Mcp,
        Self::JsonSchema,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::GeminiOpenApi => "gemini-openapi",
            Self::Mcp => "mcp",
            Self::JsonSchema => "json-schema",
        }
    }

    /// Whether it has a mode in which the vendor holds the model to the schema.
    pub const fn has_strict(self) -> bool {
        matches!(self, Self::OpenAiResponses | Self::OpenAiChat | Self::Anthropic)
    }

    /// Most characters of a description; none where there is no such bound.
    pub(crate) const fn longest_description(self) -> Option<usize> {
        match self {
            Self::OpenAiResponses | Self::OpenAiChat => Some(1024),
            _ => None,
        }
    }

    pub(crate) const fn parameter_names(self) -> ParameterNames {
        match self {
            Self::Anthropic => ParameterNames::Anthropic,
            Self::Gemini | Self::GeminiOpenApi => ParameterNames::Gemini,
            _ => ParameterNames::Any,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Shape {
    type Err = UnknownShape;

    fn from_str(text: &str) -> Result<Self, UnknownShape> {
        Self::ALL.into_iter().find(|shape| shape.as_str() == text).ok_or(UnknownShape)
    }
}

impl ParameterNames {
    /// What a parameter is called: as it is, where the shape allows it.
    pub(crate) fn of(self, name: &str) -> String {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match self {
            Self::Any => name.to_owned(),
            Self::Anthropic => alias::narrowed(name, |c| word(c) || matches!(c, '.' | '-'), |_| true),
            Self::Gemini => alias::narrowed(name, word, |c| word(c) && !c.is_ascii_digit()),
        }
    }
}
