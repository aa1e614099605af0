//! Permission modes, and what the agent says of itself: both can only make things stricter unless the operator says so.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::{Behavior, ResultStatus};

use super::{RULES, bed, command, explain, parked, shell, with};
use crate::bed::Bed;

fn in_mode(mode: &str, spec: v1::InvocationSpec) -> v1::InvocationSpec {
    v1::InvocationSpec { permission_mode: mode.to_owned(), ..spec }
}

fn write(bed: &Bed) -> v1::InvocationSpec {
    bed.spec("files.write_file", json!({ "path": "new.txt", "content": "x" }).to_string())
}

async fn behavior(bed: &Bed, spec: v1::InvocationSpec) -> Behavior {
    explain(bed, spec).await.decision.expect("a decision").behavior()
}

#[tokio::test]
async fn modes_do_what_they_say() {
    let bed = bed().await;
    let words = |file: &str| bed.spec("text.word_count", json!({ "path": file }).to_string());
    // Planning looks and changes nothing.
    let (_, result) = bed.followed(in_mode("plan", words("notes/a.txt"))).await;
    assert!(!result.is_error, "{:?}", result.error);
    let (_, result) = bed.followed(in_mode("plan", write(&bed))).await;
    assert_eq!(result.status_code(), ResultStatus::Denied, "{:?}", result.error);
    assert!(!bed.cluster.workspace().join("new.txt").exists());

    for (mode, edit, other, removing) in [
        ("default", Behavior::Ask, Behavior::Ask, Behavior::Deny),
        ("accept_edits", Behavior::Allow, Behavior::Ask, Behavior::Deny),
        ("acceptEdits", Behavior::Allow, Behavior::Ask, Behavior::Deny),
        ("dont_ask", Behavior::Deny, Behavior::Deny, Behavior::Deny),
        ("plan", Behavior::Deny, Behavior::Deny, Behavior::Deny),
        // Without the operator's switch, `bypass` means nothing.
        ("bypass", Behavior::Ask, Behavior::Ask, Behavior::Deny),
    ] {
        assert_eq!(behavior(&bed, in_mode(mode, write(&bed))).await, edit, "{mode}: an edit");
        assert_eq!(behavior(&bed, in_mode(mode, command(&bed, "make"))).await, other, "{mode}: a command");
        assert_eq!(behavior(&bed, in_mode(mode, command(&bed, "rm x"))).await, removing, "{mode}: what is denied");
    }
    let wrong = v1::ExplainInvocationRequest { spec: Some(in_mode("carefree", write(&bed))) };
    let status = bed.clients.invocations().explain_invocation(wrong).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::InvalidArgument);
    let said = shell(&bed).complains(2, &["invoke", "native.echo", "-i", "{\"n\":1}", "--mode", "carefree"]);
    assert!(said.contains("spec.permission_mode") && said.contains("plan"), "{said}");
}

#[tokio::test]
async fn bypass_needs_the_operator_and_stops_at_a_deny() {
    let bed = with(&format!("[permission]\nallow_bypass = true\n{RULES}")).await;
    assert_eq!(behavior(&bed, in_mode("bypass", command(&bed, "make"))).await, Behavior::Allow);
    assert_eq!(behavior(&bed, in_mode("bypass", command(&bed, "rm x"))).await, Behavior::Deny);
}

/// A call its own agent is not sure of goes to the reviewers, although a rule would let it run.
#[tokio::test]
async fn unsure_calls_go_to_review() {
    let bed = bed().await;
    let sure = |confidence| v1::InvocationSpec {
        assurance: Some(v1::CallAssurance { confidence: Some(confidence), ..Default::default() }),
        ..command(&bed, "ls")
    };
    assert_eq!(behavior(&bed, sure(0.95)).await, Behavior::Allow);
    let (_, asked) = parked(&bed, sure(0.5)).await;
    assert_eq!(asked.queue, "review");
    let shell = shell(&bed);
    assert_eq!(shell.json(0, &["approvals", "ls", "--queue", "review"])["approval_id"], asked.approval_id);
    assert_eq!(shell.says(0, &["approvals", "ls", "--queue", "approvals"]), "");

    let unsure = v1::CallAssurance { verdict: "uncertain".to_owned(), ..Default::default() };
    let spec = v1::InvocationSpec { assurance: Some(unsure), ..command(&bed, "ls") };
    assert_eq!(behavior(&bed, spec).await, Behavior::Ask);
    let missing = v1::CallAssurance { missing_evidence: vec!["ticket".to_owned()], ..Default::default() };
    let spec = v1::InvocationSpec { assurance: Some(missing), ..command(&bed, "ls") };
    assert_eq!(behavior(&bed, spec).await, Behavior::Ask);
    // The agent may be sure of itself as it likes: a deny stays a deny.
    let certain = v1::CallAssurance { confidence: Some(1.0), ..Default::default() };
    let spec = v1::InvocationSpec { assurance: Some(certain), ..command(&bed, "rm x") };
    assert_eq!(behavior(&bed, spec).await, Behavior::Deny);
}
