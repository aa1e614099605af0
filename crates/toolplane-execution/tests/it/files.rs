use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolplane_execution::Outcome;

use crate::support::{call, execute, failure, native, structured, text, toolbox};

async fn run(workspace: &Path, tool: &str, input: Value) -> Outcome {
    execute(&toolbox(workspace).await, &call(native(tool), input)).await
}

fn workspace() -> tempfile::TempDir {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    fs::create_dir_all(root.join("src/deep")).unwrap();
    fs::create_dir_all(root.join(".git")).unwrap();
    fs::write(root.join("src/a.rs"), "fn one() {}\nfn two() {}\n").unwrap();
    fs::write(root.join("src/deep/b.txt"), "one fish\r\ntwo fish\n").unwrap();
    fs::write(root.join(".git/config"), "one\n").unwrap();
    fs::write(root.join("lines"), (1..=3000).map(|n| format!("{n}\n")).collect::<String>()).unwrap();
    fs::write(root.join("binary"), b"one\0two").unwrap();
    fs::write(root.join("latin"), b"caf\xe9\n").unwrap();
    symlink("/etc", root.join("out")).unwrap();
    symlink("src/a.rs", root.join("inside")).unwrap();
    workspace
}

#[tokio::test]
async fn lines_are_read_in_pieces() {
    let workspace = workspace();
    let read = |input| run(workspace.path(), "files.read_file", input);
    let outcome = read(json!({"path": "lines"})).await;
    assert!(text(&outcome).starts_with("1\n") && text(&outcome).ends_with("\n2000\n"));
    assert_eq!(structured(&outcome)["next_offset"], json!(2001));
    let outcome = read(json!({"path": "/workspace/lines", "offset": 2999, "limit": 5})).await;
    assert_eq!((text(&outcome), &structured(&outcome)["line_count"]), ("2999\n3000\n", &json!(2)));
    assert_eq!(structured(&outcome)["next_offset"], Value::Null);
    let outcome = read(json!({"path": "latin"})).await;
    assert_eq!((text(&outcome), &structured(&outcome)["encoding"]), ("caf\u{fffd}\n", &json!("lossy")));
    assert_eq!(&outcome.exact[0].bytes[..], b"caf\xe9\n");
    let linked = read(json!({"path": "inside"})).await.error.unwrap();
    assert_eq!((linked.error_code.as_str(), linked.blocked_path.as_deref()), ("path.linked", Some("src/a.rs")));
    for input in [
        json!({"path": "lines", "offset": 0}),
        json!({"path": "lines", "offset": 5000}),
        json!({"path": "lines", "limit": 0}),
        json!({"path": "src"}),
        json!({"path": "lines/x"}),
        json!({"path": "x".repeat(300)}),
        json!({"file": "lines"}),
    ] {
        assert_eq!(failure(&read(input.clone()).await).0, "invalid_arguments", "{input}");
    }
    assert_eq!(failure(&read(json!({"path": "binary"})).await), ("execution_failed", "path.unreadable"));
    assert_eq!(failure(&read(json!({"path": "none"})).await), ("execution_failed", "path.not_found"));
}

#[tokio::test]
async fn a_picture_is_given_as_it_is() {
    let workspace = workspace();
    let picture = b"\x89PNG\r\n\x1a\n\0rest";
    fs::write(workspace.path().join("a.png"), picture).unwrap();
    let outcome = run(workspace.path(), "files.read_file", json!({"path": "a.png"})).await;
    assert_eq!((&outcome.exact[0].bytes[..], outcome.exact[0].media_type.as_str()), (&picture[..], "image/png"));
    assert_eq!(structured(&outcome), json!({"path": "a.png", "size_bytes": 13, "media_type": "image/png"}));
    for (name, bytes, kind) in
        [("a.pdf", &b"%PDF-1.7\n"[..], "application/pdf"), ("b", b"PK\x03\x04\0", "application/zip")]
    {
        fs::write(workspace.path().join(name), bytes).unwrap();
        let outcome = run(workspace.path(), "files.read_file", json!({"path": name})).await;
        assert_eq!((&outcome.exact[0].bytes[..], outcome.exact[0].media_type.as_str()), (bytes, kind));
    }
}

#[tokio::test]
async fn a_huge_line_is_cut_at_the_bound() {
    let workspace = tempfile::tempdir().unwrap();
    fs::write(workspace.path().join("huge"), "é".repeat(1_000_000)).unwrap();
    let outcome = run(workspace.path(), "files.read_file", json!({"path": "huge"})).await;
    assert_eq!(structured(&outcome)["truncated"], json!(true));
    assert_eq!(structured(&outcome)["encoding"], json!("utf-8"));
    assert_eq!(text(&outcome).len(), 1024 * 1024);
}

#[tokio::test]
async fn directories_are_listed_in_order_and_within_bounds() {
    let workspace = workspace();
    let list = |input| run(workspace.path(), "files.list_dir", input);
    let outcome = list(json!({})).await;
    assert_eq!(
        text(&outcome),
        ".git/\nbinary (7 bytes)\ninside (symlink)\nlatin (5 bytes)\nlines (13893 bytes)\nout (symlink)\nsrc/\n"
    );
    let outcome = list(json!({"path": "src", "limit": 1})).await;
    let report = structured(&outcome);
    assert_eq!((&report["total"], &report["truncated"]), (&json!(2), &json!(true)));
    assert_eq!(failure(&list(json!({"path": "lines"})).await).0, "invalid_arguments");
    assert_eq!(failure(&list(json!({"path": "out"})).await).0, "sandbox_violation");
}

#[tokio::test]
async fn text_is_searched_beneath_the_workspace_only() {
    let workspace = workspace();
    let search = |input| run(workspace.path(), "files.search_text", input);
    let outcome = search(json!({"pattern": "\\bone\\b"})).await;
    assert_eq!(text(&outcome), "src/a.rs:1:fn one() {}\nsrc/deep/b.txt:1:one fish\n");
    assert_eq!(structured(&outcome)["files_skipped"], json!(1));
    let outcome = search(json!({"pattern": "o", "glob": "*.txt", "max_matches": 1})).await;
    assert_eq!(
        (text(&outcome), &structured(&outcome)["stopped_at"]),
        ("src/deep/b.txt:1:one fish\n", &json!("max_matches"))
    );
    assert_eq!(text(&search(json!({"pattern": "fn", "path": "src", "glob": "deep/*"})).await), "");
    assert_eq!(text(&search(json!({"pattern": "root:"})).await), "");
    for input in [
        json!({"pattern": "("}),
        json!({"pattern": ""}),
        json!({"pattern": "x{1000}{1000}{1000}"}),
        json!({"pattern": "x", "glob": "[a"}),
    ] {
        assert_eq!(failure(&search(input.clone()).await).0, "invalid_arguments", "{input}");
    }
    assert_eq!(failure(&search(json!({"pattern": "x", "path": "../"})).await).0, "sandbox_violation");
}

#[tokio::test]
async fn special_files_are_refused_at_once() {
    let workspace = tempfile::tempdir().unwrap();
    assert!(Command::new("mkfifo").arg(workspace.path().join("fifo")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(workspace.path().join("socket")).unwrap();
    for name in ["fifo", "socket"] {
        let begin = Instant::now();
        let outcome = run(workspace.path(), "files.read_file", json!({"path": name})).await;
        assert_eq!(failure(&outcome).0, "invalid_arguments", "{name}");
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
    let outcome = run(workspace.path(), "files.search_text", json!({"pattern": "x"})).await;
    assert!(outcome.is_success());
}

#[tokio::test]
async fn lines_are_what_the_declaration_counts() {
    let workspace = workspace();
    let file =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/examples/tools/files.read_file.json");
    let declared: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let fields = &declared["declaration"]["input_contract"]["model_input_schema"]["properties"];
    let read = |input| run(workspace.path(), "files.read_file", input);
    let least = fields["offset"]["minimum"].as_u64().unwrap();
    let first = read(json!({"path": "lines", "offset": least, "limit": 2})).await;
    assert_eq!(text(&first), "1\n2\n");
    assert_eq!(failure(&read(json!({"path": "lines", "offset": least - 1})).await).0, "invalid_arguments");
    let most = fields["limit"]["maximum"].as_u64().unwrap();
    assert_eq!(structured(&read(json!({"path": "lines", "limit": most})).await)["line_count"], json!(3000));
    assert_eq!(failure(&read(json!({"path": "lines", "limit": most + 1})).await).0, "invalid_arguments");
    for field in ["offset", "limit"] {
        assert!(fields[field]["description"].as_str().unwrap().contains("line"), "{field}");
    }
}
