use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use toolplane_execution::{Answer, Asker, InputQuestion};
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::ProgressStatus;

use crate::support::{call, context, execute, failure, native, structured, text, toolbox};

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
    long.limits.timeout = Some(Duration::from_millis(50));
    assert_eq!(failure(&execute(&toolbox, &long).await), ("timeout", "exec.timeout"));
    long.limits.timeout = None;
    let (canceled, _) = context();
    let begin = Instant::now();
    let stop = async { canceled.cancel.cancel() };
    let (outcome, ()) = tokio::join!(toolbox.execute(&long, &canceled), stop);
    assert_eq!(failure(&outcome), ("canceled", "exec.canceled"));
    assert!(begin.elapsed() < Duration::from_secs(10));
    let outcome = execute(&toolbox, &call(native("native.sleep"), json!({"ms": 1e9}))).await;
    assert_eq!(failure(&outcome), ("invalid_arguments", "input.invalid"));
}

/// Gives this answer to the one question it expects, or never answers.
struct Told(Option<Answer>);

impl Asker for Told {
    fn ask(&self, question: InputQuestion) -> BoxFuture<'_, Answer> {
        assert_eq!((question.prompt.as_str(), question.ttl), ("which?", Some(Duration::from_secs(60))));
        assert_eq!(question.schema.unwrap().text(), r#"{"type":"string"}"#);
        match &self.0 {
            Some(answer) => std::future::ready(answer.clone()).boxed(),
            None => std::future::pending().boxed(),
        }
    }
}

#[tokio::test]
async fn a_question_has_an_answer_or_none_and_waiting_is_not_working() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let schema = json!({"type": "string"});
    let mut asking = call(native("native.ask"), json!({"prompt": "which?", "schema": schema, "ttl_ms": 60_000}));
    asking.limits.timeout = Some(Duration::from_millis(1));
    let answers = [
        (Answer::Provided(JsonPayload::of("blue")), json!({"outcome": "answered", "answer": "blue"})),
        (Answer::Declined, json!({"outcome": "declined"})),
        (Answer::Expired, json!({"outcome": "expired"})),
    ];
    for (answer, wanted) in answers {
        let (mut told, _) = context();
        told.asker = Arc::new(Told(Some(answer)));
        let outcome = toolbox.execute(&asking, &told).await;
        assert!(outcome.is_success());
        assert_eq!(structured(&outcome), wanted);
    }
    let (mut untold, _) = context();
    untold.asker = Arc::new(Told(None));
    let cancel = async {
        // Far longer than the call's time.
        toolplane_wait::pause(
            Duration::from_millis(50),
            "longer than the time of the call, which runs on the real clock",
        )
        .await;
        untold.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(toolbox.execute(&asking, &untold), cancel);
    assert_eq!(failure(&outcome), ("canceled", "exec.canceled"));
    let outcome = execute(&toolbox, &call(native("native.ask"), json!({"prompt": " "}))).await;
    assert_eq!(failure(&outcome), ("invalid_arguments", "input.invalid"));
}
