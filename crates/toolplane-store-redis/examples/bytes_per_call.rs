//! How much memory a waiting call takes in Redis:
//! `cargo run --release -p toolplane-store-redis --example bytes_per_call`.
//!
//! Each call is written as acceptance writes it: a record of 1.5 KB of JSON, its input, two events, four index entries.

use std::error::Error;

use bytes::Bytes;
use toolplane_store::{Append, Commit, Expect, Family, IndexOp, RecordKey, Store, Write};
use toolplane_store_redis::{RedisOptions, RedisStore};
use toolplane_testkit::redis::{Fsync, RedisOptions as ServerOptions, RedisServer};

const CALLS: u64 = 50_000;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = RedisServer::start(ServerOptions { fsync: Fsync::No, ..ServerOptions::default() }).await?;
    let store = RedisStore::open(RedisOptions::standalone(server.url())).await?;
    let before = used(&server)?;
    let mut raw = 0;
    for calls in (0..CALLS).collect::<Vec<_>>().chunks(64) {
        let commits: Vec<_> = calls.iter().map(|call| accepted(*call)).collect();
        raw += commits.iter().map(Commit::size).sum::<usize>();
        let writing = commits.into_iter().map(|commit| {
            let store = store.clone();
            tokio::spawn(async move { store.commit(commit).await })
        });
        for written in writing.collect::<Vec<_>>() {
            written.await??;
        }
    }
    // Long enough for the memory of unnamed operations to end, which is not the call's.
    tokio::time::sleep(std::time::Duration::from_secs(20)).await;
    let after = used(&server)?;
    println!("{CALLS} waiting calls of {} bytes each", raw as u64 / CALLS);
    println!("{} bytes of Redis memory each", (after - before) / CALLS);
    for (what, kind) in [("record", "r:i:"), ("input", "r:p:"), ("events", "s:")] {
        let key = format!("{{toolplane}}:{kind}{}", id(7));
        println!("  {what}: {} bytes", server.command(&["MEMORY", "USAGE", &key])?);
    }
    let index = server.command(&["MEMORY", "USAGE", "{toolplane}:x:live", "SAMPLES", "0"])?;
    println!("  each index entry and each id: {} bytes", index.parse::<u64>()? / CALLS);
    Ok(())
}

fn used(server: &RedisServer) -> Result<u64, Box<dyn Error>> {
    let info = server.command(&["INFO", "memory"])?;
    let line = info.lines().find_map(|line| line.strip_prefix("used_memory:"));
    Ok(line.ok_or("the server does not tell its memory")?.trim().parse()?)
}

fn id(call: u64) -> String {
    format!(
        "inv_{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
        noise(call) >> 32,
        call & 0xffff,
        call % 0xfff,
        call % 0xff7,
        noise(call + 1) >> 16
    )
}

// Every id, digest and time differs, as they do in life.
fn noise(seed: u64) -> u64 {
    let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn digest(seed: u64) -> String {
    (0..4).map(|part| format!("{:016x}", noise(seed * 4 + part))).collect()
}

fn accepted(call: u64) -> Commit {
    let id = id(call);
    let put = |family, text: String| Write::Put { key: RecordKey::new(family, id.clone()), bytes: Bytes::from(text) };
    let enter = |name: &str, score| IndexOp::Put { index: name.to_owned(), score, member: id.clone() };
    let input = format!(r#"{{"path":"/srv/data/{:x}/report.md","offset":{call},"limit":200}}"#, noise(call + 5));
    Commit {
        compare: vec![(RecordKey::new(Family::Invocation, id.clone()), Expect::Absent)],
        writes: vec![put(Family::Invocation, record(&id, call)), put(Family::Payload, input)],
        index: vec![
            enter("queue/default/1/acme", call),
            enter("live", call),
            enter("timers/deadline", call),
            enter("invocations/acme", call),
        ],
        events: vec![Append {
            stream: id.clone(),
            first_seq: 1,
            events: vec![event(&id, call, 1, "accepted"), event(&id, call, 2, "queued")],
        }],
        ..Commit::default()
    }
}

fn event(id: &str, call: u64, seq: u64, class: &str) -> Bytes {
    let text = format!(
        r#"{{"seq":{seq},"event":{{"event_class":"ext.invocation.{class}","invocation_id":"{id}","occurred_at":"2026-11-21T14:{:02}:{:02}.{:03}Z","trace_id":"{:016x}{:016x}","status":"queued","queue_state":"queued"}}}}"#,
        call % 60,
        noise(call) % 60,
        noise(call) % 1000,
        noise(call + 2),
        noise(call + 3)
    );
    Bytes::from(text)
}

fn record(id: &str, call: u64) -> String {
    let at = format!("2026-11-21T14:{:02}:{:02}.{:03}Z", call % 60, noise(call) % 60, noise(call) % 1000);
    let payload = |name: &str, seed| {
        format!(
            r#"{{"uri":"payload:{id}","media_type":"application/json","digest":"sha256:{}","size_bytes":61,"name":"{name}"}}"#,
            digest(seed)
        )
    };
    format!(
        r#"{{"schema_version":"0.2.0","invocation_id":"{id}","tenant":"acme","tool_id":"tool:files/read","tool_name":"files.read_file","surface_id":"srf_{:016x}","native_call_id":"call_{:x}","status":"queued","queue_state":"queued","inputs":{{"model":{},"call":{}}},"actor_ref":"agent:{}","runtime_refs":["session:{:x}"],"permission_decision_refs":["dec_{:016x}"],"telemetry_refs":[{{"trace_id":"{:016x}{:016x}","span_id":"{:016x}"}}],"request_digest":"sha256:{}","idempotency_key":"{id}","created_at":"{at}","updated_at":"{at}","status_transitions":[{{"seq":1,"from":null,"to":"submitted","at":"{at}"}},{{"seq":2,"from":"submitted","to":"queued","at":"{at}"}}],"dispatch":{{"pool":"default","timeout_ms":60000,"max_attempts":3,"idempotent":true,"supports_cancel":true,"interrupt_behavior":"cancel","declaration_digest":"sha256:{}"}},"attempt":0,"band":"normal"}}"#,
        noise(call % 50),
        noise(call + 9),
        payload("model", call),
        payload("call", call),
        call % 1000,
        noise(call % 5000),
        noise(call + 4),
        noise(call + 2),
        noise(call + 3),
        noise(call + 6),
        digest(call + 7),
        digest(8)
    )
}
