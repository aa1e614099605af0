//! Connections that grow old or break, drains with streams that do not end by themselves, and callers that leave early.

use super::*;

fn aging(most: u64, grace: u64) -> ServerSettings {
    let age = ConnectionAge { most: Duration::from_millis(most), grace: Duration::from_millis(grace) };
    ServerSettings { connection_age: Some(age), ..ServerSettings::default() }
}

/// The words a stream ends with.
async fn last_words(words: &mut tonic::Streaming<String>) -> Status {
    loop {
        match tokio::time::timeout(LIMIT, words.message()).await.expect("the stream ends") {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a stream without an end ended well"),
            Err(status) => return status,
        }
    }
}

#[tokio::test]
async fn an_old_connection_is_replaced_without_a_failed_call() {
    let server = start("127.0.0.1:0", aging(100, 2_000)).await;
    let peer = plain(&server.url);
    let begin = std::time::Instant::now();
    let mut calls = 0;
    while begin.elapsed() < Duration::from_secs(1) {
        let echoed = retry(Backoff { tries: 3, ..Backoff::default() }, || call(&peer, "Echo", "x".to_owned())).await;
        assert_eq!(echoed.expect("every call is answered"), "x", "after {calls} calls");
        calls += 1;
    }
    assert!(calls > 50, "{calls}");
}

#[tokio::test]
async fn a_call_that_runs_when_its_connection_grows_old_is_finished() {
    let server = start("127.0.0.1:0", aging(100, 5_000)).await;
    let peer = plain(&server.url);
    let waiting = tokio::spawn({
        let peer = peer.clone();
        async move { call(&peer, "Wait", String::new()).await }
    });
    let _entered = server.entered.acquire().await.expect("entered");
    toolplane_wait::pause(Duration::from_millis(400), "the connection grows old on the real clock").await;
    let echoed = retry(Backoff::BRIEF, || call(&peer, "Echo", "new".to_owned())).await;
    assert_eq!(echoed.expect("a new connection"), "new");
    server.open.add_permits(1);
    assert_eq!(waiting.await.expect("task").expect("the old connection serves to the end"), "waited");
}

#[tokio::test]
async fn a_stream_on_an_old_connection_is_told_to_come_again() {
    let server = start("127.0.0.1:0", aging(100, 400)).await;
    let peer = plain(&server.url);
    let begin = std::time::Instant::now();
    let mut words = stream(&peer, "on and on").await;
    let status = last_words(&mut words).await;
    assert_eq!((status.code(), reason(&status).as_deref()), (Code::Unavailable, Some("CONNECTION_ENDS")), "{status:?}");
    assert!(begin.elapsed() >= Duration::from_millis(90 + 200), "grace is given: {:?}", begin.elapsed());
}

#[tokio::test]
async fn a_drain_ends_streams_in_words_before_it_cuts() {
    let settings = ServerSettings { drain_timeout: Duration::from_millis(600), ..ServerSettings::default() };
    let server = start("127.0.0.1:0", settings).await;
    let peer = plain(&server.url);
    let mut words = stream(&peer, "on and on").await;
    server.shutdown.request();
    let status = last_words(&mut words).await;
    assert_eq!((status.code(), reason(&status).as_deref()), (Code::Unavailable, Some("CONNECTION_ENDS")), "{status:?}");
    assert_eq!(server.ended.await.expect("task").expect("ended"), Drain::Complete, "nothing was left to cut");
}

/// Two servers that can do each other's work: whichever goes away, calls go to the other.
#[tokio::test]
async fn calls_move_to_the_process_that_is_there() {
    let one = start("127.0.0.1:0", ServerSettings::default()).await;
    let other = start("127.0.0.1:0", ServerSettings::default()).await;
    let urls = [one.url.clone(), other.url.clone()];
    let peer = crate::client::connect_any(&urls, &PeerSettings::default()).expect("peer");
    let quick = Backoff { first: Duration::from_millis(5), most: Duration::from_millis(20), tries: 4 };
    let echo = async || retry(quick, || call(&peer, "Echo", "x".to_owned())).await;
    assert_eq!(echo().await.expect("both there"), "x");
    one.shutdown.force();
    one.ended.await.expect("task").expect("ended");
    for _ in 0..20 {
        assert_eq!(echo().await.expect("one there"), "x");
    }
    other.shutdown.force();
    other.ended.await.expect("task").expect("ended");
    let status = echo().await.expect_err("nobody there");
    assert_eq!((status.code(), reason(&status).as_deref()), (Code::Unavailable, Some("NO_CONNECTION")), "{status:?}");
}

/// A connection that breaks under a call is `UNAVAILABLE`, whatever the transport calls it.
#[tokio::test]
async fn a_broken_connection_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            toolplane_wait::pause(Duration::from_millis(20), "a peer that is slow to hang up").await;
            drop(stream);
        }
    });
    let status = call(&plain(&url), "Echo", "x".to_owned()).await.expect_err("broken");
    assert_eq!((status.code(), reason(&status).as_deref()), (Code::Unavailable, Some("NO_CONNECTION")), "{status:?}");
}

/// Deadlines bound how long a caller waits, never what a handler does.
#[tokio::test]
async fn work_goes_on_when_its_caller_has_left() {
    let server = start("127.0.0.1:0", ServerSettings::default()).await;
    let peer = plain(&server.url);
    let waiting = tokio::time::timeout(Duration::from_millis(200), call(&peer, "Write", String::new())).await;
    assert!(waiting.is_err(), "the caller leaves first");
    server.entered.acquire().await.expect("begun").forget();
    server.open.add_permits(1);
    let finished = tokio::time::timeout(LIMIT, server.entered.acquire()).await;
    assert!(finished.is_ok_and(|permit| permit.is_ok()), "the handler was dropped with its caller");
}
