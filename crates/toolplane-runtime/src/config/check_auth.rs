//! Rules of `[server.auth]`.

use toolplane_records::ids::TenantId;

use super::{AuthConfig, ConfigError, JwtConfig, ServerConfig};
use crate::server::jwks_address;

/// Longest clock difference that may be allowed, seconds.
const MAX_LEEWAY_SECONDS: u64 = 300;
/// How long fetched keys may be used: a second to a day.
const TTL_MS: std::ops::RangeInclusive<u64> = 1000..=24 * 60 * 60 * 1000;

/// Checks who may call; files are not opened here.
pub(super) fn check(server: &ServerConfig) -> Result<(), ConfigError> {
    let Some(auth) = &server.auth else { return Ok(()) };
    if auth.is_empty() {
        let rule = "lets no caller in: set `token_file`, `api_key_file`, or add `[[server.auth.jwt]]` or `[[server.auth.mtls]]`";
        return Err(ConfigError::value("server.auth", rule));
    }
    for (index, issuer) in auth.jwt.iter().enumerate() {
        check_issuer(auth, &format!("server.auth.jwt[{index}]"), issuer)?;
        if auth.jwt.iter().take(index).any(|earlier| earlier.issuer == issuer.issuer) {
            let rule = format!("`{}` is there twice", issuer.issuer);
            return Err(ConfigError::value(&format!("server.auth.jwt[{index}].issuer"), rule));
        }
    }
    check_certificates(server, auth)
}

fn check_issuer(auth: &AuthConfig, at: &str, issuer: &JwtConfig) -> Result<(), ConfigError> {
    let wrong = |key: &str, rule: String| Err(ConfigError::value(&format!("{at}.{key}"), rule));
    for (key, text) in [
        ("issuer", &issuer.issuer),
        ("audience", &issuer.audience),
        ("tenant_claim", &issuer.tenant_claim),
        ("roles_claim", &issuer.roles_claim),
    ] {
        if text.is_empty() {
            return wrong(key, "must not be empty".to_owned());
        }
    }
    if issuer.algorithms.is_empty() {
        return wrong("algorithms", "must name at least one".to_owned());
    }
    if issuer.leeway_seconds > MAX_LEEWAY_SECONDS {
        return wrong("leeway_seconds", format!("must be at most {MAX_LEEWAY_SECONDS}"));
    }
    if !TTL_MS.contains(&issuer.jwks_ttl_ms) {
        return wrong("jwks_ttl_ms", format!("must be between {} and {}", TTL_MS.start(), TTL_MS.end()));
    }
    match (&issuer.jwks_file, &issuer.jwks_url) {
        (Some(_), None) => Ok(()),
        (None, Some(url)) => match jwks_address(url, &auth.jwks_hosts) {
            Ok(_) => Ok(()),
            Err(rule) => wrong("jwks_url", format!("`{url}` {rule}")),
        },
        _ => wrong("jwks_file", "or `jwks_url`: exactly one of them is needed".to_owned()),
    }
}

fn check_certificates(server: &ServerConfig, auth: &AuthConfig) -> Result<(), ConfigError> {
    if !auth.mtls.is_empty() && server.tls.as_ref().and_then(|tls| tls.client_ca_file.as_ref()).is_none() {
        let rule = "needs `server.tls.client_ca_file`: without it, clients show no certificate";
        return Err(ConfigError::value("server.auth.mtls", rule));
    }
    for (index, entry) in auth.mtls.iter().enumerate() {
        let wrong =
            |key: &str, rule: String| Err(ConfigError::value(&format!("server.auth.mtls[{index}].{key}"), rule));
        if entry.subject.is_empty() || entry.subject == "CN=" {
            return wrong("subject", "must not be empty".to_owned());
        }
        if entry.roles.is_empty() {
            return wrong("roles", "must name at least one".to_owned());
        }
        if let Err(rule) = TenantId::given(&entry.tenant) {
            return wrong("tenant", format!("`{}` {rule}", entry.tenant));
        }
    }
    Ok(())
}
