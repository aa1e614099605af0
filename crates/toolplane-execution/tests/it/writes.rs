//! Tools that write files.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use toolplane_execution::Outcome;
use toolplane_records::result::ContentBlock;

use crate::hostile::files::swap;
use crate::support::{call, execute, failure, native, structured, text, toolbox};

async fn run(workspace: &Path, tool: &str, input: Value) -> Outcome {
    execute(&toolbox(workspace).await, &call(native(tool), input)).await
}

async fn write(workspace: &Path, input: Value) -> Outcome {
    run(workspace, "files.write_file", input).await
}

async fn edit(workspace: &Path, input: Value) -> Outcome {
    run(workspace, "files.edit_file", input).await
}

fn diff(outcome: &Outcome) -> &str {
    let found = outcome.content.iter().find_map(|block| match block {
        ContentBlock::Diff { text, .. } => Some(text.as_str()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Everything in a directory, so that forgotten temporary files are noticed.
fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_file_is_created_and_replaced_only_when_that_is_said() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    let outcome = write(root, json!({"path": "/workspace/a.txt", "content": "one\n"})).await;
    assert_eq!(text(&outcome), "created `a.txt` (4 bytes)");
    assert_eq!(diff(&outcome), "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n");
    assert_eq!(structured(&outcome), json!({"path": "a.txt", "created": true, "changed": true, "size_bytes": 4}));
    // Again with the same bytes: as after a crash of the first attempt.
    let outcome = write(root, json!({"path": "a.txt", "content": "one\n"})).await;
    assert_eq!((outcome.is_success(), &structured(&outcome)["changed"]), (true, &json!(false)));
    let outcome = write(root, json!({"path": "a.txt", "content": "two\n"})).await;
    assert_eq!(failure(&outcome), ("execution_failed", "path.exists"));
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "one\n");
    let outcome = write(root, json!({"path": "a.txt", "content": "two\n", "overwrite": true})).await;
    assert_eq!(diff(&outcome), "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n");
    assert_eq!(structured(&outcome)["previous_size_bytes"], json!(4));
    assert_eq!(fs::read_to_string(root.join("a.txt")).unwrap(), "two\n");
    assert_eq!(names(root), ["a.txt"]);
}

#[tokio::test]
async fn directories_are_made_only_when_that_is_said() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    let deep = json!({"path": "x/y/../z/a.txt", "content": "deep"});
    assert_eq!(failure(&write(root, deep.clone()).await), ("execution_failed", "path.not_found"));
    assert_eq!(names(root), Vec::<String>::new());
    let mut deep = deep;
    deep["create_parents"] = json!(true);
    assert!(write(root, deep).await.is_success());
    assert_eq!(fs::read_to_string(root.join("x/z/a.txt")).unwrap(), "deep");
    assert_eq!(names(&root.join("x")), ["z"]);
    fs::write(root.join("file"), "").unwrap();
    let through = json!({"path": "file/a", "content": "", "create_parents": true});
    assert_eq!(failure(&write(root, through).await).0, "invalid_arguments");
}

#[tokio::test]
async fn what_is_no_regular_file_is_left_alone() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    fs::create_dir(root.join("dir")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(root.join("fifo")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    for path in ["dir", "fifo", "socket", ".", "", "new/", "new/.", "dir/..", "/workspace", "a\0b"] {
        let outcome =
            write(root, json!({"path": path, "content": "x", "overwrite": true, "create_parents": true})).await;
        assert_eq!(failure(&outcome), ("invalid_arguments", "input.invalid"), "{path}");
    }
    assert_eq!(names(root), ["dir", "fifo", "socket"]);
}

#[tokio::test]
async fn links_are_named_and_never_followed() {
    let (workspace, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = workspace.path();
    fs::create_dir_all(root.join("real/.vscode")).unwrap();
    fs::write(root.join("real/a"), "old").unwrap();
    symlink("real/a", root.join("link")).unwrap();
    symlink("real", root.join("dir")).unwrap();
    symlink("real/.vscode", root.join("innocent")).unwrap();
    symlink("real/../real/c", root.join("dangling")).unwrap();
    symlink("circle", root.join("circle")).unwrap();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink(outside.path().join("new"), root.join("hole")).unwrap();
    symlink("../..", root.join("up")).unwrap();
    let overwrite = |path: &str| json!({"path": path, "content": path, "overwrite": true, "create_parents": true});
    for (path, leads_to) in [("link", "real/a"), ("dir/b", "real/b"), ("dangling", "real/c")] {
        let outcome = write(root, overwrite(path)).await;
        assert_eq!(failure(&outcome), ("permission_denied", "path.linked"), "{path}");
        assert_eq!(outcome.error.unwrap().blocked_path.as_deref(), Some(leads_to), "{path}");
    }
    assert_eq!(fs::read_to_string(root.join("real/a")).unwrap(), "old");
    assert_eq!(names(&root.join("real")), [".vscode", "a"]);
    for (path, expected) in [
        ("innocent/tasks.json", ("permission_denied", "path.protected_path")),
        ("innocent/sub/tasks.json", ("permission_denied", "path.protected_path")),
        ("circle", ("execution_failed", "path.unwritable")),
        ("circle/a", ("execution_failed", "path.unwritable")),
        ("out/a", ("sandbox_violation", "path.outside_workspace")),
        ("out/sub/a", ("sandbox_violation", "path.outside_workspace")),
        ("hole", ("sandbox_violation", "path.outside_workspace")),
        ("hole/a", ("sandbox_violation", "path.outside_workspace")),
        ("up/a", ("sandbox_violation", "path.outside_workspace")),
        ("/etc/a", ("sandbox_violation", "path.outside_workspace")),
        ("dir/../../a", ("sandbox_violation", "path.outside_workspace")),
    ] {
        let outcome = write(root, overwrite(path)).await;
        assert_eq!(failure(&outcome), expected, "{path}");
        if expected.0 != "execution_failed" {
            assert!(outcome.error.unwrap().blocked_path.is_some(), "{path}");
        }
    }
    assert_eq!(names(outside.path()), Vec::<String>::new());
    assert_eq!(names(&root.join("real/.vscode")), Vec::<String>::new());
}

#[tokio::test]
async fn protected_paths_are_never_written() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    for path in [
        ".git",
        ".git/HEAD",
        "sub/.GIT/hooks/pre-commit",
        ".toolplane/x",
        ".bashrc",
        "home/.Profile",
        ".vscode/tasks.json",
        "x/../.mcp.json",
        "/workspace/.envrc",
    ] {
        for outcome in [
            write(root, json!({"path": path, "content": "x", "create_parents": true})).await,
            edit(root, json!({"path": path, "old_string": "x", "new_string": "y"})).await,
        ] {
            assert_eq!(failure(&outcome), ("permission_denied", "path.protected_path"), "{path}");
        }
    }
    assert_eq!(names(root), Vec::<String>::new());
    assert!(write(root, json!({"path": ".gitignore", "content": "target\n"})).await.is_success());
}

#[tokio::test]
async fn other_names_of_a_file_keep_its_bytes_and_modes_stay() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    fs::write(root.join("a.sh"), "echo old\n").unwrap();
    fs::set_permissions(root.join("a.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    fs::hard_link(root.join("a.sh"), root.join("b.sh")).unwrap();
    let outcome = edit(root, json!({"path": "a.sh", "old_string": "old", "new_string": "new"})).await;
    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(fs::read_to_string(root.join("b.sh")).unwrap(), "echo old\n");
    assert_eq!(fs::read_to_string(root.join("a.sh")).unwrap(), "echo new\n");
    let kept = fs::metadata(root.join("a.sh")).unwrap();
    assert_eq!((kept.nlink(), kept.mode() & 0o7777), (1, 0o750));
    assert_eq!(names(root), ["a.sh", "b.sh"]);
}

#[tokio::test]
async fn text_is_replaced_where_it_is_found_once() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    let begin = "fn a() {}\nfn b() {}\n// a comment\nfn c() {}\n";
    fs::write(root.join("m.rs"), begin).unwrap();
    fs::write(root.join("dos"), "one\r\ntwo\r\n").unwrap();
    fs::write(root.join("latin"), b"caf\xe9\n").unwrap();
    let input = |path: &str, old: &str, new: &str| json!({"path": path, "old_string": old, "new_string": new});
    for (wrong, expected) in [
        (input("m.rs", "fn d", "fn e"), ("execution_failed", "edit.text_not_found")),
        (input("m.rs", "fn ", "pub fn "), ("execution_failed", "edit.text_not_unique")),
        (input("dos", "one\ntwo", "three"), ("execution_failed", "edit.text_not_found")),
        (input("latin", "caf", "bar"), ("execution_failed", "path.unwritable")),
        (input("none", "a", "b"), ("execution_failed", "path.not_found")),
        (input("m.rs", "", "b"), ("invalid_arguments", "input.invalid")),
        (input("m.rs", "fn a", "fn a"), ("invalid_arguments", "input.invalid")),
    ] {
        assert_eq!(failure(&edit(root, wrong.clone()).await), expected, "{wrong}");
    }
    assert_eq!(fs::read_to_string(root.join("m.rs")).unwrap(), begin);
    let outcome = edit(root, input("dos", "one\ntwo", "three")).await;
    assert!(outcome.error.unwrap().message.ends_with("lines of this file end with CR LF"));
    let outcome = edit(root, input("m.rs", "// a comment\n", "")).await;
    assert_eq!(text(&outcome), "changed `m.rs` once, from line 3");
    assert_eq!(
        diff(&outcome),
        "--- a/m.rs\n+++ b/m.rs\n@@ -1,4 +1,3 @@\n fn a() {}\n fn b() {}\n-// a comment\n fn c() {}\n"
    );
    let mut all = input("m.rs", "fn ", "pub fn ");
    all["replace_all"] = json!(true);
    let outcome = edit(root, all).await;
    assert_eq!(
        structured(&outcome),
        json!({"path": "m.rs", "replacements": 3, "line": 1, "size_bytes": 42, "previous_size_bytes": 30})
    );
    assert_eq!(fs::read_to_string(root.join("m.rs")).unwrap(), "pub fn a() {}\npub fn b() {}\npub fn c() {}\n");
    assert_eq!(names(root), ["dos", "latin", "m.rs"]);
}

#[tokio::test]
async fn long_changes_are_made_and_not_shown() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    let long = "a line of some length, many times over\n".repeat(20_000);
    let outcome = write(root, json!({"path": "long", "content": long})).await;
    assert_eq!((outcome.is_success(), diff(&outcome)), (true, ""));
    assert_eq!(fs::read_to_string(root.join("long")).unwrap(), long);
    let outcome = write(root, json!({"path": "large", "content": "x".repeat(4 * 1024 * 1024 + 1)})).await;
    assert_eq!(failure(&outcome), ("invalid_arguments", "input.invalid"));
    fs::File::create(root.join("sparse")).unwrap().set_len(1 << 40).unwrap();
    let outcome = edit(root, json!({"path": "sparse", "old_string": "a", "new_string": "b"})).await;
    assert_eq!(failure(&outcome), ("execution_failed", "path.unwritable"));
    let outcome = write(root, json!({"path": "sparse", "content": "small", "overwrite": true})).await;
    assert_eq!((outcome.is_success(), diff(&outcome)), (true, ""));
    assert_eq!(names(root), ["long", "sparse"]);
}

/// While a directory on the way is swapped with a link to the outside, a write ends inside or not at all.
#[tokio::test]
async fn no_race_writes_outside() {
    let (workspace, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let root = workspace.path();
    fs::create_dir(root.join("d")).unwrap();
    symlink(outside.path(), root.join("l")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = swap(&root.join("d"), &root.join("l"), &stop);
    let toolbox = toolbox(root).await;
    let (mut written, mut refused) = (0, 0);
    for at in 0..2000 {
        let wanted = json!({"path": format!("d/{}", at % 50), "content": at.to_string(), "overwrite": true});
        let outcome = execute(&toolbox, &call(native("files.write_file"), wanted)).await;
        match outcome.error {
            None => written += 1,
            Some(error) => {
                assert!(error.blocked_path.is_some(), "{error:?}");
                refused += 1;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    assert!(written > 0 && refused > 0, "{written} written, {refused} refused");
    assert_eq!(names(outside.path()), Vec::<String>::new());
}

/// Many writers of one file: every answer is "written" or "another writer was there", and no reader sees a mixture.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_at_the_same_time_never_mix() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path();
    fs::write(root.join("n"), "0").unwrap();
    let toolbox = Arc::new(toolbox(root).await);
    let writers: Vec<_> = (1..=4)
        .map(|writer: usize| {
            let (toolbox, file) = (Arc::clone(&toolbox), root.join("n"));
            tokio::spawn(async move {
                for _ in 0..100 {
                    let content = writer.to_string().repeat(10_000 * writer);
                    let wanted = json!({"path": "n", "content": content, "overwrite": true});
                    let outcome = execute(&toolbox, &call(native("files.write_file"), wanted)).await;
                    assert!(outcome.is_success() || failure(&outcome).1 == "path.changed", "{outcome:?}");
                    let read = fs::read_to_string(&file).unwrap();
                    let first = read.chars().next().unwrap();
                    assert!(
                        read == "0" || read == first.to_string().repeat(10_000 * first.to_digit(10).unwrap() as usize)
                    );
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(names(root), ["n"]);
}

#[tokio::test]
async fn a_diff_says_which_file_it_is_about_and_where() {
    let workspace = tempfile::tempdir().unwrap();
    let before: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    fs::write(workspace.path().join("a.txt"), &before).unwrap();
    let after = before.replace("line 3\n", "line three\n").replace("line 20\n", "");
    let outcome = write(workspace.path(), json!({"path": "a.txt", "content": after, "overwrite": true})).await;
    let expected = ContentBlock::Diff {
        text: diff(&outcome).to_owned(),
        path: "a.txt".to_owned(),
        lines: vec![3, 20],
        old_text: Some(before),
        new_text: Some(after),
    };
    assert!(outcome.content.contains(&expected), "{:?}", outcome.content);
}
