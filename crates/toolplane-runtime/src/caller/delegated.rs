//! A process of the cluster that speaks for the caller it serves: what it says in the metadata of its calls.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use toolplane_records::codes;
use toolplane_records::ids::TenantId;

use super::Caller;
use super::roles::{Role, RoleSet};
use crate::status::ApiError;

/// Metadata: the tenant of the caller spoken for.
pub const TENANT: &str = "toolplane-tenant";
/// Metadata: the actor, percent-encoded.
pub const ACTOR: &str = "toolplane-actor";
/// Metadata: the credential's reference, percent-encoded.
pub const CALLER: &str = "toolplane-caller";
/// Metadata: the roles, with commas between.
pub const ROLES: &str = "toolplane-roles";

/// Longest actor and caller reference taken, in bytes as they travel.
const MAX_TEXT_BYTES: usize = 3 * 512;

/// Who a request is from when `own` sent it, either `own` or another caller for whom a peer speaks; and the roles that
/// decide which methods are open. A peer may use a peer's methods for any caller, but the caller it speaks for does not
/// become a peer.
///
/// A caller that is not a peer is refused when it says such things, and without authentication only the one tenant
/// there is may be named: believing it would let any caller read everything.
pub(crate) fn speaks_for(own: &Arc<Caller>, headers: &HeaderMap) -> Result<(Arc<Caller>, RoleSet), ApiError> {
    let said = [TENANT, ACTOR, CALLER, ROLES].map(|name| headers.get(name));
    if said.iter().all(Option::is_none) {
        return Ok((Arc::clone(own), own.roles));
    }
    if let Some(name) =
        [TENANT, ACTOR, CALLER, ROLES].into_iter().find(|name| headers.get_all(*name).iter().count() > 1)
    {
        return Err(ApiError::invalid_argument(name, "is there more than once"));
    }
    let [tenant, actor, caller, roles] = said;
    if !own.speaks_for_others() {
        let harmless = !own.authenticated
            && actor.is_none()
            && caller.is_none_or(HeaderValue::is_empty)
            && roles.is_none()
            && tenant.is_some_and(|tenant| tenant.as_bytes() == own.tenant.as_str().as_bytes());
        if harmless {
            return Ok((Arc::clone(own), own.roles));
        }
        let message = "only a process of the cluster may speak for another caller".to_owned();
        return Err(ApiError::PermissionDenied { reason: codes::NOT_A_PEER, message });
    }
    let mut spoken = Caller::clone(own);
    if let Some(tenant) = tenant {
        spoken.tenant =
            tenant.to_str().ok().and_then(|name| TenantId::parse(name).ok()).ok_or_else(|| wrong(TENANT))?;
        // Whose name it is belongs to the tenant: a peer's own is not carried into another.
        spoken.actor = None;
    }
    if let Some(actor) = actor {
        spoken.actor = Some(text(ACTOR, actor)?).filter(|actor| !actor.is_empty());
    }
    if let Some(caller) = caller {
        spoken.caller_ref = text(CALLER, caller)?;
        spoken.authenticated = !spoken.caller_ref.is_empty();
    }
    if let Some(roles) = roles {
        spoken.roles = read_roles(roles).ok_or_else(|| wrong(ROLES))?;
    }
    let open = spoken.roles.and(RoleSet::of(&[Role::Peer]));
    Ok((Arc::new(spoken), open))
}

/// Writes into a call's metadata for whom it is made. An unauthenticated caller is its tenant and an empty reference.
pub(crate) fn carry(caller: &Caller, headers: &mut HeaderMap) {
    carry_tenant(&caller.tenant, headers);
    let mut set = |name: &'static str, value: String| {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    };
    if !caller.authenticated {
        set(CALLER, String::new());
        return;
    }
    if let Some(actor) = &caller.actor {
        set(ACTOR, encode(actor));
    }
    set(CALLER, encode(&caller.caller_ref));
    set(ROLES, caller.roles.joined());
}

/// Writes into a call's metadata whose things it is about.
pub(crate) fn carry_tenant(tenant: &TenantId, headers: &mut HeaderMap) {
    if let Ok(value) = HeaderValue::from_str(tenant.as_str()) {
        headers.insert(TENANT, value);
    }
}

fn wrong(name: &'static str) -> ApiError {
    ApiError::invalid_argument(name, "cannot be understood")
}

fn read_roles(value: &HeaderValue) -> Option<RoleSet> {
    let text = value.to_str().ok()?;
    text.split(',').filter(|name| !name.is_empty()).map(|name| name.trim().parse::<Role>().ok()).collect()
}

fn text(name: &'static str, value: &HeaderValue) -> Result<String, ApiError> {
    let bytes = value.as_bytes();
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(wrong(name));
    }
    decode(bytes).ok_or_else(|| wrong(name))
}

/// Visible ASCII as it is, everything else and `%` as `%XX`.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if byte != b'%' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn decode(bytes: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let pair = [*rest.next()?, *rest.next()?];
                out.push(u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()?);
            }
            byte => out.push(*byte),
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_travels() {
        for text in ["", "alice", "jwt:https://id.example#a b", "Zoë 100%", "日本語\n"] {
            let sent = encode(text);
            assert!(sent.bytes().all(|byte| byte.is_ascii_graphic()), "{sent}");
            assert_eq!(decode(sent.as_bytes()).as_deref(), Some(text));
        }
        for broken in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decode(broken.as_bytes()), None, "{broken}");
        }
    }
}
