//! What a server speaks is found out, whatever it answers to what it does not know.

use std::time::Duration;

use serde_json::{Value, json};

use super::script::{Script, discovered, initialized, new, old, options, pair, start_with};
use crate::{CloseReason, Era, Failure, Limits, Order, Session, SessionOptions, StartError};

#[tokio::test(start_paused = true)]
async fn a_server_of_2026_is_asked_once() {
    let (session, _script) = new(Limits::default()).await;
    let server = session.server();
    assert_eq!((server.name.as_str(), server.version_of_server.as_str()), ("scripted", "2"));
    assert_eq!((server.era, server.version.as_str()), (Era::Stateless, "2026-07-28"));
    assert!(server.tools && server.tells_changes);
}

#[tokio::test(start_paused = true)]
async fn a_server_of_before_is_begun_in_its_own_way() {
    let (session, _script) = old(Limits::default()).await;
    assert_eq!((session.server().era, session.server().version.as_str()), (Era::Initialized, "2025-11-25"));
    // Servers say in many ways that they do not know the method.
    for code in [-32_602, -32_600, -32_000, 0] {
        for version in ["2025-06-18", "2024-11-05"] {
            let session = start_with(options(Limits::default()), async |mut script: Script| {
                let id = script.expect("server/discover").await;
                script.refuse(&id, code, Value::Null).await;
                let id = script.expect("initialize").await;
                script.answer(&id, initialized(version)).await;
                script.expect("notifications/initialized").await;
            });
            assert_eq!(session.await.unwrap().server().version, version);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_silent_is_asked_in_the_older_way() {
    let began = tokio::time::Instant::now();
    let session = start_with(options(Limits::default()), async |mut script: Script| {
        script.expect("server/discover").await;
        let id = script.expect("initialize").await;
        script.answer(&id, initialized("2025-06-18")).await;
        script.expect("notifications/initialized").await;
    });
    assert_eq!(session.await.unwrap().server().era, Era::Initialized);
    assert_eq!(began.elapsed(), Limits::default().discover);
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_that_has_understood_the_first_question_is_asked_it_again() {
    let session = start_with(options(Limits::default()), async |mut script: Script| {
        let late = script.expect("server/discover").await;
        let id = script.expect("initialize").await;
        script.answer(&late, discovered(&["2026-07-28"])).await;
        script.refuse(&id, -32_022, json!({"supported": ["2026-07-28"], "requested": "2025-11-25"})).await;
        let id = script.expect("server/discover").await;
        script.answer(&id, discovered(&["2026-07-28"])).await;
    });
    assert_eq!(session.await.unwrap().server().era, Era::Stateless);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_only_discovers_is_begun_in_the_older_way() {
    let session = start_with(options(Limits::default()), async |mut script: Script| {
        let id = script.expect("server/discover").await;
        script.answer(&id, discovered(&["2025-11-25"])).await;
        let id = script.expect("initialize").await;
        script.answer(&id, initialized("2025-11-25")).await;
        script.expect("notifications/initialized").await;
    });
    assert_eq!(session.await.unwrap().server().era, Era::Initialized);
}

#[tokio::test(start_paused = true)]
async fn the_older_way_may_be_tried_first() {
    let options = SessionOptions { order: Order::OldFirst, ..options(Limits::default()) };
    let session = start_with(options, async |mut script: Script| {
        let id = script.expect("initialize").await;
        script.refuse(&id, -32_601, Value::Null).await;
        let id = script.expect("server/discover").await;
        script.answer(&id, discovered(&["2026-07-28"])).await;
    });
    assert_eq!(session.await.unwrap().server().era, Era::Stateless);
}

#[tokio::test(start_paused = true)]
async fn without_a_common_version_there_is_no_session() {
    let later = start_with(options(Limits::default()), async |mut script: Script| {
        let id = script.expect("server/discover").await;
        script.refuse(&id, -32_022, json!({"supported": ["2031-01-01"]})).await;
    });
    assert_eq!(later.await.unwrap_err(), StartError::NoCommonVersion(vec!["2031-01-01".to_owned()]));
    let unknown = start_with(options(Limits::default()), async |mut script: Script| {
        let id = script.expect("server/discover").await;
        script.refuse(&id, -32_601, Value::Null).await;
        let id = script.expect("initialize").await;
        script.answer(&id, initialized("1999-01-01")).await;
    });
    assert_eq!(unknown.await.unwrap_err(), StartError::NoCommonVersion(vec!["1999-01-01".to_owned()]));
    let neither = start_with(options(Limits::default()), async |mut script: Script| {
        for method in ["server/discover", "initialize"] {
            let id = script.expect(method).await;
            script.refuse(&id, -32_601, Value::Null).await;
        }
    });
    assert!(matches!(neither.await.unwrap_err(), StartError::Failed(Failure::Refused(error)) if error.code == -32_601));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_given_up() {
    let (transport, _script) = pair(64 * 1024);
    let began = tokio::time::Instant::now();
    assert_eq!(Session::start(transport, options(Limits::default())).await.unwrap_err(), StartError::TimedOut);
    assert_eq!(began.elapsed(), Duration::from_secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_program_that_is_no_server_is_told_by_what_it_wrote() {
    let start = start_with(options(Limits::default()), async |mut script: Script| {
        script.raw("usage: server --port N").await;
        script.end().await;
    });
    let garbage = Some("usage: server --port N".to_owned());
    assert_eq!(start.await.unwrap_err(), StartError::Closed { reason: CloseReason::Ended, garbage });
}
