//! What clients get wrong, and what they are told: by which rule, and what to do.

use serde_json::{Value, json};

use super::bed::{Client, Doors, RULES, text};

#[tokio::test]
async fn what_is_no_message_is_refused_by_its_rule() {
    let doors = Doors::open(RULES, "").await;
    let client = Client::new().begin(&doors.url).await;
    for (message, id, said) in [
        (json!([{ "jsonrpc": "2.0", "id": 1, "method": "ping" }]), json!(null), "send each message alone"),
        (json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }), json!(1), "`jsonrpc` must be \"2.0\""),
        (json!({ "id": 1, "method": "ping" }), json!(1), "`jsonrpc` must be \"2.0\""),
        (json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }), json!(null), "`id` must be a text or a number"),
    ] {
        let refused = client.post(&doors.url, &message).await;
        assert_eq!(refused.status, 400, "{message}");
        let refused = refused.last().await;
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(-32_600), &id), "{message}: {refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(said), "{message}: {refused}");
    }
    let coded = client.clone().header("content-encoding", "gzip");
    let coded = coded.post(&doors.url, &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await;
    assert_eq!((coded.status, coded.headers["accept-encoding"].as_bytes()), (415, &b"identity"[..]));
}

#[tokio::test]
async fn a_wrong_address_of_a_resource_is_told_by_its_field() {
    let doors = Doors::open(RULES, "").await;
    let client = Client::new().begin(&doors.url).await;
    let large = client.call(&doors.url, 1, "conf__test_large", json!({})).await.last().await;
    let contents = large["result"]["content"].as_array().unwrap();
    let link = contents.iter().find_map(|content| content["uri"].as_str()).unwrap_or_else(|| panic!("{large}"));
    let read = async |uri: String| {
        let request = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": { "uri": uri } });
        client.post(&doors.url, &request).await.last().await
    };
    let good = read(format!("{link}?offset=5&limit=2")).await;
    assert_eq!(good["result"]["contents"][0]["text"], "of", "{good}");
    for (query, said) in [
        ("offset=x", "`offset` must be a number"),
        ("limit=0", "`limit` must be a number"),
        ("from=1", "`from` is no field"),
        ("offset=99999999", "`offset` must be at most the payload's size of 460000 bytes"),
    ] {
        let refused = read(format!("{link}?{query}")).await;
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(refused["error"]["code"] == -32_602 && message.contains(said), "{query}: {refused}");
    }
    let missing = read(link.replace("/payloads/", "/payloads/x")).await;
    assert_eq!(missing["error"]["message"], "there is no such resource", "{missing}");
}

#[tokio::test]
async fn a_failed_call_speaks_of_this_door_and_says_nothing_twice() {
    let doors = Doors::open(RULES, "").await;
    let client = Client::new().begin(&doors.url).await;
    let failed = client.call(&doors.url, 1, "conf__test_elicitation", json!({ "message": 5 })).await.last().await;
    let said = text(&failed);
    assert_eq!(said.matches("input.schema_violation").count(), 1, "{said}");
    assert!(said.contains("`/message` must be of type") && said.contains("the list of tools has the input"), "{said}");
    let missing: Value = client.call(&doors.url, 2, "conf__nothing", json!({})).await.last().await;
    let said = missing["error"]["message"].as_str().unwrap();
    assert!(!said.contains("tool_") && !said.contains("SearchTools"), "the list has every tool: {said}");
}

#[tokio::test]
async fn a_door_that_does_not_list_every_tool_names_those_that_find_them() {
    let doors = Doors::open(RULES, "list_at_most = 1").await;
    let client = Client::new().begin(&doors.url).await;
    let failed = client.call(&doors.url, 1, "conf__test_elicitation", json!({ "message": 5 })).await.last().await;
    let said = text(&failed);
    assert!(said.contains("`tool_load` shows"), "{said}");
    let missing: Value = client.call(&doors.url, 2, "conf__nothing", json!({})).await.last().await;
    let said = missing["error"]["message"].as_str().unwrap();
    assert!(said.contains("`tool_search` finds tools") && !said.contains("SearchTools"), "{said}");
}
