//! What rules deny is kept from whatever a command runs, by whatever name.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;
use toolplane_execution::{Call, Toolbox};
use toolplane_records::decision::DeniedPaths;
use toolplane_records::profile::{ExecutionBinding, ProcessBinding, ProcessStdin};

use crate::support::{call, execute, failure, shell_call, structured, text, toolbox};

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

fn shell(command: &str) -> Call {
    Call { denied: usual(), ..shell_call(command) }
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
    let reading = Call { sandbox_profile: Some("workspace_read_only".into()), ..shell("cat way/key") };
    assert!(!execute(&toolbox, &reading).await.is_success());
    let argv = ["/bin/cat", "{path}"].map(str::to_owned).to_vec();
    let process = ProcessBinding {
        argv,
        stdin: ProcessStdin::None,
        env: Default::default(),
        success_exit_codes: Vec::new(),
        json_output: false,
    };
    let of = |path: &str| Call {
        denied: usual(),
        sandbox_profile: Some("workspace_read_only".into()),
        ..call(ExecutionBinding::Process(process.clone()), json!({ "path": path }))
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
        let outcome = execute(&toolbox, &Call { denied: denied.clone(), ..shell_call("touch ran") }).await;
        assert_eq!(failure(&outcome), ("permission_denied", "path.denied_not_hidden"), "{denied:?}");
        assert!(!workspace.path().join("ran").exists());
    }
}
