//! From the arguments a model gave to those the tool was declared for: parameters get back their names, and what is `null` only because
//! a strict mode has no other way to leave it out is left out. Everything else keeps its exact spelling.

use serde_json::Value;
use serde_json::value::RawValue;
use toolplane_records::json::{JsonLimits, check, elements, members};
use toolplane_records::payload::JsonPayload;

use crate::calls::Arguments;
use crate::pointer::{below, target};
use crate::shape::{ParameterNames, Shape};

/// Most schemas that are looked at for one value.
const MOST_SCHEMAS: usize = 64;
/// Deepest value that is looked into.
const DEEPEST: usize = 64;

/// Arguments as the tool takes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// A JSON object; the very bytes of the model, where nothing had to be changed.
    pub arguments: JsonPayload,
    /// What was left out, by pointer: it was `null` and can be nothing else but absent.
    pub left_out: Vec<String>,
}

/// The arguments are no JSON object, or too large a one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotGiven {
    /// They are not JSON, or too large.
    #[error("{0}")]
    Json(#[from] toolplane_records::json::JsonRefusal),
    /// They are another value.
    #[error("is no JSON object")]
    NoObject,
}

/// Arguments of a call in a shape for a tool with this schema. In a `strict` call `null` may mean that something is left out.
///
/// # Errors
///
/// [`NotGiven`] for what is no JSON object.
pub fn given(
    arguments: &Arguments,
    schema: Option<&JsonPayload>,
    shape: Shape,
    strict: bool,
) -> Result<Given, NotGiven> {
    let text = match arguments {
        Arguments::Nothing => "{}",
        Arguments::Json(text) | Arguments::Text(text) => text.as_str(),
    };
    check(text.as_bytes(), &JsonLimits::default())?;
    let trimmed = text.trim();
    if !trimmed.starts_with('{') {
        return Err(NotGiven::NoObject);
    }
    let as_it_is = || Given { arguments: JsonPayload::from_checked(text.to_owned()), left_out: Vec::new() };
    let root = schema.map(JsonPayload::to_value).filter(Value::is_object);
    let (Some(root), Ok(raw)) = (root, serde_json::from_str::<&RawValue>(trimmed)) else { return Ok(as_it_is()) };
    let mut back = Back { root: &root, names: shape.parameter_names(), strict, left_out: Vec::new() };
    match back.value(&[&root], raw, "", 0) {
        Some(changed) => Ok(Given { arguments: JsonPayload::from_checked(changed), left_out: back.left_out }),
        None => Ok(as_it_is()),
    }
}

struct Back<'a> {
    root: &'a Value,
    names: ParameterNames,
    strict: bool,
    left_out: Vec<String>,
}

impl<'a> Back<'a> {
    /// A value that one of these schemas is of; nothing where it stays as it is.
    fn value(&mut self, schemas: &[&'a Value], raw: &RawValue, at: &str, depth: usize) -> Option<String> {
        if depth > DEEPEST || schemas.is_empty() {
            return None;
        }
        let schemas = self.all(schemas);
        match raw.get().as_bytes().first() {
            Some(b'{') => self.object(&schemas, raw, at, depth),
            Some(b'[') => self.array(&schemas, raw, at, depth),
            _ => None,
        }
    }

    fn object(&mut self, schemas: &[&'a Value], raw: &RawValue, at: &str, depth: usize) -> Option<String> {
        let given = members(raw).ok()?;
        let (mut changed, mut written) = (false, Vec::with_capacity(given.len()));
        for (name, value) in &given {
            let own = self.own_name(schemas, name, &given);
            let place = below(at, own);
            changed |= own != name;
            let declared: Vec<(&Value, bool)> = schemas.iter().filter_map(|schema| declared(schema, own)).collect();
            if self.strict && value.get() == "null" && self.means_absent(&declared) {
                self.left_out.push(place);
                changed = true;
                continue;
            }
            let mut inside: Vec<&Value> = declared.into_iter().map(|(schema, _)| schema).collect();
            if inside.is_empty() {
                inside = schemas.iter().filter_map(|schema| schema.get("additionalProperties")).collect();
            }
            let value = match self.value(&inside, value, &place, depth + 1) {
                Some(other) => {
                    changed = true;
                    other
                }
                None => value.get().to_owned(),
            };
            written.push(format!("{}:{value}", Value::from(own)));
        }
        changed.then(|| format!("{{{}}}", written.join(",")))
    }

    fn array(&mut self, schemas: &[&'a Value], raw: &RawValue, at: &str, depth: usize) -> Option<String> {
        let mut inside = Vec::new();
        for schema in schemas {
            for keyword in ["items", "prefixItems", "additionalItems"] {
                match schema.get(keyword) {
                    Some(Value::Array(each)) => inside.extend(each),
                    Some(all) => inside.push(all),
                    None => {}
                }
            }
        }
        let mut changed = false;
        let given = elements(raw).ok()?;
        let mut written = Vec::with_capacity(given.len());
        for (index, element) in given.into_iter().enumerate() {
            let other = self.value(&inside, element, &format!("{at}/{index}"), depth + 1);
            changed |= other.is_some();
            written.push(other.unwrap_or_else(|| element.get().to_owned()));
        }
        changed.then(|| format!("[{}]", written.join(",")))
    }

    /// The declared name of a parameter that the model knows by another one.
    fn own_name<'n>(&self, schemas: &[&'a Value], name: &'n str, given: &[(String, &RawValue)]) -> &'n str
    where
        'a: 'n,
    {
        if self.names == ParameterNames::Any || schemas.iter().any(|schema| declared(schema, name).is_some()) {
            return name;
        }
        let named =
            schemas.iter().filter_map(|schema| schema.get("properties")?.as_object()).flat_map(|all| all.keys());
        // Where the model gave both, they stay two.
        let mut meant = named.filter(|own| self.names.of(own) == name && !given.iter().any(|(there, _)| there == *own));
        meant.next().map_or(name, String::as_str)
    }

    /// Whether `null` can only mean that a member is left out: no schema that names it allows `null`, and one does not require it.
    fn means_absent(&self, declared: &[(&'a Value, bool)]) -> bool {
        let optional = declared.iter().any(|(_, required)| !required);
        optional && !declared.iter().any(|(schema, _)| self.allows_null(schema, 0))
    }

    fn allows_null(&self, schema: &'a Value, depth: usize) -> bool {
        let Value::Object(part) = schema else { return schema != &Value::Bool(false) };
        if depth > 16 {
            return true;
        }
        let all = |keyword: &str, any: bool| match part.get(keyword) {
            Some(Value::Array(each)) if any => each.iter().any(|one| self.allows_null(one, depth + 1)),
            Some(Value::Array(each)) => each.iter().all(|one| self.allows_null(one, depth + 1)),
            _ => true,
        };
        let by_type = match part.get("type") {
            Some(Value::String(kind)) => kind == "null",
            Some(Value::Array(kinds)) => kinds.contains(&"null".into()),
            _ => true,
        };
        let by_value = match (part.get("enum"), part.get("const")) {
            (Some(Value::Array(values)), _) => values.contains(&Value::Null),
            (_, Some(value)) => value.is_null(),
            _ => true,
        };
        let by_ref = match part.get("$ref").and_then(Value::as_str) {
            Some(reference) => target(self.root, reference).is_none_or(|(_, found)| self.allows_null(found, depth + 1)),
            None => true,
        };
        by_type && by_value && by_ref && all("anyOf", true) && all("oneOf", true) && all("allOf", false)
    }

    /// These schemas with all that may apply to the same value.
    fn all(&self, schemas: &[&'a Value]) -> Vec<&'a Value> {
        let mut all: Vec<&'a Value> = Vec::new();
        let mut left: Vec<&'a Value> = schemas.iter().rev().copied().collect();
        while let Some(schema) = left.pop() {
            if all.len() >= MOST_SCHEMAS || all.iter().any(|known| std::ptr::eq(*known, schema)) {
                continue;
            }
            all.push(schema);
            if let Some((_, found)) =
                schema.get("$ref").and_then(Value::as_str).and_then(|reference| target(self.root, reference))
            {
                left.push(found);
            }
            for keyword in ["allOf", "anyOf", "oneOf"] {
                if let Some(Value::Array(each)) = schema.get(keyword) {
                    left.extend(each);
                }
            }
            left.extend(["then", "else"].iter().filter_map(|keyword| schema.get(*keyword)));
        }
        all
    }
}

/// What a schema declares a member to be, and whether it requires it.
fn declared<'a>(schema: &&'a Value, name: &str) -> Option<(&'a Value, bool)> {
    let member = schema.get("properties")?.get(name)?;
    let required = schema.get("required").and_then(Value::as_array);
    Some((member, required.is_some_and(|all| all.iter().any(|one| one == name))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn back(schema: &Value, arguments: &str, shape: Shape, strict: bool) -> (String, Vec<String>) {
        let schema = JsonPayload::of(schema);
        let given = given(&Arguments::Json(arguments.to_owned()), Some(&schema), shape, strict).unwrap();
        (given.arguments.text().to_owned(), given.left_out)
    }

    #[test]
    fn null_that_stands_for_absent_is_left_out_and_other_null_is_not() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": { "type": "string" },
                "b": { "type": ["string", "null"] },
                "c": { "$ref": "#/$defs/inner" },
                "d": { "type": "string" },
                "e": {},
                "list": { "type": "array", "items": { "$ref": "#/$defs/inner" } },
            },
            "required": ["d"],
            "$defs": { "inner": { "type": "object", "properties": { "x": { "type": "number" } } } },
        });
        let said = r#"{"a":null,"b":null,"c":{"x":null},"d":null,"e":null,"list":[{"x":1.50},{"x":null}]}"#;
        let (text, left_out) = back(&schema, said, Shape::OpenAiResponses, true);
        assert_eq!(text, r#"{"b":null,"c":{},"d":null,"e":null,"list":[{"x":1.50},{}]}"#);
        assert_eq!(left_out, ["/a", "/c/x", "/list/1/x"]);
        assert_eq!(back(&schema, said, Shape::OpenAiResponses, false), (said.to_owned(), Vec::new()));
    }

    #[test]
    fn parameters_get_back_their_names_and_all_else_its_spelling() {
        let schema = json!({ "properties": { "user-id": {}, "filter.by": { "properties": { "9": {} } }, "ok": {} } });
        let names = ParameterNames::Gemini;
        let (user, by, nine) = (names.of("user-id"), names.of("filter.by"), names.of("9"));
        let said = format!(r#"{{"{user}":12345678901234567890123, "{by}":{{"{nine}":1.10}},"ok": 1}}"#);
        let (text, _) = back(&schema, &said, Shape::Gemini, false);
        assert_eq!(text, r#"{"user-id":12345678901234567890123,"filter.by":{"9":1.10},"ok":1}"#);
        assert_eq!(back(&schema, &said, Shape::Mcp, false).0, said);
    }

    #[test]
    fn only_objects_are_arguments() {
        let no = |arguments| given(&arguments, None, Shape::Anthropic, false);
        assert_eq!(no(Arguments::Nothing).unwrap().arguments.text(), "{}");
        assert_eq!(no(Arguments::Json("[]".to_owned())), Err(NotGiven::NoObject));
        for wrong in ["{", r#"{"a":1,"a":2}"#] {
            assert!(matches!(no(Arguments::Text(wrong.to_owned())), Err(NotGiven::Json(_))));
        }
    }
}
