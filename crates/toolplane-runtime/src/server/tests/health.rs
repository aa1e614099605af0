//! What a process lacks, as health checks tell it.

use super::*;
use crate::health::{LIVENESS, Need, PeerUnready, Readiness, check, follow};

/// A server that answers for what it needs.
async fn start_needing(readiness: &Readiness) -> String {
    let bound = bind("127.0.0.1:0".parse().expect("address")).await.expect("bind");
    let url = own_url(bound.address(), false);
    let server = Server::new(bound, Services::default(), ServerSettings::default()).expect("server");
    tokio::spawn(server.with_readiness(readiness.clone()).run(Shutdown::new()));
    url
}

async fn until(readiness: &Readiness, service: &str, expected: &[&str]) {
    let start = std::time::Instant::now();
    while readiness.lacks(service).is_none_or(|lacks| lacks != expected) {
        assert!(start.elapsed() < LIMIT, "{service}: {:?} instead of {expected:?}", readiness.lacks(service));
        toolplane_wait::look_again().await;
    }
}

#[tokio::test]
async fn what_is_missing_is_told_through_processes() {
    let (front, back) = (Readiness::default(), Readiness::default());
    let store = back.need("the permission store", &["test.v1.Back"]);
    store.there();
    let back_url = start_needing(&back).await;
    let need = front.need("permission", &["test.v1.Front"]);
    let front_url = start_needing(&front).await;
    let stop = CancellationToken::new();
    tokio::spawn(follow(need, plain(&back_url), "test.v1.Back", stop.clone()));
    until(&front, "", &[]).await;
    let peer = plain(&front_url);
    assert_eq!(health(&peer, "test.v1.Front").await, Ok(Serving::Serving));

    let mut watch = HealthClient::new(peer.clone())
        .watch(HealthCheckRequest { service: "test.v1.Front".to_owned() })
        .await
        .expect("watch")
        .into_inner();
    assert_eq!(watch.message().await.expect("first").expect("first").status(), Serving::Serving);
    store.missing("Redis cannot be reached");
    let expected = "permission: it is not ready (the permission store: Redis cannot be reached)";
    until(&front, "test.v1.Front", &[expected]).await;
    assert_eq!(watch.message().await.expect("change").expect("change").status(), Serving::NotServing);
    for service in ["", "test.v1.Front"] {
        assert_eq!(check(peer.clone(), service).await, Err(PeerUnready::NotReady(expected.to_owned())), "{service}");
    }
    assert_eq!(health(&peer, LIVENESS).await, Ok(Serving::Serving), "a restart would bring no store back");
    assert_eq!(health(&peer, "test.v1.Other").await, Err(Code::NotFound));
    store.there();
    until(&front, "", &[]).await;
    assert_eq!(watch.message().await.expect("change").expect("change").status(), Serving::Serving);
    stop.cancel();
}

#[tokio::test]
async fn a_peer_that_is_not_there_is_named_as_that() {
    let readiness = Readiness::default();
    let free = bind("127.0.0.1:0".parse().expect("address")).await.expect("bind").address();
    let need: Need = readiness.need("surface", &["test.v1.Front"]);
    let url = start_needing(&readiness).await;
    let stop = CancellationToken::new();
    tokio::spawn(follow(need, plain(&own_url(free, false)), "test.v1.Back", stop.clone()));
    until(&readiness, "", &["surface: it cannot be reached"]).await;
    assert_eq!(health(&plain(&url), "").await, Ok(Serving::NotServing));
    stop.cancel();
}

#[tokio::test]
async fn a_listener_for_probes_answers_them_and_nothing_else() {
    let readiness = Readiness::default();
    let need = readiness.need("scheduler", &["executor"]);
    let bound = bind(probes::ANYWHERE).await.expect("bind");
    let url = own_url(bound.address(), false);
    let stop = CancellationToken::new();
    let serving = tokio::spawn(probes::serve(bound, readiness.clone(), stop.clone()));
    readiness.open(true);
    let peer = plain(&url);
    assert_eq!(health(&peer, "executor").await, Ok(Serving::NotServing));
    need.there();
    assert_eq!(health(&peer, "executor").await, Ok(Serving::Serving));
    assert_eq!(call(&peer, "Echo", String::new()).await.expect_err("nothing else").code(), Code::Unimplemented);
    // More probes than it takes connections: none waits.
    let many: Vec<Peer> = (0..60).map(|_| plain(&url)).collect();
    for peer in &many {
        let answer = retry(Backoff::BRIEF, || async { health(peer, "").await.map_err(|code| Status::new(code, "")) });
        assert_eq!(answer.await.expect("an answer"), Serving::Serving);
    }
    stop.cancel();
    tokio::time::timeout(LIMIT, serving).await.expect("in time").expect("task").expect("ended");
}
