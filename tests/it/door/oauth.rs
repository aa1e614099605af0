//! Tokens of an issuer, as clients of OAuth bring them.

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::bed::{Answer, Client, Doors, RULES, text};
use super::people::TOKEN;
use crate::roles::tokens::issuer;

const ISSUER: &str = "https://id.example";
const RESOURCE: &str = "https://tools.example.com/mcp";
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// A token for a minute.
fn token(key: &EncodingKey, audience: &str, scope: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let claims = json!({
        "iss": ISSUER, "aud": audience, "sub": "ann", "exp": now + 60, "nbf": now, "tenant": "default", "scope": scope,
    });
    encode(&Header { kid: Some("k1".to_owned()), ..Header::new(Algorithm::ES256) }, &claims, key).unwrap()
}

fn challenge(answer: &Answer) -> &str {
    answer.headers["www-authenticate"].to_str().unwrap()
}

#[tokio::test]
async fn a_token_for_this_resource_is_taken_by_its_scopes() {
    let folder = tempfile::tempdir().unwrap();
    let (key, set) = issuer();
    let (tokens, jwks) = (folder.path().join("tokens"), folder.path().join("jwks.json"));
    std::fs::write(&tokens, format!("{TOKEN}\n")).unwrap();
    std::fs::write(&jwks, set).unwrap();
    let known = format!(
        "[server.auth]\ntoken_file = {tokens:?}\n[[server.auth.jwt]]\nissuer = {ISSUER:?}\naudience = {RESOURCE:?}\njwks_file = {jwks:?}\nroles_claim = \"scope\"\n\
         role_map = {{ \"tools:call\" = [\"agent\"], \"tools:audit\" = [\"auditor\"] }}\n"
    );
    let options = Doors::options(&format!("{known}{RULES}"), "").token(TOKEN);
    let doors = Doors::of(options.env("TOOLPLANE__GATEWAY__PUBLIC_URL", "https://tools.example.com")).await;
    let of = |token: &str| Client::new().header("authorization", &format!("Bearer {token}"));
    let greet = async |client: Client| {
        let params = json!({ "name": "conf__greet", "arguments": { "name": "Ann" } });
        client.ask(&doors.url, "tools/call", params, json!({})).await
    };

    // A client without a token is told where to get one, and what to ask for.
    let nobody = greet(Client::new()).await;
    let page = format!("resource_metadata=\"https://tools.example.com{METADATA}\"");
    assert_eq!((nobody.status, challenge(&nobody)), (401, format!("Bearer scope=\"tools:call\", {page}").as_str()));
    for path in [METADATA.to_owned(), format!("{METADATA}/mcp")] {
        let mut page = Client::new().get(&doors.url.replace("/mcp", &path)).await;
        let told: Value = page.next().await.unwrap();
        assert_eq!((&told["resource"], &told["authorization_servers"]), (&json!(RESOURCE), &json!([ISSUER])), "{told}");
        assert_eq!(told["scopes_supported"], json!(["tools:call"]));
    }

    let good = token(&key, RESOURCE, "openid tools:call");
    assert_eq!(text(&greet(of(&good)).await.last().await), "Hello, Ann!");
    let session = of(&good).begin(&doors.url).await;
    let called = session.call(&doors.url, 1, "conf__greet", json!({ "name": "Bob" })).await.last().await;
    assert_eq!(text(&called), "Hello, Bob!");

    for (what, wrong) in [
        ("another audience", token(&key, "https://other.example.com/mcp", "tools:call")),
        ("another key", token(&issuer().0, RESOURCE, "tools:call")),
        ("no scope of ours", token(&key, RESOURCE, "openid")),
    ] {
        let refused = greet(of(&wrong)).await;
        assert_eq!(refused.status, 401, "{what}");
        let said = challenge(&refused);
        assert!(said.contains("error=\"invalid_token\"") && said.contains(&page), "{what}: {said}");
    }
    let mut refused = greet(of(&token(&key, RESOURCE, "tools:audit"))).await;
    let said = challenge(&refused).to_owned();
    assert_eq!(refused.status, 403);
    assert_eq!(said, format!("Bearer error=\"insufficient_scope\", scope=\"tools:call\", {page}"));
    let told: Value = refused.next().await.unwrap();
    assert_eq!(told["error"]["data"]["reason"], "ROLE_REQUIRED", "{told}");
}
