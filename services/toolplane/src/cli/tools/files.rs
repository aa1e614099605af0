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

/// Reads one registration, a list of them, or `{"tools": [...]}`.
pub(super) fn read(file: &Path) -> Result<Vec<RegistrationParts>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
    parse(&text).map_err(|rule| Failure::Local(format!("`{}`: {rule}", file.display())))
}

fn parse(text: &str) -> Result<Vec<RegistrationParts>, String> {
    json::check(text.as_bytes(), &LIMITS).map_err(|refusal| refusal.to_string())?;
    let registrations: Vec<Registration> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(|error| error.to_string())?
    } else if has_tools(text) {
        serde_json::from_str::<Listing>(text).map_err(|error| error.to_string())?.tools
    } else {
        vec![serde_json::from_str(text).map_err(|error| error.to_string())?]
    };
    Ok(registrations.into_iter().map(parts).collect())
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
    use super::parse;

    const ONE: &str = r#"{"declaration": {"tool_id": "t", "namespace": "n", "name": "x", "description": "d",
        "lifecycle": "available", "tool_kind": "function",
        "input_contract": {"model_input_schema": {"type": "object", "maximum": 18446744073709551617}}}}"#;

    #[test]
    fn all_three_forms_are_read() {
        for text in [ONE.to_owned(), format!("[{ONE}, {ONE}]"), format!("{{\"tools\": [{ONE}]}}")] {
            let tools = parse(&text).unwrap();
            let schema = tools[0].declaration.input_contract.clone().unwrap().model_input_schema.unwrap();
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

    /// The example tools can be registered as they are.
    #[test]
    fn examples_are_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/examples/tools");
        let mut read = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            read += parse(&text).unwrap().len();
        }
        assert!(read >= 8, "only {read} example tools");
    }
}
