//! From the claims of a verified token to a caller.

use serde_json::Value;
use toolplane_records::ids::TenantId;

use crate::caller::{Caller, Role, RoleSet};
use crate::config::JwtConfig;

/// Longest subject, in characters.
const MAX_SUBJECT_CHARS: usize = 256;
/// Longest reference, in characters.
const MAX_REF_CHARS: usize = 512;

/// Which claim is missing or unusable. Texts name claims and never their values.
#[derive(Debug, thiserror::Error)]
pub(super) enum ClaimError {
    #[error("it needs the claim `{0}`")]
    Missing(String),
    #[error("its `sub` cannot be used")]
    Subject,
    #[error("it names no tenant in `{0}`")]
    NoTenant(String),
    #[error("`{0}` is not a tenant's name")]
    NotATenant(String),
    #[error("it gives no role in `{0}`")]
    NoRole(String),
}

/// The caller of these claims.
pub(super) fn caller(config: &JwtConfig, claims: &Value) -> Result<Caller, ClaimError> {
    for name in &config.required_claims {
        if claim(claims, name).is_none_or(Value::is_null) {
            return Err(ClaimError::Missing(name.clone()));
        }
    }
    let subject = claims.get("sub").and_then(Value::as_str).filter(|subject| {
        (1..=MAX_SUBJECT_CHARS).contains(&subject.chars().count()) && !subject.chars().any(char::is_control)
    });
    let subject = subject.ok_or(ClaimError::Subject)?;
    let tenant = claim(claims, &config.tenant_claim).and_then(Value::as_str);
    let tenant = tenant.ok_or_else(|| ClaimError::NoTenant(config.tenant_claim.clone()))?;
    let tenant = TenantId::given(tenant).map_err(|_| ClaimError::NotATenant(config.tenant_claim.clone()))?;
    let roles = roles(config, claims);
    if roles.is_empty() {
        return Err(ClaimError::NoRole(config.roles_claim.clone()));
    }
    let caller_ref = format!("jwt:{}#{subject}", config.issuer);
    if caller_ref.chars().count() > MAX_REF_CHARS {
        return Err(ClaimError::Subject);
    }
    Ok(Caller { tenant, actor: Some(subject.to_owned()), caller_ref, roles, authenticated: true })
}

/// A claim by name, or by JSON pointer.
fn claim<'a>(claims: &'a Value, name: &str) -> Option<&'a Value> {
    if name.starts_with('/') { claims.pointer(name) } else { claims.get(name) }
}

fn roles(config: &JwtConfig, claims: &Value) -> RoleSet {
    let names: Vec<&str> = match claim(claims, &config.roles_claim) {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(names)) => names.split_whitespace().collect(),
        _ => Vec::new(),
    };
    if config.role_map.is_empty() {
        // Peers speak for any caller: an issuer has to be told which of its names means that.
        return names.into_iter().filter_map(|name| name.parse().ok()).filter(|role| *role != Role::Peer).collect();
    }
    names.into_iter().filter_map(|name| config.role_map.get(name)).flatten().copied().collect()
}
