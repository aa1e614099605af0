use std::time::{Duration, Instant};

use serde_json::json;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::ProgressStatus;

use crate::support::{call, context, execute, failure, native, text, toolbox};

#[tokio::test]
async fn built_in_tools_do_what_they_say() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let echoed = call(native("native.echo"), json!({"x": [1, "é", null]}));
    let outcome = execute(&toolbox, &echoed).await;
    assert_eq!(outcome.structured_content.as_ref(), Some(&echoed.input));
    assert_eq!(text(&outcome), echoed.input.text());
    assert_eq!(execute(&toolbox, &call(native("native.noop"), json!({}))).await.content, [ContentBlock::Empty]);
    let outcome = execute(&toolbox, &call(native("native.nothing"), json!({}))).await;
    assert_eq!(failure(&outcome), ("capability_gap", "exec.native_unknown"));
}

#[tokio::test]
async fn sleeping_can_be_waited_for_timed_out_and_canceled() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let short = call(native("native.sleep"), json!({"ms": 20}));
    let (running, seen) = context();
    assert!(toolbox.execute(&short, &running).await.is_success());
    assert_eq!(seen.0.lock().unwrap().last().unwrap().status, ProgressStatus::Completed);

    let mut long = call(native("native.sleep"), json!({"ms": 500_000}));
    long.timeout = Some(Duration::from_millis(50));
    assert_eq!(failure(&execute(&toolbox, &long).await), ("timeout", "exec.timeout"));
    long.timeout = None;
    let (canceled, _) = context();
    let begin = Instant::now();
    let stop = async { canceled.cancel.cancel() };
    let (outcome, ()) = tokio::join!(toolbox.execute(&long, &canceled), stop);
    assert_eq!(failure(&outcome), ("canceled", "exec.canceled"));
    assert!(begin.elapsed() < Duration::from_secs(10));
    let outcome = execute(&toolbox, &call(native("native.sleep"), json!({"ms": 1e9}))).await;
    assert_eq!(failure(&outcome), ("invalid_arguments", "input.invalid"));
}
