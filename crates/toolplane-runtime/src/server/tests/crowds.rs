//! Connections that say nothing, and more connections than there is room for.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::keys::{KeyEntry, NewKey};
use crate::tls::HTTP2_PREFACE as PREFACE;

async fn silent(server: &Running, said: &[u8]) -> TcpStream {
    let address = server.url.rsplit("//").next().expect("address").to_owned();
    let mut stream = TcpStream::connect(address).await.expect("connected");
    stream.write_all(said).await.expect("said");
    stream
}

/// Waits until the other side has closed the connection.
async fn closed(mut stream: TcpStream) {
    let mut end = Vec::new();
    let read = tokio::time::timeout(LIMIT, stream.read_to_end(&mut end)).await.expect("it is closed in time");
    // An end or a reset: nothing goes on either way.
    drop(read);
}

fn crowded(total: u32, patience: Duration) -> ServerSettings {
    ServerSettings { connections: (Some(total), None), first_request: patience, ..ServerSettings::default() }
}

#[tokio::test]
async fn whoever_shows_no_caller_in_time_is_closed() {
    let settings = ServerSettings { first_request: Duration::from_millis(300), ..with_tokens("good") };
    let plain_server = start("127.0.0.1:0", settings.clone()).await;
    let file = |name: &str| -> std::path::PathBuf {
        [env!("CARGO_MANIFEST_DIR"), "src/server/testdata", name].iter().collect()
    };
    let tls = ServerTlsConfig::new().identity(Identity::from_pem(
        std::fs::read(file("server.pem")).expect("certificate"),
        std::fs::read(file("server.key")).expect("key"),
    ));
    let tls_server = start("127.0.0.1:0", ServerSettings { tls: Some(tls), ..settings }).await;
    let known = connect(&plain_server.url, &PeerSettings { token: Some("good".to_owned()), ..PeerSettings::default() });
    let known = known.expect("peer");
    let mut words = stream(&known, "on and on").await;
    assert_eq!(words.message().await.expect("first").as_deref(), Some("first"));

    // Nothing, half a greeting, a greeting without a request; the beginning of a handshake.
    for said in [&b""[..], &PREFACE[..10], PREFACE] {
        closed(silent(&plain_server, said).await).await;
    }
    for said in [&b""[..], &[0x16, 3, 1][..]] {
        closed(silent(&tls_server, said).await).await;
    }
    // A wrong credential is none: a client that guesses has to connect anew for every few guesses. 0x83 is POST.
    let mut guessing = silent(&plain_server, PREFACE).await;
    let headers = b"\x83\x86\x44\x13/test.v1.Probe/Echo\x41\x01x\x40\x0dauthorization\x05wrong";
    let length = u8::try_from(headers.len()).expect("short");
    guessing.write_all(&[&[0, 0, length, 1, 5, 0, 0, 0, 1][..], headers].concat()).await.expect("asked");
    closed(guessing).await;
    // Known callers are not concerned.
    assert_eq!(call(&known, "Echo", "still here".to_owned()).await.expect("known"), "still here");
    let more = tokio::time::timeout(Duration::from_millis(50), words.message()).await;
    assert!(more.is_err(), "its stream goes on: {more:?}");
}

#[tokio::test]
async fn silent_connections_do_not_keep_callers_out() {
    let server = start("127.0.0.1:0", crowded(32, LIMIT * 10)).await;
    let mut crowd = Vec::new();
    for round in 0..4 {
        for _ in 0..50 {
            crowd.push(silent(&server, PREFACE).await);
        }
        let peer = plain(&server.url);
        let echoed = tokio::time::timeout(LIMIT, call(&peer, "Echo", "x".to_owned())).await.expect("no waiting");
        assert_eq!(echoed.expect("a place"), "x", "round {round}");
        assert_eq!(health(&plain(&server.url), "").await, Ok(Serving::Serving));
    }
    // The oldest made room for the others.
    closed(crowd.swap_remove(0)).await;
}

#[tokio::test]
async fn places_are_kept_for_operators_whatever_callers_do() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("keys.toml");
    let (agent, operator) = (NewKey::make("a1").expect("key"), NewKey::make("o1").expect("key"));
    let lines = [("a1", &agent, Role::Agent), ("o1", &operator, Role::Operator)].map(|(id, key, role)| {
        let entry = KeyEntry {
            id: id.to_owned(),
            sha256: key.sha256(),
            tenant: "acme".to_owned(),
            actor: None,
            roles: vec![role],
            expires_at: None,
            disabled: false,
        };
        entry.to_toml().expect("lines")
    });
    std::fs::write(&file, lines.join("\n")).expect("keys");
    let config = AuthConfig { api_key_file: Some(file), ..AuthConfig::default() };
    let auth = Some(Arc::new(Auth::from_config(&config).expect("auth")));
    let server = start("127.0.0.1:0", ServerSettings { auth, ..crowded(16, LIMIT) }).await;
    let with = |key: &NewKey| {
        let settings = PeerSettings { token: Some(key.text().to_owned()), ..PeerSettings::default() };
        connect(&server.url, &settings).expect("peer")
    };
    let mut at_work = Vec::new();
    let full = loop {
        let peer = with(&agent);
        let mut grpc = tonic::client::Grpc::new(peer.clone());
        grpc.ready().await.expect("ready");
        let path = PathAndQuery::from_static("/test.v1.Probe/Stream");
        let codec = ProstCodec::<String, String>::default();
        match grpc.server_streaming(Request::new("on and on".to_owned()), path, codec).await {
            Ok(words) => at_work.push((peer, words)),
            Err(status) => break status,
        }
        assert!(at_work.len() < 16, "there is an end");
    };
    assert_eq!((full.code(), reason(&full).as_deref()), (Code::ResourceExhausted, Some("TOO_MANY_CONNECTIONS")));
    assert_eq!(call(&with(&operator), "Echo", "kept".to_owned()).await.expect("an operator"), "kept");
    assert_eq!(health(&plain(&server.url), "").await, Ok(Serving::Serving));
    // One falls quiet: its place is free for the next.
    let (quiet, words) = at_work.remove(0);
    drop(words);
    call(&quiet, "Echo", String::new()).await.expect("its connection stays");
    assert_eq!(call(&with(&agent), "Echo", "next".to_owned()).await.expect("the next"), "next");
}
