use tokio::time::timeout;
use tonic::Code;
use toolplane_proto::v1;

use crate::support::{Home, PATIENCE, shell_call, write};

fn rule(name: &str, behavior: v1::Behavior, matcher: &str) -> v1::PermissionRule {
    v1::PermissionRule {
        rule_id: name.to_owned(),
        source: "project_settings".to_owned(),
        behavior: behavior.into(),
        matcher: matcher.to_owned(),
        ..Default::default()
    }
}

#[tokio::test]
async fn rules_are_listed_in_pages_with_their_origin() {
    let home = Home::embedded();
    let role = home.start().await;
    let request =
        v1::AddRulesRequest { rules: vec![rule("x", v1::Behavior::Ask, "Bash(make:*)")], ..Default::default() };
    role.client.clone().add_rules(request).await.unwrap();
    let list =
        async |request: v1::ListRulesRequest| role.client.clone().list_rules(request).await.unwrap().into_inner();
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = list(v1::ListRulesRequest { page_size: 1, page_token: token, ..Default::default() }).await;
        seen.extend(page.rules.into_iter().map(|rule| (rule.rule_id, rule.origin)));
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    seen.sort();
    let expected = [("no_secrets", "config"), ("reads", "config"), ("rule/default/x", "stored"), ("watched", "config")];
    assert_eq!(seen, expected.map(|(id, origin)| (id.to_owned(), origin.to_owned())));
    let user = v1::ListRulesRequest { source: "user_settings".to_owned(), ..Default::default() };
    assert!(list(user).await.rules.is_empty());
    let own = v1::ListRulesRequest { tenant: "default".to_owned(), ..Default::default() };
    assert_eq!(list(own).await.rules.len(), 1);
    let revoke = v1::RevokeRuleRequest { rule_id: "x".to_owned(), reason: "no".to_owned() };
    role.client.clone().revoke_rule(revoke.clone()).await.unwrap();
    role.client.clone().revoke_rule(revoke).await.unwrap();
    let ended = list(v1::ListRulesRequest { include_ended: true, ..Default::default() }).await;
    let gone = ended.rules.iter().find(|rule| rule.rule_id == "rule/default/x").unwrap();
    assert!(gone.revoked_at.is_some());
    let configured = v1::RevokeRuleRequest { rule_id: "reads".to_owned(), ..Default::default() };
    let status = role.client.clone().revoke_rule(configured).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    let bad = v1::ListRulesRequest { source: "thin_air".to_owned(), ..Default::default() };
    assert_eq!(role.client.clone().list_rules(bad).await.unwrap_err().code(), Code::InvalidArgument);
    role.stop().await;
}

#[tokio::test]
async fn a_stored_rule_survives_restarts_and_a_watcher_hears_of_it() {
    for home in Home::every().await {
        let role = home.start().await;
        let mut policy =
            role.client.clone().watch_policy(v1::WatchPolicyRequest::default()).await.unwrap().into_inner();
        let first = timeout(PATIENCE, policy.message()).await.unwrap().unwrap().unwrap();
        let rules = vec![rule("push", v1::Behavior::Allow, "Bash(make push:*)")];
        let checked = v1::AddRulesRequest { rules: rules.clone(), validate_only: true, ..Default::default() };
        role.client.clone().add_rules(checked).await.unwrap();
        assert_eq!(role.decide(shell_call("inv_1", "make push")).await.decision.unwrap().behavior(), v1::Behavior::Ask);
        let request = v1::AddRulesRequest { rules, ..Default::default() };
        let added = role.client.clone().add_rules(request).await.unwrap().into_inner();
        let second = timeout(PATIENCE, policy.message()).await.unwrap().unwrap().unwrap();
        assert_eq!(second.policy_digest, added.policy_digest);
        assert!(second.revision > first.revision);
        drop(policy);
        role.kill().await;
        let role = home.start().await;
        let decision = role.decide(shell_call("inv_2", "make push")).await.decision.unwrap();
        assert_eq!((decision.behavior(), decision.policy_digest), (v1::Behavior::Allow, added.policy_digest));
        role.stop().await;
    }
}

#[tokio::test]
async fn a_reload_takes_over_good_rules_and_names_every_fault_of_bad_ones() {
    let home = Home::embedded();
    let file = write(home.folder.path(), "settings.json", r#"{"permissions":{"deny":["Bash(rm:*)"]}}"#);
    let more = format!("[permission]\nrules_files = [{:?}]\n", file.display().to_string());
    let role = home.start_with(&more, None).await;
    let behavior = async |call: &str| role.decide(shell_call(call, "rm x")).await.decision.unwrap().behavior();
    assert_eq!(behavior("inv_1").await, v1::Behavior::Deny);
    write(home.folder.path(), "settings.json", r#"{"permissions":{"deny":["Bash(", "Read("]}}"#);
    let reload = async |validate_only| role.client.clone().reload_rules(v1::ReloadRulesRequest { validate_only }).await;
    let refused = reload(false).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let told = toolplane_runtime::status::describe(&refused).to_string();
    assert!(told.contains("permissions.deny[0]") && told.contains("permissions.deny[1]"), "{told}");
    assert_eq!(behavior("inv_2").await, v1::Behavior::Deny, "the rules before stay in force");
    let listed = role.client.clone().list_rules(v1::ListRulesRequest::default()).await.unwrap().into_inner();
    assert!(!listed.faults.is_empty(), "and whoever looks is told");
    write(home.folder.path(), "settings.json", r#"{"permissions":{"allow":["Bash(rm:*)"]}}"#);
    reload(true).await.unwrap();
    let loaded = reload(false).await.unwrap().into_inner();
    assert_eq!(loaded.rules, 4);
    assert_eq!(behavior("inv_3").await, v1::Behavior::Allow);
    role.stop().await;
}
