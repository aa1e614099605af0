//! Values of the input, each with its exact spelling.

use serde_json::value::RawValue;
use toolplane_catalog::values::invalid_input;
use toolplane_records::error::ToolError;
use toolplane_records::json::{elements, members};
use toolplane_records::payload::JsonPayload;

/// Deepest nesting of a value that is written as `name[member][member]`.
const MAX_DEEP: usize = 8;

/// One object, by its members.
#[derive(Debug)]
pub(super) struct Input<'a> {
    members: Vec<(String, &'a RawValue)>,
}

/// A value and where it is in the input.
#[derive(Clone, Debug)]
pub(super) struct At<'a> {
    pub(super) field: String,
    pub(super) raw: &'a RawValue,
}

/// A value as styles see it. Text is what is written; what is `null` is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    List(Vec<String>),
    Map(Vec<(String, String)>),
    /// Nested, as `[member][member]` and text.
    Deep(Vec<(String, String)>),
}

impl<'a> Input<'a> {
    pub(super) fn read(input: &'a JsonPayload) -> Result<Self, Box<ToolError>> {
        let raw: &RawValue = input.parse().map_err(|_| invalid_input("", "is not JSON"))?;
        let members = members(raw).map_err(|_| invalid_input("", "must be an object"))?;
        Ok(Self { members })
    }

    /// The value of a field, or of a field in a group; none when it is not there or `null`.
    pub(super) fn at(&self, place: &[String]) -> Result<Option<At<'a>>, Box<ToolError>> {
        let [first, rest @ ..] = place else { return Ok(None) };
        let Some(mut raw) = self.member(first) else { return Ok(None) };
        let mut field = first.clone();
        for name in rest {
            let inner = members(raw).map_err(|_| invalid_input(&field, "must be an object"))?;
            field = format!("{field}.{name}");
            match inner.into_iter().find(|(other, _)| other == name) {
                Some((_, found)) => raw = found,
                None => return Ok(None),
            }
        }
        Ok((raw.get() != "null").then_some(At { field, raw }))
    }

    pub(super) fn member(&self, name: &str) -> Option<&'a RawValue> {
        self.members.iter().find(|(other, _)| other == name).map(|(_, raw)| *raw)
    }
}

/// The text of a string, the spelling of a number, `true`, `false`; none for `null` and for what is composed.
pub(super) fn scalar(raw: &RawValue) -> Option<String> {
    match raw.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw.get()).ok(),
        Some(b'{' | b'[' | b'n') | None => None,
        Some(_) => Some(raw.get().to_owned()),
    }
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

impl<'a> At<'a> {
    pub(super) fn invalid(&self, rule: String) -> Box<ToolError> {
        invalid_input(&self.field, rule)
    }

    pub(super) fn is_object(&self) -> bool {
        self.raw.get().starts_with('{')
    }

    pub(super) fn members(&self) -> Result<Vec<(String, At<'a>)>, Box<ToolError>> {
        let found = members(self.raw).map_err(|_| self.invalid("must be an object".to_owned()))?;
        let at = |(name, raw): (String, &'a RawValue)| {
            let field = format!("{}.{name}", self.field);
            (name, At { field, raw })
        };
        Ok(found.into_iter().map(at).collect())
    }

    /// The elements of an array; a value that is none stands for itself.
    pub(super) fn elements(&self) -> Vec<At<'a>> {
        match elements(self.raw) {
            Ok(found) if self.raw.get().starts_with('[') => {
                let at = |(index, raw)| At { field: format!("{}[{index}]", self.field), raw };
                found.into_iter().enumerate().map(at).collect()
            }
            _ => vec![self.clone()],
        }
    }

    pub(super) fn text(&self) -> Result<String, Box<ToolError>> {
        scalar(self.raw).ok_or_else(|| self.invalid("must be a text, a number or a truth value".to_owned()))
    }

    /// The value for a style. `deep`: nested objects and arrays are taken apart.
    pub(super) fn piece(&self, deep: bool) -> Result<Piece, Box<ToolError>> {
        match self.raw.get().as_bytes().first() {
            Some(b'{') | Some(b'[') if deep => {
                let mut written = Vec::new();
                self.deep("", 0, &mut written)?;
                Ok(Piece::Deep(written))
            }
            Some(b'{') => {
                let found = self.members()?.into_iter().filter(|(_, value)| !is_null(value.raw));
                let found = found.map(|(name, value)| Ok((name, value.text()?)));
                Ok(Piece::Map(found.collect::<Result<_, Box<ToolError>>>()?))
            }
            Some(b'[') => {
                let found = self.elements().into_iter().filter(|value| !is_null(value.raw));
                Ok(Piece::List(found.map(|value| value.text()).collect::<Result<_, _>>()?))
            }
            _ => Ok(Piece::Text(self.text()?)),
        }
    }

    fn deep(&self, name: &str, depth: usize, written: &mut Vec<(String, String)>) -> Result<(), Box<ToolError>> {
        if depth > MAX_DEEP {
            return Err(self.invalid(format!("is nested deeper than {MAX_DEEP} levels")));
        }
        match self.raw.get().as_bytes().first() {
            Some(b'{') => {
                for (member, value) in self.members()? {
                    value.deep(&format!("{name}[{member}]"), depth + 1, written)?;
                }
            }
            Some(b'[') => {
                for (index, value) in self.elements().into_iter().enumerate() {
                    value.deep(&format!("{name}[{index}]"), depth + 1, written)?;
                }
            }
            _ if is_null(self.raw) => {}
            _ => written.push((name.to_owned(), self.text()?)),
        }
        Ok(())
    }
}
