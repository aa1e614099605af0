//! Providers on a cluster that asks who calls.

use tonic::Code;
use toolplane_proto::v1;

use super::callers::Callers;
use crate::shell::Shell;

/// A server with one tool, short enough for a command line.
const SERVER: &str = r#"
import json, sys
def result(message):
    if message["method"] == "initialize":
        return {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "small", "version": "1"}}
    return {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") in ("initialize", "tools/list"):
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result(message)}), flush=True)
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"#;

/// What a provider says it has reaches an agent as tools that somebody has approved, and in no other way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_a_provider_was_asked_is_not_for_agents() {
    let callers = Callers::start("").await;
    let operator = callers.key("op", "acme", &["operator"]).await;
    let agent = callers.with(&callers.key("ag", "acme", &["agent"]).await);
    let shell = Shell::at(callers.cluster.endpoint());
    let add = ["--token", &operator, "providers", "add", "small", "--stdio", "--", "/usr/bin/python3", "-c", SERVER];
    let said = shell.says(0, &add);
    assert!(said.contains("provider:small/echo  new"), "{said}");

    let operator = callers.with(&operator);
    let request = v1::ListInvocationsRequest::default();
    let listed = operator.invocations().list_invocations(request).await.unwrap().into_inner().invocations;
    let asked = listed.iter().find(|call| call.tool_id == "provider:small/:list").expect("the question is a call");
    let request = v1::GetInvocationRequest { invocation_id: asked.invocation_id.clone(), ..Default::default() };
    operator.invocations().get_invocation(request.clone()).await.unwrap();
    let refused = agent.invocations().get_invocation(request).await.unwrap_err();
    assert_eq!(refused.code(), Code::NotFound);
    let wait =
        v1::WaitInvocationRequest { invocation_id: asked.invocation_id.clone(), timeout_ms: 0, ..Default::default() };
    assert_eq!(agent.invocations().wait_invocation(wait).await.unwrap_err().code(), Code::NotFound);
}
