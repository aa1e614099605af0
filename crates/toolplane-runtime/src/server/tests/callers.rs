//! Who a handler is told calls, over a real connection.

use tonic::metadata::MetadataValue;

use super::*;
use crate::config::MtlsConfig;
use crate::keys::{KeyEntry, NewKey};

fn auth(config: &AuthConfig) -> ServerSettings {
    ServerSettings { auth: Some(Arc::new(Auth::from_config(config).expect("auth"))), ..ServerSettings::default() }
}

fn entry(key: &NewKey, id: &str, tenant: &str, roles: &[Role]) -> KeyEntry {
    KeyEntry {
        id: id.to_owned(),
        sha256: key.sha256(),
        tenant: tenant.to_owned(),
        actor: Some(format!("{id}@{tenant}")),
        roles: roles.to_vec(),
        expires_at: None,
        disabled: false,
    }
}

fn with_token(url: &str, token: &str) -> Peer {
    connect(url, &PeerSettings { token: Some(token.to_owned()), ..PeerSettings::default() }).expect("peer")
}

fn request(pairs: &[(&'static str, &str)]) -> Request<String> {
    let mut request = Request::new(String::new());
    for (name, value) in pairs {
        request.metadata_mut().append(*name, MetadataValue::try_from(*value).expect("value"));
    }
    request
}

async fn reason_of(peer: &Peer, method: &str, pairs: &[(&'static str, &str)]) -> String {
    let refused = send(peer, method, request(pairs)).await.expect_err(method);
    reason(&refused).unwrap_or_default()
}

#[tokio::test]
async fn nobody_is_asked_without_authentication() {
    let server = start("127.0.0.1:0", ServerSettings::default()).await;
    let peer = with_token(&server.url, "anything");
    let everything = "default -  agent,approver,operator,worker,auditor,peer false";
    assert_eq!(call(&peer, "Who", String::new()).await.expect("who"), everything);
    // It stays the one tenant, whatever is said.
    let own = send(&peer, "Who", request(&[("toolplane-tenant", "default")])).await.expect("its own");
    assert_eq!(own, everything);
    assert_eq!(reason_of(&peer, "Who", &[("toolplane-tenant", "acme")]).await, "NOT_A_PEER");
}

#[tokio::test]
async fn keys_are_callers_and_change_while_the_server_runs() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("keys.toml");
    let (agent, operator) = (NewKey::make("a1").expect("key"), NewKey::make("o1").expect("key"));
    let agent_entry = entry(&agent, "a1", "acme", &[Role::Agent]);
    let lines = agent_entry.to_toml().expect("lines");
    let both = format!("{lines}{}", entry(&operator, "o1", "acme", &[Role::Operator]).to_toml().expect("lines"));
    std::fs::write(&file, &both).expect("keys");
    let settings = auth(&AuthConfig { api_key_file: Some(file.clone()), ..AuthConfig::default() });
    let server = start("127.0.0.1:0", settings).await;
    let (nobody, peer) = (plain(&server.url), with_token(&server.url, agent.text()));

    assert_eq!(call(&peer, "Who", String::new()).await.expect("who"), "acme a1@acme key:a1 agent true");
    let by_header = send(&nobody, "Who", request(&[("x-api-key", operator.text())])).await.expect("who");
    assert_eq!(by_header, "acme o1@acme key:o1 operator true");

    // The role before the request is even read.
    let refused = call(&peer, "Refuse", String::new()).await.expect_err("an agent");
    assert_eq!((refused.code(), refused.message()), (Code::PermissionDenied, "this needs the role operator"));
    assert_eq!(
        call(&with_token(&server.url, operator.text()), "Refuse", 7_u64).await.expect_err("x").code(),
        Code::InvalidArgument
    );
    assert_eq!(call(&peer, "Refuse", 7_u64).await.expect_err("unread").code(), Code::PermissionDenied);

    // What is shown and wrong is refused, whatever else is shown.
    let wrong = format!("{}x", &agent.text()[..agent.text().len() - 1]);
    for (pairs, expected) in [
        (vec![], "TOKEN_MISSING"),
        (vec![("authorization", "Bearer nonsense")], "TOKEN_UNKNOWN"),
        (vec![("authorization", wrong.as_str())], "TOKEN_UNKNOWN"),
        (vec![("x-api-key", agent.text()), ("authorization", "Bearer nonsense")], "TOKEN_UNKNOWN"),
        (vec![("authorization", agent.text()), ("x-api-key", wrong.as_str())], "TOKEN_UNKNOWN"),
        (vec![("authorization", agent.text()), ("authorization", agent.text())], "CREDENTIAL_AMBIGUOUS"),
        (vec![("authorization", agent.text()), ("toolplane-roles", "operator")], "NOT_A_PEER"),
    ] {
        assert_eq!(reason_of(&nobody, "Who", &pairs).await, expected, "{}", pairs.len());
    }
    // Two good ones of one caller are one; of two callers, whose request it is would be a guess.
    let same = [("authorization", agent.text()), ("x-api-key", agent.text())];
    assert!(send(&nobody, "Who", request(&same)).await.expect("one caller").contains("key:a1"));
    for (one, other) in [(&agent, &operator), (&operator, &agent)] {
        let pairs = [("authorization", one.text()), ("x-api-key", other.text())];
        let refused = send(&nobody, "Who", request(&pairs)).await.expect_err("two callers");
        assert_eq!((refused.code(), reason(&refused).as_deref()), (Code::Unauthenticated, Some("CREDENTIALS_DIFFER")));
        assert_eq!(refused.message(), "`authorization` and `x-api-key` are of different callers: show one of them");
    }

    // A broken file changes nothing; a good one does, within moments.
    std::fs::write(&file, "[[key]]\nid = \"a1\"\n").expect("broken");
    toolplane_wait::pause(
        Duration::from_millis(2500),
        "a change that does nothing is seen by nobody: two looks at the file pass",
    )
    .await;
    call(&peer, "Echo", String::new()).await.expect("the old keys stay in force");
    let disabled = KeyEntry { disabled: true, ..agent_entry.clone() };
    std::fs::write(&file, disabled.to_toml().expect("lines")).expect("keys");
    until(&peer, "KEY_DISABLED").await;
    assert_eq!(reason_of(&nobody, "Who", &[("authorization", operator.text())]).await, "TOKEN_UNKNOWN");
    let over = KeyEntry { expires_at: Some("2020-01-01T00:00:00Z".to_owned()), ..agent_entry.clone() };
    std::fs::write(&file, over.to_toml().expect("lines")).expect("keys");
    until(&peer, "KEY_EXPIRED").await;
    std::fs::remove_file(&file).expect("removed");
    toolplane_wait::pause(Duration::from_millis(1500), "a file that is gone is seen by nobody: a look passes").await;
    std::fs::write(&file, &both).expect("keys");
    until(&peer, "").await;
}

/// Waits until the answer has this reason; none is a good answer.
async fn until(peer: &Peer, expected: &str) {
    let start = std::time::Instant::now();
    loop {
        let answer = call(peer, "Echo", String::new()).await;
        let reason = answer.err().and_then(|status| reason(&status)).unwrap_or_default();
        if reason == expected {
            return;
        }
        assert!(start.elapsed() < LIMIT, "still `{reason}` instead of `{expected}`");
        toolplane_wait::look_again().await;
    }
}

#[tokio::test]
async fn peers_speak_for_the_callers_they_serve() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("keys.toml");
    let peer_key = NewKey::make("p1").expect("key");
    std::fs::write(&file, entry(&peer_key, "p1", "ops", &[Role::Peer]).to_toml().expect("lines")).expect("keys");
    let server = start("127.0.0.1:0", auth(&AuthConfig { api_key_file: Some(file), ..AuthConfig::default() })).await;
    let peer = with_token(&server.url, peer_key.text());

    let caller = Caller {
        tenant: toolplane_records::ids::TenantId::from_trusted("acme"),
        actor: Some("Zoë".to_owned()),
        caller_ref: "jwt:https://id.example#zoë".to_owned(),
        roles: [Role::Operator].into_iter().collect(),
        authenticated: true,
    };
    let heard = send(&peer, "Who", Peer::on_behalf(&caller, String::new())).await.expect("who");
    assert_eq!(heard, "acme Zoë jwt:https://id.example#zoë operator true");
    // With the roles of whom it speaks for, not only its own.
    assert_eq!(
        send(&peer, "Refuse", Peer::on_behalf(&caller, String::new())).await.expect_err("x").code(),
        Code::NotFound
    );
    assert_eq!(call(&peer, "Refuse", String::new()).await.expect_err("own").code(), Code::PermissionDenied);
    let of_tenant = send(&peer, "Who", Peer::for_tenant(&caller.tenant, String::new())).await.expect("who");
    assert_eq!(of_tenant, "acme - key:p1 peer true");
}

#[tokio::test]
async fn this_very_process_needs_no_secret_and_cannot_be_imitated() {
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("keys.toml");
    std::fs::write(&file, "").expect("keys");
    let inside = Inside::new();
    let settings = auth(&AuthConfig { api_key_file: Some(file), ..AuthConfig::default() });
    let server = start_with("127.0.0.1:0", settings, inside.clone()).await;
    let own = call(&own_peer(&inside, None), "Who", String::new()).await.expect("who");
    assert_eq!(own, "default - process agent,approver,operator,worker,auditor,peer true");
    assert_eq!(reason_of(&plain(&server.url), "Who", &[]).await, "TOKEN_MISSING");
    // A credential that is shown counts, also here.
    assert_eq!(reason_of(&own_peer(&inside, Some("other")), "Who", &[]).await, "TOKEN_UNKNOWN");
}

#[tokio::test]
async fn certificates_are_callers() {
    let file = |name: &str| -> std::path::PathBuf {
        [env!("CARGO_MANIFEST_DIR"), "src/server/testdata", name].iter().collect()
    };
    let read = |name: &str| std::fs::read(file(name)).expect("test certificate");
    let entry = |subject: &str| MtlsConfig {
        subject: subject.to_owned(),
        tenant: "acme".to_owned(),
        actor: Some("machine".to_owned()),
        roles: vec![Role::Worker],
    };
    let tls = crate::config::TlsConfig {
        cert_file: file("server.pem"),
        key_file: file("server.key"),
        client_ca_file: Some(file("ca.pem")),
    };
    let client = PeerSettings {
        ca: Some(read("ca.pem")),
        identity: Some((read("client.pem"), read("client.key"))),
        ..PeerSettings::default()
    };
    let folder = tempfile::tempdir().expect("folder");
    let keys = folder.path().join("keys.toml");
    let key = NewKey::make("a1").expect("key");
    std::fs::write(&keys, self::entry(&key, "a1", "acme", &[Role::Agent]).to_toml().expect("lines")).expect("keys");
    for (subject, expected) in [("CN=toolplane test client", "mtls:CN=toolplane test client"), ("CN=somebody", "")] {
        let mtls = vec![entry(subject)];
        let config = ServerConfig {
            tls: Some(tls.clone()),
            auth: Some(AuthConfig { mtls, api_key_file: Some(keys.clone()), ..AuthConfig::default() }),
            ..ServerConfig::default()
        };
        let server = start("127.0.0.1:0", ServerSettings::from_config(&config).expect("settings")).await;
        let peer = connect(&server.url, &client).expect("peer");
        match call(&peer, "Who", String::new()).await {
            Ok(who) => assert_eq!(who, format!("acme machine {expected} worker true")),
            Err(refused) => {
                assert_eq!((reason(&refused).as_deref(), expected), (Some("TOKEN_MISSING"), ""), "{refused:?}");
            }
        }
        // Beside a good certificate, a wrong token is still wrong, and a good one of another caller is one too many;
        // beside a certificate of no caller, it is all there is.
        assert_eq!(reason_of(&peer, "Who", &[("authorization", "Bearer x")]).await, "TOKEN_UNKNOWN");
        for name in ["authorization", "x-api-key"] {
            match send(&peer, "Who", request(&[(name, key.text())])).await {
                Ok(who) => assert_eq!((who.as_str(), expected), ("acme a1@acme key:a1 agent true", "")),
                Err(refused) => {
                    assert_eq!(reason(&refused).as_deref(), Some("CREDENTIALS_DIFFER"), "{refused:?}");
                    assert!(
                        !expected.is_empty() && refused.message().contains("the client certificate"),
                        "{refused:?}"
                    );
                }
            }
        }
    }
}

/// What a process of the cluster shows: its token, unless its certificate already says who it is.
#[test]
fn a_process_shows_one_credential() {
    let folder = tempfile::tempdir().expect("folder");
    let tokens = folder.path().join("tokens");
    std::fs::write(&tokens, "a-token\n").expect("tokens");
    let file = |name: &str| -> std::path::PathBuf {
        [env!("CARGO_MANIFEST_DIR"), "src/server/testdata", name].iter().collect()
    };
    for (subject, expected) in [("CN=toolplane test client", None), ("CN=somebody", Some("a-token"))] {
        let subject = subject.to_owned();
        let mtls = MtlsConfig { subject, tenant: "default".to_owned(), actor: None, roles: vec![Role::Peer] };
        let mut config = crate::Config::default();
        config.server.tls = Some(crate::config::TlsConfig {
            cert_file: file("client.pem"),
            key_file: file("client.key"),
            client_ca_file: Some(file("ca.pem")),
        });
        config.server.auth =
            Some(AuthConfig { mtls: vec![mtls], token_file: Some(tokens.clone()), ..AuthConfig::default() });
        let settings = PeerSettings::from_config(&config).expect("settings");
        assert_eq!(settings.token.as_deref(), expected);
    }
}

#[tokio::test]
async fn without_authentication_a_process_still_speaks_for_its_callers() {
    let inside = Inside::new();
    let _server = start_with("127.0.0.1:0", ServerSettings::default(), inside.clone()).await;
    let own = own_peer(&inside, None);
    let nobody = send(&own, "Who", Peer::on_behalf(&Caller::unauthenticated(), String::new())).await.expect("who");
    assert_eq!(nobody, "default -  agent,approver,operator,worker,auditor,peer false");
    // Calls that were accepted while there was authentication go on without it.
    let tenant = toolplane_records::ids::TenantId::from_trusted("acme");
    let of_tenant = send(&own, "Who", Peer::for_tenant(&tenant, String::new())).await.expect("who");
    assert!(of_tenant.starts_with("acme - process"), "{of_tenant}");
}
