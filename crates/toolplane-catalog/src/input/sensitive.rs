//! Sensitive fields: hidden in every copy of an input that is not for the executor.

use serde_json::Value;
use serde_json::value::RawValue;
use toolplane_records::json;
use toolplane_records::payload::{JsonPayload, REDACTED};

use crate::registration::Registration;
use crate::schema::pointer::decode_pointer;
use crate::schema::pointer::escape;

/// The sensitive fields of one tool, as JSON pointers; `*` in a pointer stands for every element or member.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SensitiveFields {
    declared: Vec<String>,
    pointers: Vec<Vec<String>>,
}

impl SensitiveFields {
    /// The fields `registration` declares. Texts that are no JSON pointers, which registration refuses, hide everything.
    pub fn of(registration: &Registration) -> Self {
        let declared = registration.contract().map(|contract| contract.sensitive_fields.as_slice()).unwrap_or_default();
        Self::new(declared)
    }

    /// The fields at these pointers.
    pub fn new(pointers: &[String]) -> Self {
        let decoded = pointers.iter().map(|pointer| decode_pointer(pointer).unwrap_or_default());
        Self { pointers: decoded.collect(), declared: pointers.to_vec() }
    }

    /// The pointers as they were declared.
    pub fn pointers(&self) -> &[String] {
        &self.declared
    }

    /// Whether nothing is sensitive.
    pub fn is_empty(&self) -> bool {
        self.pointers.is_empty()
    }

    /// `input` without its sensitive values, and the pointers of what was hidden; `None` when there was nothing to hide.
    pub fn redact(&self, input: &JsonPayload) -> Option<(JsonPayload, Vec<String>)> {
        if self.is_empty() {
            return None;
        }
        let mut copy = Copy::default();
        let pointers: Vec<&[String]> = self.pointers.iter().map(Vec::as_slice).collect();
        let read = input.parse::<&RawValue>().and_then(|value| copy.write(value, &pointers, ""));
        if read.is_err() {
            // What cannot be taken apart is hidden as a whole.
            return Some((JsonPayload::of(REDACTED), vec![String::new()]));
        }
        copy.hidden.sort_unstable();
        copy.hidden.dedup();
        (!copy.hidden.is_empty()).then(|| (JsonPayload::from_checked(copy.text), copy.hidden))
    }

    /// Hides the sensitive values of `value`; gives back the pointers of what was hidden.
    pub fn hide(&self, value: &mut Value) -> Vec<String> {
        let mut hidden = Vec::new();
        for pointer in &self.pointers {
            hide(value, pointer, String::new(), &mut hidden);
        }
        hidden.sort_unstable();
        hidden.dedup();
        hidden
    }

    /// Whether a sensitive field lies beneath `place`.
    pub fn reaches_into(&self, place: &str) -> bool {
        let Some(tokens) = decode_pointer(place) else { return true };
        let beneath = |pointer: &Vec<String>| {
            pointer.len() > tokens.len() && pointer.iter().zip(&tokens).all(|(want, have)| want == "*" || want == have)
        };
        self.pointers.iter().any(beneath)
    }

    /// The pointer of the sensitive field that `place` is, or is inside of.
    pub fn covering(&self, place: &str) -> Option<String> {
        let tokens = decode_pointer(place)?;
        let covers = |pointer: &Vec<String>| {
            pointer.len() <= tokens.len() && pointer.iter().zip(&tokens).all(|(want, have)| want == "*" || want == have)
        };
        let shortest = self.pointers.iter().filter(|pointer| covers(pointer)).map(Vec::len).min()?;
        Some(tokens[..shortest].iter().map(|token| format!("/{}", escape(token))).collect())
    }
}

/// A copy in the making: everything but what is hidden keeps its exact spelling.
#[derive(Default)]
struct Copy {
    text: String,
    hidden: Vec<String>,
}

impl Copy {
    /// Writes `value`, which is at `place`, without what `pointers` lead to.
    fn write(&mut self, value: &RawValue, pointers: &[&[String]], place: &str) -> Result<(), serde_json::Error> {
        if pointers.iter().any(|pointer| pointer.is_empty()) {
            self.text.push_str(&serde_json::to_string(REDACTED)?);
            self.hidden.push(place.to_owned());
            return Ok(());
        }
        match value.get().as_bytes().first() {
            _ if pointers.is_empty() => self.text.push_str(value.get()),
            Some(b'{') => {
                self.text.push('{');
                for (index, (name, member)) in json::members(value)?.into_iter().enumerate() {
                    self.text.push_str(if index > 0 { "," } else { "" });
                    self.text.push_str(&serde_json::to_string(&name)?);
                    self.text.push(':');
                    self.write(member, &below(pointers, &name), &format!("{place}/{}", escape(&name)))?;
                }
                self.text.push('}');
            }
            Some(b'[') => {
                self.text.push('[');
                for (index, element) in json::elements(value)?.into_iter().enumerate() {
                    self.text.push_str(if index > 0 { "," } else { "" });
                    let name = index.to_string();
                    self.write(element, &below(pointers, &name), &format!("{place}/{name}"))?;
                }
                self.text.push(']');
            }
            _ => self.text.push_str(value.get()),
        }
        Ok(())
    }
}

/// The pointers that go on below the member or element `name`.
fn below<'a>(pointers: &[&'a [String]], name: &str) -> Vec<&'a [String]> {
    let split = pointers.iter().filter_map(|pointer| pointer.split_first());
    split.filter(|(token, _)| *token == "*" || *token == name).map(|(_, rest)| rest).collect()
}

fn hide(value: &mut Value, pointer: &[String], place: String, hidden: &mut Vec<String>) {
    let Some((token, rest)) = pointer.split_first() else {
        // Whatever was hidden before, e.g. below this place, is hidden with it.
        *value = Value::String(REDACTED.to_owned());
        hidden.push(place);
        return;
    };
    for (name, inner) in matching(value, token) {
        let place = format!("{place}/{}", escape(&name));
        hide(inner, rest, place, hidden);
    }
}

/// The members or elements of `value` that `token` stands for, with their names.
fn matching<'a>(value: &'a mut Value, token: &str) -> Vec<(String, &'a mut Value)> {
    let fits = |name: &str| token == "*" || token == name;
    match value {
        Value::Object(members) => {
            members.iter_mut().filter(|(name, _)| fits(name)).map(|(name, inner)| (name.clone(), inner)).collect()
        }
        Value::Array(elements) => {
            let numbered = elements.iter_mut().enumerate().map(|(index, inner)| (index.to_string(), inner));
            numbered.filter(|(name, _)| fits(name)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn fields(pointers: &[&str]) -> SensitiveFields {
        SensitiveFields::new(&pointers.iter().map(|pointer| (*pointer).to_owned()).collect::<Vec<_>>())
    }

    fn redacted(pointers: &[&str], value: &Value) -> Value {
        fields(pointers).redact(&JsonPayload::of(value)).map_or_else(|| value.clone(), |(copy, _)| copy.to_value())
    }

    #[test]
    fn values_of_every_type_are_hidden_wherever_the_pointer_leads() {
        let input = json!({ "a": { "b": [1, 2] }, "list": [{ "key": null, "n": 1 }, { "key": [1] }], "x/y": true });
        assert_eq!(redacted(&["/a/b"], &input)["a"], json!({ "b": REDACTED }));
        assert_eq!(redacted(&["/a/b/1"], &input)["a"], json!({ "b": [1, REDACTED] }));
        let list = json!([{ "key": REDACTED, "n": 1 }, { "key": REDACTED }]);
        assert_eq!(redacted(&["/list/*/key"], &input)["list"], list);
        assert_eq!(redacted(&["/x~1y"], &input)["x/y"], json!(REDACTED));
        assert_eq!(redacted(&["/a/*"], &input)["a"], json!({ "b": REDACTED }), "a star is any member too");
        assert_eq!(redacted(&["/missing", "/a/b/c"], &input), input);
        assert_eq!(redacted(&["/a/b/0", "/a"], &input)["a"], json!(REDACTED));
        assert_eq!(redacted(&["no pointer"], &input), json!(REDACTED), "what cannot be read hides everything");
        let (_, hidden) = fields(&["/list/*/key", "/x~1y"]).redact(&JsonPayload::of(&input)).unwrap();
        assert_eq!(hidden, ["/list/0/key", "/list/1/key", "/x~1y"]);
        assert_eq!(fields(&["/missing"]).redact(&JsonPayload::of(&input)), None);
        let spelled =
            r#"{"n":123456789012345678901234567890,"key":1,"f":1.50,"deep":{"b":[2e0,18446744073709551617]}}"#;
        let (copy, _) = fields(&["/key", "/deep/x"]).redact(&JsonPayload::from_checked(spelled)).unwrap();
        assert_eq!(copy.text(), spelled.replace(r#""key":1"#, r#""key":"[redacted]""#), "nothing else changes");
    }

    #[test]
    fn places_inside_a_sensitive_field_lead_to_it() {
        let sensitive = fields(&["/a/*/b", "/c"]);
        assert_eq!(sensitive.covering("/a/0/b/x").as_deref(), Some("/a/0/b"));
        assert_eq!(sensitive.covering("/c").as_deref(), Some("/c"));
        assert_eq!((sensitive.covering("/cc"), sensitive.covering("/a/0")), (None, None));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![Just(json!(null)), any::<i32>().prop_map(|n| json!(n)), "[a-c]{0,3}".prop_map(|s| json!(s))];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                prop::collection::btree_map("[a-c]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn pointer() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(vec!["a", "b", "c", "0", "1", "*"]), 1..4)
            .prop_map(|tokens| tokens.iter().map(|token| format!("/{token}")).collect())
    }

    proptest! {
        #[test]
        fn what_is_named_is_hidden(value in value(), pointers in prop::collection::vec(pointer(), 0..4)) {
            let (sensitive, real) = (SensitiveFields::new(&pointers), JsonPayload::of(&value));
            if let Some((copy, hidden)) = sensitive.redact(&real) {
                for place in &hidden {
                    // A pointer that lies beneath another one is hidden with it.
                    let shown = copy.to_value().pointer(place).cloned();
                    prop_assert!(shown.is_none_or(|shown| shown == json!(REDACTED)));
                }
                prop_assert!(sensitive.redact(&copy).is_none_or(|(again, _)| again == copy), "hidden is hidden");
            }
        }
    }
}
