//! Hooks around the question: a program in the sandbox is asked before people are, and after every decision.

use toolplane_proto::v1;

use crate::support::{Home, call_of, shell_call};

/// A hook that answers `json` at `event`, asked about every tool.
fn hook(id: &str, event: &str, json: &str, more: &str) -> String {
    format!(
        "[[hooks]]\nid = {id:?}\nevents = [{event:?}]\ncommand = [\"/bin/sh\", \"-c\", {script:?}]\n{more}\n",
        script = format!("cat >/dev/null; echo '{json}'"),
    )
}

fn request_says(behavior: &str) -> String {
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"{behavior}"}}}}}}"#
    )
}

async fn decided(config: &str, request: v1::DecideRequest) -> v1::DecideResponse {
    let home = Home::embedded();
    let role = home.start_with(config, None).await;
    let answer = role.decide(request).await;
    role.stop().await;
    answer
}

#[tokio::test]
async fn a_hook_may_answer_for_people_only_where_the_operator_lets_it() {
    let say_allow = request_says("allow");
    let plain = hook("guard", "permission_request", &say_allow, "");
    let answer = decided(&plain, shell_call("inv_1", "make push")).await;
    assert!(answer.approval.is_some(), "its allow is worth nothing by itself");
    assert_eq!((answer.hooks.len(), answer.hooks[0].hook_id.as_str()), (1, "guard"));
    let trusted = hook("guard", "permission_request", &say_allow, "authoritative = true");
    let answer = decided(&trusted, shell_call("inv_1", "make push")).await;
    assert_eq!(answer.decision.unwrap().behavior(), v1::Behavior::Allow);
    let nobody = v1::DecideRequest { can_ask: false, ..shell_call("inv_1", "make push") };
    let answer = decided(&trusted, nobody).await;
    assert_eq!(answer.decision.unwrap().behavior(), v1::Behavior::Allow, "asked also when no person can be");
    let deny = hook("guard", "permission_request", &request_says("deny"), "");
    let decision = decided(&deny, shell_call("inv_1", "make push")).await.decision.unwrap();
    assert_eq!((decision.behavior(), decision.reason.unwrap().r#type.as_str()), (v1::Behavior::Deny, "hook"));
}

/// What is decided when a hook says `permission` after the decision.
async fn tightened(permission: &str, request: v1::DecideRequest) -> v1::Behavior {
    let said = format!(r#"{{"permission_result":{{"behavior":"{permission}","message":"hm"}}}}"#);
    let config = hook("auditor", "permission_decision", &said, "authoritative = true");
    decided(&config, request).await.decision.unwrap().behavior()
}

#[tokio::test]
async fn a_hook_after_the_decision_only_tightens() {
    let allowed = call_of("other.read", "inv_1", true);
    assert_eq!(tightened("allow", allowed.clone()).await, v1::Behavior::Allow);
    assert_eq!(tightened("ask", allowed.clone()).await, v1::Behavior::Ask);
    assert_eq!(tightened("deny", allowed).await, v1::Behavior::Deny);
    assert_eq!(tightened("allow", shell_call("inv_1", "make push")).await, v1::Behavior::Ask);
}

#[tokio::test]
async fn a_hook_that_fails_is_a_no() {
    let broken = "[[hooks]]\nid = \"broken\"\nevents = [\"permission_decision\"]\ncommand = [\"/bin/false\"]\n";
    let decision = decided(broken, call_of("other.read", "inv_1", true)).await.decision.unwrap();
    assert_eq!((decision.behavior(), decision.reason.unwrap().r#type.as_str()), (v1::Behavior::Deny, "hook"));
}
