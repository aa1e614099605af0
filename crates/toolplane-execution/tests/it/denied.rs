//! What rules deny is kept from whatever a command runs, by whatever name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use toolplane_execution::{Call, CallPlace, Toolbox};
use toolplane_records::decision::DeniedPaths;
use toolplane_records::profile::{ExecutionBinding, ProcessBinding, ProcessStdin};

use crate::support::{call, execute, failure, native, shell_call, structured, text, toolbox};

fn workspace() -> tempfile::TempDir {
    let workspace = tempfile::tempdir().unwrap();
    let at = |path: &str| workspace.path().join(path);
    for directory in ["secrets/deep", "app/inner", "docs", "plain"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    for file in ["secrets/key", "secrets/deep/key", "app/inner/.env", "docs/a", "plain/a", "real"] {
        fs::write(at(file), "the contents\n").unwrap();
    }
    symlink("secrets/key", at("link")).unwrap();
    symlink("secrets", at("way")).unwrap();
    symlink("../secrets/deep", at("plain/far")).unwrap();
    symlink("real", at(".env.local")).unwrap();
    symlink("secrets/deep/key", at(".env.deep")).unwrap();
    fs::hard_link(at("secrets/deep/key"), at("plain/other")).unwrap();
    workspace
}

fn denied(read: &[&str], write: &[&str]) -> DeniedPaths {
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    DeniedPaths { read: list(read), write: list(write) }
}

fn usual() -> DeniedPaths {
    denied(&["./secrets/**", "**/.env*"], &["./docs/**"])
}

/// The call, kept from these paths.
fn kept_from(denied: DeniedPaths, call: Call) -> Call {
    Call { place: CallPlace { denied, ..call.place }, ..call }
}

/// The call, without a right to write.
fn read_only(call: Call) -> Call {
    let sandbox_profile = Some("workspace_read_only".into());
    Call { place: CallPlace { sandbox_profile, ..call.place }, ..call }
}

fn shell(command: &str) -> Call {
    kept_from(usual(), shell_call(command))
}

async fn check_denied(toolbox: &Toolbox, command: &str) {
    let outcome = execute(toolbox, &shell(command)).await;
    assert!(!outcome.is_success(), "{command}: {}", text(&outcome));
    let said = structured(&outcome);
    assert!(!said["stdout"].to_string().contains("contents"), "{command}: {said}");
    let stderr = said["stderr"].as_str().unwrap_or_default();
    let refused = ["Permission denied", "PermissionError", "busy", "Read-only", "cross-device", "not permitted"];
    assert!(refused.iter().any(|word| stderr.contains(word)), "{command}: {said}");
}

fn untouched(workspace: &Path) {
    for file in ["secrets/key", "secrets/deep/key", "app/inner/.env", "docs/a", "real"] {
        assert_eq!(fs::read_to_string(workspace.join(file)).unwrap(), "the contents\n", "{file}");
    }
}

#[tokio::test]
async fn no_name_link_or_program_leads_to_what_is_denied() {
    let workspace = workspace();
    let toolbox = toolbox(workspace.path()).await;
    for command in [
        "cat secrets/key",
        "cat link",
        "cat way/key",
        "cat plain/far/key",
        "cat plain/other",
        "cat app/inner/.env",
        "cat .env.local",
        "cat real",
        "cat /proc/self/root/workspace/secrets/key",
        "cd secrets && ls",
        "ls secrets",
        "cp -r secrets /tmp/x",
        "ln -L link again",
        "python3 -c 'print(open(\"link\").read())'",
        "f=sec; cat ${f}rets/key",
        "echo 'cat link' > run.sh; bash run.sh",
        "chmod 777 secrets && cat secrets/key",
        "mv secrets elsewhere",
        "mv app elsewhere",
        "echo x > docs/a",
        "echo x > docs/new",
        "rm -f docs/a",
        "sed -i s/c/d/ docs/a",
        "rm -rf secrets",
    ] {
        check_denied(&toolbox, command).await;
        untouched(workspace.path());
    }
    for (command, said) in [
        ("cat plain/a docs/a", "the contents\nthe contents\n"),
        ("echo y > plain/b; cat plain/b", "y\n"),
        ("pwd", "/workspace\n"),
    ] {
        let outcome = execute(&toolbox, &shell(command)).await;
        assert_eq!(text(&outcome), said, "{command}: {}", structured(&outcome));
    }
    untouched(workspace.path());
}

#[tokio::test]
async fn a_read_only_workspace_and_declared_programs_are_no_way_around() {
    let workspace = workspace();
    let toolbox = toolbox(workspace.path()).await;
    let reading = read_only(shell("cat way/key"));
    assert!(!execute(&toolbox, &reading).await.is_success());
    let argv = ["/bin/cat", "{path}"].map(str::to_owned).to_vec();
    let process = ProcessBinding {
        argv,
        stdin: ProcessStdin::None,
        env: Default::default(),
        success_exit_codes: Vec::new(),
        json_output: false,
        credentials: Vec::new(),
    };
    let of = |path: &str| {
        let binding = ExecutionBinding::Process(process.clone());
        read_only(kept_from(usual(), call(binding, json!({ "path": path }))))
    };
    assert_eq!(text(&execute(&toolbox, &of("/workspace/plain/a")).await), "the contents\n");
    for path in ["/workspace/link", "/workspace/secrets/key", "/workspace/plain/other"] {
        let outcome = execute(&toolbox, &of(path)).await;
        assert!(!outcome.is_success() && !text(&outcome).contains("contents"), "{path}: {outcome:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_kept_away_does_not_run() {
    let workspace = workspace();
    let toolbox = toolbox(workspace.path()).await;
    symlink(".", workspace.path().join("self")).unwrap();
    for denied in [denied(&["**"], &[]), denied(&["./self/**"], &[]), denied(&["[a"], &[])] {
        let outcome = execute(&toolbox, &kept_from(denied.clone(), shell_call("touch ran"))).await;
        assert_eq!(failure(&outcome), ("permission_denied", "path.denied_not_hidden"), "{denied:?}");
        assert!(!workspace.path().join("ran").exists());
    }
}

#[tokio::test]
async fn a_file_tool_does_not_open_what_is_denied_by_a_further_hard_link() {
    let workspace = workspace();
    let root = workspace.path();
    let toolbox = toolbox(root).await;
    fs::hard_link(root.join("docs/a"), root.join("plain/doc")).unwrap();
    fs::hard_link(root.join("plain/a"), root.join("plain/twin")).unwrap();
    let file = |tool: &str, input| kept_from(usual(), call(native(tool), input));
    let read = |path: &str| file("files.read_file", json!({ "path": path }));
    let write = |path: &str| {
        file(
            "files.write_file",
            json!({ "path": path, "content": "mine\n", "overwrite": true, "create_parents": true }),
        )
    };
    let edit =
        |path: &str| file("files.edit_file", json!({ "path": path, "old_string": "contents", "new_string": "words" }));
    let (secret, doc) = ("plain/other", "plain/doc");
    for (call, name, place) in [
        (read(secret), secret, "secrets/deep/key"),
        (write(secret), secret, "secrets/deep/key"),
        (edit(secret), secret, "secrets/deep/key"),
        (write(doc), doc, "docs/a"),
        (edit(doc), doc, "docs/a"),
    ] {
        let outcome = execute(&toolbox, &call).await;
        assert_eq!(failure(&outcome), ("permission_denied", "path.denied_not_hidden"), "{}: {name}", call.tool_name);
        let error = outcome.error.as_ref().unwrap();
        let said = format!("`{name}` is the same file as `{place}` (a hard link)");
        assert!(error.message.contains(&said), "{}", error.message);
        assert_eq!((error.blocked_path.as_deref(), error.side_effects.as_deref()), (Some(place), Some("none")));
        assert!(!format!("{outcome:?}").contains("the contents"), "{outcome:?}");
        untouched(root);
    }
    let search = |path: &str| file("files.search_text", json!({ "pattern": "contents", "path": path }));
    let outcome = execute(&toolbox, &search("plain")).await;
    assert_eq!(text(&outcome), "a:1:the contents\ndoc:1:the contents\ntwin:1:the contents\n");
    assert_eq!(structured(&outcome)["files_skipped"], json!(1));
    // What may not be written may be read, and a second name of a file that no rule denies is a name like any other.
    for path in [doc, "plain/twin"] {
        assert_eq!(text(&execute(&toolbox, &read(path)).await), "the contents\n", "{path}");
    }
    assert!(execute(&toolbox, &edit("plain/twin")).await.is_success());
    let free = kept_from(DeniedPaths::default(), read(secret));
    assert_eq!(text(&execute(&toolbox, &free).await), "the contents\n");
    // When it cannot be told, a file with further names is not opened; one with a single name is.
    let unclear = |path: &str| kept_from(denied(&["[a"], &[]), read(path));
    for call in [unclear(doc), kept_from(denied(&["[a"], &[]), search("plain"))] {
        assert_eq!(failure(&execute(&toolbox, &call).await).1, "path.denied_not_hidden");
    }
    assert!(execute(&toolbox, &unclear("plain/a")).await.is_success());
}
