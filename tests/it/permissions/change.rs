//! Rules that change while a call waits: it starts under the rules of the moment it starts, or not at all.

use toolplane_proto::v1;
use toolplane_proto::v1::{InvocationStatus, ResultStatus};

use super::{RULES, command, decisions, parked, shell, with};
use crate::bed::{Bed, kinds};

/// One slot, so that a second call has to wait for the first.
async fn narrow() -> Bed {
    let config = RULES.replace("slots = 2", "slots = 1");
    let sleeping = "[[permission.rules]]\nid = \"sleeping\"\nbehavior = \"allow\"\ntool = \"Bash(sleep:*)\"\n";
    with(&format!("{config}\n{sleeping}")).await
}

async fn occupied(bed: &Bed, seconds: u32) -> String {
    let call = bed.submit(command(bed, &format!("sleep {seconds}"))).await;
    bed.until(&call.invocation_id, InvocationStatus::Running).await.invocation_id
}

/// Approved, and then forbidden before a worker was free.
#[tokio::test]
async fn a_deny_that_comes_after_the_approval_still_counts() {
    let bed = narrow().await;
    let shell = shell(&bed);
    let busy = occupied(&bed, 4).await;
    let (call, asked) = parked(&bed, command(&bed, "touch late.txt")).await;
    shell.says(0, &["approvals", "approve", &asked.approval_id]);
    bed.until(&call.invocation_id, InvocationStatus::Queued).await;
    shell.says(0, &["rules", "add", "Bash(touch:*)", "--deny", "--reason", "not any more"]);

    bed.replay(&busy, 1).await;
    let (events, result) = bed.replay(&call.invocation_id, 1).await;
    assert_eq!(result.status_code(), ResultStatus::Denied, "{:?}", result.error);
    assert!(!kinds(&events).contains(&"tool.invocation.started"), "{:?}", kinds(&events));
    assert!(!bed.cluster.workspace().join("late.txt").exists());
    let decided = decisions(&bed, &call.invocation_id).await;
    assert_eq!(decided.last().unwrap().behavior(), v1::Behavior::Deny);
    assert!(decided.last().unwrap().reason.as_ref().unwrap().message.contains("not any more"), "{decided:?}");
}

/// A rule that allowed the call is gone before it started: it is asked about, and goes on when that is answered.
#[tokio::test]
async fn an_allow_that_is_gone_is_asked_about() {
    let bed = narrow().await;
    let shell = shell(&bed);
    let added = shell.json(0, &["rules", "add", "Bash(echo:*)", "--allow"]);
    let busy = occupied(&bed, 4).await;
    let call = bed.submit(command(&bed, "echo later")).await;
    bed.until(&call.invocation_id, InvocationStatus::Queued).await;
    shell.says(0, &["rules", "revoke", added["rule_id"].as_str().unwrap()]);

    bed.replay(&busy, 1).await;
    let waits = bed.until(&call.invocation_id, InvocationStatus::AwaitingApproval).await;
    shell.says(0, &["approvals", "approve", &waits.approval_request_ref]);
    let (events, result) = bed.replay(&call.invocation_id, 1).await;
    assert!(!result.is_error, "{:?} {:?}", result.error, kinds(&events));
    assert_eq!(kinds(&events).iter().filter(|kind| **kind == "tool.invocation.started").count(), 1);
}

/// Rules that do not concern the call do not hold it up.
#[tokio::test]
async fn other_changes_change_nothing() {
    let bed = narrow().await;
    let shell = shell(&bed);
    let busy = occupied(&bed, 3).await;
    let (call, asked) = parked(&bed, command(&bed, "touch kept.txt")).await;
    shell.says(0, &["approvals", "approve", &asked.approval_id]);
    shell.says(0, &["rules", "add", "Bash(curl:*)", "--deny"]);
    bed.replay(&busy, 1).await;
    let (_, result) = bed.replay(&call.invocation_id, 1).await;
    assert!(!result.is_error, "{:?}", result.error);
    assert!(bed.cluster.workspace().join("kept.txt").exists());
}

/// A file of rules is taken over as a whole, or refused with every fault while the old one stays in force.
#[tokio::test]
async fn a_file_is_taken_over_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("house.toml");
    let rule = |matcher: &str| format!("[[rules]]\nid = \"house\"\nbehavior = \"deny\"\ntool = \"{matcher}\"\n");
    std::fs::write(&file, rule("Bash(ls:*)")).unwrap();
    let bed = with(&format!("[permission]\nrules_files = [{:?}]\n{RULES}", file.display().to_string())).await;
    let shell = shell(&bed);
    let denied = |bed: &Bed| command(bed, "ls");
    assert_eq!(bed.followed(denied(&bed)).await.1.status_code(), ResultStatus::Denied);

    std::fs::write(&file, rule("Bash(ls:*").replace(":*", "")).unwrap();
    let said = shell.complains(2, &["rules", "reload"]);
    assert!(said.contains("house.toml"), "{said}");
    assert_eq!(bed.followed(denied(&bed)).await.1.status_code(), ResultStatus::Denied, "the old rule was dropped");

    std::fs::write(&file, rule("Bash(who:*)")).unwrap();
    assert!(shell.says(0, &["rules", "reload", "--check"]).contains("would be in force"));
    shell.says(0, &["rules", "reload"]);
    assert!(!bed.followed(denied(&bed)).await.1.is_error);
}
