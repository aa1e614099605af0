//! The organisation's own policies, in Cedar.

use toolplane_policy::PolicySettings;
use toolplane_runtime::config::PermissionConfig;

use super::active::OrgPolicies;
use super::fault::{Fault, Faults};

/// Reads and checks them; nothing when none are configured.
pub(super) fn read(section: &PermissionConfig, settings: &PolicySettings) -> Result<OrgPolicies, Faults> {
    if section.cedar_policies.is_empty() {
        return match section.cedar_schema {
            Some(_) => Err(Fault::new("permission.cedar_schema", "needs `permission.cedar_policies`").into()),
            None => Ok(None),
        };
    }
    load(section, settings)
}

#[cfg(feature = "cedar")]
fn load(section: &PermissionConfig, settings: &PolicySettings) -> Result<OrgPolicies, Faults> {
    use std::path::Path;
    use std::sync::Arc;

    use toolplane_cedar::{CedarPolicies, PolicyText};

    let text = |key: String, file: &Path| {
        let name = file.display().to_string();
        std::fs::read_to_string(file)
            .map(|text| PolicyText::new(&name, text))
            .map_err(|error| Fault::new(key, format!("`{name}` cannot be read: {error}")))
    };
    let mut faults = Vec::new();
    let mut sources = Vec::with_capacity(section.cedar_policies.len());
    for (index, file) in section.cedar_policies.iter().enumerate() {
        match text(format!("permission.cedar_policies[{index}]"), file) {
            Ok(source) => sources.push(source),
            Err(fault) => faults.push(fault),
        }
    }
    let schema = section.cedar_schema.as_deref().map(|file| text("permission.cedar_schema".to_owned(), file));
    let schema = schema.transpose().map_err(Faults::from)?;
    if !faults.is_empty() {
        return Err(Faults(faults));
    }
    let policies = CedarPolicies::load(&sources, schema.as_ref(), settings).map_err(|found| {
        let placed = |fault: &toolplane_cedar::PolicyFault| match fault.line {
            Some(line) => Fault::new(format!("{}:{line}", fault.source), &fault.rule),
            None => Fault::new(&fault.source, &fault.rule),
        };
        Faults(found.iter().map(placed).collect())
    })?;
    for warning in policies.warnings() {
        tracing::warn!(%warning, "the check of an organisation policy warns");
    }
    Ok(Some(Arc::new(policies)))
}

#[cfg(not(feature = "cedar"))]
fn load(_: &PermissionConfig, _: &PolicySettings) -> Result<OrgPolicies, Faults> {
    Err(Fault::new("permission.cedar_policies", "this program was built without Cedar").into())
}
