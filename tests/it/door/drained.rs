//! A process of the door that is asked to stop: what can go on elsewhere does so at once, and nothing is lost.

use serde_json::json;

use super::bed::{Client, Doors, RULES, text};
use crate::bed::PATIENCE;

#[tokio::test]
async fn streams_of_a_session_go_on_elsewhere_and_without_one_the_answer_says_how_to_come_back() {
    let doors = Doors::open(RULES, "").await;
    let (mut first, url) = doors.another("first", "").await;
    let client = Client::new().begin(&url).await;
    let listening = client.get(&url).await;
    assert_eq!(listening.status, 200);
    let mut never = client.call(&url, 1, "test_wait", json!({})).await;
    never.until_event().await;
    let mut slow = client.call(&url, 2, "slow_compute", json!({ "seconds": 4, "label": "moved" })).await;
    let at = slow.until_event().await;
    let alone = json!({ "name": "slow_compute", "arguments": { "seconds": 4, "label": "alone" } });
    let alone = Client::new().ask(&url, "tools/call", alone, json!({})).await;
    assert_eq!(alone.headers["content-type"], "text/event-stream", "it takes long");

    let (answer, stopped, ..) = tokio::join!(
        // Nothing else could tell its client which call it is.
        alone.last(),
        first.terminate(PATIENCE),
        // None of these is told that the process stops, as they would be at the bound of the drain: they end before.
        never.ends_unanswered(),
        listening.ends_unanswered(),
        slow.ends_unanswered(),
    );
    assert!(stopped.unwrap().success());
    let said = text(&answer);
    assert!(said.contains("This server is stopping") && said.contains("call `tool_result`"), "{answer}");
    let meta = &answer["result"]["_meta"];
    assert_eq!(meta["toolplane/cut_short"], json!({ "reason": "DRAINING", "retry_after_ms": 1000 }), "{answer}");
    let come_back = json!({
        "name": "tool_result", "arguments": { "invocation_id": meta["toolplane/invocation_id"] },
    });
    let answer = Client::new().ask(&doors.url, "tools/call", come_back, json!({})).await.last().await;
    assert_eq!(text(&answer), "computed alone", "{answer}");
    let resumed = client.header("last-event-id", &at).get(&doors.url).await.last().await;
    assert_eq!((&resumed["id"], text(&resumed).as_str()), (&json!(2), "computed moved"), "{resumed}");
}
