//! Rules about who may use whom. What is not listed is not allowed.

use serde_json::Value;

use crate::command::{self, TaskError};

/// Every package and the packages of ours it may use, which are those it does use: a line that is longer than that is an error too.
/// Tests may use more (`[dev-dependencies]`).
const MAY_USE: &[(&str, &[&str])] = &[
    ("toolplane-records", &[]),
    ("toolplane-codegen", &[]),
    // Only what a workspace protects, and the codes of errors.
    ("toolplane-sandbox", &["toolplane-records"]),
    ("toolplane-proto", &["toolplane-forms", "toolplane-records"]),
    // What texts about tools, commands, paths and hosts mean: defined once, for all code that reads such texts.
    ("toolplane-matching", &["toolplane-records"]),
    // Texts and vectors alone.
    ("toolplane-meaning", &[]),
    // What a declaration may have taken out of outputs is said by cleaning; how two orders become one, by meaning.
    ("toolplane-catalog", &["toolplane-cleaning", "toolplane-matching", "toolplane-meaning", "toolplane-records"]),
    ("toolplane-cleaning", &["toolplane-records"]),
    ("toolplane-evidence", &["toolplane-records"]),
    // A call in the forms of other protocols: who shows it, and over what, is for those that use it.
    ("toolplane-forms", &["toolplane-records"]),
    // Tools in the shapes of vendors and calls back from them; it writes objects as forms do.
    ("toolplane-shapes", &["toolplane-forms", "toolplane-records"]),
    // What a registration is, and what has changed in one, is said by the catalogue.
    ("toolplane-providers", &["toolplane-catalog", "toolplane-matching", "toolplane-records"]),
    // The catalogue says which schemas a tool may have.
    ("toolplane-openapi", &["toolplane-catalog", "toolplane-records"]),
    ("toolplane-policy", &["toolplane-matching", "toolplane-records"]),
    ("toolplane-cedar", &["toolplane-matching", "toolplane-policy", "toolplane-records"]),
    ("toolplane-lifecycle", &["toolplane-records"]),
    ("toolplane-store", &["toolplane-records"]),
    ("toolplane-store-embedded", &["toolplane-records", "toolplane-store"]),
    ("toolplane-store-redis", &["toolplane-records", "toolplane-store"]),
    ("toolplane-faultpoint", &[]),
    ("toolplane-fuzz", &[]),
    ("toolplane-wait", &[]),
    ("toolplane-allocations", &[]),
    ("toolplane-metrics", &[]),
    // A protocol: who starts a server, and whether it may be asked, is for those that use it.
    ("toolplane-mcp", &["toolplane-records"]),
    ("toolplane-results", &["toolplane-records"]),
    ("toolplane-credentials", &["toolplane-matching", "toolplane-records"]),
    // What an allow list is, says the catalogue.
    ("toolplane-egress", &["toolplane-catalog", "toolplane-matching"]),
    // What inputs a tool can do anything with is said once, by the catalogue, and asked here again before it is done.
    (
        "toolplane-execution",
        &[
            "toolplane-catalog",
            "toolplane-credentials",
            "toolplane-egress",
            "toolplane-matching",
            "toolplane-mcp",
            "toolplane-openapi",
            "toolplane-records",
            "toolplane-sandbox",
        ],
    ),
    // The counted allocations are there in builds for benches alone.
    (
        "toolplane-runtime",
        &[
            "toolplane-allocations",
            "toolplane-cleaning",
            "toolplane-credentials",
            "toolplane-metrics",
            "toolplane-records",
        ],
    ),
    (
        "toolplane-hooks",
        &["toolplane-matching", "toolplane-proto", "toolplane-records", "toolplane-runtime", "toolplane-sandbox"],
    ),
    // The results are there for how payloads are named, in `stored` alone: no role pays for it.
    (
        "toolplane-backend",
        &[
            "toolplane-metrics",
            "toolplane-records",
            "toolplane-results",
            "toolplane-runtime",
            "toolplane-store",
            "toolplane-store-embedded",
            "toolplane-store-redis",
        ],
    ),
    ("toolplane-testkit", &["toolplane-proto", "toolplane-records", "toolplane-wait"]),
    ("xtask", &[]),
    (
        "xtask-cluster",
        &[
            "toolplane-allocations",
            "toolplane-cedar",
            "toolplane-lifecycle",
            "toolplane-matching",
            "toolplane-mcp",
            "toolplane-policy",
            "toolplane-proto",
            "toolplane-records",
            "toolplane-store",
            "toolplane-store-embedded",
            "toolplane-store-redis",
            "toolplane-testkit",
        ],
    ),
    // Services use crates, and never another service.
    (
        "toolplane-surface",
        &[
            "toolplane-backend",
            "toolplane-catalog",
            "toolplane-credentials",
            "toolplane-egress",
            "toolplane-matching",
            "toolplane-mcp",
            "toolplane-meaning",
            "toolplane-metrics",
            "toolplane-openapi",
            "toolplane-proto",
            "toolplane-providers",
            "toolplane-records",
            "toolplane-runtime",
            "toolplane-shapes",
            "toolplane-store",
        ],
    ),
    (
        "toolplane-permission",
        &[
            "toolplane-backend",
            "toolplane-catalog",
            "toolplane-cedar",
            "toolplane-cleaning",
            "toolplane-forms",
            "toolplane-hooks",
            "toolplane-matching",
            "toolplane-policy",
            "toolplane-proto",
            "toolplane-records",
            "toolplane-runtime",
            "toolplane-store",
        ],
    ),
    (
        "toolplane-scheduler",
        &[
            "toolplane-backend",
            "toolplane-catalog",
            "toolplane-cleaning",
            "toolplane-faultpoint",
            "toolplane-forms",
            "toolplane-hooks",
            "toolplane-lifecycle",
            "toolplane-matching",
            "toolplane-metrics",
            "toolplane-proto",
            "toolplane-records",
            "toolplane-results",
            "toolplane-runtime",
            "toolplane-store",
        ],
    ),
    (
        "toolplane-executor",
        &[
            "toolplane-cleaning",
            "toolplane-credentials",
            "toolplane-execution",
            "toolplane-faultpoint",
            "toolplane-metrics",
            "toolplane-proto",
            "toolplane-records",
            "toolplane-results",
            "toolplane-runtime",
            "toolplane-sandbox",
        ],
    ),
    // It asks the roles, and knows nothing of what they are made of. The messages of MCP are those of its client.
    (
        "toolplane-gateway",
        &["toolplane-forms", "toolplane-mcp", "toolplane-proto", "toolplane-records", "toolplane-runtime"],
    ),
    // The backend is there for `toolplane store`: what the roles keep, looked at while they do not run.
    (
        "toolplane",
        &[
            "toolplane-backend",
            "toolplane-credentials",
            "toolplane-evidence",
            "toolplane-executor",
            "toolplane-forms",
            "toolplane-gateway",
            "toolplane-permission",
            "toolplane-proto",
            "toolplane-records",
            "toolplane-runtime",
            "toolplane-scheduler",
            "toolplane-surface",
        ],
    ),
    // Tests of the whole name nothing from inside; what they do use, they use as tests.
    ("toolplane-tests", &[]),
    // Looks into the stores when everything is over: whether anything was left behind.
    (
        "toolplane-faults",
        &[
            "toolplane-faultpoint",
            "toolplane-proto",
            "toolplane-store",
            "toolplane-store-embedded",
            "toolplane-store-redis",
            "toolplane-testkit",
            "toolplane-wait",
        ],
    ),
    (
        "toolplane-simulation",
        &[
            "toolplane-records",
            "toolplane-lifecycle",
            "toolplane-proto",
            "toolplane-store",
            "toolplane-scheduler",
            "toolplane-faultpoint",
            "toolplane-wait",
        ],
    ),
];

/// Libraries that only some packages may know.
const CONFINED: [(&str, &[&str]); 6] = [
    (
        "tonic",
        &[
            "toolplane-proto",
            "toolplane-runtime",
            "toolplane-hooks",
            "toolplane-surface",
            "toolplane-permission",
            "toolplane-scheduler",
            "toolplane-executor",
            "toolplane-gateway",
            "toolplane",
            "toolplane-testkit",
            "xtask-cluster",
            "toolplane-tests",
            "toolplane-faults",
        ],
    ),
    ("cedar-policy", &["toolplane-cedar"]),
    ("redis", &["toolplane-store-redis"]),
    ("redb", &["toolplane-store-embedded"]),
    ("object_store", &["toolplane-results"]),
    ("opentelemetry_sdk", &["toolplane-runtime"]),
];

pub(super) fn check() -> Result<Vec<String>, TaskError> {
    let text = command::capture(command::cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_slice(&text).map_err(|error| TaskError::Answer(error.to_string()))?;
    let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
    Ok(packages.iter().flat_map(package).collect())
}

/// The rules one package breaks.
pub(super) fn package(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let Some((_, allowed)) = MAY_USE.iter().find(|(known, _)| *known == name) else {
        return vec![format!("{name}: nothing says what this package may use (xtask, tidy/dependencies.rs)")];
    };
    let dependencies = package["dependencies"].as_array().cloned().unwrap_or_default();
    let used = dependencies.iter().filter(|dependency| dependency["kind"].is_null());
    let used: Vec<_> = used.filter_map(|dependency| dependency["name"].as_str()).collect();
    let mut broken = Vec::new();
    for dependency in &used {
        let ours = MAY_USE.iter().any(|(known, _)| known == dependency);
        if ours && !allowed.contains(dependency) {
            broken.push(format!("{name}: may not use {dependency}"));
        }
        let confined = CONFINED.iter().find(|(library, _)| library == dependency);
        if confined.is_some_and(|(_, users)| !users.contains(&name)) {
            broken.push(format!("{name}: may not know {dependency}"));
        }
    }
    for idle in allowed.iter().filter(|allowed| !used.contains(allowed)) {
        broken.push(format!("{name}: does not use {idle}; remove it from its line (xtask, tidy/dependencies.rs)"));
    }
    for (library, _) in
        CONFINED.iter().filter(|(library, users)| users.contains(&name) && !knows(&dependencies, library))
    {
        broken.push(format!("{name}: does not know {library}; remove it from that list (xtask, tidy/dependencies.rs)"));
    }
    broken
}

/// Whether a package has this library in any way, tests included.
fn knows(dependencies: &[Value], library: &str) -> bool {
    dependencies.iter().any(|dependency| dependency["name"] == library)
}
