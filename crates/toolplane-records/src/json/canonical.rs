//! JSON written so that texts which say the same are the same bytes.
//!
//! White space is gone, the members of an object are in the order of their names, strings are spelled in one way, and numbers that
//! have the same value are written alike, whatever their size. The order of a list stays: it may mean something. A name that an
//! object has twice stays there twice, so nothing is lost; the strict gate ([`super::check()`]) lets no such object in.

use std::borrow::Cow;

/// Deepest nesting that is read; the strict gate lets in half of it.
const MAX_DEPTH: usize = 128;

/// The canonical form of a JSON text; nothing when it is none, or nested deeper than 128 levels.
pub fn canonical(text: &str) -> Option<String> {
    let mut reader = Reader { text, at: 0 };
    let node = reader.value(0)?;
    reader.space();
    if reader.at < text.len() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    node.write(&mut out)?;
    Some(out)
}

/// The canonical form of a JSON number: its significant digits and a power of ten. Numbers of the same value have the same form (`1`,
/// `1.0` and `10e-1`; `0` and `-0`), others never do. One whose exponent is beyond 64 bits keeps its spelling: nobody computes it.
pub fn canonical_number(literal: &str) -> Cow<'_, str> {
    // Nearly all of them are small and plain.
    if literal.len() < 18 && literal.bytes().all(|byte| byte.is_ascii_digit()) && !literal.ends_with('0') {
        return Cow::Borrowed(literal);
    }
    let (sign, unsigned) = literal.strip_prefix('-').map_or(("", literal), |rest| ("-", rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_end_matches('0');
    let dropped = digits.len() - significant.len();
    let significant = significant.trim_start_matches('0');
    if significant.is_empty() {
        return Cow::Borrowed("0");
    }
    let power = exponent.parse::<i64>().ok();
    let power = power.and_then(|power| power.checked_sub(i64::try_from(fraction.len()).ok()?));
    match power.and_then(|power| power.checked_add(i64::try_from(dropped).ok()?)) {
        Some(0) => Cow::Owned(format!("{sign}{significant}")),
        Some(power) => Cow::Owned(format!("{sign}{significant}e{power}")),
        None => Cow::Borrowed(literal),
    }
}

enum Node<'a> {
    /// `true`, `false` or `null`.
    Word(&'a str),
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Node<'a>>),
    Object(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl Node<'_> {
    fn write(&self, out: &mut String) -> Option<()> {
        match self {
            Self::Word(word) => out.push_str(word),
            Self::Number(literal) => out.push_str(&canonical_number(literal)),
            Self::Text(text) => write_text(text, out)?,
            Self::List(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write(out)?;
                }
                out.push(']');
            }
            Self::Object(members) => {
                let mut sorted: Vec<&(Cow<'_, str>, Node<'_>)> = members.iter().collect();
                sorted.sort_by(|one, other| one.0.cmp(&other.0));
                out.push('{');
                for (index, (name, value)) in sorted.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    write_text(name, out)?;
                    out.push(':');
                    value.write(out)?;
                }
                out.push('}');
            }
        }
        Some(())
    }
}

fn write_text(text: &str, out: &mut String) -> Option<()> {
    out.push_str(&serde_json::to_string(text).ok()?);
    Some(())
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Option<Node<'a>> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.space();
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.string().map(Node::Text),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Node<'a>> {
        self.at += 1;
        let mut members = Vec::new();
        self.space();
        if self.take(b'}') {
            return Some(Node::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.space();
            if !self.take(b':') {
                return None;
            }
            members.push((name, self.value(depth + 1)?));
            self.space();
            match (self.take(b','), self.take(b'}')) {
                (true, false) => {}
                (false, true) => return Some(Node::Object(members)),
                _ => return None,
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<Node<'a>> {
        self.at += 1;
        let mut elements = Vec::new();
        self.space();
        if self.take(b']') {
            return Some(Node::List(elements));
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.space();
            match (self.take(b','), self.take(b']')) {
                (true, false) => {}
                (false, true) => return Some(Node::List(elements)),
                _ => return None,
            }
        }
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        if !self.take(b'"') {
            return None;
        }
        let mut plain = true;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    plain = false;
                    self.at += 2;
                }
                control if control < b' ' => return None,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        match plain {
            true => self.text.get(start + 1..self.at - 1).map(Cow::Borrowed),
            false => serde_json::from_str::<String>(self.text.get(start..self.at)?).ok().map(Cow::Owned),
        }
    }

    fn word(&mut self, word: &'static str) -> Option<Node<'a>> {
        let there = self.text[self.at..].starts_with(word);
        self.at += word.len();
        there.then_some(Node::Word(word))
    }

    fn number(&mut self) -> Option<Node<'a>> {
        let rest = self.text.get(self.at..)?;
        let length = rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        let literal = &rest[..length];
        self.at += length;
        is_number(literal).then_some(Node::Number(literal))
    }
}

/// Whether a text is a number as JSON writes them.
fn is_number(literal: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = literal.strip_prefix('-').unwrap_or(literal);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[track_caller]
    fn same(texts: &[&str]) {
        let forms: Vec<_> = texts.iter().map(|text| canonical(text)).collect();
        assert!(forms[0].is_some(), "{}", texts[0]);
        forms.iter().for_each(|form| assert_eq!(form, &forms[0], "{texts:?}"));
    }

    #[track_caller]
    fn different(texts: &[&str]) {
        for (index, text) in texts.iter().enumerate() {
            for other in &texts[..index] {
                assert_ne!(canonical(text), canonical(other), "{text} and {other}");
            }
        }
    }

    #[test]
    fn what_says_the_same_is_the_same() {
        same(&[r#"{"a":1,"b":[true,null]}"#, " { \"b\" : [ true ,null ], \"\\u0061\" : 1.0 }\n"]);
        same(&["1", "1.0", "10e-1", "0.1E+1", "1e0", "1000e-3"]);
        same(&["0", "-0", "0.000", "0e9", "-0e99999999999999999999"]);
        same(&["-15e-1", "-1.5"]);
        same(&["18446744073709551617", "18446744073709551617.0"]);
        same(&[r#""\u00e9/""#, "\"\u{e9}\\/\""]);
        same(&["{}", " { } "]);
        assert_eq!(canonical(r#"{"z":100,"a":[2.50]}"#).as_deref(), Some(r#"{"a":[25e-1],"z":1e2}"#));
    }

    #[test]
    fn what_says_something_else_is_not() {
        different(&["1", "-1", "\"1\"", "true", "null", "[1]", "{}", "[]", "0", "1e1", "1e-1", "11"]);
        different(&["18446744073709551617", "18446744073709551618", "18446744073709551616"]);
        different(&["9007199254740993", "9007199254740992", "9007199254740993.1"]);
        different(&["1e99999999999999999999", "1e99999999999999999998", "1e9223372036854775807"]);
        different(&["[1,2]", "[2,1]", "[1,2,1]"]);
        different(&[r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#, r#"{"a":1}"#, r#"{"a":2}"#]);
        // As in text, a letter and its mark are not the letter with the mark.
        different(&["\"\u{e9}\"", "\"e\u{301}\""]);
    }

    #[test]
    fn what_is_no_json_has_no_form() {
        let wrong =
            ["", "{", "[1,]", "{,}", "{\"a\"}", "01", "1.", ".1", "1e", "+1", "-", "nul", "\"\\x\"", "1 2", "\"\n\""];
        wrong.iter().for_each(|text| assert_eq!(canonical(text), None, "{text}"));
        assert!(canonical(&format!("{}{}", "[".repeat(128), "]".repeat(128))).is_some());
        assert_eq!(canonical(&"[".repeat(1_000_000)), None);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            (-1e9..1e9f64).prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(".{0,3}", inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The same value with every object written the other way round.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                members.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect()
            }
            Value::Array(elements) => elements.iter().map(reversed).collect(),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn neither_order_nor_space_matters(value in json()) {
            let form = canonical(&value.to_string()).unwrap();
            prop_assert_eq!(canonical(&serde_json::to_string_pretty(&reversed(&value)).unwrap()).unwrap(), form.as_str());
            prop_assert_eq!(canonical(&form).unwrap(), form.as_str(), "of the form itself");
        }

        #[test]
        fn values_that_differ_have_forms_that_differ(one in json(), other in json()) {
            let same = canonical(&one.to_string()) == canonical(&other.to_string());
            let read = |value: &Value| serde_json::from_str::<Value>(&canonical(&value.to_string()).unwrap()).unwrap();
            prop_assert_eq!(same, read(&one) == read(&other));
        }

        #[test]
        fn numbers_keep_their_value(number in any::<f64>().prop_filter("is a number", |n| n.is_finite())) {
            let form = canonical_number(&format!("{number:e}")).into_owned();
            prop_assert_eq!(form.parse::<f64>().unwrap(), number);
            prop_assert!(is_number(&form), "{}", form);
        }

        #[test]
        fn any_text_is_read_as_json_is_or_not_at_all(text in "[-+.0-9eE\\[\\]{}\",: a\\\\u]{0,24}") {
            let strict = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(canonical(&text).is_some(), strict, "{}", text);
        }
    }
}
