//! One decision stands for many calls, and each has its own.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::Options;

use crate::bed::Bed;

const RULES: &str = r#"
[[permission.rules]]
id = "echoes"
behavior = "allow"
tool = "native.echo"

[[permission.rules]]
id = "looking"
behavior = "allow"
tool = "Bash(ls:*)"
"#;

/// Calls the tool; gives its result, and the decision about it.
async fn called(bed: &Bed, tool: &str, input: &str) -> (v1::ToolResult, v1::PermissionDecision) {
    let request = v1::CallRequest { spec: Some(bed.spec(tool, input)), wait_ms: 0, ..Default::default() };
    let answer = bed.clients.invocations().call(request).await.unwrap().into_inner();
    let (accepted, result) = (answer.accepted.unwrap(), answer.result.unwrap());
    let request = v1::ListDecisionsRequest { invocation_id: accepted.invocation_id.clone(), ..Default::default() };
    let mut decisions = bed.clients.invocations().list_decisions(request).await.unwrap().into_inner().decisions;
    assert_eq!(decisions.len(), 1, "{decisions:?}");
    let decision = decisions.remove(0);
    assert_eq!(decision.invocation_id, accepted.invocation_id);
    (*result, decision)
}

#[tokio::test]
async fn a_decision_stands_for_calls_that_differ_in_nothing_it_looked_at() {
    let bed = Bed::with(Options::new(RULES)).await;
    let (_, first) = called(&bed, "native.echo", r#"{"n":1}"#).await;
    assert_eq!(first.reused_from, "");
    for input in [r#"{"n":2}"#, r#"{"n":3}"#] {
        let (result, decision) = called(&bed, "native.echo", input).await;
        assert!(!result.is_error);
        assert_eq!(decision.reused_from, first.decision_id);
        assert_ne!(decision.decision_id, first.decision_id);
        let of = |decision: &v1::PermissionDecision| {
            (decision.behavior, decision.rule_refs.clone(), decision.policy_digest.clone(), decision.reason.clone())
        };
        assert_eq!(of(&decision), of(&first));
    }
    // What a command is decides: each is looked at.
    for command in ["ls", "ls -l"] {
        let (_, decision) = called(&bed, "local.shell.exec", &json!({ "command": command }).to_string()).await;
        assert_eq!(decision.reused_from, "", "{command}");
    }
    // What might ask to leave its sandbox is looked at, whatever the tool.
    let (_, decision) = called(&bed, "native.echo", r#"{"note":"the Sandbox"}"#).await;
    assert_eq!(decision.reused_from, "");
}

#[tokio::test]
async fn a_rule_counts_for_the_very_next_call() {
    let bed = Bed::with(Options::new(RULES)).await;
    let denial = v1::PermissionRule {
        source: "project_settings".to_owned(),
        behavior: v1::Behavior::Deny.into(),
        matcher: "native.echo".to_owned(),
        ..Default::default()
    };
    for round in 0..20 {
        for _ in 0..2 {
            let (result, _) = called(&bed, "native.echo", "{}").await;
            assert!(!result.is_error, "{round}: {result:?}");
        }
        let rules = v1::AddRulesRequest { rules: vec![denial.clone()], ..Default::default() };
        let added = bed.clients.permissions().add_rules(rules).await.unwrap().into_inner().rules.remove(0);
        for _ in 0..2 {
            let (result, decision) = called(&bed, "native.echo", "{}").await;
            assert_eq!(result.status, "denied", "{round}");
            assert_eq!(decision.behavior(), v1::Behavior::Deny);
        }
        let revoked = v1::RevokeRuleRequest { rule_id: added.rule_id, ..Default::default() };
        bed.clients.permissions().revoke_rule(revoked).await.unwrap();
    }
}
