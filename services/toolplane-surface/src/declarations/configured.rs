//! The tool files that the configuration names: read all together, so that whatever is wrong in any of them is told at once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolplane_catalog::{Catalog, CatalogLimits, Registration};
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::vocabulary::ToolLifecycle;
use toolplane_runtime::status::describe;

use super::ToolFile;
use crate::error::{SurfaceError, of_violations};
use crate::registry::Registry;

/// What is said of a field of a tool file that may be misspelled.
const LEFT_OUT: &str = "no record has this field; nothing is kept of it";

/// Tool files, with what they hold.
#[derive(Debug)]
pub(crate) struct ToolFiles(Vec<(PathBuf, ToolFile)>);

impl ToolFiles {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Declarations`] with every file that cannot be read, and every one that declares a tool otherwise than one before it:
    /// each start would register both, one after the other.
    pub(crate) fn read(files: &[PathBuf]) -> Result<Self, SurfaceError> {
        let (mut read, mut faults) = (Vec::with_capacity(files.len()), Vec::new());
        for file in files {
            match super::read(file) {
                Ok(tools) => read.push((file.clone(), tools)),
                Err(reason) => faults.push((file.clone(), reason)),
            }
        }
        faults.extend(told_differently(&read));
        if faults.is_empty() { Ok(Self(read)) } else { Err(SurfaceError::Declarations { faults }) }
    }

    /// Registers the tools with nothing, as a start does with what is stored; what the files hold that no record has.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Declarations`] with every file whose tools are refused.
    pub(crate) fn rehearse(&self) -> Result<Vec<String>, SurfaceError> {
        let mut catalog = Catalog::new(CatalogLimits::default());
        let (mut warnings, mut faults) = (Vec::new(), Vec::new());
        for (file, ToolFile { registrations, left_out }) in &self.0 {
            warnings.extend(left_out.iter().map(|field| format!("{}: `{field}`: {LEFT_OUT}", file.display())));
            match catalog.plan_register(registrations) {
                Ok(planned) => planned.into_iter().for_each(|change| catalog.apply(change)),
                Err(violations) => {
                    faults.push((file.clone(), describe(&(&of_violations(violations)).into()).to_string()))
                }
            }
        }
        if faults.is_empty() { Ok(warnings) } else { Err(SurfaceError::Declarations { faults }) }
    }

    /// Registers the tools. What was retired meanwhile stays retired, and what no record takes is said in the log.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Declarations`] with the first file whose tools are refused.
    pub(crate) async fn register(self, registry: &Registry) -> Result<(), SurfaceError> {
        let tenant = TenantId::unauthenticated();
        for (file, ToolFile { mut registrations, left_out }) in self.0 {
            for field in left_out {
                tracing::warn!(field, file = %file.display(), "{LEFT_OUT}");
            }
            registrations.retain(|tool| {
                let id = &tool.declaration.tool_id;
                let is_retired = is_retired(registry, &tenant, id);
                if is_retired {
                    tracing::warn!(tool_id = %id, file = %file.display(), "the file declares a retired tool; it stays retired");
                }
                !is_retired
            });
            let count = registrations.len();
            registry.register(tenant.clone(), registrations, false).await.map_err(|error| {
                let reason = describe(&(&error).into()).to_string();
                SurfaceError::Declarations { faults: vec![(file.clone(), reason)] }
            })?;
            tracing::info!(count, file = %file.display(), "tools registered");
        }
        Ok(())
    }
}

fn is_retired(registry: &Registry, tenant: &TenantId, id: &ToolId) -> bool {
    let known = registry.tool(tenant, id);
    known.is_ok_and(|entry| entry.tool.registration().lifecycle() == ToolLifecycle::Retired)
}

/// The files that declare a tool otherwise than one before them, with the first such tool of each.
fn told_differently(files: &[(PathBuf, ToolFile)]) -> Vec<(PathBuf, String)> {
    let mut declared: BTreeMap<&ToolId, (usize, &Registration)> = BTreeMap::new();
    let mut faults = Vec::new();
    for (at, (file, tools)) in files.iter().enumerate() {
        let mut differs = None;
        for tool in &tools.registrations {
            let id = &tool.declaration.tool_id;
            let (first, other) = *declared.entry(id).or_insert((at, tool));
            // The same id twice in one file is refused with the rest of what is wrong in it.
            if first != at && other != tool {
                differs.get_or_insert((id, first));
            }
        }
        if let Some((id, first)) = differs {
            let other = files[first].0.display();
            faults
                .push((file.clone(), format!("declares `{id}` otherwise than `{other}` does: leave one of them out")));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(id: &str, description: &str) -> String {
        format!(
            r#"{{"declaration":{{"tool_id":"{id}","namespace":"a","name":"{id}","description":"{description}",
               "lifecycle":"available","tool_kind":"native_tool",
               "input_contract":{{"model_input_schema":{{"type":"object"}}}}}}}}"#
        )
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let read = |texts: &[&str]| {
            let files: Vec<PathBuf> = texts
                .iter()
                .enumerate()
                .map(|(at, text)| {
                    let file = folder.path().join(format!("{at}.json"));
                    std::fs::write(&file, text).unwrap();
                    file
                })
                .collect();
            ToolFiles::read(&files).map(|files| files.0.len()).map_err(|error| match error {
                SurfaceError::Declarations { faults } => faults
                    .into_iter()
                    .map(|(file, reason)| format!("{} {reason}", file.file_name().unwrap().display()))
                    .collect::<Vec<_>>(),
                other => panic!("{other}"),
            })
        };
        let (one, other, another) = (tool("x", "this"), tool("x", "that"), tool("y", "this"));
        assert_eq!(read(&[&one, &another, &one]), Ok(3), "the same twice is no contradiction");
        let faults = read(&["{", &one, "[1]", &another, &other]).unwrap_err();
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert!(faults[0].starts_with("0.json ") && faults[1].starts_with("2.json "), "{faults:?}");
        assert!(
            faults[2].starts_with("4.json declares `x` otherwise than `") && faults[2].contains("1.json`"),
            "{faults:?}"
        );
    }
}
