//! From the claims of a verified token to a caller.

use serde_json::Value;
use toolplane_records::ids::TenantId;

use crate::caller::{Caller, Role, RoleSet};
use crate::config::JwtConfig;

/// Longest subject, in characters.
const MAX_SUBJECT_CHARS: usize = 256;
/// Longest reference, in characters.
const MAX_REF_CHARS: usize = 512;

/// The caller, or which claim is missing or unusable. Texts name claims and never their values.
pub(super) fn caller(config: &JwtConfig, claims: &Value) -> Result<Caller, String> {
    for name in &config.required_claims {
        if claim(claims, name).is_none_or(Value::is_null) {
            return Err(format!("it needs the claim `{name}`"));
        }
    }
    let subject = claims.get("sub").and_then(Value::as_str).filter(|subject| {
        (1..=MAX_SUBJECT_CHARS).contains(&subject.chars().count()) && !subject.chars().any(char::is_control)
    });
    let subject = subject.ok_or("its `sub` cannot be used")?;
    let tenant = claim(claims, &config.tenant_claim).and_then(Value::as_str);
    let tenant = tenant.ok_or_else(|| format!("it names no tenant in `{}`", config.tenant_claim))?;
    let tenant = TenantId::given(tenant).map_err(|_| format!("`{}` is not a tenant's name", config.tenant_claim))?;
    let roles = roles(config, claims);
    if roles.is_empty() {
        return Err(format!("it gives no role in `{}`", config.roles_claim));
    }
    let caller_ref = format!("jwt:{}#{subject}", config.issuer);
    if caller_ref.chars().count() > MAX_REF_CHARS {
        return Err("its `sub` cannot be used".to_owned());
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
        // Peers speak for anybody: an issuer has to be told which of its names means that.
        return names.into_iter().filter_map(|name| name.parse().ok()).filter(|role| *role != Role::Peer).collect();
    }
    names.into_iter().filter_map(|name| config.role_map.get(name)).flatten().copied().collect()
}
