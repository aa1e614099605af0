use std::sync::Arc;

use serde_json::json;
use toolplane_execution::{SystemLookup, ToolboxOptions};
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{ProgressStatus, ResultStatus};

use crate::support::{call, context, execute, failure, native, shell_call, structured, text, toolbox, toolbox_with};

#[tokio::test]
async fn a_command_gives_text_and_structure() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let outcome = execute(&toolbox, &shell_call("echo out; echo err >&2; echo hi > made; echo $TOOLPLANE_FENCE")).await;
    assert_eq!(outcome.status, ResultStatus::Succeeded);
    assert_eq!(text(&outcome), "out\n7\n");
    assert_eq!(outcome.content[1], ContentBlock::Log { text: "err\n".into(), stream: "stderr".into() });
    let report = structured(&outcome);
    assert_eq!(
        (&report["exit_code"], &report["signal"], &report["truncated"]),
        (&json!(0), &json!(null), &json!(false))
    );
    assert_eq!((&report["stdout"], &report["stderr"]), (&json!("out\n7\n"), &json!("err\n")));
    assert_eq!(std::fs::read_to_string(workspace.path().join("made")).unwrap(), "hi\n");
    assert_eq!(outcome.output_bytes, 10);

    let quiet = execute(&toolbox, &shell_call("true")).await;
    assert_eq!(quiet.content, [ContentBlock::Empty]);
}

#[tokio::test]
async fn failures_keep_the_output_and_say_how_it_ended() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let outcome = execute(&toolbox, &shell_call("echo partly; exit 3")).await;
    assert_eq!((outcome.status, failure(&outcome)), (ResultStatus::Failed, ("execution_failed", "exec.exit_code")));
    assert_eq!((text(&outcome), &structured(&outcome)["exit_code"]), ("partly\n", &json!(3)));
    let outcome = execute(&toolbox, &shell_call("kill -9 $$")).await;
    assert_eq!(failure(&outcome), ("execution_failed", "exec.signal"));
    assert_eq!(structured(&outcome)["signal"], json!(9));
    let outcome = execute(&toolbox, &shell_call("unshare -Ur true")).await;
    assert_eq!(failure(&outcome), ("sandbox_violation", "sandbox.violation"));
    assert_eq!(outcome.error.unwrap().evidence_refs, ["seccomp_denied:unshare"]);
    let outcome = execute(&toolbox, &shell_call("echo x > /usr/x")).await;
    assert_eq!(failure(&outcome), ("execution_failed", "exec.exit_code"));
    assert_eq!(structured(&outcome)["sandbox_suspected"], json!(true));
}

#[tokio::test]
async fn timeouts_and_cancellation_end_the_call() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let input = json!({"command": "echo begun; sleep 100", "timeout_ms": 300, "description": "waits"});
    let outcome = execute(&toolbox, &call(shell_call("").binding, input)).await;
    assert_eq!((outcome.status, failure(&outcome)), (ResultStatus::TimedOut, ("timeout", "exec.timeout")));
    assert_eq!(text(&outcome), "begun\n");

    let (context, seen) = context();
    let cancel = context.cancel.clone();
    let call = shell_call("echo begun; sleep 100");
    let run = toolbox.execute(&call, &context);
    let stop = async {
        while seen.0.lock().unwrap().iter().all(|update| update.line_count != Some(1)) {
            toolplane_wait::look_again().await;
        }
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(run, stop);
    assert_eq!((outcome.status, failure(&outcome)), (ResultStatus::Canceled, ("canceled", "exec.canceled")));
    let seen = seen.0.lock().unwrap();
    assert_eq!(seen.first().unwrap().status, ProgressStatus::Started);
    let last = seen.last().unwrap();
    assert_eq!((last.status, last.line_count, last.bytes_written), (ProgressStatus::Canceled, Some(1), Some(6)));
    assert!(seen.iter().enumerate().all(|(at, update)| update.sequence == at as u64 + 1));
}

#[tokio::test]
async fn bad_input_and_bad_bindings_start_nothing() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    for input in [
        json!({}),
        json!({"command": ""}),
        json!({"command": "a\0b"}),
        json!({"command": "x".repeat(70_000)}),
        json!({"command": 1}),
        json!({"command": "ls", "env": {"LD_PRELOAD": "/x"}}),
        json!({"command": "ls", "timeout_ms": -1}),
    ] {
        let outcome = execute(&toolbox, &call(shell_call("").binding, input.clone())).await;
        assert_eq!(failure(&outcome), ("invalid_arguments", "input.invalid"), "{:.80}", input.to_string());
        assert_eq!(outcome.error.unwrap().side_effects.as_deref(), Some("none"));
    }
    let mut bad = shell_call("true");
    bad.place.sandbox_profile = Some("unconfined".into());
    assert_eq!(failure(&execute(&toolbox, &bad).await), ("setup_required", "exec.binding_invalid"));
    let mut gone = shell_call("true");
    gone.place.workspace = Some("/nowhere".into());
    assert_eq!(failure(&execute(&toolbox, &gone).await), ("setup_required", "exec.binding_invalid"));
}

#[tokio::test]
async fn large_output_is_cut_in_the_middle_and_flooding_is_ended() {
    let workspace = tempfile::tempdir().unwrap();
    let mut options = ToolboxOptions::new(workspace.path());
    options.limits.output_kept_bytes = 1 << 20;
    let toolbox = toolbox_with(options, Arc::new(SystemLookup)).await;
    let outcome = execute(&toolbox, &shell_call("seq 1 400000")).await;
    assert!(outcome.is_success());
    let text = text(&outcome);
    assert!(text.starts_with("1\n2\n") && text.ends_with("\n400000\n") && text.contains("bytes left out"));
    assert!(text.len() < 1_100_000 && outcome.output_bytes == 2_688_895, "{}", outcome.output_bytes);
    let told = structured(&outcome)["stdout"].as_str().unwrap().to_owned();
    assert!(told.len() < 40_000 && told.starts_with("1\n2\n") && told.ends_with("\n400000\n"), "{}", told.len());
    let mut flood = shell_call("yes");
    flood.limits.max_output_bytes = Some(500_000);
    let outcome = execute(&toolbox, &flood).await;
    assert_eq!(
        (outcome.status, failure(&outcome)),
        (ResultStatus::TooLarge, ("result_too_large", "exec.output_limit"))
    );
}

#[tokio::test]
async fn bytes_are_kept_as_they_are_and_text_is_a_view() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    std::fs::write(workspace.path().join("random"), &bytes).unwrap();
    let outcome = execute(&toolbox, &shell_call("cat random; printf 'caf\\351\\n' >&2")).await;
    assert_eq!(outcome.status, ResultStatus::Succeeded);
    let [answer, log] = outcome.exact.as_slice() else { panic!("{:?}", outcome.exact) };
    assert_eq!((answer.of.as_str(), answer.media_type.as_str()), ("result", "application/octet-stream"));
    assert!(answer.bytes == bytes && answer.end.is_none() && answer.total_bytes == 100_000);
    assert_eq!((log.of.as_str(), &log.bytes[..]), ("stderr", &b"caf\xe9\n"[..]));
    assert_eq!(outcome.content[1], ContentBlock::Log { text: "caf\u{fffd}\n".into(), stream: "stderr".into() });
    let report = structured(&outcome);
    assert_eq!((&report["stdout_encoding"], &report["stderr_encoding"]), (&json!("lossy"), &json!("lossy")));

    let plain = execute(&toolbox, &shell_call("echo caf\u{e9}")).await;
    assert!(plain.exact.is_empty(), "text says all there is to say");
    assert_eq!(structured(&plain)["stdout_encoding"], json!("utf-8"));
}

#[tokio::test]
async fn what_was_left_out_of_the_middle_does_not_alter_the_rest() {
    let workspace = tempfile::tempdir().unwrap();
    let mut options = ToolboxOptions::new(workspace.path());
    options.limits.output_kept_bytes = 1000;
    let toolbox = toolbox_with(options, Arc::new(SystemLookup)).await;
    let outcome = execute(&toolbox, &shell_call("seq 1 10000")).await;
    let whole: String = (1..=10_000).map(|number| format!("{number}\n")).collect();
    let [kept] = outcome.exact.as_slice() else { panic!("{:?}", outcome.exact) };
    assert_eq!(kept.total_bytes, whole.len() as u64);
    assert_eq!(kept.bytes, whole.as_bytes()[..500]);
    assert_eq!(kept.end.as_deref(), Some(&whole.as_bytes()[whole.len() - 500..]));
    assert_eq!(kept.media_type, "text/plain; charset=utf-8");
}

#[tokio::test]
async fn a_full_workspace_is_told_before_anything_runs() {
    let workspace = tempfile::tempdir().unwrap();
    let mut options = ToolboxOptions::new(workspace.path());
    options.bounds.tenant.bytes = 200_000;
    options.bounds.call.bytes = 3_000_000;
    let toolbox = toolbox_with(options, Arc::new(SystemLookup)).await;
    assert!(execute(&toolbox, &shell_call("head -c 150000 /dev/zero > f")).await.is_success());
    let write =
        |size: usize| call(native("files.write_file"), json!({ "path": "new.txt", "content": "x".repeat(size) }));
    let refused = execute(&toolbox, &write(100_000)).await;
    assert_eq!(failure(&refused), ("execution_failed", "workspace.full"));
    assert!(!workspace.path().join("new.txt").exists());
    assert!(execute(&toolbox, &write(1000)).await.is_success());
    let over = execute(&toolbox, &shell_call("head -c 100000 /dev/zero > g; sleep 30")).await;
    assert_eq!(failure(&over), ("execution_failed", "exec.resource_limit"), "{over:?}");
    assert!(over.error.unwrap().message.contains("workspace_bytes"));
    let refused = execute(&toolbox, &shell_call("touch ran")).await;
    assert_eq!(failure(&refused), ("execution_failed", "workspace.full"));
    let error = refused.error.unwrap();
    assert_eq!(error.side_effects.as_deref(), Some("none"));
    assert!(error.message.contains("executor.quota"), "{}", error.message);
    assert!(!workspace.path().join("ran").exists());
    let shrink = json!({ "path": "new.txt", "old_string": "xx", "new_string": "", "replace_all": true });
    assert!(execute(&toolbox, &call(native("files.edit_file"), shrink)).await.is_success(), "making room is allowed");
}

#[tokio::test]
async fn what_was_taken_back_is_told() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let outcome = execute(&toolbox, &shell_call("mkfifo pipe; cp /bin/true t; chmod u+s t")).await;
    assert_eq!(failure(&outcome), ("sandbox_violation", "sandbox.violation"));
    assert_eq!(structured(&outcome)["mended"], json!(["removed the FIFO `pipe`"]));
}
