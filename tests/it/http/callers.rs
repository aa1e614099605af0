//! Who may ask what over HTTP: the same callers, roles and tenants as over gRPC.

use serde_json::json;
use toolplane_runtime::caller::RoleSet;
use toolplane_runtime::server::access;
use toolplane_testkit::{Layout, Processes, tools};

use super::{Http, route, spec};
use crate::bed::{RULES, register};
use crate::roles::callers::{Callers, ROLES, new_key};

/// Every role with every method: let in where its row says so, and never as the peer that the gateway is.
#[tokio::test]
async fn each_role_reaches_its_methods_and_no_others() {
    let callers = Callers::over_http("").await;
    let http = Http::of(&callers.cluster.http().unwrap());
    let (status, answer) = http.ask("list-tools", json!({})).await;
    assert_eq!((status, &answer["error"]["reason"]), (401, &json!("TOKEN_MISSING")));
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(said.contains("`authorization: Bearer") && said.contains("`x-api-key:"), "{said}");
    let unknown = http.with("tpk_x_0").request("list-tools").send().await.unwrap();
    assert_eq!(unknown.status().as_u16(), 401);
    assert!(unknown.headers()["www-authenticate"].to_str().unwrap().starts_with("Bearer "));
    for role in ROLES {
        let key = callers.key(&format!("the-{role}"), "acme", &[role]).await;
        let caller = http.with(&key);
        let held = RoleSet::of(&[role.parse().unwrap()]);
        for (method, _) in access::TABLE {
            let answer = caller.request(&route(method)).body("{}").send().await.unwrap();
            let status = answer.status().as_u16();
            match (access::open_to(method).is_empty(), access::open_to(method).meets(held)) {
                (true, _) => assert_eq!(status, 404, "{role} {method}"),
                (false, true) => assert!(matches!(status, 200 | 400), "{role} {method}: {status}"),
                (false, false) => {
                    assert_eq!(status, 403, "{role} {method}");
                    assert!(answer.text().await.unwrap().contains("ROLE_REQUIRED"), "{role} {method}");
                }
            }
        }
    }
    // What a peer may say in metadata, nobody may say in headers.
    let agent = callers.key("agent", "acme", &["agent"]).await;
    let forged = http.with(&agent).request("list-providers").header("toolplane-roles", "auditor").body("{}");
    assert_eq!(forged.send().await.unwrap().status().as_u16(), 403);
}

#[tokio::test]
async fn tenants_do_not_see_each_other() {
    let callers = Callers::over_http("").await;
    let http = Http::of(&callers.cluster.http().unwrap());
    let keys = [
        callers.key("one", "acme", &["agent", "operator"]).await,
        callers.key("other", "globex", &["agent", "operator", "approver", "auditor"]).await,
    ];
    let [one, other] = [&keys[0], &keys[1]].map(|key| http.with(key));
    register(&callers.with(&keys[0]), tools::examples().unwrap()).await;
    assert!(!one.good("list-tools", json!({})).await["tools"].as_array().unwrap().is_empty());
    assert_eq!(other.good("list-tools", json!({})).await, json!({}));
    let called = one.good("call", spec("native.echo", json!({ "secret": "of acme" }))).await;
    let id = json!({ "invocation_id": called["accepted"]["invocation_id"] });
    for method in ["get-invocation", "get-result", "watch-invocation", "cancel-invocation", "read-payload"] {
        let (status, text) = other.text(method, &id).await;
        assert_eq!(status, 404, "{method}: {text}");
        assert!(!text.contains("of acme"), "{method}: {text}");
    }
    assert_eq!(other.good("list-invocations", json!({})).await, json!({}));
    let named = other.refused("list-approvals", json!({ "tenant": "acme" })).await;
    assert_eq!(named, (403, "FOREIGN_TENANT".to_owned()));
    // A caller may be named by its key in a header of its own.
    let by_key = http.request("get-result").header("x-api-key", &keys[0]).body(id.to_string());
    assert_eq!(by_key.send().await.unwrap().status().as_u16(), 200);
}

/// A gateway that is a process of its own asks as a peer, and for whoever asked it: what that caller may do, and whose things are meant.
#[tokio::test]
async fn a_gateway_of_its_own_passes_on_who_asks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.toml");
    let key = |id: &str, tenant: &str, roles: &[&str]| new_key(&file, id, tenant, roles);
    let [watcher, cluster] = [key("watcher", "ops", &["operator"]), key("cluster", "default", &["peer", "worker"])];
    let [agent, approver] = [key("agent", "acme", &["agent", "operator"]), key("approver", "acme", &["approver"])];
    let token = folder.path().join("peer-key");
    std::fs::write(&token, cluster).unwrap();
    let [keys, token] = [&file, &token].map(|path| format!("{:?}", path.display().to_string()));
    let config = format!("{RULES}\n[server.auth]\napi_key_file = {keys}\n[peers]\ntoken_file = {token}\n");
    let processes = Processes::start(Layout::new(1, 1, config).with_gateways(1).token(watcher)).await.unwrap();
    let http = Http::of(&processes.member("gateway-1").unwrap().endpoint().unwrap());
    let (agent, approver) = (http.with(&agent), http.with(&approver));
    let tools: Vec<_> = tools::examples().unwrap();
    let surfaces = processes.clients().unwrap().with_token(agent.key.as_deref().unwrap()).unwrap();
    register(&surfaces, tools).await;

    let waiting = agent.good("submit-invocation", spec("local.shell.exec", json!({ "command": "true" }))).await;
    let invocation = &waiting["invocation"];
    assert_eq!(
        (&invocation["tenant"], &invocation["status"]),
        (&json!("acme"), &json!("awaiting_approval")),
        "{waiting}"
    );
    assert_eq!(agent.refused("list-approvals", json!({})).await.0, 200, "an operator looks");
    let allow = json!({ "approval_id": invocation["approval_request_ref"], "option": "PERMISSION_OPTION_ALLOW_ONCE" });
    assert_eq!(agent.refused("resolve-approval", allow.clone()).await, (403, "ROLE_REQUIRED".to_owned()));
    assert_eq!(approver.refused("call", spec("native.echo", json!({}))).await, (403, "ROLE_REQUIRED".to_owned()));
    let resolved = approver.good("resolve-approval", allow).await;
    assert_eq!(resolved["approval"]["resolved_by"], "approver@acme", "{resolved}");
    let done = json!({ "invocation_id": invocation["invocation_id"], "timeout_ms": 60_000 });
    assert_eq!(agent.good("wait-invocation", done).await["result"]["status"], "succeeded");
}
