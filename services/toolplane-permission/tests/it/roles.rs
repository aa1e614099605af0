//! Who may answer and who may write rules.

use tonic::{Code, Request};
use toolplane_proto::v1;
use toolplane_runtime::caller::Role as CallerRole;
use toolplane_runtime::config::AuthConfig;
use toolplane_runtime::keys::{KeyEntry, NewKey};
use toolplane_runtime::server::Auth;
use toolplane_runtime::status::reason;

use crate::support::{Home, Role, shell_call, write};

/// Keys: of the scheduler, of an approver who is also the caller, of another approver, and of another tenant.
struct Keys {
    auth: Auth,
    peer: String,
    both: String,
    bob: String,
    eve: String,
}

fn keys(home: &Home) -> Keys {
    let mut text = String::new();
    let mut make = |id: &str, tenant: &str, actor: Option<&str>, roles: Vec<CallerRole>| {
        let key = NewKey::make(id).unwrap();
        let entry = KeyEntry {
            id: id.to_owned(),
            sha256: key.sha256(),
            tenant: tenant.to_owned(),
            actor: actor.map(str::to_owned),
            roles,
            expires_at: None,
            disabled: false,
        };
        text.push_str(&entry.to_toml().unwrap());
        key.text().to_owned()
    };
    use CallerRole::{Agent, Approver, Operator, Peer};
    let peer = make("scheduler", "default", None, vec![Peer]);
    let both = make("both", "default", Some("ann"), vec![Agent, Approver, Operator]);
    let bob = make("bob", "default", Some("bob"), vec![Approver, Operator]);
    let eve = make("eve", "other", Some("eve"), vec![Approver, Operator]);
    let api_key_file = Some(write(home.folder.path(), "keys.toml", &text));
    let auth = Auth::from_config(&AuthConfig { api_key_file, ..AuthConfig::default() }).unwrap();
    Keys { auth, peer, both, bob, eve }
}

async fn asked(role: &Role, peer: &str) -> v1::Approval {
    let request = v1::DecideRequest {
        caller_ref: "key:both".to_owned(),
        actor_ref: "ann".to_owned(),
        ..shell_call("inv_1", "make push")
    };
    role.client_of(peer).decide(request).await.unwrap().into_inner().approval.unwrap()
}

fn answer(id: &str) -> v1::ResolveApprovalRequest {
    v1::ResolveApprovalRequest {
        approval_id: id.to_owned(),
        option: v1::PermissionOption::AllowOnce.into(),
        resolved_by: "somebody else".to_owned(),
        ..Default::default()
    }
}

#[tokio::test]
async fn a_caller_cannot_approve_its_own_call_and_nobody_lends_a_name() {
    let home = Home::embedded();
    let Keys { auth, peer, both, bob, eve } = keys(&home);
    let role = home.start_with("", Some(auth)).await;
    let asked = asked(&role, &peer).await;
    let own = role.client_of(&both).resolve_approval(answer(&asked.approval_id)).await.unwrap_err();
    assert_eq!((own.code(), reason(&own).as_deref()), (Code::PermissionDenied, Some("SELF_APPROVAL")));
    let foreign = role.client_of(&eve).resolve_approval(answer(&asked.approval_id)).await.unwrap_err();
    let nothing = role.client_of(&eve).resolve_approval(answer("appr_none")).await.unwrap_err();
    assert_eq!((foreign.code(), nothing.code()), (Code::NotFound, Code::NotFound));
    let unasked = role.client_of(&peer).resolve_approval(answer(&asked.approval_id)).await.unwrap_err();
    assert_eq!(unasked.code(), Code::PermissionDenied, "a peer is no approver");
    let approved = role.client_of(&bob).resolve_approval(answer(&asked.approval_id)).await.unwrap().into_inner();
    assert_eq!(approved.approval.unwrap().resolved_by, "bob", "who answers is who is authenticated");
    role.stop().await;
}

#[tokio::test]
async fn an_operator_may_allow_self_approval() {
    let home = Home::embedded();
    let Keys { auth, peer, both, .. } = keys(&home);
    let role = home.start_with("[permission]\nallow_self_approval = true\n", Some(auth)).await;
    let asked = asked(&role, &peer).await;
    role.client_of(&both).resolve_approval(answer(&asked.approval_id)).await.unwrap();
    role.stop().await;
}

#[tokio::test]
async fn a_tenant_writes_and_sees_its_own_rules_only() {
    let home = Home::embedded();
    let Keys { auth, peer, bob, eve, .. } = keys(&home);
    let role = home.start_with("", Some(auth)).await;
    let rule = v1::PermissionRule {
        rule_id: "mine".to_owned(),
        source: "user_settings".to_owned(),
        behavior: v1::Behavior::Allow.into(),
        matcher: "Bash(make push:*)".to_owned(),
        author: "nobody".to_owned(),
        ..Default::default()
    };
    let adding = |tenant: &str| {
        let scope = Some(v1::RuleScope { tenant: tenant.to_owned(), ..Default::default() });
        v1::AddRulesRequest { rules: vec![v1::PermissionRule { scope, ..rule.clone() }], ..Default::default() }
    };
    let foreign = role.client_of(&eve).add_rules(adding("default")).await.unwrap_err();
    assert_eq!((foreign.code(), reason(&foreign).as_deref()), (Code::PermissionDenied, Some("FOREIGN_TENANT")));
    let added = role.client_of(&eve).add_rules(adding("")).await.unwrap().into_inner();
    let kept = &added.rules[0];
    assert_eq!((kept.rule_id.as_str(), kept.author.as_str()), ("rule/other/mine", "eve"));
    assert_eq!(kept.scope.as_ref().unwrap().tenant, "other");
    let names = async |key: &str| -> Vec<String> {
        let request = Request::new(v1::ListRulesRequest::default());
        let rules = role.client_of(key).list_rules(request).await.unwrap().into_inner().rules;
        rules.into_iter().map(|rule| rule.rule_id).collect()
    };
    assert!(names(&eve).await.contains(&"rule/other/mine".to_owned()));
    assert!(!names(&bob).await.contains(&"rule/other/mine".to_owned()));
    let revoke = v1::RevokeRuleRequest { rule_id: "rule/other/mine".to_owned(), ..Default::default() };
    assert_eq!(role.client_of(&bob).revoke_rule(revoke).await.unwrap_err().code(), Code::NotFound);
    let decided = role.client_of(&peer).decide(shell_call("inv_9", "make push")).await.unwrap().into_inner();
    assert_eq!(decided.decision.unwrap().behavior(), v1::Behavior::Ask, "another tenant's rule lets nothing through");
    let peer_adds = role.client_of(&peer).add_rules(adding("")).await.unwrap_err();
    assert_eq!(reason(&peer_adds).as_deref(), Some("ROLE_REQUIRED"));
    role.stop().await;
}
