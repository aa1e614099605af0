//! Tools that come and go while clients listen.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_testkit::tools::registration;

use super::bed::{Answer, Client, Doors, RULES, declared};
use crate::bed::register;

const CHANGED: &str = "notifications/tools/list_changed";

async fn add(doors: &Doors, tool: &str) {
    let declared = declared(tool, &json!({ "type": "object" }));
    register(doors.cluster.clients(), vec![registration(&declared.to_string()).unwrap()]).await;
}

async fn retire(doors: &Doors, tool: &str) {
    let request = v1::RetireToolRequest { tool_id: format!("tool_conf_{tool}"), reason: "enough".to_owned() };
    doors.cluster.clients().surfaces().retire_tool(request).await.unwrap();
}

/// Waits for the next message, which says that the list has changed.
async fn changed(stream: &mut Answer) -> Value {
    let told = stream.next().await.expect("the stream goes on");
    assert_eq!(told["method"], CHANGED, "{told}");
    told
}

fn names(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("no list: {listed}"));
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// Waits for a tool that takes a while.
async fn between(client: &Client, url: &str, id: i64) {
    let called = client.call(url, id, "conf__slow_compute", json!({ "seconds": 0.4 })).await.last().await;
    assert_eq!(called["result"]["isError"], false, "{called}");
}

#[tokio::test]
async fn a_session_hears_of_each_change_and_sees_it_in_the_list() {
    let doors = Doors::open(RULES, "").await;
    let (_second, second) = doors.another("second", "").await;
    let client = Client::new().begin(&doors.url).await;
    let list = async |url: &str, id: i64| {
        client.post(url, &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" })).await.last().await
    };
    for (url, id) in [(&doors.url, 10), (&second, 20)] {
        let tool = format!("late_{id}");
        let name = format!("conf__{tool}");
        let mut stream = client.get(url).await;
        assert_eq!((stream.status, stream.headers["content-type"].as_bytes()), (200, &b"text/event-stream"[..]));
        // Between two looks at the surface: what the process remembers of the list is younger than the next look.
        between(&client, url, id + 1).await;
        assert!(!names(&list(url, id + 2).await).contains(&name.as_str()));
        add(&doors, &tool).await;
        changed(&mut stream).await;
        assert!(names(&list(url, id + 3).await).contains(&name.as_str()), "the list has what was told");
        between(&client, url, id + 4).await;
        assert!(names(&list(url, id + 5).await).contains(&name.as_str()));
        retire(&doors, &tool).await;
        changed(&mut stream).await;
        assert!(!names(&list(url, id + 6).await).contains(&name.as_str()));
    }
}

#[tokio::test]
async fn a_change_right_after_the_stream_is_there_is_told() {
    let doors = Doors::open(RULES, "").await;
    let (_second, second) = doors.another("second", "").await;
    let client = Client::new().begin(&doors.url).await;
    for (url, tool) in [(&second, "first"), (&doors.url, "other")] {
        let mut stream = client.get(url).await;
        add(&doors, tool).await;
        changed(&mut stream).await;
    }
}

#[tokio::test]
async fn a_subscription_hears_of_each_change() {
    let doors = Doors::open(RULES, "").await;
    let client = Client::new();
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let mut stream = client.ask(&doors.url, "subscriptions/listen", params, json!({})).await;
    let accepted = stream.next().await.unwrap();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged", "{accepted}");
    assert_eq!(accepted["params"]["notifications"]["toolsListChanged"], true);
    add(&doors, "late").await;
    let told = changed(&mut stream).await;
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1, "{told}");
    let listed = client.ask(&doors.url, "tools/list", json!({}), json!({})).await.last().await;
    assert!(names(&listed).contains(&"conf__late"), "{listed}");
    retire(&doors, "late").await;
    changed(&mut stream).await;
}

/// A rule that denies a tool to everybody takes it from the list, and gives it back.
#[tokio::test]
async fn a_client_hears_of_rules_that_take_tools_away() {
    let doors = Doors::open(RULES, "").await;
    add(&doors, "late").await;
    let client = Client::new().begin(&doors.url).await;
    let list = async |id: i64| {
        client.post(&doors.url, &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" })).await.last().await
    };
    let mut stream = client.get(&doors.url).await;
    assert!(names(&list(1).await).contains(&"conf__late"));
    let denial = v1::PermissionRule {
        source: "project_settings".to_owned(),
        behavior: v1::Behavior::Deny.into(),
        matcher: "conf.late".to_owned(),
        ..Default::default()
    };
    let rules = v1::AddRulesRequest { rules: vec![denial], ..Default::default() };
    let mut permissions = doors.cluster.clients().permissions();
    let rule_id = permissions.add_rules(rules).await.unwrap().into_inner().rules.remove(0).rule_id;
    changed(&mut stream).await;
    assert!(!names(&list(2).await).contains(&"conf__late"));
    permissions.revoke_rule(v1::RevokeRuleRequest { rule_id, ..Default::default() }).await.unwrap();
    changed(&mut stream).await;
    assert!(names(&list(3).await).contains(&"conf__late"));
}
