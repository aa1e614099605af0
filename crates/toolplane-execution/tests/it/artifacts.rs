//! What programs leave in their workspace.

use std::path::Path;
use std::sync::Arc;

use toolplane_execution::{ArtifactBounds, Call, Outcome, SystemLookup, ToolboxOptions};
use toolplane_records::vocabulary::ResultStatus;

use crate::support::{execute, failure, shell_call, toolbox_with};

fn expecting(command: &str, patterns: &[&str]) -> Call {
    let expected_files = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    Call { expected_files, ..shell_call(command) }
}

async fn run(folder: &Path, bounds: ArtifactBounds, call: &Call) -> Outcome {
    let workspace = folder.join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    let mut options = ToolboxOptions::new(workspace);
    (options.outputs, options.artifacts) = (Some(folder.join("outputs")), bounds);
    execute(&toolbox_with(options, Arc::new(SystemLookup)).await, call).await
}

/// Path, kind and bytes of each.
fn left(outcome: &Outcome) -> Vec<(&str, &str, String)> {
    let bytes = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let told = outcome.artifacts.iter();
    told.map(|made| (made.path.as_str(), made.media_type.as_str(), bytes(made.file.path()))).collect()
}

#[tokio::test]
async fn what_a_run_makes_or_changes_is_taken_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("workspace/out");
    std::fs::create_dir_all(&workspace).unwrap();
    for name in ["old.csv", "same.csv", "changed.csv"] {
        std::fs::write(workspace.join(name), "0").unwrap();
    }
    let command = "cd out; printf a > new.csv; printf 1 > changed.csv; touch -d 2001-01-01 changed.csv; \
                   printf x > note.txt; mkdir deep; printf '{}' > deep/in.json; cat old.csv";
    let call = expecting(command, &["out/*.csv", "*.json"]);
    let outcome = run(folder.path(), ArtifactBounds::default(), &call).await;
    assert!(outcome.is_success(), "{outcome:?}");
    let expected = [
        ("out/changed.csv", "text/csv", "1".to_owned()),
        ("out/deep/in.json", "application/json", "{}".to_owned()),
        ("out/new.csv", "text/csv", "a".to_owned()),
    ];
    assert_eq!(left(&outcome), expected);
    // The copy is out of the reach of what comes later, and goes with its last holder.
    std::fs::write(workspace.join("new.csv"), "other").unwrap();
    assert_eq!(left(&outcome)[2].2, "a");
    drop(outcome);
    assert_eq!(std::fs::read_dir(folder.path().join("outputs")).unwrap().count(), 0);
    let none = run(folder.path(), ArtifactBounds::default(), &shell_call("echo b > out/more.csv")).await;
    assert!(none.is_success() && none.artifacts.is_empty(), "a tool that expects nothing leaves nothing");
}

#[tokio::test]
async fn links_and_second_names_are_left_out_and_said() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    let call = expecting(
        "mkdir out; ln -s /etc/passwd out/a; ln -s ../../secret out/b; echo 1 > d; ln d out/d; echo ok > out/e; \
         ln -s /etc out/dir; ln -s ../../ out/up; echo 1 > out/$'g\\xff'",
        &["out/**"],
    );
    let outcome = run(folder.path(), ArtifactBounds::default(), &call).await;
    assert_eq!(left(&outcome), [("out/e", "text/plain; charset=utf-8", "ok\n".to_owned())]);
    assert_eq!((outcome.status, failure(&outcome).1), (ResultStatus::PartialSucceeded, "result.not_kept"));
    let message = &outcome.error.as_ref().unwrap().message;
    for named in ["`out/a` (it is a link", "`out/b`", "`out/d` (it has a second name)", "(its name is no UTF-8)"] {
        assert!(message.contains(named), "{message}");
    }
}

#[tokio::test]
async fn more_than_the_bounds_is_left_out_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let make = |count: u32| format!("for i in $(seq {count}); do head -c 100 /dev/zero > $i.bin; done");
    let few = ArtifactBounds { files: 2, ..ArtifactBounds::default() };
    let outcome = run(folder.path(), few, &expecting(&make(8), &["*.bin"])).await;
    assert_eq!(outcome.artifacts.len(), 2);
    let message = outcome.error.unwrap().message;
    assert!(message.contains("more than 2 files") && message.ends_with("and 1 more"), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let small = ArtifactBounds { bytes: 250, ..ArtifactBounds::default() };
    let outcome = run(folder.path(), small, &expecting(&make(3), &["*.bin"])).await;
    assert_eq!(outcome.artifacts.len(), 2);
    assert_eq!(outcome.artifacts[0].media_type, "application/octet-stream");
    assert!(outcome.error.unwrap().message.contains("`3.bin` (more than 250 bytes together)"));
}

#[tokio::test]
async fn a_failure_keeps_its_reason_and_what_was_left() {
    let folder = tempfile::tempdir().unwrap();
    let call = expecting("echo why > report.txt; ln -s report.txt again.txt; exit 3", &["*.txt"]);
    let outcome = run(folder.path(), ArtifactBounds::default(), &call).await;
    assert_eq!(failure(&outcome).1, "exec.exit_code");
    assert_eq!(left(&outcome), [("report.txt", "text/plain; charset=utf-8", "why\n".to_owned())]);
}
