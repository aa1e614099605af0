//! The package for TypeScript: its own tests against a cluster of this test, its stubs, its tarball.

use std::path::PathBuf;
use std::process::{Command, Output};

use toolplane_testkit::{Cluster, Options, binary};

/// Short leases, so that workers that are killed are missed soon. Where nobody asks who calls, everybody may do everything.
const CONFIG: &str = r#"
[permission]
allow_self_approval = true

[scheduler]
lease_ms = 5000
offer_ms = 3000
heartbeat_ms = 1000
tick_ms = 100

[[permission.rules]]
behavior = "allow"
tool = "*"
facts = ["read_only", "!open_world"]
reason = "reading is fine"
"#;

/// As in [`CONFIG`]: one test keeps a worker busy for longer than this.
const LEASE_MS: &str = "5000";

fn folder() -> PathBuf {
    binary::root().join("sdk/typescript")
}

/// `npm` in the folder of the package; `cargo xtask test --prepare` has installed what it needs.
fn npm(args: &[&str]) -> Command {
    let installed = folder().join("node_modules/.package-lock.json");
    assert!(installed.is_file(), "{} is missing: run `cargo xtask test --prepare`", installed.display());
    let mut npm = Command::new("npm");
    npm.current_dir(folder()).args(args);
    // A trace or a credential of whoever runs the tests would be taken for that of the calls.
    for variable in ["TRACEPARENT", "TRACESTATE", "TOOLPLANE_TOKEN", "TOOLPLANE_TOKEN_FILE"] {
        npm.env_remove(variable);
    }
    npm
}

fn check(what: &str, output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what} failed:\n{said}\n{complained}");
    said
}

#[tokio::test]
async fn the_tests_of_the_package_pass_against_a_cluster() {
    let cluster = Cluster::start(Options::new(CONFIG)).await.unwrap();
    let mut tests = npm(&["test"]);
    tests.env("TOOLPLANE_ENDPOINT", cluster.endpoint()).env("TOOLPLANE_TEST_LEASE_MS", LEASE_MS);
    let said = check("`npm test`", &tests.output().unwrap());
    // A run that found no tests would end well, too.
    let passed = said.lines().find_map(|line| line.trim_start_matches(['#', '\u{2139}', ' ']).strip_prefix("pass "));
    let passed: usize = passed.and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    assert!(passed > 50, "only {passed} tests passed:\n{said}");
}

#[test]
fn the_stubs_of_the_package_are_fresh() {
    let said = check("`npm run check:generated`", &npm(&["run", "check:generated"]).output().unwrap());
    assert!(said.contains("generated files are fresh"), "{said}");
}
