//! Servers that mean harm, or are broken: bounded, and closed with a reason.

use std::time::Duration;

use serde_json::json;
use toolplane_wait::pause;

use super::script::{Calling, Script, old};
use crate::{CloseReason, Failure, Limits};

/// One call while the server does what it likes; how the call and the session ended.
async fn during<F: Future<Output = Script>>(
    limits: Limits,
    server: impl FnOnce(Script, serde_json::Value) -> F,
) -> (Failure, Option<CloseReason>) {
    let (session, mut script) = old(limits).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        server(script, id).await
    };
    let (ended, _script) = tokio::join!(calling.on(&session), serve);
    (ended.unwrap_err(), session.over())
}

fn lost(reason: CloseReason) -> (Failure, Option<CloseReason>) {
    (Failure::Lost(reason.clone()), Some(reason))
}

#[tokio::test(start_paused = true)]
async fn a_line_too_long_ends_the_session() {
    let limits = Limits { message_bytes: 4_096, ..Limits::default() };
    for line in [format!("{{\"x\":\"{}\"}}", "y".repeat(5_000)), "y".repeat(20_000)] {
        let ended = during(limits.clone(), async |mut script: Script, _| {
            script.raw(&line).await;
            script
        });
        assert_eq!(ended.await, lost(CloseReason::MessageTooLong(4_096)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_of_just_the_bytes_is_read() {
    let (session, mut script) = old(Limits { message_bytes: 4_096, ..Limits::default() }).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        let answer = |fill: usize| format!(r#"{{"id":{id},"result":{{"content":[],"x":"{}"}}}}"#, "y".repeat(fill));
        let fill = 4_096 - answer(0).len();
        script.raw(&answer(fill)).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_reads_so_much_and_no_more() {
    let limits = Limits { total_bytes: 10_000, ..Limits::default() };
    let ended = during(limits, async |mut script: Script, id| {
        for progress in 0..200 {
            script.progress(&id, f64::from(progress)).await;
        }
        script
    });
    assert_eq!(ended.await, lost(CloseReason::TooMuch(10_000)));
}

#[tokio::test(start_paused = true)]
async fn garbage_is_borne_within_a_bound() {
    let (session, mut script) = old(Limits { garbage_lines: 3, ..Limits::default() }).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        for line in ["Starting \u{1b}[31mserver", "", "   ", "[]", "{\"half\":"] {
            script.raw(line).await;
        }
        script.done(&id).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
    // White space alone is nothing; what acts on a terminal is spelled out.
    assert_eq!(session.garbage(), (3, Some("Starting \\u{1b}[31mserver".to_owned())));
    script.raw("more").await;
    assert!(matches!(session.closed().await, CloseReason::Garbage(first) if first.starts_with("Starting")));
    let bytes = during(Limits { garbage_bytes: 1_000, ..Limits::default() }, async |mut script: Script, _| {
        script.raw(&"z".repeat(1_001)).await;
        script
    });
    assert!(matches!(bytes.await.1, Some(CloseReason::Garbage(first)) if first.chars().count() <= 501));
}

#[tokio::test(start_paused = true)]
async fn a_flood_ends_the_session_and_costs_no_memory() {
    let limits = Limits { unasked_burst: 100, unasked_per_second: 10, ..Limits::default() };
    for flood in [
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
        // Answers to a request that is long over.
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
    ] {
        let ended = during(limits.clone(), async |mut script: Script, _| {
            for _ in 0..102 {
                script.say(flood.clone()).await;
            }
            script
        });
        assert_eq!(ended.await, lost(CloseReason::Flood), "{flood}");
    }
    // As many over a longer time are fine.
    let (session, mut script) = old(limits).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        for progress in 0..300 {
            script.progress(&id, f64::from(progress)).await;
            pause(Duration::from_millis(100), "the clock is paused, and time is what this is about").await;
        }
        script.done(&id).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn reports_that_nobody_takes_are_left_out() {
    let (session, mut script) = old(Limits::default()).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        let report = |progress| {
            let params = json!({"progressToken": id, "progress": progress});
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string()
        };
        // In one piece, so that the call cannot take them in between.
        let many: Vec<String> = (1..=100).map(report).collect();
        script.raw(&many.join("\n")).await;
        script.done(&id).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
    let (progress, left_out) = (calling.seen.progress.lock(), *calling.seen.left_out.lock());
    assert_eq!(progress.len() as u64 + left_out, 100);
    assert!(left_out > 0 && progress.last() == Some(&100.0), "{left_out} {progress:?}");
}

#[tokio::test(start_paused = true)]
async fn answers_to_what_was_never_asked_end_the_session() {
    let limits = Limits { stray_answers: 5, ..Limits::default() };
    for id in [json!(0), json!(99), json!("x"), json!(1.5), json!(-1)] {
        let ended = during(limits.clone(), async |mut script: Script, _| {
            for _ in 0..6 {
                script.answer(&id, json!({"content": []})).await;
            }
            script
        });
        assert_eq!(ended.await, lost(CloseReason::StrayAnswers), "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_and_does_not_read_is_closed() {
    let limits = Limits { queue: 4, ..Limits::default() };
    let ended = during(limits, async |mut script: Script, _| {
        // The answers fill what the stream holds, and then the queue.
        for _ in 0..5_000 {
            script.say(json!({"jsonrpc": "2.0", "id": "x".repeat(200), "method": "ping"})).await;
        }
        script
    });
    assert_eq!(ended.await, lost(CloseReason::NotReading));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_costs_its_callers_no_more_than_their_time() {
    let (session, mut script) = old(Limits::default()).await;
    let calling =
        Calling { deadline: Some(tokio::time::Instant::now() + Duration::from_secs(1)), ..Calling::default() };
    let calls = (0..32).map(|_| calling.on(&session));
    for ended in futures_util::future::join_all(calls).await {
        assert_eq!(ended.unwrap_err(), Failure::TimedOut { sent: true });
    }
    for _ in 0..32 {
        script.call().await;
    }
    assert_eq!(session.over(), None);
}

#[tokio::test(start_paused = true)]
async fn an_error_without_an_id_is_nobodys() {
    let (session, mut script) = old(Limits::default()).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        script.say(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32_700, "message": "parse"}})).await;
        script.done(&id).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
}
