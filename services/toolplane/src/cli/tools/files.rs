//! Registrations in files.

use std::path::Path;

use serde::Deserialize;
use toolplane_proto::convert::registration::RegistrationParts;
use toolplane_records::declaration::ToolDeclaration;
use toolplane_records::interface::ToolInterface;
use toolplane_records::json::{self, JsonLimits};
use toolplane_records::profile::{ExecutionProfile, PermissionProfile};

use crate::cli::failure::Failure;

/// Largest file read: a thousand tools with room to spare.
const LIMITS: JsonLimits = JsonLimits { max_bytes: 64 * 1024 * 1024, max_depth: 128, max_nodes: 5_000_000 };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registration {
    declaration: ToolDeclaration,
    interface: Option<ToolInterface>,
    execution_profile: Option<ExecutionProfile>,
    permission_profile: Option<PermissionProfile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listing {
    tools: Vec<Registration>,
}

/// What a file holds.
#[derive(Debug)]
pub(super) struct Tools {
    /// The registrations, in its order.
    pub(super) registrations: Vec<RegistrationParts>,
    /// Where fields stand that no record has, such as `tools.0.declaration.descripton`. A later version of the standard may have them: they
    /// are no error, and nothing is kept of them.
    pub(super) left_out: Vec<String>,
}

/// Reads one registration, a list of them, or `{"tools": [...]}`.
pub(super) fn read(file: &Path) -> Result<Tools, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
    parse(&text).map_err(|rule| Failure::Local(format!("`{}`: {rule}", file.display())))
}

fn parse(text: &str) -> Result<Tools, String> {
    json::check(text.as_bytes(), &LIMITS).map_err(|refusal| refusal.to_string())?;
    let mut left_out = Vec::new();
    let registrations: Vec<Registration> = if text.trim_start().starts_with('[') {
        noting(text, &mut left_out)?
    } else if has_tools(text) {
        noting::<Listing>(text, &mut left_out)?.tools
    } else {
        vec![noting(text, &mut left_out)?]
    };
    Ok(Tools { registrations: registrations.into_iter().map(parts).collect(), left_out })
}

/// Reads a value, and notes what of the text is not in it.
fn noting<'de, T: Deserialize<'de>>(text: &'de str, left_out: &mut Vec<String>) -> Result<T, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // A field that may be absent is a step of its own there, and none to who reads it.
    let note = |path: serde_ignored::Path<'_>| left_out.push(path.to_string().replace(".?", ""));
    let value = serde_ignored::deserialize(&mut reader, note).map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}

fn has_tools(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Probe {
        tools: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str::<Probe>(text).is_ok_and(|probe| probe.tools.is_some())
}

fn parts(registration: Registration) -> RegistrationParts {
    RegistrationParts {
        declaration: registration.declaration,
        interface: registration.interface,
        execution_profile: registration.execution_profile,
        permission_profile: registration.permission_profile,
    }
}

#[cfg(test)]
mod tests {
    use super::{Tools, parse};

    const ONE: &str = r#"{"declaration": {"tool_id": "t", "namespace": "n", "name": "x", "description": "d",
        "lifecycle": "available", "tool_kind": "function",
        "input_contract": {"model_input_schema": {"type": "object", "maximum": 18446744073709551617}}}}"#;

    #[test]
    fn all_three_forms_are_read() {
        for text in [ONE.to_owned(), format!("[{ONE}, {ONE}]"), format!("{{\"tools\": [{ONE}]}}")] {
            let Tools { registrations, left_out } = parse(&text).unwrap();
            assert!(left_out.is_empty(), "{left_out:?}");
            let schema = registrations[0].declaration.input_contract.clone().unwrap().model_input_schema.unwrap();
            assert!(schema.text().contains("18446744073709551617"), "numbers survive");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let misspelled = ONE.replacen("\"declaration\"", "\"declarations\"", 1);
        assert!(parse(&misspelled).unwrap_err().contains("declarations"));
        let twice = ONE.replacen("\"name\": \"x\"", "\"name\": \"x\", \"name\": \"y\"", 1);
        assert!(parse(&twice).unwrap_err().contains("`name` twice"));
    }

    #[test]
    fn fields_that_no_record_has_are_told_where_they_stand() {
        let slip = ONE.replacen("\"description\"", "\"descripton\": \"d\", \"description\"", 1);
        let slip = slip.replacen("\"input_contract\": {", "\"input_contract\": {\"model_schema\": {}, ", 1);
        assert_eq!(
            parse(&slip).unwrap().left_out,
            ["declaration.descripton", "declaration.input_contract.model_schema"]
        );
        let listed = parse(&format!("{{\"tools\": [{ONE}, {slip}]}}")).unwrap().left_out;
        assert_eq!(listed[0], "tools.1.declaration.descripton");
    }

    /// The example tools can be registered as they are.
    #[test]
    fn examples_are_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/examples/tools");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let tools = parse(&text).unwrap();
            assert!(tools.left_out.is_empty(), "{:?}", tools.left_out);
            read += tools.registrations.len();
        }
        assert!(read >= 8, "only {read} example tools");
    }
}
