//! Lists of tools, and hearing that they have changed.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::script::{Script, new, old};
use crate::{Failure, Limits, Session, ToolList};

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// Serves these pages, whatever cursor is asked for.
async fn pages(script: &mut Script, pages: Vec<Value>) -> Vec<Value> {
    let mut cursors = Vec::new();
    for page in pages {
        let message = script.next().await;
        assert_eq!(message["method"], "tools/list");
        cursors.push(message["params"]["cursor"].clone());
        script.answer(&message["id"], page).await;
    }
    cursors
}

async fn list(session: &Session, script: &mut Script, said: Vec<Value>) -> (Result<ToolList, Failure>, Vec<Value>) {
    let cancel = CancellationToken::new();
    tokio::join!(session.list_tools(&cancel), pages(script, said))
}

#[tokio::test(start_paused = true)]
async fn a_list_is_read_page_by_page_and_a_bad_tool_spoils_nothing() {
    let (session, mut script) = new(Limits::default()).await;
    let said = vec![
        json!({"tools": [tool("a"), {"name": "bad"}, tool("b")], "nextCursor": "2", "ttlMs": 0}),
        json!({"tools": [tool("a"), tool("c")], "nextCursor": ""}),
        json!({"tools": [7]}),
    ];
    let (list, cursors) = list(&session, &mut script, said).await;
    let list = list.unwrap();
    assert_eq!(cursors, [Value::Null, json!("2"), json!("")]);
    assert_eq!(list.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    let refused: Vec<_> = list.refused.iter().map(|refused| refused.name.as_deref()).collect();
    assert_eq!((refused, list.cut), (vec![Some("bad"), Some("a"), None], false));
}

#[tokio::test(start_paused = true)]
async fn a_list_as_json_keeps_every_schema_as_it_was_written() {
    let schema = r#"{"type": "object", "b":1e2, "a":12345678901234567890123}"#;
    let (session, mut script) = new(Limits::default()).await;
    let annotated = r#"{"readOnlyHint":true,"title":"T"}"#;
    let page = format!(
        r#"{{"tools":[{{"name":"a b","inputSchema":{schema},"outputSchema":{schema},"annotations":{annotated}}},7]}}"#
    );
    let cancel = CancellationToken::new();
    let answered = async {
        let message = script.next().await;
        script.raw(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{page}}}\n", message["id"])).await;
    };
    let list = tokio::join!(session.list_tools(&cancel), answered).0.unwrap();
    let text = serde_json::to_string(&list).unwrap();
    assert!(text.contains(&format!(r#""input_schema":{schema},"output_schema":{schema}"#)), "{text}");
    assert!(text.starts_with(r#"{"server":{"name":"#) && text.contains(r#""era":"stateless""#), "{text}");
    let read: ToolList = serde_json::from_str(&text).unwrap();
    assert_eq!(read, list);
    assert_eq!(read.tools[0].input_schema.text(), schema);
}

#[tokio::test(start_paused = true)]
async fn a_list_without_an_end_is_ended() {
    let long = "x".repeat(5_000);
    for (limits, said, why) in [
        (Limits::default(), vec![json!({"tools": [], "nextCursor": "1"}); 2], "there before"),
        (
            Limits { list_pages: 2, ..Limits::default() },
            vec![json!({"tools": [], "nextCursor": "1"}), json!({"tools": [], "nextCursor": "2"})],
            "2 pages",
        ),
        (Limits { list_tools: 1, ..Limits::default() }, vec![json!({"tools": [tool("a"), tool("b")]})], "1 tools"),
        (
            Limits { list_bytes: 10, ..Limits::default() },
            vec![json!({"tools": [tool("a")], "nextCursor": "1"})],
            "10 bytes",
        ),
        (Limits::default(), vec![json!({"tools": [], "nextCursor": long})], "cursor"),
    ] {
        let (session, mut script) = old(limits).await;
        let list = list(&session, &mut script, said).await.0.unwrap();
        assert!(list.cut && list.notes[0].contains(why), "{why}: {:?}", list.notes);
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_does_not_come_is_an_error() {
    let (session, mut script) = old(Limits::default()).await;
    let (ended, _) = list(&session, &mut script, vec![json!({"prompts": []})]).await;
    assert!(matches!(ended, Err(Failure::Unreadable(_))), "{ended:?}");
    let began = tokio::time::Instant::now();
    let ended = session.list_tools(&CancellationToken::new()).await;
    assert_eq!((ended.unwrap_err(), began.elapsed()), (Failure::TimedOut { sent: true }, Limits::default().list));
}

fn changed() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
}

#[tokio::test(start_paused = true)]
async fn changes_are_heard() {
    let (session, mut script) = old(Limits::default()).await;
    let mut changes = session.changes();
    script.say(changed()).await;
    changes.changed().await.unwrap();
    assert_eq!(*changes.borrow(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_of_2026_is_listened_to_and_listened_to_again() {
    let (session, mut script) = new(Limits::default()).await;
    let mut changes = session.changes();
    for grown in [1, 3] {
        let message = script.next().await;
        assert_eq!(message["method"], "subscriptions/listen");
        assert_eq!(message["params"]["notifications"], json!({"toolsListChanged": true}));
        script.say(json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {}})).await;
        script.say(changed()).await;
        // Between two subscriptions something may have been missed.
        changes.wait_for(|changes| *changes == grown).await.unwrap();
        script.answer(&message["id"], json!({"resultType": "complete"})).await;
    }
    let message = script.next().await;
    script.refuse(&message["id"], -32_601, Value::Null).await;
    // It has nothing to tell, and is not asked again: the next request is another one.
    let cancel = CancellationToken::new();
    let (list, ()) = tokio::join!(session.list_tools(&cancel), async {
        let id = script.expect("tools/list").await;
        script.answer(&id, json!({"tools": []})).await;
    });
    list.unwrap();
}
