//! A file of registrations.

use std::path::Path;

use serde_json::value::RawValue;
use toolplane_catalog::Registration;
use toolplane_providers::Found;
use toolplane_records::provider::Provider;
use toolplane_records::vocabulary::ProviderFault;

use super::adopted::{adopted, unreadable};
use crate::declarations;
use crate::providers::look::{Fault, Said};

/// The tools in a file. Not to be called on threads that serve calls.
pub(crate) fn read(provider: &Provider, path: &Path) -> Result<Said, Fault> {
    if !path.exists() {
        return Err(Fault::new(ProviderFault::Unreachable, "the file is not there"));
    }
    let texts = declarations::json_of(path)
        .and_then(|bytes| declarations::texts(&bytes))
        .map_err(|why| Fault::new(ProviderFault::ProtocolError, format!("the file {why}")))?;
    Ok(Said { tools: texts.iter().map(|text| found(provider, text)).collect(), ..Said::default() })
}

fn found(provider: &Provider, text: &RawValue) -> Found {
    match serde_json::from_str::<Registration>(text.get()) {
        Ok(registration) => {
            let native_id = registration.declaration.full_name();
            let made = adopted(provider, &native_id, registration);
            Found { native_id, made }
        }
        Err(error) => unreadable(text, &error, |namespace, name| {
            namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}.{name}"))
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_bad_tool_never_loses_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tools.json");
        let tool = |name: &str| {
            json!({ "tool_id": format!("tool_{name}"), "namespace": "own", "name": name, "description": "d",
                "lifecycle": "available", "tool_kind": "native_tool" })
        };
        let mut wrong = tool("wrong");
        wrong["lifecycle"] = json!(7);
        let file = json!([{ "declaration": tool("good") }, { "declaration": wrong }, 7]);
        std::fs::write(&path, file.to_string()).unwrap();
        let provider = json!({ "provider_id": "own", "tenant": "default", "namespace": "mine",
            "source": { "kind": "file", "path": path } });
        let said = read(&serde_json::from_value(provider).unwrap(), &path).unwrap();
        let outcomes: Vec<_> = said.tools.iter().map(|one| (one.native_id.as_str(), one.made.is_ok())).collect();
        assert_eq!(outcomes, [("own.good", true), ("own.wrong", false), ("", false)]);
    }
}
