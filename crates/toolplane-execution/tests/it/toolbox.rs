use std::sync::Arc;

use toolplane_execution::{SystemLookup, Toolbox, ToolboxOptions};
use toolplane_records::profile::BUILT_IN;
use toolplane_sandbox::bubblewrap;

use crate::support::{execute, failure, sandbox, shell_call, toolbox};

#[tokio::test]
async fn with_the_sandbox_every_pool_is_served() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let capabilities = toolbox.capabilities();
    assert_eq!(capabilities.pools, toolplane_execution::POOLS);
    assert!(capabilities.gaps.is_empty() && capabilities.posture.available);
    let files = ["files.edit_file", "files.list_dir", "files.read_file", "files.search_text", "files.write_file"];
    let native = ["native.ask", "native.echo", "native.noop", "native.sleep"];
    assert_eq!(toolbox.native_tools(), [&files[..], &native].concat());
    // What a pool is said to hold is what is there.
    let mut shared: Vec<_> = BUILT_IN.iter().flat_map(|(_, tools)| tools.iter().copied()).collect();
    shared.sort_unstable();
    assert_eq!(toolbox.native_tools(), shared);
}

#[tokio::test]
async fn without_the_sandbox_its_pools_are_gaps_and_nothing_runs() {
    let workspace = tempfile::tempdir().unwrap();
    let mut options = ToolboxOptions::new(workspace.path());
    options.sandbox = bubblewrap::BubblewrapOptions { bwrap: Some("/nowhere/bwrap".into()), ..Default::default() };
    let toolbox = Toolbox::probe(options).await;
    let capabilities = toolbox.capabilities();
    assert_eq!(capabilities.pools, ["files", "http", "mcp_http", "native", "openapi"]);
    let gaps: Vec<_> = capabilities.gaps.iter().map(|gap| (gap.pool, gap.reason_code)).collect();
    assert_eq!(gaps, ["mcp_stdio", "process", "shell"].map(|pool| (pool, "sandbox_unavailable")));
    assert!(capabilities.gaps[0].message.contains("install the package `bubblewrap`"), "{:?}", capabilities.gaps);
    let outcome = execute(&toolbox, &shell_call("touch ran")).await;
    assert_eq!(failure(&outcome), ("capability_gap", "sandbox.unavailable"));
    assert!(!workspace.path().join("ran").exists());
}

#[tokio::test]
async fn a_sandbox_that_no_longer_holds_runs_nothing() {
    let workspace = tempfile::tempdir().unwrap();
    let (sandbox, mut posture) = sandbox().await;
    posture.available = false;
    posture.missing_reason = Some("a layer fell".into());
    let toolbox =
        Toolbox::with_sandbox(ToolboxOptions::new(workspace.path()), sandbox, posture, Arc::new(SystemLookup));
    let outcome = execute(&toolbox, &shell_call("touch ran")).await;
    assert_eq!(failure(&outcome), ("capability_gap", "sandbox.unavailable"));
    assert!(!workspace.path().join("ran").exists());
}
