//! Asking what would be decided: the answer is that of a real call, and nothing is left behind.

use serde_json::Value;
use toolplane_proto::v1;
use toolplane_proto::v1::Behavior;

use super::{bed, command, decisions, explain, shell};

#[tokio::test]
async fn an_explanation_names_rules_and_parts_and_leaves_nothing() {
    let bed = bed().await;
    let explained = explain(&bed, command(&bed, "ls notes && rm x")).await;
    let decision = explained.decision.unwrap();
    assert_eq!(decision.behavior(), Behavior::Deny);
    let explanation = explained.explanation.unwrap();
    let decided: Vec<_> = explanation.rules.iter().filter(|rule| rule.decided).collect();
    assert_eq!(decided.iter().map(|rule| rule.rule_id.as_str()).collect::<Vec<_>>(), ["no-removing"]);
    let parts: Vec<_> = explanation.parts.iter().map(|part| (part.text.as_str(), part.behavior())).collect();
    assert_eq!(parts, [("ls notes", Behavior::Allow), ("rm x", Behavior::Deny)]);
    assert!(explanation.policy_digest.contains("sha256:"), "{}", explanation.policy_digest);

    let spec = v1::InvocationSpec { session_ref: "s1".to_owned(), ..command(&bed, "sort notes/a.txt") };
    let asked = explain(&bed, spec).await;
    let question = asked.approval.expect("the question as it would be put");
    assert!(!question.options.is_empty());
    assert!(asked.decision.unwrap().suggested_updates.len() >= 2);

    let listed = bed.clients.permissions().list_approvals(v1::ListApprovalsRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().approvals, Vec::new(), "an explanation asked somebody");
    let calls = bed.clients.invocations().list_invocations(v1::ListInvocationsRequest::default()).await.unwrap();
    assert_eq!(calls.into_inner().invocations, Vec::new(), "an explanation was recorded as a call");

    let invalid = explain(&bed, bed.spec("shell.exec", "{}")).await;
    assert!(invalid.decision.is_none() && invalid.error.is_some(), "{invalid:?}");
}

/// What is explained is what then happens.
#[tokio::test]
async fn calls_end_as_explained() {
    let bed = bed().await;
    for text in ["ls", "rm x", "sort notes/a.txt", "ls | wc -l", "ls | tee x", "echo $HOME", "lsof", "git -C x status"]
    {
        let foretold = explain(&bed, v1::InvocationSpec { no_approver: true, ..command(&bed, text) }).await;
        let foretold = foretold.decision.unwrap();
        let (_, result) = bed.followed(v1::InvocationSpec { no_approver: true, ..command(&bed, text) }).await;
        let real = decisions(&bed, &result.invocation_id).await.remove(0);
        assert_eq!(foretold.behavior(), real.behavior(), "{text}");
        assert_eq!(foretold.reason, real.reason, "{text}");
        assert_eq!(foretold.rule_refs, real.rule_refs, "{text}");
        assert_eq!(foretold.policy_digest, real.policy_digest, "{text}");
    }
}

/// A search is decided by where it looks, not by what it looks for; and every tool that reads files is a reader.
#[tokio::test]
async fn a_search_is_decided_by_its_directory() {
    let bed = bed().await;
    for (tool, input, allowed) in [
        ("files.search_text", r#"{"pattern":"top"}"#, false),
        ("files.search_text", r#"{"pattern":"notes/|top","path":"secrets"}"#, false),
        ("files.search_text", r#"{"pattern":"secrets/k","path":"notes"}"#, true),
        ("text.word_count", r#"{"path":"secrets/k"}"#, false),
        ("text.word_count", r#"{"path":"notes/a.txt"}"#, true),
    ] {
        let decision = explain(&bed, bed.spec(tool, input)).await.decision.unwrap();
        assert_eq!(decision.behavior() == Behavior::Allow, allowed, "{tool} {input}: {:?}", decision.reason);
    }
}

#[tokio::test]
async fn the_command_line_explains() {
    let bed = bed().await;
    let shell = shell(&bed);
    let call = |text: &str| format!(r#"{{"command":"{text}"}}"#);
    let said = shell.says(1, &["rules", "explain", "shell.exec", "-i", &call("ls && rm x")]);
    for word in ["deny", "no-removing", "decided", "ls", "Bash(rm:*)", "nothing is removed"] {
        assert!(said.contains(word), "{word}:\n{said}");
    }
    let said = shell.says(0, &["rules", "explain", "shell.exec", "-i", &call("sort notes/a.txt")]);
    assert!(said.starts_with("ask") && said.contains("from then on") && said.contains("sort"), "{said}");
    let record: Value = shell.json(0, &["rules", "explain", "shell.exec", "-i", &call("ls")]);
    assert_eq!(record["decision"]["behavior"], "allow");
    assert_eq!(record["explanation"]["rules"][0]["rule_id"], "looking");
    let said = shell.says(1, &["rules", "explain", "shell.exec", "-i", "{}"]);
    assert!(said.contains("command"), "{said}");
}
