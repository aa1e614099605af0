//! Tool files: registrations an operator keeps beside the configuration.
//!
//! A file is JSON, or TOML when its name ends in `.toml`. It holds one registration (`declaration`, and as far as there are
//! any `interface`, `execution_profile`, `permission_profile`), a list of them, or a list under the key `tools`.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use toolplane_catalog::Registration;
use toolplane_records::json::{self, JsonLimits};

/// What a tool file may be: larger than a request, as strict as one.
const FILE_LIMITS: JsonLimits = JsonLimits { max_bytes: 64 * 1024 * 1024, max_depth: 72, max_nodes: 2_000_000 };

/// The registrations of one file. Returns an error when the file cannot be read, is not UTF-8 TOML where its name ends in `.toml`,
/// or as [`parse`] does; the error is the rule the file broke, with the place in it.
pub fn read(file: &Path) -> Result<Vec<Registration>, String> {
    parse(&json_of(file)?)
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
pub fn parse(bytes: &[u8]) -> Result<Vec<Registration>, String> {
    shaped(bytes)
}

/// The same as [`parse`], with each registration as it is written: who reads them one by one loses none to another one that is wrong.
pub(crate) fn texts(bytes: &[u8]) -> Result<Vec<Box<RawValue>>, String> {
    shaped(bytes)
}

fn shaped<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, String> {
    json::check(bytes, &FILE_LIMITS).map_err(|refusal| refusal.to_string())?;
    let at_fault = |error: serde_json::Error| error.to_string();
    // The shape is told by the first character and the keys, so that an error is about the shape that was meant.
    if bytes.trim_ascii_start().starts_with(b"[") {
        return serde_json::from_slice(bytes).map_err(at_fault);
    }
    let Keys { declaration, tools } = serde_json::from_slice(bytes).map_err(at_fault)?;
    match (declaration.is_some(), tools.is_some()) {
        (true, true) => Err("has both `declaration` and `tools`; give one of them".to_owned()),
        (true, false) => serde_json::from_slice(bytes).map(|one| vec![one]).map_err(at_fault),
        (false, true) => {
            let List { tools } = serde_json::from_slice(bytes).map_err(at_fault)?;
            Ok(tools)
        }
        (false, false) => Err("has neither `declaration` nor `tools`".to_owned()),
    }
}

#[derive(Deserialize)]
struct Keys {
    declaration: Option<serde::de::IgnoredAny>,
    tools: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct List<T> {
    tools: Vec<T>,
}

#[cfg(test)]
mod tests {
    use super::{parse, read, texts};

    const ECHO: &str = r#"{"declaration":{"tool_id":"tool_echo","namespace":"native","name":"echo",
        "description":"says it again","lifecycle":"available","tool_kind":"native_tool",
        "input_contract":{"model_input_schema":{"type":"object","maximum":18446744073709551617}}}}"#;

    fn check(text: &str, expected: Result<usize, &str>) {
        match (parse(text.as_bytes()), expected) {
            (Ok(found), Ok(count)) => assert_eq!(found.len(), count, "{text}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn every_shape_is_read_and_others_are_refused() {
        check(ECHO, Ok(1));
        check(&format!("[{ECHO},{ECHO}]"), Ok(2));
        check(&format!(r#" {{"tools":[{ECHO}]}}"#), Ok(1));
        check("{}", Err("neither"));
        check("[{}]", Err("declaration"));
        check(r#"{"tools":[],"tools":[]}"#, Err("twice"));
        check("nonsense", Err("not valid JSON"));
    }

    #[test]
    fn schemas_keep_their_exact_bytes() {
        let schema = parse(ECHO.as_bytes()).unwrap().remove(0).model_schema().unwrap().text().to_owned();
        assert!(schema.contains("18446744073709551617"), "{schema}");
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
        assert_eq!(found[0].model_schema().unwrap().text(), r#"{"type":"object"}"#);
        std::fs::write(&file, "tools = 1\ntools = 2").unwrap();
        assert!(read(&file).unwrap_err().contains("line 2"), "{}", read(&file).unwrap_err());
    }
}
