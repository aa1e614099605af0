//! JSON Web Tokens through a whole cluster, and processes that know each other by key.

use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::json;
use tonic::Code;
use toolplane_proto::v1;
use toolplane_testkit::clients::payload;
use toolplane_testkit::{Layout, Processes, tools};

use super::callers::{Callers, new_key};
use crate::bed::{PATIENCE, RULES, register, surface};

/// An issuer with one key, and its JWK set.
pub(crate) fn issuer() -> (EncodingKey, String) {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let key = EncodingKey::from_ec_der(&pair.serialize_der());
    let mut jwk = Jwk::from_encoding_key(&key, Algorithm::ES256).unwrap();
    jwk.common.key_id = Some("k1".to_owned());
    (key, json!({ "keys": [jwk] }).to_string())
}

/// A token for a minute.
pub(super) fn token(key: &EncodingKey, tenant: &str, roles: &[&str]) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let claims = json!({
        "iss": "https://id.example", "aud": "toolplane", "sub": "alice", "exp": now + 60, "nbf": now,
        "tenant": tenant, "roles": roles,
    });
    let header = Header { kid: Some("k1".to_owned()), ..Header::new(Algorithm::ES256) };
    encode(&header, &claims, key).unwrap()
}

/// The part of the configuration that knows the issuer. The keys are in `file`.
pub(super) fn known_issuer(file: &std::path::Path) -> String {
    let file = file.display().to_string();
    format!("[[server.auth.jwt]]\nissuer = \"https://id.example\"\naudience = \"toolplane\"\njwks_file = {file:?}\n")
}

#[tokio::test]
async fn a_token_of_a_known_issuer_makes_calls() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("jwks.json");
    let (key, set) = issuer();
    std::fs::write(&file, set).unwrap();
    let callers = Callers::start(&known_issuer(&file)).await;
    let operator = callers.with(&token(&key, "acme", &["operator", "agent"]));
    register(&operator, tools::examples().unwrap()).await;
    let agent = callers.with(&token(&key, "acme", &["agent"]));
    let spec = v1::InvocationSpec {
        surface_id: surface(&agent).await,
        tool_name: "native.echo".to_owned(),
        model_input: Some(payload(r#"{"x":1}"#)),
        ..Default::default()
    };
    let accepted = agent.invocations().submit_invocation(v1::SubmitInvocationRequest { spec: Some(spec) }).await;
    let record = accepted.unwrap().into_inner().invocation.unwrap();
    assert_eq!((record.tenant.as_str(), record.caller_ref()), ("acme", "jwt:https://id.example#alice"));
    let wait =
        v1::WaitInvocationRequest { invocation_id: record.invocation_id, timeout_ms: 60_000, ..Default::default() };
    let ended = agent.invocations().wait_invocation(wait).await.unwrap().into_inner();
    assert!(ended.done && !ended.result.unwrap().is_error);

    let refused = agent.surfaces().retire_tool(v1::RetireToolRequest::default()).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied);
    for wrong in [token(&issuer().0, "acme", &["agent"]), token(&key, "acme", &["peer"]), "a.b.c".to_owned()] {
        let refused = callers.with(&wrong).surfaces().list_tools(v1::ListToolsRequest::default()).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unauthenticated, "{}", refused.message());
    }
}

/// Four processes that ask each other for keys are one cluster, for callers of several tenants.
#[tokio::test]
async fn processes_know_each_other_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, peer) = (folder.path().join("keys.toml"), folder.path().join("peer-key"));
    let cluster = new_key(&keys, "cluster", "default", &["peer", "worker"]);
    std::fs::write(&peer, format!("# the cluster's own\n{cluster}\n")).unwrap();
    let operator = new_key(&keys, "operator", "acme", &["operator", "agent", "approver"]);
    let agent = new_key(&keys, "agent", "acme", &["agent"]);
    let text = |file: &std::path::Path| format!("{:?}", file.display().to_string());
    let layout = Layout::new(1, 1, RULES)
        .token(&operator)
        .env("TOOLPLANE__SERVER__AUTH__API_KEY_FILE", text(&keys))
        .env("TOOLPLANE__PEERS__TOKEN_FILE", text(&peer));
    let processes = Processes::start(layout).await.unwrap();
    let clients = processes.clients().unwrap();
    register(clients, tools::examples().unwrap()).await;
    let surface_id = surface(clients).await;

    let agent = clients.with_token(&agent).unwrap();
    let spec = |tool: &str, input: &str| v1::InvocationSpec {
        surface_id: surface_id.clone(),
        tool_name: tool.to_owned(),
        model_input: Some(payload(input.to_owned())),
        ..Default::default()
    };
    let submit = async |spec| {
        let request = v1::SubmitInvocationRequest { spec: Some(spec) };
        agent.invocations().submit_invocation(request).await.unwrap().into_inner().invocation.unwrap()
    };
    let ended = async |id: String| {
        let wait = v1::WaitInvocationRequest { invocation_id: id, timeout_ms: 60_000, ..Default::default() };
        let answer = tokio::time::timeout(PATIENCE, agent.invocations().wait_invocation(wait)).await.unwrap();
        answer.unwrap().into_inner().result.unwrap()
    };
    let echo = submit(spec("native.echo", r#"{"x":1}"#)).await;
    assert!(!ended(echo.invocation_id).await.is_error);

    // A question of a tenant finds its way to its approver, and the answer back to its call.
    let parked = submit(spec("local.shell.exec", r#"{"command":"echo hello"}"#)).await;
    let answer = v1::ResolveApprovalRequest {
        approval_id: parked.approval_request_ref.clone(),
        behavior: v1::Behavior::Allow.into(),
        ..Default::default()
    };
    let refused = agent.permissions().resolve_approval(answer.clone()).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "an agent answers nothing");
    clients.permissions().resolve_approval(answer).await.unwrap();
    let result = ended(parked.invocation_id).await;
    assert!(!result.is_error, "{:?}", result.error);
}
