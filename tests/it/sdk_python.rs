//! The Python package does what its own tests say, against a cluster.

use std::process::Command;

use toolplane_testkit::{Cluster, Options, binary, polyglot};

/// What the tests of the package say they need (`sdk/python/tests/conftest.py`): tools named `pytest.*` may run, all else is asked about,
/// and who makes a call may answer. Leases are short, so that what becomes of lost ones is seen soon.
const CONFIG: &str = r#"
[permission]
allow_self_approval = true

[[permission.rules]]
id = "pytest"
behavior = "allow"
tool = "pytest.*"
reason = "tools of the tests"

[[permission.rules]]
id = "reading"
behavior = "allow"
tool = "*"
facts = ["read_only", "!open_world"]
reason = "reading is fine"

[scheduler]
lease_ms = 3000
offer_ms = 1000
heartbeat_ms = 500
tick_ms = 100
"#;

async fn cluster() -> Cluster {
    let files = toolplane_testkit::tools::example_files().unwrap();
    let files: Vec<String> = files.iter().map(|file| format!("{:?}", file.display().to_string())).collect();
    let config = format!("[surface]\ndeclarations = [{}]\n{CONFIG}", files.join(", "));
    Cluster::start(Options::new(config)).await.unwrap()
}

/// Runs the whole suite, also what needs no cluster: generated code that is stale, types that do not fit.
#[tokio::test]
async fn the_python_package_keeps_its_own_tests() {
    let cluster = cluster().await;
    let package = binary::root().join("sdk/python");
    let state = cluster.folder().join("python-state");
    let endpoint = cluster.endpoint();
    let python = polyglot::python().unwrap();
    // Away from the runtime's threads: the cluster's own process is another one, but its output is read by a task.
    let output = tokio::task::spawn_blocking(move || {
        Command::new(python)
            .args(["-m", "pytest", "-p", "no:cacheprovider", "-rs", "--strict-markers"])
            .current_dir(&package)
            .env("PYTHONPATH", package.join("src"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("TOOLPLANE_ENDPOINT", endpoint)
            .env("XDG_STATE_HOME", state)
            .env_remove("TOOLPLANE_TOKEN")
            .env_remove("TOOLPLANE_TOKEN_FILE")
            .env_remove("TRACEPARENT")
            .output()
            .unwrap()
    })
    .await
    .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the Python package fails its tests:\n{said}\n{complained}");
    // A suite that found no cluster skips what matters.
    assert!(!said.contains("names no cluster"), "the tests found no cluster:\n{said}");
    assert!(!said.contains("has not the example tools"), "the tests found no example tools:\n{said}");
}
