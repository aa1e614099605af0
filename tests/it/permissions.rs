//! Rules decide on what will run, say why, and can be changed while calls are on their way.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_proto::v1::{Behavior, InvocationStatus, ResultStatus};
use toolplane_testkit::Options;
use toolplane_testkit::clients::payload_bytes;

use crate::bed::{Bed, kinds};
use crate::hooks::text;
use crate::shell::Shell;

mod change;
mod explain;
mod files;
mod modes;
mod reuse;
mod scopes;

/// The rules of the README: looking is fine, removing is not, secrets stay where they are.
pub(crate) const RULES: &str = r#"
[log]
filter = "info"

[executor]
slots = 2

[[permission.rules]]
id = "looking"
behavior = "allow"
tool = "Bash(ls:*)"
match = ["ls", "ls -l notes"]
not_match = ["lsof", "ls; rm x"]
reason = "looking is fine"

[[permission.rules]]
id = "counting"
behavior = "allow"
tool = "Bash(wc:*)"
reason = "counting is fine"

[[permission.rules]]
id = "no-removing"
behavior = "deny"
tool = "Bash(rm:*)"
reason = "nothing is removed"

[[permission.rules]]
id = "notes"
behavior = "allow"
tool = "Read(./notes/**)"
reason = "notes are for everybody"

[[permission.rules]]
id = "secrets"
behavior = "deny"
tool = "Read(./secrets/**)"
reason = "secrets stay where they are"

[[permission.rules]]
id = "reading"
behavior = "allow"
tool = "text.word_count"
facts = ["read_only"]
reason = "reading is fine"
"#;

/// A cluster with [`RULES`], notes and a secret.
pub(crate) async fn bed() -> Bed {
    with(RULES).await
}

/// The same with further configuration.
pub(crate) async fn with(config: &str) -> Bed {
    let bed = Bed::with(Options::new(config)).await;
    for (file, text) in [("notes/a.txt", "one\ntwo\n"), ("secrets/key.txt", "hidden\n")] {
        let file = bed.cluster.workspace().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    bed
}

/// The command line at this cluster.
pub(crate) fn shell(bed: &Bed) -> Shell {
    Shell::at(bed.cluster.endpoint())
}

/// A call of `shell.exec`.
pub(crate) fn command(bed: &Bed, text: &str) -> v1::InvocationSpec {
    bed.spec("shell.exec", json!({ "command": text }).to_string())
}

/// What is said of a call that is not made.
pub(crate) async fn explain(bed: &Bed, spec: v1::InvocationSpec) -> v1::ExplainInvocationResponse {
    let request = v1::ExplainInvocationRequest { spec: Some(spec) };
    bed.clients.invocations().explain_invocation(request).await.unwrap().into_inner()
}

/// Submits a call that has to wait for a person, and returns it with its question.
pub(crate) async fn parked(bed: &Bed, spec: v1::InvocationSpec) -> (v1::Invocation, v1::Approval) {
    let call = bed.submit(spec).await;
    let call = bed.until(&call.invocation_id, InvocationStatus::AwaitingApproval).await;
    let request = v1::GetApprovalRequest {
        approval_id: call.approval_request_ref.clone(),
        view: v1::RecordView::Json.into(),
        ..Default::default()
    };
    let approval = bed.clients.permissions().get_approval(request).await.unwrap().into_inner().approval.unwrap();
    assert_eq!(approval.invocation_id, call.invocation_id);
    (call, approval)
}

/// The decisions of a call, oldest first.
pub(crate) async fn decisions(bed: &Bed, invocation_id: &str) -> Vec<v1::PermissionDecision> {
    let request = v1::ListDecisionsRequest { invocation_id: invocation_id.to_owned(), ..Default::default() };
    bed.clients.invocations().list_decisions(request).await.unwrap().into_inner().decisions
}

/// What rules decide about commands, over the whole way of a real call.
#[tokio::test]
async fn commands_are_decided_by_what_they_run() {
    let bed = bed().await;
    let denied = [
        "rm x",
        "ls && rm -rf x",
        "bash -c 'rm x'",
        "env A=1 rm x",
        "timeout 5 rm x",
        "echo x | xargs rm",
        "echo $(rm x)",
        "/bin/rm x",
        "find . -exec rm {} ;",
    ];
    for text in denied {
        let (events, result) = bed.followed(command(&bed, text)).await;
        assert_eq!(result.status_code(), ResultStatus::Denied, "{text}: {:?}", result.error);
        assert!(!kinds(&events).contains(&"tool.invocation.started"), "{text} ran");
        let decided = decisions(&bed, &result.invocation_id).await;
        assert!(decided[0].rule_refs.iter().any(|rule| rule == "no-removing"), "{text}: {decided:?}");
    }
    // What no rule names is asked about; without a person to ask, that is a denial, and it says so.
    for text in ["ls; touch x", "ls > x", "ls $(touch x)", "A=1 ls", "echo hello", "lsof"] {
        let spec = v1::InvocationSpec { no_approver: true, ..command(&bed, text) };
        let (_, result) = bed.followed(spec).await;
        assert!(matches!(result.status_code(), ResultStatus::Denied | ResultStatus::Rejected), "{text}: {result:?}");
        let decided = decisions(&bed, &result.invocation_id).await;
        assert_eq!(decided[0].reason.as_ref().unwrap().type_code(), v1::ReasonType::AsyncAgent, "{text}: {decided:?}");
    }
    for text in ["ls", "ls -l notes | wc -l", "ls notes && wc -l notes/a.txt", "ls 'a; b' || wc -l notes/a.txt"] {
        let (events, result) = bed.followed(command(&bed, text)).await;
        assert!(kinds(&events).contains(&"tool.invocation.started"), "{text}: {:?}", result.error);
        assert!(decisions(&bed, &result.invocation_id).await[0].behavior() == Behavior::Allow, "{text}");
    }
}

/// The same for paths: the path that counts is the one that would be opened.
#[tokio::test]
async fn paths_are_decided_by_where_they_lead() {
    let bed = bed().await;
    let read = |path: &str| bed.spec("files.read_file", json!({ "path": path }).to_string());
    assert!(!bed.followed(read("notes/a.txt")).await.1.is_error);
    assert!(!bed.followed(read("./notes//./a.txt")).await.1.is_error);
    for path in ["secrets/key.txt", "./secrets/key.txt", "notes/../secrets/key.txt"] {
        let (_, result) = bed.followed(read(path)).await;
        assert_eq!(result.status_code(), ResultStatus::Denied, "{path}: {:?}", result.error);
        assert!(!text(&result).contains("hidden"), "{path}");
    }
    // No rule and no answer helps a path outside.
    let (_, outside) = bed.followed(read("../outside.txt")).await;
    let error = outside.error.expect("a path outside is refused");
    assert_eq!(error.error_code, "path.outside_workspace", "{error:?}");
    assert!(error.blocked_path.is_some(), "{error:?}");
}

/// A yes for always is a rule: the same call is not asked about again, a wider one is, and a revoked rule asks again.
#[tokio::test]
async fn always_holds_until_it_is_revoked() {
    let bed = bed().await;
    let shell = shell(&bed);
    let (call, asked) = parked(&bed, command(&bed, "sort notes/a.txt")).await;
    let kinds: Vec<_> = asked.options.iter().map(v1::ApprovalOption::kind).collect();
    assert_eq!(kinds.first(), Some(&v1::PermissionOption::AllowOnce), "{kinds:?}");
    assert!(kinds.contains(&v1::PermissionOption::AllowAlways) && kinds.contains(&v1::PermissionOption::RejectOnce));

    let shown = shell.says(0, &["approvals", "show", &asked.approval_id]);
    assert!(shown.contains("sort notes/a.txt") && shown.contains("--always"), "{shown}");
    let previewed = shell.complains(0, &["approvals", "approve", &asked.approval_id, "--always"]);
    assert!(previewed.contains("added the rule") && previewed.contains("sort notes/a.txt"), "{previewed}");
    assert!(!bed.replay(&call.invocation_id, 1).await.1.is_error);
    // Answered is answered: nothing is said of a rule that was not added.
    let settled = shell.complains(2, &["approvals", "reject", &asked.approval_id, "--always"]);
    assert!(settled.contains("APPROVAL_SETTLED") && !settled.contains("the rule"), "{settled}");

    let session =
        v1::InvocationSpec { session_ref: call.session_ref().to_owned(), ..command(&bed, "sort notes/a.txt") };
    let (events, result) = bed.followed(session.clone()).await;
    assert!(!result.is_error, "{:?}", result.error);
    assert!(!kinds_of(&events).contains(&"ext.invocation.awaiting_approval".to_owned()), "asked again");
    parked(&bed, command(&bed, "sort -r notes/a.txt; id")).await;

    let stored = stored_rules(&shell);
    let [rule] = stored.as_slice() else { panic!("not one stored rule: {stored:?}") };
    assert!(!rule["author"].as_str().unwrap_or_default().is_empty(), "{rule}");
    let id = rule["rule_id"].as_str().unwrap();
    assert!(shell.says(0, &["rules", "revoke", id, "--reason", "changed my mind"]).contains("revoked"));
    assert_eq!(stored_rules(&shell), Vec::<Value>::new());
    assert!(shell.says(0, &["rules", "ls", "--all"]).contains(id), "a revoked rule stays on record");
    parked(&bed, session).await;

    // A rule of the configuration is not for the command line to take back.
    let refused = shell.complains(2, &["rules", "revoke", "no-removing"]);
    assert!(refused.contains("no-removing"), "{refused}");
}

/// A no for always turns the suggested rule round.
#[tokio::test]
async fn a_no_for_always_is_a_rule_too() {
    let bed = bed().await;
    let shell = shell(&bed);
    let (call, asked) = parked(&bed, command(&bed, "sort notes/a.txt")).await;
    let previewed = shell.complains(0, &["approvals", "reject", &asked.approval_id, "--always"]);
    assert!(previewed.contains("added the rule") && previewed.contains("deny"), "{previewed}");
    assert_eq!(bed.replay(&call.invocation_id, 1).await.1.status_code(), ResultStatus::Rejected);
    let (_, result) = bed.followed(command(&bed, "sort notes/a.txt")).await;
    assert_eq!(result.status_code(), ResultStatus::Denied, "{:?}", result.error);
    assert_eq!(stored_rules(&shell).len(), 1);
}

fn kinds_of(events: &[v1::Event]) -> Vec<String> {
    events.iter().map(|event| event.event_type.clone()).collect()
}

/// The stored rules in force, as the command line lists them.
fn stored_rules(shell: &Shell) -> Vec<Value> {
    let listed = shell.says(0, &["-o", "json", "rules", "ls"]);
    let rules = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rules.filter(|rule| rule["origin"] == "stored").collect()
}

/// What a person puts in place of the arguments is what runs; what the model said stays as it was.
#[tokio::test]
async fn an_edited_call_runs_as_edited() {
    let bed = bed().await;
    let shell = shell(&bed);
    let (call, asked) = parked(&bed, command(&bed, "echo as-asked > made.txt")).await;
    let edited = r#"{"command":"echo as-edited > made.txt"}"#;
    shell.says(0, &["approvals", "approve", &asked.approval_id, "--input", edited, "--feedback", "like this"]);
    let (_, result) = bed.replay(&call.invocation_id, 1).await;
    assert!(!result.is_error, "{:?}", result.error);
    assert_eq!(std::fs::read_to_string(bed.cluster.workspace().join("made.txt")).unwrap(), "as-edited\n");

    let request = v1::GetInvocationRequest {
        invocation_id: call.invocation_id.clone(),
        include_inputs: true,
        ..Default::default()
    };
    let after = bed.clients.invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    let text = |payload: Option<&v1::JsonPayload>| String::from_utf8(payload_bytes(payload).to_vec()).unwrap();
    assert!(text(after.model_input.as_ref()).contains("as-asked"), "the model's input was rewritten");
    assert!(text(after.call_input.as_ref()).contains("as-edited"));
    let request = v1::ListMutationsRequest { invocation_id: call.invocation_id.clone(), ..Default::default() };
    let changes = bed.clients.invocations().list_mutations(request).await.unwrap().into_inner().mutations;
    let change = changes.iter().find(|change| change.source_type() == v1::MutationSource::PermissionPrompt).unwrap();
    assert_eq!(change.changed_fields, ["/command"]);
    assert_ne!(change.from_input_ref, change.to_input_ref);
    let decided = decisions(&bed, &call.invocation_id).await;
    assert!(decided.iter().any(|decision| decision.user_modified == Some(true)), "{decided:?}");

    // An edit does not get past a deny, even if an approver makes it; the question stays open.
    let (call, asked) = parked(&bed, command(&bed, "echo hello")).await;
    let edited = r#"{"command":"rm made.txt"}"#;
    let refused = shell.complains(2, &["approvals", "approve", &asked.approval_id, "--input", edited]);
    assert!(refused.contains("says deny"), "{refused}");
    shell.says(0, &["approvals", "approve", &asked.approval_id]);
    let (_, result) = bed.replay(&call.invocation_id, 1).await;
    assert!(!result.is_error && crate::hooks::text(&result).contains("hello"), "{result:?}");
    assert!(bed.cluster.workspace().join("made.txt").exists(), "it was removed");
}

/// What a person says to a no reaches the agent.
#[tokio::test]
async fn feedback_reaches_the_result() {
    let bed = bed().await;
    let (call, asked) = parked(&bed, command(&bed, "make deploy")).await;
    shell(&bed).says(0, &["approvals", "reject", &asked.approval_id, "--feedback", "run `make check` first"]);
    let (_, result) = bed.replay(&call.invocation_id, 1).await;
    assert_eq!(result.status_code(), ResultStatus::Rejected, "{:?}", result.error);
    let seen = text(&result);
    assert!(seen.contains("run `make check` first"), "{seen}");
}
