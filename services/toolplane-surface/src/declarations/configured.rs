//! The tool files that the configuration names: read all together, so that whatever is wrong in any of them is told at once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolplane_catalog::{Catalog, CatalogLimits, Registration};
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::vocabulary::ToolLifecycle;
use toolplane_runtime::status::describe;

use super::ToolFile;
use crate::error::{SurfaceError, of_violations};
use crate::registry::Registry;

/// What is said of a field of a tool file that may be misspelled.
const LEFT_OUT: &str = "no record has this field; nothing is kept of it";

/// Tool files that were checked, with what they hold.
#[derive(Debug)]
pub(crate) struct ToolFiles(Vec<(PathBuf, ToolFile)>);

/// What is wrong with files: the place of each among all of them, and why.
type Faults = Vec<(usize, String)>;

impl ToolFiles {
    /// Reads them, and registers their tools with nothing, as a start does with what is stored.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Declarations`] with all that is wrong, file by file: it cannot be read, declares a tool otherwise than one before it (each start
    /// would register both, one after the other), or its tools are refused.
    pub(crate) fn checked(files: &[PathBuf]) -> Result<Self, SurfaceError> {
        let (mut read, mut faults) = (Vec::with_capacity(files.len()), Faults::new());
        for (at, file) in files.iter().enumerate() {
            match super::read(file) {
                Ok(tools) => read.push((at, tools)),
                Err(reason) => faults.push((at, reason)),
            }
        }
        faults.extend(told_differently(files, &read));
        faults.extend(refused(&read));
        if faults.is_empty() {
            return Ok(Self(files.iter().cloned().zip(read.into_iter().map(|(_, tools)| tools)).collect()));
        }
        faults.sort_by_key(|(at, _)| *at);
        Err(SurfaceError::Declarations {
            faults: faults.into_iter().map(|(at, why)| (files[at].clone(), why)).collect(),
        })
    }

    /// What the files hold that no record has.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let each = self.0.iter().flat_map(|(file, tools)| tools.left_out.iter().map(move |field| (file, field)));
        each.map(|(file, field)| format!("{}: `{field}`: {LEFT_OUT}", file.display())).collect()
    }

    /// Registers the tools. What was retired meanwhile stays retired, and what no record takes is said in the log.
    ///
    /// # Errors
    ///
    /// [`SurfaceError::Declarations`] with the first file whose tools are refused.
    pub(crate) async fn register(self, registry: &Registry) -> Result<(), SurfaceError> {
        let tenant = TenantId::unauthenticated();
        for (file, ToolFile { mut registrations, left_out, .. }) in self.0 {
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
fn told_differently(files: &[PathBuf], read: &[(usize, ToolFile)]) -> Faults {
    let mut declared: BTreeMap<&ToolId, (usize, &Registration)> = BTreeMap::new();
    let mut faults = Faults::new();
    for (at, tools) in read {
        let mut differs = None;
        for tool in &tools.registrations {
            let id = &tool.declaration.tool_id;
            let (first, other) = *declared.entry(id).or_insert((*at, tool));
            // The same id twice in one file is refused with the rest of what is wrong in it.
            if first != *at && other != tool {
                differs.get_or_insert((id, first));
            }
        }
        if let Some((id, first)) = differs {
            let other = files[first].display();
            faults.push((*at, format!("declares `{id}` otherwise than `{other}` does: leave one of them out")));
        }
    }
    faults
}

/// The files whose tools are refused, one after the other.
fn refused(read: &[(usize, ToolFile)]) -> Faults {
    let mut catalog = Catalog::new(CatalogLimits::default());
    let mut faults = Faults::new();
    for (at, tools) in read {
        match catalog.plan_register(&tools.registrations) {
            Ok(planned) => planned.into_iter().for_each(|change| catalog.apply(change)),
            Err(violations) => {
                let in_file = violations.into_iter().map(|wrong| match super::part_of_request(&wrong.field) {
                    Some((index, part)) => FieldViolation { field: tools.place(index).of(part), ..wrong },
                    None => wrong,
                });
                let refused = of_violations(in_file.collect());
                faults.push((*at, describe(&(&refused).into()).to_string()));
            }
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
            ToolFiles::checked(&files).map(|files| files.0.len()).map_err(|error| match error {
                SurfaceError::Declarations { faults } => faults
                    .into_iter()
                    .map(|(file, reason)| format!("{} {reason}", file.file_name().unwrap().display()))
                    .collect::<Vec<_>>(),
                other => panic!("{other}"),
            })
        };
        let (one, other, another) = (tool("x", "this"), tool("x", "that"), tool("y", "this"));
        assert_eq!(read(&[&one, &another, &one]), Ok(3), "the same twice is no contradiction");
        assert_eq!(read(&[&one, r#"{"tools":[]}"#]), Ok(2), "a list may be empty");
        let nameless = tool("z", " ");
        let (listed, wrong) = (format!("[{another}, {nameless}]"), nameless.as_str());
        let faults = read(&["{", &one, "[1]", &listed, &another, &other, wrong]).unwrap_err();
        let begins = [
            "0.json ",
            "2.json `tools[0]`",
            "3.json `tools[1].declaration.description` ",
            "5.json declares `x` otherwise than `",
            "6.json `declaration.description` ",
        ];
        assert_eq!(faults.len(), begins.len(), "{faults:?}");
        assert!(faults.iter().zip(begins).all(|(fault, begin)| fault.starts_with(begin)), "{faults:?}");
        assert!(faults[3].contains("1.json`"), "{faults:?}");
    }
}
