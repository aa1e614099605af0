use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::json;

use super::*;
use crate::caller::Role;
use crate::config::JwtAlgorithm;

const ISSUER: &str = "https://id.example";

/// A key pair of an issuer.
struct Signer {
    id: &'static str,
    algorithm: Algorithm,
    key: EncodingKey,
}

impl Signer {
    fn es256(id: &'static str) -> Self {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("key");
        Self { id, algorithm: Algorithm::ES256, key: EncodingKey::from_ec_der(&key.serialize_der()) }
    }

    fn ed25519(id: &'static str) -> Self {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("key");
        // The first form of PKCS #8, without the public key that the second one adds.
        let der = &key.serialize_der()[..];
        let seed = der.windows(4).position(|window| window == [0x04, 0x22, 0x04, 0x20]).expect("seed") + 4;
        let mut first =
            vec![0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
        first.extend_from_slice(&der[seed..seed + 32]);
        Self { id, algorithm: Algorithm::EdDSA, key: EncodingKey::from_ed_der(&first) }
    }

    fn rsa(id: &'static str, algorithm: Algorithm) -> Self {
        let key = rcgen::KeyPair::generate_rsa_for(&rcgen::PKCS_RSA_SHA256, rcgen::RsaKeySize::_2048).expect("key");
        // PKCS #1 lies within PKCS #8 after a head of 26 bytes.
        Self { id, algorithm, key: EncodingKey::from_rsa_der(&key.serialize_der()[26..]) }
    }

    fn jwk(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).expect("jwk");
        jwk.common.key_id = Some(self.id.to_owned());
        serde_json::to_value(jwk).expect("json")
    }

    fn sign(&self, claims: &Value) -> String {
        let header = Header { kid: Some(self.id.to_owned()), ..Header::new(self.algorithm) };
        encode(&header, claims, &self.key).expect("token")
    }
}

fn seconds() -> i64 {
    crate::clock::now().as_millis() / 1000
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": ["toolplane", "other"], "sub": "alice", "exp": seconds() + 600, "nbf": seconds() - 5,
        "tenant": "acme", "roles": ["agent", "approver", "wizard", "peer"],
    })
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    match value {
        Value::Null => drop(claims.as_object_mut().expect("object").remove(name)),
        value => claims[name] = value,
    }
    claims
}

fn config() -> JwtConfig {
    toml::from_str(&format!("issuer = \"{ISSUER}\"\naudience = \"toolplane\"")).expect("config")
}

fn issuers(one: JwtConfig, hosts: &[&str]) -> Arc<Issuers> {
    let config = AuthConfig {
        jwt: vec![one],
        jwks_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        ..AuthConfig::default()
    };
    Arc::new(Issuers::from_config(&config).expect("issuers"))
}

/// An issuer whose keys are in a file.
fn filed(signers: &[&Signer], config: JwtConfig) -> (tempfile::NamedTempFile, Arc<Issuers>) {
    let file = tempfile::NamedTempFile::new().expect("file");
    std::fs::write(file.path(), set(signers)).expect("keys");
    let found = issuers(JwtConfig { jwks_file: Some(file.path().to_owned()), ..config }, &[]);
    (file, found)
}

fn set(signers: &[&Signer]) -> String {
    json!({ "keys": signers.iter().map(|signer| signer.jwk()).collect::<Vec<_>>() }).to_string()
}

async fn ask(issuers: &Arc<Issuers>, token: &str) -> Result<Arc<Caller>, ApiError> {
    match issuers.caller(token.as_bytes(), crate::keys::digest(token.as_bytes())) {
        Identified::Now(found) => found,
        Identified::Later(found) => found.await,
    }
}

async fn refusal(issuers: &Arc<Issuers>, token: &str) -> String {
    let refused = ask(issuers, token).await.expect_err(token).to_string();
    assert!(!refused.contains("alice") && !refused.contains(&token[token.len() - 10..]), "{refused}");
    refused.trim_start_matches("the token is refused: ").to_owned()
}

#[tokio::test]
async fn a_good_token_is_its_subject_whatever_the_kind_of_key() {
    let signers = [
        Signer::es256("e"),
        Signer::ed25519("d"),
        Signer::rsa("r", Algorithm::RS256),
        Signer::rsa("p", Algorithm::PS384),
    ];
    let algorithms = vec![JwtAlgorithm::ES256, JwtAlgorithm::EdDSA, JwtAlgorithm::RS256, JwtAlgorithm::PS384];
    let all: Vec<&Signer> = signers.iter().collect();
    let (_file, issuers) = filed(&all, JwtConfig { algorithms, ..config() });
    for signer in signers {
        let token = signer.sign(&claims());
        for round in ["verified", "remembered"] {
            let caller = ask(&issuers, &token).await.expect(round);
            assert_eq!((caller.tenant.as_str(), caller.actor.as_deref()), ("acme", Some("alice")));
            assert_eq!(caller.caller_ref, format!("jwt:{ISSUER}#alice"));
            // Unknown names mean nothing, and no caller is a peer unless the operator says so.
            assert_eq!(caller.roles.names(), ["agent", "approver"]);
            assert!(caller.authenticated);
        }
    }
}

#[tokio::test]
async fn every_claim_is_checked() {
    let signer = Signer::es256("k");
    let (_file, issuers) = filed(&[&signer], config());
    let past = seconds() - 31;
    for (claims, expected) in [
        (with("exp", json!(past)), "the token has expired"),
        (with("exp", Value::Null), "it needs `iss`, `aud`, `exp` and `sub`"),
        (with("exp", json!("soon")), "it needs `iss`, `aud`, `exp` and `sub`"),
        (with("nbf", json!(seconds() + 60)), "it is not in force yet"),
        (with("aud", json!("elsewhere")), "it is for another audience"),
        (with("aud", Value::Null), "it needs `iss`, `aud`, `exp` and `sub`"),
        (with("sub", Value::Null), "it needs `iss`, `aud`, `exp` and `sub`"),
        (with("sub", json!("")), "its `sub` cannot be used"),
        (with("sub", json!("a\nb")), "its `sub` cannot be used"),
        (with("tenant", Value::Null), "it names no tenant in `tenant`"),
        (with("tenant", json!("no spaces")), "`tenant` is not a tenant's name"),
        (with("tenant", json!(["acme"])), "it names no tenant in `tenant`"),
        (with("roles", Value::Null), "it gives no role in `roles`"),
        (with("roles", json!(["peer", "admin"])), "it gives no role in `roles`"),
        (with("iss", json!("https://other.example")), "the bearer token or API key is not known here"),
        (with("iss", Value::Null), "the bearer token or API key is not known here"),
    ] {
        assert_eq!(refusal(&issuers, &signer.sign(&claims)).await, expected, "{claims}");
    }
    // Clocks may differ a little, and `nbf` may be left out.
    for good in [with("exp", json!(seconds() - 5)), with("nbf", json!(seconds() + 5)), with("nbf", Value::Null)] {
        ask(&issuers, &signer.sign(&good)).await.expect("within the leeway");
    }
    let (_file, strict) = filed(&[&signer], JwtConfig { required_claims: vec!["nbf".to_owned()], ..config() });
    assert_eq!(refusal(&strict, &signer.sign(&with("nbf", Value::Null))).await, "it needs the claim `nbf`");
    ask(&strict, &signer.sign(&claims())).await.expect("with `nbf`");
}

/// A token whose header and claims are these texts, signed as they are.
fn sign_text(signer: &Signer, header: &str, claims: &str) -> String {
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = jsonwebtoken::crypto::sign(text.as_bytes(), &signer.key, signer.algorithm).expect("signature");
    format!("{text}.{signature}")
}

#[tokio::test]
async fn what_is_said_twice_is_not_believed() {
    let signer = Signer::es256("k");
    let (file, issuers) = filed(&[&signer], config());
    let (header, good) = (r#"{"alg":"ES256","kid":"k"}"#, claims().to_string());
    ask(&issuers, &sign_text(&signer, header, &good)).await.expect("said once");
    let twice = |more: &str| format!("{},{more}}}", good.trim_end_matches('}'));
    for (header, claims) in [
        (header, twice(r#""tenant":"other""#)),
        (header, twice(r#""roles":["operator"]"#)),
        (header, twice(r#""ro\u006ces":["operator"]"#)),
        (header, twice(r#""sub":"alice""#)),
        (header, twice(&format!(r#""iss":"{ISSUER}""#))),
        (header, twice(r#""more":{"a":1,"a":2}"#)),
        (r#"{"alg":"ES256","kid":"k","kid":"k"}"#, good.clone()),
        (r#"{"alg":"none","alg":"ES256","kid":"k"}"#, good.clone()),
    ] {
        let found = refusal(&issuers, &sign_text(&signer, header, &claims)).await;
        assert_eq!(found, "a claim or a member of its header is there twice", "{header} {claims}");
    }
    let keys = std::fs::read_to_string(file.path()).expect("keys");
    assert!(
        KeySet::parse(&keys.replacen(r#""kid""#, r#""kid":"other","kid""#, 1)).is_err(),
        "a key that says it twice"
    );
}

#[tokio::test]
async fn algorithms_cannot_be_talked_into() {
    let (signer, rsa) = (Signer::es256("k"), Signer::rsa("r", Algorithm::RS256));
    let (_file, issuers) = filed(&[&signer, &rsa], config());
    let refused = "its algorithm is not taken from this issuer";

    // The public key as a shared secret, the classic.
    let public = rsa.jwk().to_string();
    for secret in [public.as_bytes(), b"secret"] {
        let header = Header { kid: Some("r".to_owned()), ..Header::new(Algorithm::HS256) };
        let token = encode(&header, &claims(), &EncodingKey::from_secret(secret)).expect("token");
        assert_eq!(refusal(&issuers, &token).await, refused);
    }
    // A kind of signature that is not allowed, with a good key.
    let other = Signer { algorithm: Algorithm::RS512, key: rsa.key.clone(), id: "r" };
    assert_eq!(refusal(&issuers, &other.sign(&claims())).await, refused);
    // The right algorithm under another kind of key's name.
    let crossed = Signer { id: "r", ..Signer::es256("x") };
    assert_eq!(refusal(&issuers, &crossed.sign(&claims())).await, "no key of its issuer fits");
    // Another party's key under the right name.
    assert_eq!(refusal(&issuers, &Signer::es256("k").sign(&claims())).await, "its signature is wrong");

    let good = signer.sign(&claims());
    let parts: Vec<&str> = good.split('.').collect();
    let none = encoded(&json!({"alg": "none", "typ": "JWT", "kid": "k"}));
    let critical = encoded(&json!({"alg": "ES256", "kid": "k", "crit": ["exp"]}));
    let raised = encoded(&with("roles", json!(["operator"])));
    for (token, expected) in [
        (format!("{none}.{}.", parts[1]), "the bearer token or API key is not known here"),
        (format!("{critical}.{}.{}", parts[1], parts[2]), "the bearer token or API key is not known here"),
        (format!("{}.{raised}.{}", parts[0], parts[2]), "its signature is wrong"),
        (format!("{}.{}.", parts[0], parts[1]), "its signature is wrong"),
        ("a.b.c0123456789".to_owned(), "the bearer token or API key is not known here"),
        (format!("{}.{}", "x".repeat(MAX_TOKEN_BYTES), "y.z0123456789"), "it is too long"),
    ] {
        let said = ask(&issuers, &token).await.expect_err("refused").to_string();
        assert_eq!(said.trim_start_matches("the token is refused: "), expected);
    }
    ask(&issuers, &good).await.expect("the good one");
}

fn encoded(value: &Value) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(value.to_string())
}

#[tokio::test]
async fn claims_are_found_and_mapped_as_configured() {
    let signer = Signer::es256("k");
    let mapped = JwtConfig {
        tenant_claim: "/org/id".to_owned(),
        roles_claim: "scope".to_owned(),
        role_map: [
            ("tools:run".to_owned(), vec![Role::Agent]),
            ("tools:admin".to_owned(), vec![Role::Operator, Role::Auditor]),
            ("cluster".to_owned(), vec![Role::Peer]),
        ]
        .into(),
        ..config()
    };
    let (_file, issuers) = filed(&[&signer], mapped);
    let mut told = claims();
    told["org"] = json!({"id": "globex"});
    told["scope"] = json!("openid tools:admin agent cluster");
    let caller = ask(&issuers, &signer.sign(&told)).await.expect("mapped");
    assert_eq!((caller.tenant.as_str(), caller.roles.names().join(" ").as_str()), ("globex", "operator auditor peer"));
    assert_eq!(refusal(&issuers, &signer.sign(&claims())).await, "it names no tenant in `/org/id`");
}

#[test]
fn only_keys_that_check_signatures_count() {
    let signer = Signer::es256("k");
    let mut encrypts = signer.jwk();
    encrypts["use"] = json!("enc");
    let mut unnamed = signer.jwk();
    unnamed.as_object_mut().expect("object").remove("alg");
    let secret = json!({"kty": "oct", "k": "c2VjcmV0", "kid": "s"});
    let strange = json!({"kty": "new", "kid": "n"});
    let parse = |keys: &[&Value]| KeySet::parse(&json!({ "keys": keys }).to_string());
    for useless in [&encrypts, &secret, &strange] {
        assert!(parse(&[useless]).is_err(), "{useless}");
    }
    let set = parse(&[&secret, &strange, &unnamed]).expect("one key");
    assert!(set.find(Some("k"), Algorithm::ES256).is_some());
    assert!(set.find(None, Algorithm::ES256).is_some(), "the only one");
    assert!(set.find(Some("other"), Algorithm::ES256).is_none());
    assert!(set.find(Some("s"), Algorithm::HS256).is_none());
    let two = parse(&[&signer.jwk(), &Signer::es256("l").jwk()]).expect("two keys");
    assert!(two.find(None, Algorithm::ES256).is_none(), "which one would be a guess");
    assert!(parse(&[&signer.jwk(), &Signer::es256("k").jwk()]).is_err(), "two of one name");
    for text in ["", "[]", "{}", "{\"keys\":{}}"] {
        assert!(KeySet::parse(text).is_err(), "{text}");
    }
}

#[test]
fn keys_are_fetched_from_known_hosts_only() {
    let hosts = ["id.example".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned(), "10.0.0.1".to_owned()];
    for good in ["https://id.example/keys", "https://ID.example:8443/k?x=1", "http://127.0.0.1:1/", "http://[::1]:1/k"]
    {
        assert!(jwks_address(good, &hosts).is_ok(), "{good}");
    }
    for bad in [
        "",
        "id.example/keys",
        "http://id.example/keys",
        "http://10.0.0.1/keys",
        "https://other.example/keys",
        "https://id.example.evil/keys",
        "https://id.example@evil.example/keys",
        "https://user:secret@id.example/keys",
        "https://id.example/keys#x",
        "http://localhost:1/keys",
        "file:///etc/passwd",
    ] {
        assert!(jwks_address(bad, &hosts).is_err(), "{bad}");
    }
}

/// An issuer that answers over HTTP, one question after the other, and counts them.
struct Server {
    url: String,
    asked: Arc<AtomicUsize>,
    answer: Arc<Mutex<String>>,
}

impl Server {
    fn start(answer: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("port");
        let url = format!("http://{}/keys", listener.local_addr().expect("address"));
        let (asked, answer) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(answer)));
        let (count, current) = (Arc::clone(&asked), Arc::clone(&answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let _ = stream.read(&mut [0; 4096]);
                count.fetch_add(1, Ordering::SeqCst);
                let answer = current.lock().expect("answer").clone();
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { url, asked, answer }
    }

    fn says(&self, answer: String) {
        *self.answer.lock().expect("answer") = answer;
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn new_keys_are_asked_for_once_and_known_ones_outlive_their_issuer() {
    let (first, second) = (Signer::es256("one"), Signer::es256("two"));
    let server = Server::start(ok(&set(&[&first])));
    let config = JwtConfig { jwks_url: Some(server.url.clone()), ..config() };
    let issuers = issuers(config, &["127.0.0.1"]);
    let callers = (0..20).map(|_| ask_owned(&issuers, first.sign(&claims())));
    for found in futures_util::future::join_all(callers).await {
        found.expect("all that came before the keys were there wait for them");
    }
    assert_eq!(server.asked(), 1, "one question for all of them");

    // Made-up keys do not make us ask again and again.
    for _ in 0..50 {
        let refused = ask(&issuers, &second.sign(&claims())).await.expect_err("unknown");
        assert_eq!(refused.to_string(), "the token is refused: no key of its issuer fits");
    }
    assert!(server.asked() <= 2, "{}", server.asked());

    // After the pause the new key is found; then the issuer fails in every way, and what was known stays good.
    server.says(ok(&set(&[&first, &second])));
    toolplane_wait::pause(
        std::time::Duration::from_millis(5200),
        "the pause after a fetch of keys is measured on the real clock",
    )
    .await;
    ask(&issuers, &second.sign(&claims())).await.expect("asked again");
    let stranger = Signer::es256("three");
    for broken in [
        "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        format!("HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n", server.url),
        ok("{}"),
        ok(&" ".repeat(2 * 1024 * 1024)),
    ] {
        server.says(broken);
        toolplane_wait::pause(
            std::time::Duration::from_millis(if server.asked() < 4 { 5200 } else { 1200 }),
            "the pause after a fetch of keys is measured on the real clock",
        )
        .await;
        let before = server.asked();
        ask(&issuers, &stranger.sign(&claims())).await.expect_err("no such key");
        assert_eq!(server.asked(), before + 1, "a redirect is not followed");
        ask(&issuers, &first.sign(&with("jti", json!(before)))).await.expect("still good");
    }
}

async fn ask_owned(issuers: &Arc<Issuers>, token: String) -> Result<Arc<Caller>, ApiError> {
    ask(issuers, &token).await
}

#[tokio::test]
async fn a_key_that_is_taken_back_ends_its_tokens() {
    let (first, second) = (Signer::es256("one"), Signer::es256("two"));
    let (file, issuers) = filed(&[&first, &second], config());
    let token = first.sign(&claims());
    ask(&issuers, &token).await.expect("good");
    std::fs::write(file.path(), set(&[&second])).expect("keys");
    issuers.look();
    assert_eq!(refusal(&issuers, &token).await, "no key of its issuer fits");
    std::fs::write(file.path(), "broken").expect("keys");
    issuers.look();
    ask(&issuers, &second.sign(&claims())).await.expect("the old keys stay in force");
}
