//! Conditions on one argument of a call.

use std::fmt;

use toolplane_records::payload::JsonPayload;
use toolplane_records::rule::ArgumentCondition;

use super::InvalidCondition;
use super::value::{CallInput, Scalar, ValueLookup};
use toolplane_matching::fit::Fit;
use toolplane_matching::glob;

/// Longest pointer, in bytes.
const MAX_POINTER: usize = 1024;
/// Most bytes of a value to compare with.
const MAX_VALUE: usize = 4096;
/// Most values of one list.
const MAX_VALUES: usize = 1000;

/// How an argument is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// `eq`: it is that value, of an object or list every member of it; the empty pointer is the whole input.
    Eq,
    /// `ne`: it is another value.
    Ne,
    /// `in`: it is one of those values.
    In,
    /// `not_in`: it is none of those values.
    NotIn,
    /// `lt`: it is a smaller number.
    Lt,
    /// `le`: it is not a larger number.
    Le,
    /// `gt`: it is a larger number.
    Gt,
    /// `ge`: it is not a smaller number.
    Ge,
    /// `glob`: it is a text of that shape, `*` standing for any characters.
    Glob,
    /// `prefix`: it is a text that begins so.
    Prefix,
    /// `exists`: it is given.
    Exists,
    /// `absent`: it is not given.
    Absent,
}

/// A checked condition on one argument.
///
/// An argument that is not given, or not shown, fits no comparison and is excluded by none: it is unknown. Only `exists` and
/// `absent` know the difference.
#[derive(Clone, Debug, PartialEq)]
pub struct ArgumentTest {
    pointer: String,
    operator: Operator,
    values: Vec<Scalar<'static>>,
}

// === impl Operator ===

impl Operator {
    /// Every operator.
    pub const ALL: &'static [Self] = &[
        Self::Eq,
        Self::Ne,
        Self::In,
        Self::NotIn,
        Self::Lt,
        Self::Le,
        Self::Gt,
        Self::Ge,
        Self::Glob,
        Self::Prefix,
        Self::Exists,
        Self::Absent,
    ];

    /// The word in rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Eq => "eq",
            Self::Ne => "ne",
            Self::In => "in",
            Self::NotIn => "not_in",
            Self::Lt => "lt",
            Self::Le => "le",
            Self::Gt => "gt",
            Self::Ge => "ge",
            Self::Glob => "glob",
            Self::Prefix => "prefix",
            Self::Exists => "exists",
            Self::Absent => "absent",
        }
    }

    fn parse(text: &str) -> Result<Self, InvalidCondition> {
        Self::ALL.iter().find(|operator| operator.as_str() == text).copied().ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|operator| operator.as_str()).collect();
            let shown: String = text.chars().take(64).collect();
            InvalidCondition(format!("`{shown}` is not one of: {}", known.join(", ")))
        })
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// === impl ArgumentTest ===

impl ArgumentTest {
    /// Reads a condition as rules carry it.
    ///
    /// # Errors
    ///
    /// [`InvalidCondition`] when one of these rules is broken:
    ///
    /// - The pointer is empty or begins with `/`, has at most 1024 bytes, and has `~` only in `~0` and `~1`.
    /// - The operator is named by the word of one of [`Operator::ALL`].
    /// - `exists` and `absent` have no value, every other operator has one.
    /// - The value is a number for `lt`, `le`, `gt` and `ge`, a text for `glob` and `prefix`, any JSON value for `eq`
    ///   and `ne`, and for `in` and `not_in` a list of 1 to 1000 texts, numbers, booleans or nulls.
    /// - A value, or each value of a list, has at most 4096 bytes.
    pub fn parse(condition: &ArgumentCondition) -> Result<Self, InvalidCondition> {
        let refuse = |text: &str| Err(InvalidCondition(text.to_owned()));
        let pointer = &condition.pointer;
        if !(pointer.is_empty() || pointer.starts_with('/')) {
            return refuse("the pointer must begin with `/`");
        }
        if pointer.len() > MAX_POINTER {
            return refuse("the pointer is longer than 1024 bytes");
        }
        let bad_escape = |rest: &str| !rest.starts_with(['0', '1']);
        if pointer.split('~').skip(1).any(bad_escape) {
            return refuse("`~` in a pointer is written `~0`, `/` in a name `~1`");
        }
        let operator = Operator::parse(&condition.op)?;
        let values = values(operator, condition.value.as_ref())?;
        Ok(Self { pointer: pointer.clone(), operator, values })
    }

    /// How well it fits an input.
    pub fn fit(&self, input: &CallInput<'_>) -> Fit {
        let found = input.at(&self.pointer);
        match (self.operator, found) {
            (_, ValueLookup::Unknown) => Fit::Unknown,
            (Operator::Exists, found) => (found != ValueLookup::Absent).into(),
            (Operator::Absent, found) => (found == ValueLookup::Absent).into(),
            (_, ValueLookup::Absent | ValueLookup::Hidden) => Fit::Unknown,
            (operator, ValueLookup::Value(value)) => self.compare(operator, &value).into(),
        }
    }

    fn compare(&self, operator: Operator, value: &Scalar<'_>) -> bool {
        let ordered = |wanted: fn(std::cmp::Ordering) -> bool| match (value, self.values.first()) {
            (Scalar::Number(value), Some(Scalar::Number(bound))) => wanted(value.cmp(bound)),
            _ => false,
        };
        let text = |fits: fn(&str, &str) -> bool| match (value, self.values.first()) {
            (Scalar::Text(value), Some(Scalar::Text(pattern))) => fits(pattern, value),
            _ => false,
        };
        match operator {
            Operator::Eq | Operator::In => self.values.contains(value),
            Operator::Ne | Operator::NotIn => !self.values.contains(value),
            Operator::Lt => ordered(std::cmp::Ordering::is_lt),
            Operator::Le => ordered(std::cmp::Ordering::is_le),
            Operator::Gt => ordered(std::cmp::Ordering::is_gt),
            Operator::Ge => ordered(std::cmp::Ordering::is_ge),
            Operator::Glob => text(glob::matches),
            Operator::Prefix => text(|prefix, value| value.starts_with(prefix)),
            Operator::Exists => true,
            Operator::Absent => false,
        }
    }
}

fn values(operator: Operator, value: Option<&JsonPayload>) -> Result<Vec<Scalar<'static>>, InvalidCondition> {
    let refuse = |text: String| Err(InvalidCondition(text));
    let value = match (operator, value) {
        (Operator::Exists | Operator::Absent, None) => return Ok(Vec::new()),
        (Operator::Exists | Operator::Absent, Some(_)) => return refuse(format!("`{operator}` takes no value")),
        (_, None) => return refuse(format!("`{operator}` needs a value")),
        (_, Some(value)) => value,
    };
    if operator == Operator::In || operator == Operator::NotIn {
        let Ok(items) = value.parse::<Vec<Box<serde_json::value::RawValue>>>() else {
            return refuse(format!("`{operator}` needs a list of values"));
        };
        if items.is_empty() || items.len() > MAX_VALUES {
            return refuse(format!("`{operator}` needs 1 to {MAX_VALUES} values"));
        }
        return items.iter().map(|item| scalar(operator, item.get())).collect();
    }
    scalar(operator, value.text()).map(|value| vec![value])
}

fn scalar(operator: Operator, text: &str) -> Result<Scalar<'static>, InvalidCondition> {
    let refuse = |wanted: &str| Err(InvalidCondition(format!("`{operator}` compares with {wanted}")));
    if text.len() > MAX_VALUE {
        return refuse("values of at most 4096 bytes");
    }
    let Some(value) = Scalar::read(text) else { return refuse("a JSON value") };
    match (operator, &value) {
        (Operator::Eq | Operator::Ne, Scalar::Tree(_)) => Ok(value.into_owned()),
        (_, Scalar::Tree(_)) => refuse("texts, numbers, true, false or null"),
        (Operator::Lt | Operator::Le | Operator::Gt | Operator::Ge, Scalar::Number(_)) => Ok(value.into_owned()),
        (Operator::Lt | Operator::Le | Operator::Gt | Operator::Ge, _) => refuse("a number"),
        (Operator::Glob | Operator::Prefix, Scalar::Text(_)) => Ok(value.into_owned()),
        (Operator::Glob | Operator::Prefix, _) => refuse("a text"),
        _ => Ok(value.into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(pointer: &str, op: &str, value: Option<&str>) -> ArgumentCondition {
        let value = value.map(|text| JsonPayload::from_checked(text.to_owned()));
        ArgumentCondition { pointer: pointer.to_owned(), op: op.to_owned(), value }
    }

    fn check(input: &str, op: &str, value: &str, fit: Fit) {
        let value = Some(value).filter(|value| !value.is_empty());
        let test = ArgumentTest::parse(&condition("/a", op, value)).unwrap();
        let payload = JsonPayload::from_checked(input.to_owned());
        assert_eq!(test.fit(&CallInput::new(&payload, &[])), fit, "{input} {op} {value:?}");
    }

    #[test]
    fn every_operator_compares() {
        for (input, op, value, fit) in [
            (r#"{"a":1}"#, "eq", "1.0", Fit::Yes),
            (r#"{"a":"1"}"#, "eq", "1", Fit::No),
            (r#"{"a":9007199254740993}"#, "eq", "9007199254740992", Fit::No),
            (r#"{"a":18446744073709551617}"#, "gt", "18446744073709551616", Fit::Yes),
            (r#"{"a":null}"#, "eq", "null", Fit::Yes),
            (r#"{"a":false}"#, "ne", "true", Fit::Yes),
            (r#"{"a":[1]}"#, "ne", "1", Fit::Yes),
            (r#"{"a":"x"}"#, "in", r#"["y","x"]"#, Fit::Yes),
            (r#"{"a":"x"}"#, "not_in", r#"["y","x"]"#, Fit::No),
            (r#"{"a":5}"#, "lt", "5", Fit::No),
            (r#"{"a":5}"#, "le", "5", Fit::Yes),
            (r#"{"a":5}"#, "ge", "5.0001", Fit::No),
            (r#"{"a":"5"}"#, "ge", "1", Fit::No),
            (r#"{"a":"\u0061bc"}"#, "prefix", r#""ab""#, Fit::Yes),
            (r#"{"a":"abc"}"#, "glob", r#""a*c""#, Fit::Yes),
            (r#"{"a":"abd"}"#, "glob", r#""a*c""#, Fit::No),
            (r#"{"a":null}"#, "exists", "", Fit::Yes),
            (r#"{}"#, "exists", "", Fit::No),
            (r#"{}"#, "absent", "", Fit::Yes),
        ] {
            check(input, op, value, fit);
        }
    }

    #[test]
    fn missing_and_hidden_arguments_are_unknown() {
        for op in Operator::ALL {
            let value = match op {
                Operator::Exists | Operator::Absent => continue,
                Operator::In | Operator::NotIn => "[1]",
                Operator::Glob | Operator::Prefix => "\"x\"",
                _ => "1",
            };
            check("{}", op.as_str(), value, Fit::Unknown);
            check(r#"{"a":"[redacted]"}"#, op.as_str(), value, Fit::Unknown);
        }
        check(r#"{"a":"[redacted]"}"#, "exists", "", Fit::Yes);
        check(r#"{"a":"[redacted]"}"#, "absent", "", Fit::No);
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for (pointer, op, value, wrong) in [
            ("a", "eq", Some("1"), "begin with `/`"),
            ("/a~2", "eq", Some("1"), "`~0`"),
            ("/a", "like", Some("1"), "not one of: eq, ne"),
            ("/a", "eq", None, "needs a value"),
            ("/a", "in", Some("[{}]"), "compares with texts"),
            ("/a", "in", Some("1"), "a list"),
            ("/a", "in", Some("[]"), "1 to 1000"),
            ("/a", "lt", Some("\"1\""), "a number"),
            ("/a", "glob", Some("1"), "a text"),
            ("/a", "exists", Some("1"), "no value"),
        ] {
            let error = ArgumentTest::parse(&condition(pointer, op, value)).unwrap_err().to_string();
            assert!(error.contains(wrong), "{pointer} {op} {value:?}: {error}");
        }
    }
}
