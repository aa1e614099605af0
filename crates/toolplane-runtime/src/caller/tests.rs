use http::{HeaderMap, HeaderValue};

use super::*;

fn caller(tenant: &str, roles: &[Role]) -> Arc<Caller> {
    Arc::new(Caller {
        tenant: TenantId::from_trusted(tenant),
        actor: Some("zoë".to_owned()),
        caller_ref: "key:k1".to_owned(),
        roles: RoleSet::of(roles),
        authenticated: true,
    })
}

fn metadata(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.insert(*name, HeaderValue::from_str(value).expect("value"));
    }
    headers
}

#[test]
fn who_did_it_is_who_proved_it() {
    let mut known = Caller::clone(&caller("acme", &[Role::Operator]));
    assert_eq!(known.doer("somebody else"), "zoë");
    known.actor = None;
    assert_eq!(known.doer("somebody else"), "key:k1");
    assert_eq!(Caller::unauthenticated().doer("ann"), "ann");
}

#[test]
fn roles_are_names_and_none_includes_another() {
    for role in Role::ALL {
        assert_eq!(role.as_str().parse(), Ok(role));
        assert_eq!(serde_json::to_value(role).expect("json"), role.as_str());
        assert_eq!(RoleSet::of(&[role]).iter().collect::<Vec<_>>(), [role]);
    }
    assert_eq!(RoleSet::ALL.iter().count(), Role::ALL.len());
    assert!("admin".parse::<Role>().is_err() && "Agent".parse::<Role>().is_err());
    assert!(!RoleSet::of(&[Role::Operator]).meets(RoleSet::of(&[Role::Agent, Role::Approver])));
}

#[test]
fn a_peer_speaks_for_others_and_nobody_else_does() {
    let peer = caller("ops", &[Role::Peer]);
    let agent = caller("acme", &[Role::Agent]);
    let mut sent = HeaderMap::new();
    carry(&agent, &mut sent);
    let (heard, open) = speaks_for(&peer, &sent).expect("a peer is believed");
    assert_eq!(heard, agent);
    assert_eq!(open, RoleSet::of(&[Role::Agent, Role::Peer]), "a peer's methods are open to it all the same");
    assert!(heard.tenant_named("ops").is_err(), "and whoever it speaks for is no peer");

    for stranger in [&agent, &caller("acme", &[Role::Operator, Role::Worker])] {
        for pair in [(TENANT, "acme"), (TENANT, "other"), (ROLES, "operator"), (CALLER, "key:x"), (ACTOR, "x")] {
            let refused = speaks_for(stranger, &metadata(&[pair])).expect_err("not a peer");
            assert_eq!(refused.reason(), "NOT_A_PEER", "{pair:?}");
        }
    }
    for pair in [(TENANT, "no spaces"), (ROLES, "agent,root"), (CALLER, "%z")] {
        assert_eq!(speaks_for(&peer, &metadata(&[pair])).expect_err("malformed").reason(), "INVALID_ARGUMENT");
    }
    let mut twice = metadata(&[(TENANT, "acme"), (ROLES, "agent")]);
    twice.append(ROLES, "operator".parse().expect("value"));
    assert_eq!(speaks_for(&peer, &twice).expect_err("twice").reason(), "INVALID_ARGUMENT");
    let (bare, _) = speaks_for(&peer, &metadata(&[(TENANT, "acme")])).expect("a tenant alone");
    assert_eq!((bare.tenant.as_str(), &bare.actor, bare.roles), ("acme", &None, peer.roles));
    assert!(Arc::ptr_eq(&speaks_for(&agent, &HeaderMap::new()).expect("own").0, &agent));
}

#[test]
fn without_authentication_there_is_one_tenant() {
    let nobody = Caller::unauthenticated();
    let mut sent = HeaderMap::new();
    carry(&nobody, &mut sent);
    assert!(Arc::ptr_eq(&speaks_for(&nobody, &sent).expect("its own tenant").0, &nobody));
    for pair in [(TENANT, "acme"), (ROLES, "agent"), (CALLER, "key:x"), (ACTOR, "x")] {
        assert!(speaks_for(&nobody, &metadata(&[(TENANT, "default"), pair])).is_err(), "{pair:?}");
    }
    assert_eq!(nobody.tenant_named("acme").expect_err("foreign").reason(), "FOREIGN_TENANT");
    assert_eq!(nobody.tenants_named("*").expect("all there is"), Some(nobody.tenant.clone()));

    // A peer that serves unauthenticated callers says so, and is not taken for the caller itself.
    let (heard, open) = speaks_for(&caller("ops", &[Role::Peer]), &sent).expect("believed");
    assert_eq!((heard.tenant.as_str(), heard.caller_ref.as_str(), heard.authenticated), ("default", "", false));
    assert!(open.contains(Role::Peer) && heard.tenant_named("acme").is_err());
}

#[test]
fn only_a_peer_names_tenants() {
    let (peer, agent) = (caller("ops", &[Role::Peer]), caller("acme", &[Role::Agent]));
    assert_eq!(peer.tenant_named("acme").expect("any").as_str(), "acme");
    assert_eq!(peer.tenants_named("*").expect("all"), None);
    assert_eq!(peer.tenants_named("").expect("own").expect("one").as_str(), "ops");
    assert_eq!(peer.tenant_named("no spaces").expect_err("malformed").reason(), "INVALID_ARGUMENT");
    for name in ["", "acme"] {
        assert_eq!(agent.tenant_named(name).expect("own").as_str(), "acme");
    }
    for name in ["other", "*"] {
        assert_eq!(agent.tenants_named(name).expect_err("foreign").reason(), "FOREIGN_TENANT");
    }
}
