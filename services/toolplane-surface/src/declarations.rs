//! Tool files: registrations an operator keeps beside the configuration.
//!
//! A file is JSON, or TOML when its name ends in `.toml`. It holds one registration (`declaration`, and as far as there are
//! any `interface`, `execution_profile`, `permission_profile`), a list of them, or a list under the key `tools`. A list may be empty: then the file
//! declares nothing, at a start and where it is registered.

pub(crate) mod configured;
pub(crate) mod fault;
mod left_out;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_catalog::Registration;
use toolplane_proto::v1;
use toolplane_records::json::{self, JsonLimits};

/// What a tool file may be: larger than a request, as strict as one.
const FILE_LIMITS: JsonLimits = JsonLimits { max_bytes: 64 * 1024 * 1024, max_depth: 72, max_nodes: 2_000_000 };

/// What a tool file holds.
#[derive(Debug)]
pub struct ToolFile {
    /// The registrations, in its order.
    pub registrations: Vec<Registration>,
    /// Where fields stand that no record has, such as `tools[0].declaration.descripton`. A later version of the standard may have them:
    /// they are no error, and nothing is kept of them.
    pub left_out: Vec<String>,
    shape: Shape,
}

impl ToolFile {
    /// Where in the file a registration stands, by its place among [`registrations`](Self::registrations).
    pub fn place(&self, index: usize) -> Place {
        Place { shape: self.shape, index }
    }
}

/// Where in a file a registration stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    shape: Shape,
    index: usize,
}

impl Place {
    /// Where something of the registration stands, such as `declaration.name`; nothing is the registration itself, where it is the whole file.
    pub fn of(self, within: &str) -> String {
        match (self.shape, within) {
            (Shape::One, within) => within.to_owned(),
            (Shape::List, "") => format!("tools[{}]", self.index),
            (Shape::List, within) => format!("tools[{}].{within}", self.index),
        }
    }
}

/// The registration, by its number in a request, and the part of it that a field of the request is about (`tools[3].declaration.name`); nothing of
/// other fields.
pub fn part_of_request(field: &str) -> Option<(usize, &str)> {
    let (index, within) = field.strip_prefix("tools[")?.split_once(']')?;
    Some((index.parse().ok()?, within.strip_prefix('.').unwrap_or(within)))
}

/// The registrations of one file. Returns an error when the file cannot be read, is not UTF-8 TOML where its name ends in `.toml`,
/// or as [`parse`] does; the error is the rule the file broke, with the place in it.
pub fn read(file: &Path) -> Result<ToolFile, String> {
    parse(&json_of(file)?)
}

/// A registration as it is sent.
pub fn message(registration: &Registration) -> v1::ToolRegistration {
    v1::ToolRegistration {
        declaration: Some((&registration.declaration).into()),
        interface: registration.interface.as_deref().map(Into::into),
        execution_profile: registration.execution_profile.as_deref().map(Into::into),
        permission_profile: registration.permission_profile.as_deref().map(Into::into),
    }
}

/// What the file says, as JSON. Returns an error as [`read`] does.
pub(crate) fn json_of(file: &Path) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("cannot be read: {error}"))?;
    if file.extension().is_none_or(|extension| extension != "toml") {
        return Ok(bytes);
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| format!("is not valid UTF-8: {error}"))?;
    let table: toml::Table = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    serde_json::to_vec(&table).map_err(|error| error.to_string())
}

/// The registrations in a JSON text of the shapes a tool file may have.
///
/// Fails with the rule the text broke: it is not strict JSON (see [`json::check`]) of at most 64 MiB, 72 levels and
/// 2,000,000 values, it has both or neither of the keys `declaration` and `tools`, or something in it is not a
/// registration. The error is text for people.
pub fn parse(bytes: &[u8]) -> Result<ToolFile, String> {
    let (shape, texts) = shaped(bytes)?;
    let (mut registrations, mut left_out) = (Vec::with_capacity(texts.len()), Vec::new());
    for (index, text) in texts.iter().enumerate() {
        let place = Place { shape, index };
        let registration = serde_json::from_str(text.get()).map_err(|error| refusal(place, text, &error))?;
        left_out.extend(left_out::left_out(text.get(), &registration).into_iter().map(|field| place.of(&field)));
        registrations.push(registration);
    }
    Ok(ToolFile { registrations, left_out, shape })
}

/// The same as [`parse`], with each registration as it is written: who reads them one by one loses none to another one that is wrong.
pub(crate) fn texts(bytes: &[u8]) -> Result<Vec<Box<RawValue>>, String> {
    shaped(bytes).map(|(_, texts)| texts)
}

/// How registrations stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    One,
    List,
}

fn shaped(bytes: &[u8]) -> Result<(Shape, Vec<Box<RawValue>>), String> {
    json::check(bytes, &FILE_LIMITS).map_err(|refusal| refusal.to_string())?;
    let at_fault = |error: serde_json::Error| error.to_string();
    // The shape is told by the first character and the keys, so that an error is about the shape that was meant.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return Ok((Shape::List, serde_json::from_slice(bytes).map_err(at_fault)?));
    }
    let keys: BTreeMap<&str, &RawValue> = serde_json::from_slice(bytes).map_err(at_fault)?;
    match (keys.contains_key("declaration"), keys.get("tools")) {
        (true, Some(_)) => Err("has both `declaration` and `tools`; give one of them".to_owned()),
        (true, None) => Ok((Shape::One, vec![serde_json::from_slice(bytes).map_err(at_fault)?])),
        (false, Some(tools)) => {
            let others: Vec<&str> = keys.keys().copied().filter(|key| *key != "tools").collect();
            if !others.is_empty() {
                return Err(format!("has `{}` beside `tools`", others.join("`, `")));
            }
            Ok((Shape::List, serde_json::from_str(tools.get()).map_err(|error| format!("`tools`: {error}"))?))
        }
        (false, None) if keys.is_empty() => Err("has neither `declaration` nor `tools`".to_owned()),
        (false, None) => {
            let keys: Vec<&str> = keys.keys().copied().take(10).collect();
            Err(format!("has neither `declaration` nor `tools`, but `{}`", keys.join("`, `")))
        }
    }
}

/// What is wrong with a registration: the place of it and, in a list, its name.
fn refusal(place: Place, text: &RawValue, error: &serde_json::Error) -> String {
    let told = place.of(&fault::place(text.get()));
    let error = error.to_string();
    match (place.shape, told.as_str()) {
        (Shape::One, "") => error,
        (Shape::One, told) => format!("`{told}`: {error}"),
        (Shape::List, told) => {
            // Lines are counted from where it begins.
            let error = error.replace(" at line", ", at its line");
            format!("`{told}`{}: {error}", named(text))
        }
    }
}

/// The name of a registration, as far as it has one.
fn named(text: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Named {
        declaration: Name,
    }
    #[derive(Deserialize)]
    struct Name {
        name: String,
    }
    let named = serde_json::from_str::<Named>(text.get());
    named.map(|named| format!(" (`{}`)", named.declaration.name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{parse, part_of_request, read, texts};

    const ECHO: &str = r#"{"declaration":{"tool_id":"tool_echo","namespace":"native","name":"echo",
        "description":"says it again","lifecycle":"available","tool_kind":"native_tool",
        "input_contract":{"model_input_schema":{"type":"object","maximum":18446744073709551617}}}}"#;

    fn check(text: &str, expected: Result<usize, &str>) {
        match (parse(text.as_bytes()), expected) {
            (Ok(found), Ok(count)) => assert_eq!(found.registrations.len(), count, "{text}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn every_shape_is_read_and_others_are_refused() {
        check(ECHO, Ok(1));
        check(&format!("[{ECHO},{ECHO}]"), Ok(2));
        check(&format!(r#" {{"tools":[{ECHO}]}}"#), Ok(1));
        check(r#"{"tools":[]}"#, Ok(0));
        check("[]", Ok(0));
        check("{}", Err("neither"));
        check("[{}]", Err("`tools[0]`: missing field `declaration`"));
        check(
            &format!(r#"[{ECHO},{}]"#, ECHO.replacen("available", "there", 1)),
            Err("`tools[1].declaration.lifecycle` (`echo`): `there` is not one of: draft"),
        );
        check(
            &ECHO.replacen("declaration", "declarations", 1),
            Err("neither `declaration` nor `tools`, but `declarations`"),
        );
        check(&format!(r#"{{"tools":[{ECHO}],"more":1}}"#), Err("has `more` beside `tools`"));
        check(&ECHO.replacen("available", "there", 1), Err("`declaration.lifecycle`: `there` is not one of: draft"));
        check(r#"{"tools":[],"tools":[]}"#, Err("twice"));
        check("nonsense", Err("not valid JSON"));
    }

    #[test]
    fn schemas_keep_their_exact_bytes() {
        let schema = parse(ECHO.as_bytes()).unwrap().registrations.remove(0).model_schema().unwrap().text().to_owned();
        assert!(schema.contains("18446744073709551617"), "{schema}");
    }

    #[test]
    fn fields_that_no_record_has_are_told_where_they_stand() {
        let slip = ECHO.replacen("\"description\"", "\"descripton\": \"d\", \"description\"", 1);
        assert_eq!(parse(slip.as_bytes()).unwrap().left_out, ["declaration.descripton"]);
        let listed = parse(format!("[{ECHO}, {slip}]").as_bytes()).unwrap();
        assert_eq!(
            (listed.registrations.len(), listed.left_out),
            (2, vec!["tools[1].declaration.descripton".to_owned()])
        );
    }

    #[test]
    fn a_part_of_a_request_is_told_where_it_stands_in_its_file() {
        let (one, list) = (parse(ECHO.as_bytes()).unwrap(), parse(format!("[{ECHO},{ECHO}]").as_bytes()).unwrap());
        assert_eq!(part_of_request("tools[3].declaration.name"), Some((3, "declaration.name")));
        assert_eq!(part_of_request("tools[12]"), Some((12, "")));
        assert_eq!([part_of_request("tools"), part_of_request("tools[x].a"), part_of_request("other[1].a")], [None; 3]);
        assert_eq!((one.place(0).of("declaration.name"), one.place(0).of("")), ("declaration.name".into(), "".into()));
        assert_eq!((list.place(1).of("a.b"), list.place(1).of("")), ("tools[1].a.b".into(), "tools[1]".into()));
    }

    #[test]
    fn one_that_is_wrong_keeps_no_other_from_being_read() {
        let list = format!(r#"{{"tools":[{ECHO},{{}},7]}}"#);
        let found: Vec<String> = texts(list.as_bytes()).unwrap().iter().map(|text| text.get().to_owned()).collect();
        assert_eq!(found, [ECHO, "{}", "7"]);
        assert!(texts(b"{}").is_err() && texts(br#"{"tools":{}}"#).is_err());
    }

    #[test]
    fn toml_says_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("tools.toml");
        let text = r#"
            [[tools]]
            [tools.declaration]
            tool_id = "tool_echo"
            namespace = "native"
            name = "echo"
            description = "says it again"
            lifecycle = "available"
            tool_kind = "native_tool"
            [tools.declaration.input_contract.model_input_schema]
            type = "object"
        "#;
        std::fs::write(&file, text).unwrap();
        let found = read(&file).unwrap();
        assert_eq!(found.registrations[0].model_schema().unwrap().text(), r#"{"type":"object"}"#);
        std::fs::write(&file, "tools = 1\ntools = 2").unwrap();
        assert!(read(&file).unwrap_err().contains("line 2"), "{}", read(&file).unwrap_err());
    }
}
