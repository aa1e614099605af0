//! What the lowered kinds of schemas may hold: one table for each.

use crate::shape::ParameterNames;

/// Which schemas a vendor takes.
#[derive(Debug)]
pub(crate) struct Rules {
    /// Keywords that are kept as they are, beside those the structure is made of.
    pub(super) keywords: &'static [&'static str],
    /// Formats that are known; every one where there is no list.
    pub(super) formats: Option<&'static [&'static str]>,
    pub(super) strict: Option<Strict>,
    /// `null` is a member `nullable`, and no type (OpenAPI 3.0).
    pub(super) nullable: bool,
    /// Only texts may be in an `enum`.
    pub(super) enums_of_texts: bool,
    /// `additionalProperties` may be said.
    pub(super) additional: bool,
    pub(super) names: ParameterNames,
}

/// Bounds of a mode in which the vendor holds the model to the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strict {
    /// Every member is required, nothing is open; at most 5,000 members in 10 levels, 1,000 values and 120,000 characters of names and
    /// values.
    OpenAi,
    /// Nothing is open; `minItems` is 0 or 1.
    Anthropic,
}

pub(crate) static OPENAI_STRICT: Rules = Rules {
    keywords: &[
        "pattern",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    strict: Some(Strict::OpenAi),
    nullable: false,
    enums_of_texts: false,
    additional: true,
    names: ParameterNames::Any,
};

pub(crate) static ANTHROPIC_STRICT: Rules = Rules {
    keywords: &["minItems"],
    formats: Some(&["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
    strict: Some(Strict::Anthropic),
    nullable: false,
    enums_of_texts: false,
    additional: true,
    names: ParameterNames::Anthropic,
};

pub(crate) static GEMINI: Rules = Rules {
    keywords: &["minimum", "maximum", "minItems", "maxItems"],
    formats: None,
    strict: None,
    nullable: false,
    enums_of_texts: false,
    additional: true,
    names: ParameterNames::Gemini,
};

pub(crate) static GEMINI_OPENAPI: Rules = Rules {
    keywords: &[
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "pattern",
        "minProperties",
        "maxProperties",
        "default",
    ],
    formats: Some(&["float", "double", "int32", "int64", "date-time", "enum"]),
    strict: None,
    nullable: true,
    enums_of_texts: true,
    additional: false,
    names: ParameterNames::Gemini,
};

/// What is told of a tool in one line: nothing of it is for a vendor.
pub(crate) static CARD: Rules = Rules {
    keywords: &[],
    formats: None,
    strict: None,
    nullable: false,
    enums_of_texts: false,
    additional: false,
    names: ParameterNames::Any,
};
