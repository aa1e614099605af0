//! Calls: what is sent, what comes back, and what is known of a call that has no answer.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::script::{Calling, Script, new, old, options, pair};
use crate::{CloseReason, Content, Failure, Limits, Session, TraceContext};

#[tokio::test(start_paused = true)]
async fn arguments_leave_as_they_are() {
    let (session, mut script) = new(Limits::default()).await;
    let calling = Calling {
        arguments: Some("{\"b\": 1e2,\n \"a\":12345678901234567890123,\"b2\":\"x\\ny\"}"),
        trace: TraceContext {
            traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
            tracestate: Some("bad\nvalue".to_owned()),
        },
        ..Calling::default()
    };
    let serve = async {
        let line = script.line().await;
        assert!(line.contains("\"arguments\":{\"b\": 1e2,  \"a\":12345678901234567890123,\"b2\":\"x\\ny\"}"), "{line}");
        let message: Value = serde_json::from_str(&line).unwrap();
        let meta = &message["params"]["_meta"];
        assert_eq!(meta["traceparent"], "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        assert_eq!(meta["tracestate"], Value::Null, "what is no header value is left out");
        assert_eq!(meta["progressToken"], message["id"]);
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        // Nobody can be asked in this call, so nothing is said of it.
        assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
        script.done(&message["id"]).await;
    };
    let (answer, ()) = tokio::join!(calling.on(&session), serve);
    assert_eq!(answer.unwrap().content, [Content::Text("done".to_owned())]);
    assert_eq!(calling.seen.requests.lock().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_object_is_not_sent() {
    let (session, _script) = new(Limits::default()).await;
    for arguments in ["[]", "7", "null", "{"] {
        let failure = Calling { arguments: Some(arguments), ..Calling::default() }.on(&session).await.unwrap_err();
        assert!(matches!(&failure, Failure::NotSent(_)) && !failure.may_have_run(), "{failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn many_calls_run_at_once_and_each_gets_its_own_answer() {
    let (session, mut script) = old(Limits::default()).await;
    let (one, other) = (Calling::default(), Calling::default());
    let serve = async {
        let (first, second) = (script.call().await, script.call().await);
        script.progress(&second, 2.0).await;
        script.progress(&first, 1.0).await;
        script.answer(&second, json!({"content": [{"type": "text", "text": "second"}]})).await;
        script.answer(&first, json!({"content": [{"type": "text", "text": "first"}], "isError": true})).await;
    };
    let (a, b, ()) = tokio::join!(one.on(&session), other.on(&session), serve);
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!((a.content, a.is_error), (vec![Content::Text("first".to_owned())], true));
    assert_eq!((b.content, b.is_error), (vec![Content::Text("second".to_owned())], false));
    assert_eq!((&*one.seen.progress.lock(), &*other.seen.progress.lock()), (&vec![1.0], &vec![2.0]));
}

#[tokio::test(start_paused = true)]
async fn progress_only_grows() {
    let (session, mut script) = old(Limits::default()).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        for progress in [1.0, 0.5, 1.0, 2.0] {
            script.progress(&id, progress).await;
        }
        script.done(&id).await;
    };
    let (answer, ()) = tokio::join!(calling.on(&session), serve);
    answer.unwrap();
    assert_eq!((&*calling.seen.progress.lock(), *calling.seen.left_out.lock()), (&vec![1.0, 2.0], 2));
}

#[tokio::test(start_paused = true)]
async fn a_canceled_call_is_canceled_at_the_server() {
    let (session, mut script) = old(Limits::default()).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        calling.cancel.cancel();
        let notice = script.next().await;
        assert_eq!((&notice["method"], &notice["params"]["requestId"]), (&json!("notifications/cancelled"), &id));
        // It comes too late, and is nobody's any more.
        script.done(&id).await;
    };
    let (ended, ()) = tokio::join!(calling.on(&session), serve);
    assert_eq!(ended.unwrap_err(), Failure::Canceled { sent: true });
    // Canceled before it began, it never leaves.
    assert_eq!(calling.on(&session).await.unwrap_err(), Failure::Canceled { sent: false });
    let next = Calling::default();
    let (answer, ()) = tokio::join!(next.on(&session), async {
        let id = script.call().await;
        script.done(&id).await;
    });
    answer.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_is_canceled_too() {
    let (session, mut script) = new(Limits::default()).await;
    let id = {
        let calling = Calling::default();
        tokio::select! {
            _ = calling.on(&session) => panic!("it has no answer"),
            id = script.call() => id,
        }
    };
    let notice = script.next().await;
    assert_eq!((&notice["method"], &notice["params"]["requestId"]), (&json!("notifications/cancelled"), &id));
}

#[tokio::test(start_paused = true)]
async fn a_call_has_its_time() {
    let (session, mut script) = old(Limits::default()).await;
    let began = Instant::now();
    let calling = Calling { deadline: Some(began + Duration::from_secs(5)), ..Calling::default() };
    let serve = async {
        script.call().await;
        script.expect("notifications/cancelled").await;
    };
    let (ended, ()) = tokio::join!(calling.on(&session), serve);
    assert_eq!((ended.unwrap_err(), began.elapsed()), (Failure::TimedOut { sent: true }, Duration::from_secs(5)));
}

#[tokio::test(start_paused = true)]
async fn what_a_server_refuses_is_told_with_its_code() {
    let (session, mut script) = old(Limits::default()).await;
    for (code, may_have_run) in [(-32_601, false), (-32_021, false), (-32_602, true), (-32_000, true), (7, true)] {
        let calling = Calling::default();
        let serve = async {
            let id = script.call().await;
            script.refuse(&id, code, json!({"x": 1})).await;
        };
        let (ended, ()) = tokio::join!(calling.on(&session), serve);
        let failure = ended.unwrap_err();
        assert_eq!(failure.may_have_run(), may_have_run, "{failure}");
        let Failure::Refused(error) = failure else { panic!("refused") };
        assert_eq!((error.code, error.data.unwrap().text()), (code, r#"{"x":1}"#));
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_none_has_run() {
    let (session, mut script) = old(Limits::default()).await;
    for result in [json!(null), json!({}), json!({"content": [], "resultType": "task"})] {
        let serve = async {
            let id = script.call().await;
            script.answer(&id, result).await;
        };
        let calling = Calling::default();
        let (ended, ()) = tokio::join!(calling.on(&session), serve);
        let failure = ended.unwrap_err();
        assert!(matches!(&failure, Failure::Unreadable(_)) && failure.may_have_run(), "{failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_may_have_run_what_it_was_sent() {
    let (session, mut script) = old(Limits::default()).await;
    let calling = Calling::default();
    let (ended, ()) = tokio::join!(calling.on(&session), async {
        script.call().await;
        script.end().await;
    });
    let failure = ended.unwrap_err();
    assert_eq!((failure.may_have_run(), failure), (true, Failure::Lost(CloseReason::Ended)));
    assert_eq!(session.closed().await, CloseReason::Ended);
    // What comes after it has not left.
    let failure = calling.on(&session).await.unwrap_err();
    assert!(matches!(&failure, Failure::NotSent(_)) && !failure.may_have_run(), "{failure}");
}

#[tokio::test(start_paused = true)]
async fn what_waits_behind_a_server_that_does_not_read_was_not_sent() {
    let (transport, mut script): (_, Script) = pair(512);
    let (session, ()) = tokio::join!(Session::start(transport, options(Limits::default())), script.begin_old());
    let session = session.unwrap();
    let deadline = Some(Instant::now() + Duration::from_secs(5));
    let long: &'static str = Box::leak(format!(r#"{{"a":"{}"}}"#, "x".repeat(2_000)).into_boxed_str());
    let (first, second) =
        (Calling { arguments: Some(long), deadline, ..Calling::default() }, Calling { deadline, ..Calling::default() });
    let (first, second) = tokio::join!(first.on(&session), second.on(&session));
    assert_eq!(first.unwrap_err(), Failure::TimedOut { sent: true });
    assert_eq!(second.unwrap_err(), Failure::TimedOut { sent: false });
    // The one that waited is never sent.
    let line = script.line().await;
    assert!(line.contains("xxxx"));
    script.expect("notifications/cancelled").await;
    drop(session);
    script.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_dropped_closes_the_stream() {
    let (session, mut script) = old(Limits::default()).await;
    drop(session);
    script.ended().await;
}

#[test]
fn every_failure_has_a_code_that_says_what_may_be_done() {
    use toolplane_records::vocabulary::Recoverability::{self, VerifyBeforeRetry};
    let error = crate::RpcError { code: -32_602, message: "no".to_owned(), data: None };
    for (failure, code, advice) in [
        (Failure::NotSent(String::new()), "mcp.not_started", Recoverability::RetryLater),
        (Failure::Lost(CloseReason::Ended), "mcp.no_answer", VerifyBeforeRetry),
        (Failure::Refused(error), "mcp.refused", Recoverability::ChangeArguments),
        (Failure::Unreadable(String::new()), "mcp.unreadable_answer", VerifyBeforeRetry),
        (Failure::NotGiven(String::new()), "mcp.input_not_given", Recoverability::NotRetryable),
        (Failure::TimedOut { sent: true }, "exec.timeout", VerifyBeforeRetry),
    ] {
        assert_eq!((failure.code().as_str(), failure.code().of_call().1), (code, advice), "{failure}");
    }
}
