//! Tokens of a token server.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use parking_lot::Mutex;
use toolplane_credentials::CredentialError;
use toolplane_records::vocabulary::HiddenReason;

use crate::house::{House, get, look, request};
use crate::token_server::{TokenServer, granted};

const SECRET: &str = "client+secret/22";

fn config(house: &House, url: &str, more: &str) -> String {
    format!(
        "[[credentials]]\nname = 'billing'\nkind = 'bearer'\ntools = ['*']\n\
         [credentials.source.oauth2_client_credentials]\ntoken_url = '{url}'\nclient_id = 'us er'\n\
         client_secret = {{ file = '{}' }}\n{more}\n",
        house.write("client", format!("{SECRET}\n"))
    )
}

fn numbered(seconds: u64) -> impl Fn(usize, &crate::token_server::Received) -> Option<(u16, &'static str, String)> {
    move |before, _| granted(&format!("token-number-{}", before + 1), seconds)
}

#[tokio::test]
async fn a_token_is_asked_for_as_the_standard_says() {
    let (house, server) = (House::new(), TokenServer::start(numbered(600)).await);
    let broker = house.broker(&config(&house, &server.url, "scopes = ['a.read', 'b']\naudience = 'https://api'"));
    assert!(broker.names()[0].available, "nobody needed it yet");
    assert_eq!(look(&broker, "billing").await, "token-number-1");
    let broker = house.broker(&config(&house, &server.url, "auth = 'body'"));
    assert_eq!(look(&broker, "billing").await, "token-number-2");
    let received = server.received.lock().clone();
    let head = received[0].head.to_lowercase();
    assert!(head.starts_with("post /token http/1.1\r\n"), "{head}");
    assert!(head.contains("content-type: application/x-www-form-urlencoded\r\n"), "{head}");
    // base64("us+er:client%2Bsecret%2F22")
    assert!(received[0].head.contains(": Basic dXMrZXI6Y2xpZW50JTJCc2VjcmV0JTJGMjI=\r\n"), "{}", received[0].head);
    assert_eq!(received[0].body, "grant_type=client_credentials&scope=a.read+b&audience=https%3A%2F%2Fapi");
    assert!(!received[1].head.to_lowercase().contains("authorization"));
    assert_eq!(received[1].body, "grant_type=client_credentials&client_id=us+er&client_secret=client%2Bsecret%2F22");
}

#[tokio::test]
async fn a_token_is_renewed_before_its_end() {
    let (house, server) = (House::new(), TokenServer::start(numbered(600)).await);
    let broker = house.broker(&config(&house, &server.url, ""));
    assert_eq!(look(&broker, "billing").await, "token-number-1");
    house.later(470);
    assert_eq!((look(&broker, "billing").await.as_str(), server.count()), ("token-number-1", 1));
    house.later(10);
    assert_eq!(look(&broker, "billing").await, "token-number-2");
    let status = &broker.names()[0];
    assert_eq!(
        (status.generation, status.ends_in, status.source),
        (2, Some(Duration::from_secs(590)), "oauth2_client_credentials")
    );
    // In use: renewed without anybody waiting for it.
    house.later(480);
    broker.renew().await;
    assert_eq!(server.count(), 3);
    house.later(480);
    broker.renew().await;
    assert_eq!(server.count(), 3, "nobody used the last one");
    assert_eq!(broker.mask().text("token-number-1 token-number-3"), "[credential billing] [credential billing]");
}

#[tokio::test]
async fn while_the_server_is_away_a_token_is_used_to_its_end_and_no_longer() {
    let house = House::new();
    let server = TokenServer::start(|before, _| match before {
        0 => granted("token-number-1", 600),
        9.. => granted("token-number-9", 600),
        _ => Some((503, "", "<html>token-number-1 is down</html>".to_owned())),
    })
    .await;
    let broker = house.broker(&config(&house, &server.url, ""));
    assert_eq!(look(&broker, "billing").await, "token-number-1");
    for (later, expected) in [(480, "token-number-1"), (109, "token-number-1"), (2, "credential.unavailable")] {
        house.later(later);
        assert_eq!(look(&broker, "billing").await, expected);
    }
    let asked = server.count();
    assert_eq!(
        (look(&broker, "billing").await.as_str(), server.count()),
        ("credential.unavailable", asked),
        "it was asked a moment ago"
    );
    let error = get(&broker, "billing").await.unwrap_err().to_tool_error();
    assert_eq!(error.message, "the credential `billing` cannot be had now: the token server answers with status 503");
    assert!((1000..=30_000).contains(&error.retry_after_ms.unwrap()));
    assert!(!broker.names()[0].available);
    while server.count() < 9 {
        house.later(31);
        assert_eq!(look(&broker, "billing").await, "credential.unavailable");
    }
    house.later(31);
    assert_eq!(look(&broker, "billing").await, "token-number-9");
}

#[tokio::test]
async fn a_refused_token_is_never_used_again() {
    let (house, server) = (House::new(), TokenServer::start(numbered(600)).await);
    let broker = house.broker(&config(&house, &server.url, ""));
    let first = get(&broker, "billing").await.unwrap();
    broker.refused(&first);
    let second = get(&broker, "billing").await.unwrap();
    assert_eq!((first.generation(), second.generation(), server.count()), (1, 2, 2));
    // Others hear of the same refusal later.
    broker.refused(&first);
    assert_eq!((look(&broker, "billing").await.as_str(), server.count()), ("token-number-2", 2));
    // A provider that takes none of them does not turn us against the token server.
    broker.refused(&second);
    for _ in 0..10 {
        assert_eq!((look(&broker, "billing").await.as_str(), server.count()), ("credential.refused", 2));
    }
    house.later(1);
    assert_eq!(look(&broker, "billing").await, "token-number-3");
}

#[tokio::test]
async fn a_token_that_was_refused_is_asked_for_again_without_a_call() {
    let house = House::new();
    let server = TokenServer::start(|before, _| match before {
        0 => Some((400, "", r#"{"error":"invalid_scope"}"#.to_owned())),
        _ => granted("token-number-2", 600),
    })
    .await;
    let broker = house.broker(&config(&house, &server.url, ""));
    broker.load().await;
    assert_eq!((server.count(), broker.names()[0].available), (0, true), "a token is asked for when it is needed");
    assert_eq!(look(&broker, "billing").await, "credential.refused");
    let hidden = broker.check(&request("billing")).unwrap_err().hidden_reason();
    assert_eq!(hidden, Some(HiddenReason::CredentialMissing));
    broker.load().await;
    assert_eq!(server.count(), 1, "it was asked a moment ago");
    house.later(60);
    broker.load().await;
    assert_eq!((server.count(), broker.check(&request("billing"))), (2, Ok(())));
}

#[tokio::test]
async fn callers_at_once_share_one_request() {
    let (house, server) = (House::new(), TokenServer::start(numbered(600)).await);
    let broker = house.broker(&config(&house, &server.url, ""));
    let all = join_all((0..50).map(|_| look(&broker, "billing"))).await;
    assert!(all.iter().all(|token| token == "token-number-1"), "{all:?}");
    assert_eq!(server.count(), 1);
    house.later(500);
    let all = join_all((0..50).map(|_| look(&broker, "billing"))).await;
    assert!(all.iter().all(|token| token.starts_with("token-number-")), "{all:?}");
    assert_eq!((server.count(), look(&broker, "billing").await.as_str()), (2, "token-number-2"));
    // They share a failure too.
    let down = TokenServer::start(|_, _| Some((500, "", String::new()))).await;
    let broker = house.broker(&config(&house, &down.url, ""));
    let all = join_all((0..50).map(|_| look(&broker, "billing"))).await;
    assert!(all.iter().all(|code| code == "credential.unavailable"), "{all:?}");
    assert_eq!(down.count(), 1);
}

#[tokio::test]
async fn one_who_goes_away_does_not_keep_others_from_it() {
    let house = House::new();
    let server = TokenServer::start(|before, _| (before > 0).then(|| granted("token-number-2", 600)).flatten()).await;
    let broker = house.broker(&config(&house, &server.url, ""));
    let first = tokio::time::timeout(Duration::from_millis(300), get(&broker, "billing"));
    let second = async {
        toolplane_wait::eventually("the first request", Duration::from_secs(20), async || {
            (server.count() == 1).then_some(())
        })
        .await;
        look(&broker, "billing").await
    };
    let (first, second) = futures_util::future::join(first, second).await;
    assert!(first.is_err());
    assert_eq!((second.as_str(), server.count()), ("token-number-2", 2));
}

#[tokio::test]
async fn what_a_server_says_is_not_repeated() {
    let house = House::new();
    let long = Box::leak("x".repeat(70_000).into_boxed_str());
    for (answer, code, text) in [
        (
            Some((401, "", format!(r#"{{"error":"invalid_client","error_description":"{SECRET} is wrong"}}"#))),
            "credential.refused",
            "answers `invalid_client`",
        ),
        (Some((400, "", r#"{"error":"invalid_scope"}"#.to_owned())), "credential.refused", "answers `invalid_scope`"),
        (Some((400, "", format!(r#"{{"error":"{SECRET}"}}"#))), "credential.refused", "answers with status 400"),
        (
            Some((302, "location: http://127.0.0.1:1/\r\n", String::new())),
            "credential.refused",
            "answers with status 302",
        ),
        (Some((429, "", "slow down".to_owned())), "credential.unavailable", "answers with status 429"),
        (Some((200, "", format!("<html>{SECRET}</html>"))), "credential.unreadable", "is not one of RFC 6749"),
        (
            Some((200, "", r#"{"access_token":"0123456789","token_type":"mac"}"#.to_owned())),
            "credential.unreadable",
            "is not one of RFC 6749",
        ),
        (
            Some((200, "", r#"{"access_token":"two words here","token_type":"bearer"}"#.to_owned())),
            "credential.unreadable",
            "is not one of RFC 6749",
        ),
        (
            Some((200, "", r#"{"access_token":"0123456789","token_type":"bearer","expires_in":0}"#.to_owned())),
            "credential.unreadable",
            "is not one of RFC 6749",
        ),
        (Some((200, "", (*long).to_owned())), "credential.unreadable", "too large"),
        (None, "credential.unavailable", "did not answer in time"),
    ] {
        let is_silent = answer.is_none();
        let server = TokenServer::start(move |_, _| answer.clone()).await;
        let timeout = if is_silent { "timeout_ms = 300" } else { "" };
        let broker = house.broker(&config(&house, &server.url, timeout));
        let began = Instant::now();
        let error = get(&broker, "billing").await.unwrap_err();
        assert_eq!(error.code().as_str(), code, "{error}");
        assert!(error.to_string().contains(text), "{text}: {error}");
        assert!(!error.to_string().contains("secret") && began.elapsed() < Duration::from_secs(60));
        assert_eq!(server.count(), 1, "no redirect is followed");
    }
    let broker = house.broker(&config(&house, "http://127.0.0.1:1/token", ""));
    let error = get(&broker, "billing").await.unwrap_err();
    assert!(matches!(error, CredentialError::Unavailable { .. }), "{error}");
}

#[tokio::test]
async fn a_new_secret_of_the_client_is_taken_up() {
    let house = House::new();
    // What a client with the newer secret shows: base64("us+er:another-secret-22").
    let server =
        TokenServer::start(|before, request| match request.head.contains("dXMrZXI6YW5vdGhlci1zZWNyZXQtMjI=") {
            true => granted(&format!("token-number-{}", before + 1), 600),
            false => Some((401, "", r#"{"error":"invalid_client"}"#.to_owned())),
        })
        .await;
    let broker = house.broker(&config(&house, &server.url, ""));
    assert_eq!(look(&broker, "billing").await, "credential.refused");
    house.write("client", "another-secret-22");
    house.later(1);
    assert_eq!(look(&broker, "billing").await, "token-number-2");
    assert_eq!(broker.mask().text("another-secret-22"), "[credential billing]");
    std::fs::remove_file(house.path("client")).unwrap();
    broker.refused(&get(&broker, "billing").await.unwrap());
    assert_eq!(look(&broker, "billing").await, "credential.missing");
}

/// What a subscriber writes.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn nothing_of_a_secret_is_in_the_most_talkative_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tracing::subscriber::with_default(subscriber, || {
        runtime.block_on(async {
            let (house, server) = (House::new(), TokenServer::start(numbered(600)).await);
            for auth in ["basic", "body"] {
                let broker = house.broker(&config(&house, &server.url, &format!("auth = '{auth}'")));
                let token = get(&broker, "billing").await.unwrap();
                broker.refused(&token);
                get(&broker, "billing").await.unwrap();
                std::fs::remove_file(house.path("client")).unwrap();
                let error = broker.test("billing").await.unwrap_err();
                tracing::error!(?error, ?token, ?broker, %error, "all that can be printed");
            }
        });
    });
    let text = String::from_utf8(log.0.lock().clone()).unwrap();
    for said in ["a credential was read", "all that can be printed", "hyper_util::client"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    for secret in [SECRET, "secret%2F22", "dXMrZXI6", "token-number"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}
