//! Rules about who may use whom. What is not listed is not allowed.

use serde_json::Value;

use crate::command::{self, TaskError};

/// Every package and the packages of ours it may use. Tests may use more (`[dev-dependencies]`).
const MAY_USE: [(&str, &[&str]); 28] = [
    ("toolplane-records", &[]),
    ("toolplane-codegen", &[]),
    // Only the list of what a workspace protects.
    ("toolplane-sandbox", &["toolplane-records"]),
    ("toolplane-proto", &["toolplane-records"]),
    ("toolplane-catalog", &["toolplane-records"]),
    ("toolplane-policy", &["toolplane-records"]),
    ("toolplane-cedar", &["toolplane-records", "toolplane-policy"]),
    ("toolplane-lifecycle", &["toolplane-records"]),
    ("toolplane-store", &["toolplane-records", "toolplane-lifecycle"]),
    ("toolplane-store-embedded", &["toolplane-records", "toolplane-lifecycle", "toolplane-store"]),
    ("toolplane-store-redis", &["toolplane-records", "toolplane-lifecycle", "toolplane-store"]),
    ("toolplane-faultpoint", &[]),
    ("toolplane-results", &["toolplane-records"]),
    // What inputs a tool can do anything with is said once, by the catalogue, and asked here again before it is done.
    (
        "toolplane-execution",
        &["toolplane-records", "toolplane-catalog", "toolplane-policy", "toolplane-sandbox", "toolplane-results"],
    ),
    ("toolplane-runtime", &["toolplane-records", "toolplane-proto"]),
    ("toolplane-hooks", &["toolplane-records", "toolplane-proto", "toolplane-sandbox", "toolplane-runtime"]),
    (
        "toolplane-backend",
        &[
            "toolplane-runtime",
            "toolplane-store",
            "toolplane-store-embedded",
            "toolplane-store-redis",
            // How payloads are named, for `stored` alone: no role pays for it.
            "toolplane-results",
        ],
    ),
    ("toolplane-testkit", &["toolplane-records", "toolplane-proto"]),
    ("xtask", &[]),
    (
        "xtask-cluster",
        &[
            "toolplane-testkit",
            "toolplane-records",
            "toolplane-proto",
            "toolplane-policy",
            "toolplane-cedar",
            "toolplane-store",
            "toolplane-store-embedded",
            "toolplane-store-redis",
        ],
    ),
    ("toolplane-surface", SERVICE),
    ("toolplane-permission", SERVICE),
    ("toolplane-scheduler", SERVICE),
    ("toolplane-executor", SERVICE),
    (
        "toolplane",
        &[
            "toolplane-surface",
            "toolplane-permission",
            "toolplane-scheduler",
            "toolplane-executor",
            "toolplane-records",
            "toolplane-proto",
            "toolplane-runtime",
            // `toolplane store`: what the roles keep, looked at while they do not run.
            "toolplane-backend",
        ],
    ),
    ("toolplane-tests", OUTSIDE),
    // Looks into the stores when everything is over: whether anything was left behind.
    (
        "toolplane-faults",
        &[
            "toolplane-testkit",
            "toolplane-records",
            "toolplane-proto",
            "toolplane-runtime",
            "toolplane-faultpoint",
            "toolplane-store",
            "toolplane-store-embedded",
            "toolplane-store-redis",
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
        ],
    ),
];

/// What tests of the whole may use: nothing from inside.
const OUTSIDE: &[&str] =
    &["toolplane-testkit", "toolplane-records", "toolplane-proto", "toolplane-runtime", "toolplane-faultpoint"];

/// What every service may use: crates, never another service.
const SERVICE: &[&str] = &[
    "toolplane-records",
    "toolplane-proto",
    "toolplane-catalog",
    "toolplane-policy",
    "toolplane-cedar",
    "toolplane-lifecycle",
    "toolplane-store",
    "toolplane-store-embedded",
    "toolplane-store-redis",
    "toolplane-backend",
    "toolplane-faultpoint",
    "toolplane-hooks",
    "toolplane-execution",
    "toolplane-sandbox",
    "toolplane-results",
    "toolplane-runtime",
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
    let mut broken = Vec::new();
    for dependency in used.filter_map(|dependency| dependency["name"].as_str()) {
        let ours = MAY_USE.iter().any(|(known, _)| *known == dependency);
        if ours && !allowed.contains(&dependency) {
            broken.push(format!("{name}: may not use {dependency}"));
        }
        let confined = CONFINED.iter().find(|(library, _)| *library == dependency);
        if confined.is_some_and(|(_, users)| !users.contains(&name)) {
            broken.push(format!("{name}: may not know {dependency}"));
        }
    }
    broken
}
