//! The versions of JSON Schema a tool's schema may be written in.

use std::fmt;

use jsonschema::{Draft, ValidationError};
use serde_json::Value;

use crate::violations::shown;

/// One version of JSON Schema, told by `$schema`. Later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// Draft 4: `id`, boolean `exclusiveMinimum`.
    Draft04,
    /// Draft 6: `$id`, `const`, `contains`, `propertyNames`, booleans as schemas.
    Draft06,
    /// Draft 7: `if`, `then`, `else`.
    Draft07,
    /// 2019-09: `$defs`, `$anchor`, `$recursiveRef`, `unevaluatedProperties`; `$ref` beside other keywords.
    Draft201909,
    /// 2020-12: `prefixItems`, `$dynamicRef`.
    Draft202012,
}

/// A `$schema` that names no version of JSON Schema that is known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect {
    given: String,
}

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<String> = Dialect::ALL.iter().rev().map(|one| format!("`{}`", one.uri())).collect();
        let Self { given } = self;
        write!(f, "{given} is not a version of JSON Schema that is known here; known are {}", known.join(", "))
    }
}

impl std::error::Error for UnknownDialect {}

impl Dialect {
    /// Every version, the oldest first.
    pub const ALL: [Self; 5] = [Self::Draft04, Self::Draft06, Self::Draft07, Self::Draft201909, Self::Draft202012];

    /// The version of a schema that names none: what the standard and MCP say.
    pub const DEFAULT: Self = Self::Draft202012;

    /// The value of `$schema` that names it.
    pub const fn uri(self) -> &'static str {
        match self {
            Self::Draft04 => "http://json-schema.org/draft-04/schema#",
            Self::Draft06 => "http://json-schema.org/draft-06/schema#",
            Self::Draft07 => "http://json-schema.org/draft-07/schema#",
            Self::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft04 => "draft-04",
            Self::Draft06 => "draft-06",
            Self::Draft07 => "draft-07",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        }
    }

    /// The version `named` as `$schema`, with `http` or `https`, with or without an empty fragment. Fails when it is no
    /// version that is known here.
    pub fn named(named: &Value) -> Result<Self, UnknownDialect> {
        let text = named.as_str().unwrap_or_default();
        let plain = |uri: &str| -> Option<String> {
            let rest = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
            Some(rest.strip_suffix('#').unwrap_or(rest).to_owned())
        };
        let found =
            plain(text).and_then(|text| Self::ALL.into_iter().find(|one| plain(one.uri()).as_ref() == Some(&text)));
        found.ok_or_else(|| UnknownDialect { given: shown(&named.to_string(), 120) })
    }

    /// The keyword that names a schema.
    pub(super) const fn id_keyword(self) -> &'static str {
        match self {
            Self::Draft04 => "id",
            _ => "$id",
        }
    }

    /// Whether nothing beside a `$ref` counts.
    pub(super) fn ref_stands_alone(self) -> bool {
        self <= Self::Draft07
    }

    pub(super) const fn draft(self) -> Draft {
        match self {
            Self::Draft04 => Draft::Draft4,
            Self::Draft06 => Draft::Draft6,
            Self::Draft07 => Draft::Draft7,
            Self::Draft201909 => Draft::Draft201909,
            Self::Draft202012 => Draft::Draft202012,
        }
    }

    /// What is wrong with `document` as a schema of this version, at most `max` faults.
    pub(super) fn faults(self, document: &Value, max: usize) -> Vec<ValidationError<'static>> {
        let validator = match self {
            Self::Draft04 => jsonschema::draft4::meta::validator(),
            Self::Draft06 => jsonschema::draft6::meta::validator(),
            Self::Draft07 => jsonschema::draft7::meta::validator(),
            Self::Draft201909 => jsonschema::draft201909::meta::validator(),
            Self::Draft202012 => jsonschema::draft202012::meta::validator(),
        };
        validator.iter_errors(document).take(max).map(ValidationError::to_owned).collect()
    }
}
