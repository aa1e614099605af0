//! Cases that are paths.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Case, Verdict, compare};
use crate::support::{call, execute, native, text, toolbox};

pub(super) async fn judge(case: &Case) -> Verdict {
    let workspace = tempfile::tempdir().unwrap();
    match case.id.as_str() {
        "path-004" => return Verdict::NotApplicable("a race; see the test of its own beside the other file tests"),
        "path-003" => symlink("/etc", workspace.path().join("link")).unwrap(),
        "path-012" => {
            assert!(Command::new("mkfifo").arg(workspace.path().join("fifo")).status().unwrap().success());
        }
        "path-021" => {
            fs::create_dir_all(workspace.path().join("a/b/c/d")).unwrap();
            symlink("..", workspace.path().join("a/b/up")).unwrap();
        }
        _ => {}
    }
    let (tool, input) = match case.text("op") {
        "read" => ("files.read_file", json!({"path": case.text("path")})),
        "glob" => ("files.search_text", json!({"pattern": "x", "glob": case.text("path")})),
        _ => return Verdict::NotApplicable("no built-in tool writes files"),
    };
    let toolbox = toolbox(workspace.path()).await;
    let begin = Instant::now();
    let outcome = execute(&toolbox, &call(native(tool), input)).await;
    let took = begin.elapsed();
    let result = compare(case, &outcome).and_then(|()| {
        if took > Duration::from_secs(5) {
            return Err(format!("took {} ms", took.as_millis()));
        }
        if text(&outcome).contains("root:") { Err("a byte from outside".into()) } else { Ok(()) }
    });
    result.into()
}
