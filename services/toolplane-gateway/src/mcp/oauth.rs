//! Who gives tokens for this server, for clients that have none yet (RFC 9728).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolplane_runtime::caller::Role;
use toolplane_runtime::config::{AuthConfig, JwtConfig};

/// The roles a client may need.
const FOR_CLIENTS: [Role; 2] = [Role::Agent, Role::Approver];

/// The metadata of the protected resource under `url`; nothing where no issuer is known, because then there is nobody to ask.
pub(crate) fn metadata(url: &str, auth: Option<&AuthConfig>) -> Option<Value> {
    let issuers = auth.map(|auth| auth.jwt.as_slice()).filter(|issuers| !issuers.is_empty())?;
    let servers: Vec<&str> = issuers.iter().map(|issuer| issuer.issuer.as_str()).collect();
    let mut metadata = json!({
        "resource": format!("{url}/mcp"),
        "authorization_servers": servers,
        "bearer_methods_supported": ["header"],
        "resource_name": "Toolplane",
    });
    let scopes: BTreeSet<String> = issuers.iter().flat_map(|issuer| scopes(issuer, &FOR_CLIENTS)).collect();
    if !scopes.is_empty() {
        metadata["scopes_supported"] = scopes.into_iter().collect();
    }
    Some(metadata)
}

/// The scopes that let a client call tools, with spaces between; nothing where roles are not scopes.
pub(crate) fn scope_of_calls(auth: Option<&AuthConfig>) -> Option<String> {
    let issuers = auth.map(|auth| auth.jwt.as_slice()).unwrap_or_default();
    let scopes: BTreeSet<String> = issuers.iter().flat_map(|issuer| scopes(issuer, &[Role::Agent])).collect();
    (!scopes.is_empty()).then(|| scopes.into_iter().collect::<Vec<_>>().join(" "))
}

/// The scopes that mean one of these roles here, where this issuer's roles are read from its scopes at all.
fn scopes(issuer: &JwtConfig, wanted: &[Role]) -> Vec<String> {
    if !matches!(issuer.roles_claim.as_str(), "scope" | "scp") {
        return Vec::new();
    }
    if issuer.role_map.is_empty() {
        return wanted.iter().map(|role| role.as_str().to_owned()).collect();
    }
    let mapped = issuer.role_map.iter().filter(|(_, roles)| roles.iter().any(|role| wanted.contains(role)));
    mapped.map(|(scope, _)| scope.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth(toml: Value) -> AuthConfig {
        serde_json::from_value(toml).unwrap()
    }

    #[test]
    fn issuers_and_scopes_are_those_of_the_configuration() {
        assert_eq!(metadata("https://x", None), None);
        assert_eq!(metadata("https://x", Some(&auth(json!({ "token_file": "t" })))), None);
        let issuer = |more: Value| {
            let mut issuer = json!({ "issuer": "https://id", "audience": "https://x/mcp", "jwks_file": "k" });
            issuer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            metadata("https://x", Some(&auth(json!({ "jwt": [issuer] })))).unwrap()
        };
        let plain = issuer(json!({}));
        assert_eq!(
            (&plain["resource"], &plain["authorization_servers"]),
            (&json!("https://x/mcp"), &json!(["https://id"]))
        );
        assert_eq!(plain.get("scopes_supported"), None);
        let own = issuer(json!({ "roles_claim": "scope" }));
        assert_eq!(own["scopes_supported"], json!(["agent", "approver"]));
        let mapped =
            issuer(json!({ "roles_claim": "scope", "role_map": { "tools:call": ["agent"], "x": ["worker"] } }));
        assert_eq!(mapped["scopes_supported"], json!(["tools:call"]));
        let of_calls = |issuer: Value| {
            let mut whole = json!({ "issuer": "https://id", "audience": "a", "jwks_file": "k" });
            whole.as_object_mut().unwrap().extend(issuer.as_object().unwrap().clone());
            scope_of_calls(Some(&auth(json!({ "jwt": [whole] }))))
        };
        assert_eq!(of_calls(json!({})), None);
        assert_eq!(of_calls(json!({ "roles_claim": "scope" })).as_deref(), Some("agent"));
        let map = json!({ "tools:call": ["agent"], "tools:all": ["agent", "approver"], "tools:yes": ["approver"] });
        let scope = of_calls(json!({ "roles_claim": "scp", "role_map": map }));
        assert_eq!(scope.as_deref(), Some("tools:all tools:call"));
    }
}
