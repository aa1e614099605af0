//! What is deleted is gone everywhere, also when the process dies in between: kept outputs, and what people were asked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use toolplane_testkit::redis::RedisServer;
use toolplane_testkit::{Cluster, Options, tools};

use crate::bed::RULES;
use crate::shell::Shell;

const PATIENCE: Duration = Duration::from_secs(30);

const KEEPING: &str = r#"
[scheduler]
export_settle_ms = 0

[[scheduler.retention]]
keep_seconds = { inputs = 3600, outputs = 7200 }
"#;

/// Every file below `folder` that a call kept as its output.
fn kept(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => open.push(entry.path()),
                false if entry.metadata().is_ok_and(|data| data.len() > 100_000) => found.push(entry.path()),
                false => {}
            }
        }
    }
    found
}

fn register_examples(shell: &Shell) {
    let files: Vec<String> = tools::example_files().unwrap().iter().map(|file| file.display().to_string()).collect();
    let mut arguments = vec!["tools", "register"];
    arguments.extend(files.iter().map(String::as_str));
    shell.says(0, &arguments);
}

/// A command with a large output, which alice allows. Its call, and the question about it.
fn approved(shell: &Shell) -> (String, String) {
    let input = r#"{"command":"head -c 300000 /dev/zero | tr '\\0' x"}"#;
    let submitted = shell.json(0, &["invoke", "shell.exec", "--detach", "-i", input]);
    let call = submitted["invocation_id"].as_str().unwrap().to_owned();
    let story = shell.says(0, &["explain", &call]);
    let question =
        story.split("toolplane approvals show ").nth(1).unwrap().split([' ', ',', '\n']).next().unwrap().to_owned();
    shell.says(0, &["approvals", "approve", &question, "--as", "alice", "--feedback", "go on"]);
    shell.says(0, &["watch", &call]);
    (call, question)
}

/// The process dies after a deletion is stored and before anything outside of the store is gone; then in the middle of the latter.
async fn dies_in_between(options: Options) {
    let folder = tempfile::tempdir().unwrap();
    let fault = folder.path().join("fault");
    let arm = |point: &str| std::fs::write(&fault, point).unwrap();
    arm("");
    let options = options.env("TOOLPLANE_FAULT", format!("@{}", fault.display()));
    let mut cluster = Cluster::start(options).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    register_examples(&shell);
    let objects = cluster.data_dir().join("objects");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (key, public, file) = (at("audit.key"), at("audit.key.pub"), at("all.jsonl"));
    shell.says(0, &["keys", "signing", "--file", &key]);

    for point in ["scheduler.after_delete", "scheduler.mid_remove_outputs"] {
        let (call, question) = approved(&shell);
        assert_eq!(kept(&objects).len(), 1, "{point}");
        let story = shell.says(0, &["explain", &call]);
        for part in ["inputs until ", "outputs until ", "the call until ", "scheduler.retention[0]"] {
            assert!(story.contains(part), "{part}: {story}");
        }
        arm(point);
        // The answer is lost with the process.
        shell.run(&["delete", &call, "--reason", "erasure request 4"]);
        toolplane_wait::eventually("the process to die", PATIENCE, async || {
            cluster.running().map_or(Some(()), |process| process.expect_running().is_err().then_some(()))
        })
        .await;
        arm("");
        cluster.start_again().await.unwrap();
        toolplane_wait::eventually("outputs to be removed", PATIENCE, async || kept(&objects).is_empty().then_some(()))
            .await;
        let asked = toolplane_wait::eventually("the question to be removed", PATIENCE, async || {
            let listed = shell.says(0, &["approvals", "ls", "--all"]);
            (!listed.contains(&question)).then_some(listed)
        });
        assert!(!asked.await.contains("head -c"));
        assert!(shell.complains(2, &["get", "invocation", &call]).contains(&call));
        shell.complains(0, &["export", "--key", &key, "--file", &file, "--to", "2100-01-01T00:00:00Z"]);
        assert!(shell.says(0, &["verify", &file, "--key", &public]).contains("0 calls"));
        let told = std::fs::read_to_string(&file).unwrap();
        for part in ["\"kind\":\"tombstone\"", "erasure request 4", &call, &question] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!told.contains("head -c"), "{told}");
        std::fs::remove_file(&file).unwrap();
    }
    let refused = shell.complains(2, &["export", "--key", &key, "--file", &file, "--tenant", "another"]);
    assert!(refused.contains("tenant"), "{refused}");
}

#[tokio::test]
async fn a_deletion_is_finished_after_a_crash() {
    dies_in_between(Options::new(format!("{RULES}{KEEPING}"))).await;
}

#[tokio::test]
async fn a_deletion_is_finished_after_a_crash_on_redis() {
    let server = RedisServer::start(Default::default()).await.unwrap();
    let options = Options::new(format!("{RULES}{KEEPING}"));
    let options = options.env("TOOLPLANE__STORE__BACKEND", "redis").env("TOOLPLANE__STORE__REDIS__URL", server.url());
    dies_in_between(options).await;
}

/// Outputs and questions of a class go before their call, which says so; its result is read as ever.
#[tokio::test]
async fn classes_go_before_their_call() {
    let config = format!(
        "{RULES}\n[scheduler]\ntick_ms = 50\n[[scheduler.retention]]\nrisk = [\"low\", \"medium\", \"high\", \"critical\"]\n\
         keep_seconds = {{ outputs = 1, questions = 1, calls = 3600 }}\n"
    );
    let cluster = Cluster::start(Options::new(config)).await.unwrap();
    let shell = Shell::at(cluster.endpoint());
    register_examples(&shell);
    let (call, question) = approved(&shell);
    let objects = cluster.data_dir().join("objects");
    toolplane_wait::eventually("outputs to be removed", PATIENCE, async || kept(&objects).is_empty().then_some(()))
        .await;
    toolplane_wait::eventually("the question to be removed", PATIENCE, async || {
        (!shell.says(0, &["approvals", "ls", "--all"]).contains(&question)).then_some(())
    })
    .await;
    let story = shell.says(0, &["explain", &call]);
    for part in ["outputs removed at ", "questions removed at ", "the call until "] {
        assert!(story.contains(part), "{part}: {story}");
    }
    assert!(story.contains("is not kept any more since ") && !story.contains("toolplane fetch"), "{story}");
    assert!(shell.says(0, &["get", "result", &call]).contains("xxx"), "the preview is part of the result");
    let noted = shell.complains(0, &["get", "result", &call]);
    assert!(noted.contains("not kept any more since ") && !noted.contains("toolplane fetch"), "{noted}");
}
