use toolplane_policy::{PolicyConfig, RuleConfig};
use toolplane_records::payload::{Digest, JsonPayload};

use super::*;

fn decider(rules: &str) -> Decider {
    let config: PolicyConfig = serde_json::from_str(&format!(r#"{{"rules":{rules}}}"#)).unwrap();
    Decider::new(RuleSet::from_config(&config).unwrap())
}

fn question(read_only: bool) -> Question {
    let input = JsonPayload::from_checked("{}");
    Question {
        invocation_id: InvocationId::from_trusted("inv_1"),
        tenant: TenantId::unauthenticated(),
        actor_ref: "agent".to_owned(),
        tool_id: ToolId::from_trusted("tool_read"),
        tool_name: "files.read".to_owned(),
        namespace: "files".to_owned(),
        declaration_digest: Digest::of(b"declaration"),
        surface_id: None,
        input_digest: input.digest(),
        shown_input: input,
        profile: None,
        safety: Some(InputSafety { is_read_only: read_only, ..InputSafety::default() }),
        unknown_facts: Vec::new(),
        can_ask: true,
        mode: String::new(),
        deadline_at: None,
    }
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

#[test]
fn the_same_call_under_the_same_rules_gets_the_same_decision() {
    let decider = decider(r#"[{"behavior":"allow","tool":"*","facts":["read_only"]}]"#);
    let first = decider.decide(&question(true), at(5));
    assert_eq!(first, decider.decide(&question(true), at(5)));
    assert_eq!(first.decision_id, decider.decide(&question(true), at(9)).decision_id);
    let mut other = question(true);
    other.input_digest = Digest::of(b"other");
    assert_ne!(first.decision_id, decider.decide(&other, at(5)).decision_id);
}

#[test]
fn an_unknown_fact_satisfies_no_allow() {
    let decider = decider(r#"[{"behavior":"allow","tool":"*","facts":["read_only"]}]"#);
    let mut unsure = question(true);
    assert_eq!(decider.decide(&unsure, at(1)).behavior, Behavior::Allow);
    unsure.unknown_facts = vec!["is_read_only".to_owned()];
    assert_eq!(decider.decide(&unsure, at(1)).behavior, Behavior::Ask);
    unsure.can_ask = false;
    let denied = decider.decide(&unsure, at(1));
    assert_eq!(denied.behavior, Behavior::Deny);
    assert_eq!(denied.reason.unwrap().reason_type, ReasonType::AsyncAgent);
}

#[test]
fn the_suggested_rule_would_have_allowed_the_call() {
    let asked = decider("[]").decide(&question(false), at(1));
    assert_eq!(asked.behavior, Behavior::Ask);
    let suggestion = asked.suggested_updates[0].to_value();
    let rule: RuleConfig = serde_json::from_value(suggestion["rule"].clone()).unwrap();
    let wiser = Decider::new(RuleSet::from_config(&PolicyConfig { rules: vec![rule] }).unwrap());
    assert_eq!(wiser.decide(&question(false), at(1)).behavior, Behavior::Allow);
}

#[test]
fn nothing_is_suggested_where_no_rule_would_help() {
    let by_rule = decider(r#"[{"behavior":"ask","tool":"*"}]"#).decide(&question(true), at(1));
    assert!(by_rule.suggested_updates.is_empty());
    let mut destructive = question(false);
    destructive.safety = Some(InputSafety { is_destructive: true, ..InputSafety::default() });
    let floor = decider("[]").decide(&destructive, at(1));
    assert_eq!((floor.behavior, floor.suggested_updates.len()), (Behavior::Ask, 0));
}

#[test]
fn a_question_ends_with_its_call_at_the_latest() {
    let decider = decider("[]");
    for (deadline, expected) in [(None, 1_010), (Some(at(500)), 500), (Some(at(9_000)), 1_010)] {
        let mut question = question(false);
        question.deadline_at = deadline;
        let decision = decider.decide(&question, at(10));
        let parked = Decider::park(question, decision, at(10), 1_000);
        assert_eq!(parked.expires_at, at(expected));
        assert_eq!(parked.request.expires_at, Some(at(expected)));
        assert_eq!(parked.request.approval_request_ref.as_ref(), Some(&parked.approval_id));
    }
}

#[test]
fn a_rule_against_a_tool_may_leave_out_its_namespace() {
    let rules = r#"[{"behavior":"deny","tool":"read"},{"behavior":"allow","tool":"*"}]"#;
    assert_eq!(decider(rules).decide(&question(true), at(1)).behavior, Behavior::Deny);
    // Allowing is never read into a shorter name: another namespace may have a tool of that name.
    let rules = r#"[{"behavior":"allow","tool":"read"}]"#;
    assert_eq!(decider(rules).decide(&question(true), at(1)).behavior, Behavior::Ask);
}
