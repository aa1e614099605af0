//! Who may ask, and what people have to answer.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolplane_proto::v1;

use super::bed::{Client, Doors, RULES, text};

const ASK: &str = r#"
[executor]
slots = 8

[[permission.rules]]
behavior = "ask"
tool = "conf.greet"
reason = "people look at it"
"#;

/// A call that waits for a person goes on by its id once the person has answered; who called may not answer.
#[tokio::test]
async fn a_call_that_waits_for_a_person_is_come_back_to() {
    let folder = tempfile::tempdir().unwrap();
    let (auth, keys) = guarded(folder.path());
    let agent = key(&keys, "agent", &["agent", "approver"]);
    let doors = Doors::with(&format!("{auth}{ASK}"), "", Some(TOKEN)).await;
    let client = Client::new().header("authorization", &format!("Bearer {agent}"));
    let can = json!({ "elicitation": {} });
    let params = || json!({ "name": "conf__greet", "arguments": { "name": "Bob" } });
    let asked = client.ask(&doors.url, "tools/call", params(), can.clone()).await.last().await;
    let (key, question) = asked["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert!(question["params"]["message"].as_str().unwrap().contains("greet"), "{question}");
    let once = question["params"]["requestedSchema"]["properties"]["decision"]["enum"][0].clone();
    let mut back = params();
    back["requestState"] = asked["result"]["requestState"].clone();
    back["inputResponses"] = json!({ (key): { "action": "accept", "content": { "decision": once } } });
    let told = client.ask(&doors.url, "tools/call", back, can).await.last().await;
    assert_eq!(
        (&told["result"]["isError"], &told["result"]["_meta"]["toolplane/status"]),
        (&json!(false), &json!("awaiting_approval"))
    );
    assert!(text(&told).contains("cannot answer for it"), "{told}");

    // Without a way to ask, the answer is there at once, with everything to go on.
    let told = client.ask(&doors.url, "tools/call", params(), json!({})).await.last().await;
    let (invocation, approval) =
        (&told["result"]["_meta"]["toolplane/invocation_id"], &told["result"]["_meta"]["toolplane/approval_ref"]);
    let (invocation, approval) = (invocation.as_str().unwrap(), approval.as_str().unwrap());
    assert!(text(&told).contains(&format!("toolplane approvals approve {approval}")), "{told}");
    let answer = v1::ResolveApprovalRequest {
        approval_id: approval.to_owned(),
        behavior: v1::Behavior::Allow.into(),
        resolved_by: "somebody else".to_owned(),
        ..Default::default()
    };
    doors.cluster.clients().permissions().resolve_approval(answer).await.unwrap();
    let which = json!({ "name": "tool_result", "arguments": { "invocation_id": invocation } });
    let done = client.ask(&doors.url, "tools/call", which, json!({})).await.last().await;
    assert_eq!((text(&done).as_str(), &done["result"]["isError"]), ("Hello, Bob!", &json!(false)));
}

/// The same yes counts where the cluster lets callers answer for their own calls.
#[tokio::test]
async fn a_person_at_the_client_approves_where_that_is_allowed() {
    let doors = Doors::open(&format!("[permission]\nallow_self_approval = true\n{ASK}"), "").await;
    let client = Client::new().begin(&doors.url).await;
    for (id, action, expected) in [(1, "accept", Some("Hello, Bob!")), (2, "decline", None)] {
        let mut asked = client.call(&doors.url, id, "conf__greet", json!({ "name": "Bob" })).await;
        let question = loop {
            let message = asked.next().await.unwrap();
            if message["method"] == "elicitation/create" {
                break message;
            }
        };
        let once = question["params"]["requestedSchema"]["properties"]["decision"]["enum"][0].clone();
        let mut result = json!({ "action": action });
        if action == "accept" {
            result["content"] = json!({ "decision": once });
        }
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
        assert_eq!(client.post(&doors.url, &answer).await.status, 202);
        let done = asked.last().await;
        match expected {
            Some(expected) => assert_eq!(text(&done), expected),
            None => assert_eq!(done["result"]["_meta"]["toolplane/error"]["class"], "approval_rejected", "{done}"),
        }
    }
}

/// A caller is held to its own roles, and what was given to one caller is nothing to another.
#[tokio::test]
async fn callers_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (auth, keys) = guarded(folder.path());
    let (agent, other) = (key(&keys, "agent", &["agent"]), key(&keys, "other", &["agent"]));
    let auditor = key(&keys, "auditor", &["auditor"]);
    let doors = Doors::with(&format!("{auth}{RULES}"), "", Some(TOKEN)).await;
    let of = |key: &str| Client::new().header("authorization", &format!("Bearer {key}"));

    let nobody = Client::new().post(&doors.url, &json!({})).await;
    let challenge = nobody.headers["www-authenticate"].to_str().unwrap().to_owned();
    assert!(nobody.status == 401 && challenge.contains("/.well-known/oauth-protected-resource"), "{challenge}");

    let list = |client: Client| {
        let url = doors.url.clone();
        async move { client.ask(&url, "tools/call", json!({ "name": "conf__greet", "arguments": {} }), json!({})).await }
    };
    let mut refused = list(of(&auditor)).await;
    let challenge = refused.headers["www-authenticate"].to_str().unwrap().to_owned();
    assert!(refused.status == 403 && challenge.contains("insufficient_scope"), "{challenge}");
    let told: Value = refused.next().await.unwrap();
    assert_eq!(told["error"]["data"]["reason"], "ROLE_REQUIRED", "{told}");
    assert_eq!(text(&list(of(&agent)).await.last().await), "Hello, nobody!");

    let session = of(&agent).begin(&doors.url).await;
    assert_eq!(session.call(&doors.url, 1, "conf__greet", json!({})).await.status, 200);
    let id = session.session().unwrap();
    let stolen = of(&other).header("mcp-session-id", &id);
    assert_eq!(stolen.call(&doors.url, 2, "conf__greet", json!({})).await.status, 404);
    assert_eq!(session.delete(&doors.url).await.status, 204);
    assert_eq!(session.call(&doors.url, 3, "conf__greet", json!({})).await.status, 404);
}

pub(crate) const TOKEN: &str = "the-token-of-the-cluster";

/// The settings of a cluster that asks who calls, with the file of its keys.
fn guarded(folder: &Path) -> (String, PathBuf) {
    let (tokens, keys) = (folder.join("tokens"), folder.join("keys.toml"));
    std::fs::write(&tokens, format!("{TOKEN}\n")).unwrap();
    (format!("[server.auth]\ntoken_file = {tokens:?}\napi_key_file = {keys:?}\n"), keys)
}

/// Makes an API key with these roles.
fn key(file: &Path, id: &str, roles: &[&str]) -> String {
    let mut command = std::process::Command::new(toolplane_testkit::binary::toolplane().unwrap());
    command.args(["keys", "new", "--id", id, "--file"]).arg(file);
    for role in roles {
        command.args(["--role", role]);
    }
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let said = String::from_utf8(made.stdout).unwrap();
    said.split_whitespace()
        .find(|word| word.starts_with("tpk_"))
        .unwrap_or_else(|| panic!("no key in {said}"))
        .to_owned()
}
