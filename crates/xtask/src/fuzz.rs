//! `cargo xtask fuzz`: mutated and made-up bytes for every reader of foreign bytes, for as long as the developer wants
//! to wait.

use serde_json::Value;

use crate::command::{self, TaskError};

/// The crate every package with targets has among its test dependencies.
const CRATE: &str = "toolplane-fuzz";

/// What is fuzzed.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long each reader is tried.
    #[arg(long, default_value_t = 1)]
    minutes: u64,
    /// Only readers whose name holds this.
    target: Option<String>,
}

/// Runs every target; what a reader fails at is kept in `regressions/` of its package, and tried by every test run from then on.
pub(crate) fn run(args: &Args) -> Result<(), TaskError> {
    let text = command::capture(command::cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_slice(&text).map_err(|error| TaskError::Answer(error.to_string()))?;
    let mut tests = command::cargo(&["test", "--lib", "--no-fail-fast"]);
    for package in with_targets(&metadata) {
        tests.args(["--package", &package]);
    }
    let name = format!("fuzz::{}", args.target.as_deref().unwrap_or_default());
    tests.args(["--", &name]).env("TOOLPLANE_FUZZ_SECONDS", args.minutes.saturating_mul(60).to_string());
    command::run(tests)
}

/// The packages that have targets.
fn with_targets(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has = |package: &&Value| {
        let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
        dependencies.iter().any(|dependency| dependency["name"] == CRATE)
    };
    packages.iter().filter(has).filter_map(|package| package["name"].as_str()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn packages_with_targets_are_those_that_can_fuzz() {
        let package = |name: &str, dependency: &str| json!({ "name": name, "dependencies": [{ "name": dependency }] });
        let metadata = json!({ "packages": [package("a", "toolplane-fuzz"), package("b", "proptest")] });
        assert_eq!(super::with_targets(&metadata), ["a"]);
    }
}
