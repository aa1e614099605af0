//! Streams as events, and large results as bytes.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolplane_testkit::Options;

use super::{Http, bed, spec};
use crate::bed::{Bed, RULES};

/// One event as a client reads it.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) id: Option<String>,
    pub(super) data: Value,
}

/// A stream of events that is open.
pub(super) struct Events {
    response: reqwest::Response,
    text: Vec<u8>,
}

impl Events {
    pub(super) async fn open(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200, "{:?}", response.headers());
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: Vec::new() }
    }

    /// The next event, but for comments; nothing at the end of the stream.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.text.drain(..end + 2).collect();
                match event(std::str::from_utf8(&block).unwrap()) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            self.text.extend_from_slice(&self.response.chunk().await.unwrap()?);
        }
    }

    /// All events up to the last one.
    pub(super) async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn event(block: &str) -> Option<Event> {
    let (mut event, mut data) = (Event { kind: "message".to_owned(), ..Event::default() }, Vec::new());
    for line in block.lines() {
        match line.split_once(": ") {
            Some(("event", kind)) => event.kind = kind.to_owned(),
            Some(("id", id)) => event.id = Some(id.to_owned()),
            Some(("data", line)) => data.push(line),
            _ => {}
        }
    }
    event.data = serde_json::from_str(&data.join("\n")).ok()?;
    Some(event)
}

/// Sequences of all events in these messages.
fn sequences(events: &[Event]) -> Vec<u64> {
    let of = |event: &Event| event.data["events"].as_array().cloned().unwrap_or_default();
    events.iter().flat_map(of).map(|event| event["sequence"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_call_is_followed_and_taken_up_again() {
    let (_bed, http) = bed().await;
    let body = spec("native.echo", json!({ "a": 1 })).to_string();
    let events = Events::open(http.request("invoke").body(body.clone())).await.rest().await;
    assert_eq!(events.last().unwrap().kind, "end");
    let result = &events[events.len() - 2];
    assert_eq!(result.data["result"]["structured_content"], json!({ "a": 1 }));
    let all = sequences(&events);
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    assert_eq!(result.id, Some(all.len().to_string()));

    let id = events[0].data["accepted"]["invocation_id"].clone();
    let watch = |last: &str| {
        http.request("watch-invocation").header("last-event-id", last).body(json!({ "invocation_id": id }).to_string())
    };
    let again = Events::open(watch("3")).await.rest().await;
    assert_eq!(sequences(&again), all[3..], "what was seen is not sent again");
    assert_eq!(again[again.len() - 2].data["result"], result.data["result"]);
    // What would make a call anew is not taken for going on.
    let refused = http.request("invoke").header("last-event-id", "3").body(body).send().await.unwrap();
    assert_eq!(refused.status().as_u16(), 400);
}

#[tokio::test]
async fn a_batch_is_followed_and_taken_up_again() {
    let (_bed, http) = bed().await;
    let call = |number: u32| json!({ "spec": { "tool_name": "native.echo", "model_input": { "n": number } } });
    let body = json!({ "spec": { "calls": [call(0), call(1), call(2)] } });
    let events = Events::open(http.request("invoke-batch").body(body.to_string())).await.rest().await;
    let results = |events: &[Event]| -> Vec<Value> {
        let items = events.iter().flat_map(|event| event.data["items"].as_array().cloned().unwrap_or_default());
        items.map(|item| item["result"]["structured_content"]["n"].clone()).filter(|n| !n.is_null()).collect()
    };
    assert_eq!(results(&events), [json!(0), json!(1), json!(2)]);
    let (last, batch) = (&events[events.len() - 2], &events[0].data["accepted"]["batch_id"]);
    assert_eq!((last.data["batch"]["batch_id"].clone(), events.last().unwrap().kind.as_str()), (batch.clone(), "end"));
    let seen = events
        .iter()
        .find(|event| event.id.as_deref().is_some_and(|id| id.starts_with("1;")))
        .or_else(|| events.iter().rev().find(|event| event.id.is_some()))
        .unwrap();
    let yielded: usize = seen.id.as_deref().unwrap().split(';').next().unwrap().parse().unwrap();
    let watch = http.request("watch-batch").header("last-event-id", seen.id.as_deref().unwrap());
    let again = Events::open(watch.body(json!({ "batch_id": batch }).to_string())).await.rest().await;
    assert_eq!(results(&again), results(&events)[yielded..], "from {seen:?}");
}

/// A question is heard of, answered, and the large result of the call comes back by range.
#[tokio::test]
async fn a_person_answers_and_a_large_result_is_read_by_range() {
    let (_bed, http) = bed().await;
    let mut approvals = Events::open(http.request("watch-approvals").body("{}")).await;
    let submitted =
        http.good("submit-invocation", spec("local.shell.exec", json!({ "command": "seq 1 200000" }))).await;
    let id = submitted["invocation"]["invocation_id"].clone();
    let approval = loop {
        let event = approvals.next().await.unwrap();
        let found = event.data["changes"].as_array().and_then(|changes| changes.first()).cloned();
        if let Some(change) = found {
            assert_eq!(event.id, Some(event.data["revision"].to_string()));
            break change["approval"].clone();
        }
    };
    assert_eq!(approval["invocation_id"], id);
    let answer = json!({ "approval_id": approval["approval_id"], "option": "PERMISSION_OPTION_ALLOW_ONCE" });
    http.good("resolve-approval", answer).await;
    let wait = http.good("wait-invocation", json!({ "invocation_id": id, "timeout_ms": 60_000 })).await;
    assert_eq!(wait["done"], true, "{wait}");

    let whole: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    let read = |range: &'static str| {
        let request = http.request("read-payload").body(json!({ "invocation_id": id }).to_string());
        if range.is_empty() { request } else { request.header("range", range) }
    };
    let answer = read("").send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    assert_eq!(answer.headers()["content-length"], whole.len().to_string());
    assert_eq!(answer.headers()["accept-ranges"], "bytes");
    let etag = answer.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(answer.headers()["x-content-type-options"], "nosniff");
    assert!(answer.text().await.unwrap() == whole, "the exact bytes");
    for (range, from, to) in [
        ("bytes=1000000-1000079", 1_000_000, 1_000_080),
        ("bytes=1288000-", 1_288_000, whole.len()),
        ("bytes=-10", whole.len() - 10, whole.len()),
        ("bytes=1288890-99999999", 1_288_890, whole.len()),
    ] {
        let answer = read(range).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 206, "{range}");
        let said = format!("bytes {from}-{}/{}", to - 1, whole.len());
        assert_eq!(answer.headers()["content-range"], said, "{range}");
        assert_eq!(answer.text().await.unwrap(), whole[from..to], "{range}");
    }
    for range in ["bytes=1288895-", "bytes=9999999-10000000", "bytes=-0"] {
        let answer = read(range).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 416, "{range}");
        assert_eq!(answer.headers()["content-range"], format!("bytes */{}", whole.len()), "{range}");
    }
    // What is no range of bytes, or several, counts as not there.
    for range in ["bytes=9-3", "bytes=a-b", "bytes", "lines=1-2", "bytes=0-1,5-6"] {
        let answer = read(range).send().await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.headers().get("content-range")), (200, None), "{range}");
        assert_eq!(answer.headers()["content-length"], whole.len().to_string(), "{range}");
    }
    let twice = read("bytes=0-1").header("range", "bytes=5-6").send().await.unwrap();
    assert_eq!(twice.status().as_u16(), 200);
    let other = read("bytes=0-9").header("if-range", "\"another\"").send().await.unwrap();
    assert_eq!(other.status().as_u16(), 200, "a part of something else is of no use");
    let same = read("bytes=0-9").header("if-range", &etag).send().await.unwrap();
    assert_eq!(same.status().as_u16(), 206);
    let events = Events::open(read("").header("accept", "text/event-stream")).await.rest().await;
    let total = events[0].data["total_size_bytes"].as_u64();
    assert_eq!((total, events.last().unwrap().kind.as_str()), (Some(whole.len() as u64), "end"));
}

/// A stream that nobody reads any more frees its place; one that goes on while the process stops is told so, and no sooner than it has to.
#[tokio::test]
async fn streams_end_with_their_reader_and_with_the_process() {
    let config = format!("{RULES}\n[scheduler]\nmax_watchers = 1\n[server]\ndrain_timeout_ms = 2000\n");
    let mut bed = Bed::with(Options::new(config).http()).await;
    let http = Http::of(&bed.cluster.http().unwrap());
    let submitted = http.good("submit-invocation", spec("local.shell.exec", json!({ "command": "true" }))).await;
    let body = json!({ "invocation_id": submitted["invocation"]["invocation_id"] }).to_string();
    let watch = || http.request("watch-invocation").body(body.clone());
    let mut first = Events::open(watch()).await;
    assert!(first.next().await.is_some());
    let full = watch().send().await.unwrap();
    assert_eq!(full.status().as_u16(), 429);
    drop((first, full));
    let mut stream = toolplane_wait::eventually("a place for a stream", crate::bed::PATIENCE, async || {
        let response = watch().send().await.unwrap();
        (response.status().as_u16() == 200).then_some(Events { response, text: Vec::new() })
    })
    .await;
    let seen = stream.next().await.unwrap().id.unwrap();
    let reading = tokio::spawn(async move { stream.rest().await });
    let stopped = bed.cluster.stop().await.unwrap();
    assert!(stopped.success(), "{stopped}");
    let rest = reading.await.unwrap();
    let last = rest.last().unwrap();
    assert_eq!((last.kind.as_str(), &last.data["error"]["status"]), ("error", &json!("UNAVAILABLE")), "{rest:?}");

    bed.cluster.start_again().await.unwrap();
    let again = http.request("watch-invocation").header("last-event-id", &seen).body(body);
    let again = Events::open(again).await;
    let reject = json!({ "approval_id": submitted["invocation"]["approval_request_ref"], "option": "PERMISSION_OPTION_REJECT_ONCE" });
    http.good("resolve-approval", reject).await;
    let rest = again.rest().await;
    assert_eq!(
        sequences(&rest)[0].to_string(),
        (seen.parse::<u64>().unwrap() + 1).to_string(),
        "nothing is lost or comes twice"
    );
    assert_eq!(rest[rest.len() - 2].data["result"]["status"], "rejected");
}

/// A document is larger than a message may be, and arrives as it was.
#[tokio::test]
async fn a_document_is_uploaded_as_its_bytes() {
    let (_bed, http) = bed().await;
    let document: Vec<u8> = (0..6_000_000_u32).map(|at| (at % 251) as u8).collect();
    let digest = format!("sha256:{}", hex::encode(Sha256::digest(&document)));
    let answer = http.request("upload-document").header("content-type", "application/yaml").body(document.clone());
    let answer = answer.send().await.unwrap();
    let kept: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    assert_eq!(kept, json!({ "digest": digest, "size_bytes": document.len() }));
    let large = http.request("upload-document").body(vec![b' '; 33 << 20]).send().await.unwrap();
    assert!(large.status().is_client_error(), "{}", large.text().await.unwrap());
}

/// Nothing runs, so nothing is waited for: the bound of the drain is far beyond the patience of a test.
#[tokio::test]
async fn a_process_with_nothing_to_end_stops_at_once() {
    let config = format!("{RULES}\n[server]\ndrain_timeout_ms = 600000\n");
    let mut cluster = toolplane_testkit::Cluster::start(Options::new(config).http()).await.unwrap();
    assert!(cluster.stop().await.unwrap().success());
}
