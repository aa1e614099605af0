//! Files that a command leaves in its workspace, from the declaration to the bytes.

use serde_json::{Value, json};
use toolplane_testkit::Options;
use toolplane_testkit::tools::registration;

use crate::bed::{Bed, RULES, register, surface};
use crate::shell::Shell;

/// A shell that leaves what fits `expected`.
fn tool(name: &str, expected: &[&str]) -> Value {
    json!({
        "declaration": {
            "tool_id": format!("tool_{name}"), "namespace": "made", "name": name, "description": "Leaves files.",
            "lifecycle": "available", "tool_kind": "shell_command",
            "input_contract": { "strict": true, "model_input_schema": {
                "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"] } },
            "output_contract": { "artifact_expectations": expected },
        },
        "interface": {
            "interface_id": format!("iface_{name}"), "tool_id": format!("tool_{name}"), "is_read_only": false,
            "is_concurrency_safe": true, "is_destructive": false, "is_open_world": false,
        },
        "execution_profile": {
            "execution_profile_id": format!("exec_{name}"), "execution_kind": "shell", "supports_artifacts": true,
            "sandboxed": true, "sandbox_profile": "workspace_shell_sandbox", "timeout_ms": 20_000, "binding": { "type": "shell" },
        },
        "permission_profile": { "permission_profile_id": format!("perm_{name}"), "risk_level": "low", "retention_hint": "1d" },
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_a_command_leaves_is_named_kept_and_read_by_its_path() {
    let rules = RULES.replace("tool = \"local.shell.exec\"", "tool = \"made.*\"").replace("\"ask\"", "\"allow\"");
    let mut bed = Bed::with(Options::new(&rules)).await;
    let declared = tool("report", &["out/*.csv", "chart.png"]);
    register(&bed.clients, vec![registration(&declared.to_string()).unwrap()]).await;
    bed.surface_id = surface(&bed.clients).await;

    let rows = 200_000;
    let command =
        format!("mkdir -p out; seq {rows} > out/rows.csv; printf '\\x89PNG\\r\\n\\x1a\\n' > chart.png; echo made");
    let result = bed.call("made.report", json!({ "command": command }).to_string()).await;
    assert_eq!((result.status.as_str(), &result.error), ("succeeded", &None));
    let told: Vec<_> =
        result.artifact_refs.iter().map(|made| (made.artifact_id.as_str(), made.media_type.as_str())).collect();
    assert_eq!(told, [("chart.png", "image/png"), ("out/rows.csv", "text/csv")]);
    let whole: String = (1..=rows).map(|row| format!("{row}\n")).collect();
    let kept = result.artifact_refs[1].payload.as_ref().unwrap();
    assert_eq!(kept.size_bytes, whole.len() as u64);

    let (shell, id) = (Shell::at(bed.cluster.endpoint()), &result.invocation_id);
    assert_eq!(shell.says(0, &["fetch", id, "--ref", "out/rows.csv"]), whole);
    assert_eq!(shell.says(0, &["fetch", id, "--ref", "out/rows.csv", "--offset", "2", "--limit", "4"]), whole[2..6]);
    assert!(shell.complains(2, &["fetch", id, "--ref", "out/none.csv"]).contains("chart.png, out/rows.csv"));
    assert!(shell.complains(0, &["get", "result", id]).contains(&format!("toolplane fetch {id} --ref out/rows.csv")));
    assert!(shell.says(0, &["results", "orphans"]).is_empty());

    // The same files are there still, and this call has not left them.
    let again = bed.call("made.report", json!({ "command": "cat out/rows.csv > /dev/null" }).to_string()).await;
    assert_eq!(again.error.as_ref().map(|error| error.error_code.as_str()), Some("result.artifact_missing"));
    assert!(again.artifact_refs.is_empty(), "{again:?}");
    let left = bed.cluster.data_dir().join("executor/outputs");
    assert_eq!(std::fs::read_dir(left).map_or(0, Iterator::count), 0, "nothing stays on the worker's disk");
}
