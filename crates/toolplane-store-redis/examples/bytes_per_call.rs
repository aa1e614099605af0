//! How much memory a waiting call takes in Redis:
//! `cargo run --release -p toolplane-store-redis --example bytes_per_call`.
//!
//! Each call is written as acceptance writes it: a record of 1.7 KB of JSON, its decision, its input, three events, and
//! four index entries.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

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
    for (what, key) in [
        ("record", format!("r:i:{}", id(7))),
        ("input", format!("r:p:{}/call", id(7))),
        ("events", format!("s:{}", id(7))),
    ] {
        let key = format!("{{toolplane}}:{key}");
        println!("  {what}: {} bytes", server.command(&["MEMORY", "USAGE", &key])?);
    }
    let index = server.command(&["MEMORY", "USAGE", "{toolplane}:x:invocations/acme", "SAMPLES", "0"])?;
    println!("  each index entry: {} bytes", index.parse::<u64>()? / CALLS);
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
    let put = |family, id: &str, text: String| Write::Put { key: RecordKey::new(family, id), bytes: Bytes::from(text) };
    let enter = |name: &str, score| IndexOp::Put { index: name.to_owned(), score, member: id.clone() };
    let input = format!(r#"{{"path":"/srv/data/{:x}/report.md","offset":{call},"limit":200}}"#, noise(call + 5));
    let decision = format!("dec_{:016x}{:016x}", noise(call + 6), noise(call + 7));
    Commit {
        compare: vec![(RecordKey::new(Family::Invocation, id.clone()), Expect::Absent)],
        writes: vec![
            put(Family::Invocation, &id, record(&id, &decision, call)),
            put(Family::Decision, &decision, decided(&id, &decision, call)),
            put(Family::Payload, &format!("{id}/call"), input),
        ],
        index: ["queue/default/1/acme", "invocations/acme", "timers/deadline", "waiting/acme"]
            .map(|name| enter(name, call))
            .into(),
        events: vec![Append {
            stream: id.clone(),
            first_seq: 1,
            events: ["planned", "permission_decided", "queued"]
                .iter()
                .zip(1..)
                .map(|(class, seq)| event(call, seq, class))
                .collect(),
        }],
        ..Commit::default()
    }
}

fn at(call: u64) -> String {
    format!("2026-11-21T14:{:02}:{:02}.{:03}Z", call % 60, noise(call) % 60, noise(call) % 1000)
}

fn event(call: u64, seq: u64, class: &str) -> Bytes {
    Bytes::from(format!(
        r#"{{"seq":{seq},"class":"tool.invocation.{class}","at":"{}","data":{{"attempt":0}}}}"#,
        at(call)
    ))
}

fn decided(id: &str, decision: &str, call: u64) -> String {
    format!(
        r#"{{"schema_version":"0.2.0","decision_id":"{decision}","invocation_id":"{id}","behavior":"allow","mode":"default","source":"project_settings","reason":{{"type":"rule","rule_ref":"rule-7"}},"rule_refs":["rule-7"],"policy_refs":["policy:files"],"decided_at":"{}","policy_digest":"sha256:{}"}}"#,
        at(call),
        digest(9)
    )
}

// Its fields are those of an idempotent call that was allowed by a rule.
fn record(id: &str, decision: &str, call: u64) -> String {
    let payload = |name: &str, seed| {
        let digest = digest(seed);
        format!(
            r#"{{"uri":"payload:{id}/{name}","media_type":"application/json","digest":"sha256:{digest}","size_bytes":61}}"#
        )
    };
    let (at, call_input) = (at(call), payload("call", call));
    let session = noise(call % 5000);
    format!(
        r#"{{"schema_version":"0.2.0","invocation_id":"{id}","tenant":"acme","tool_id":"tool:files/read","tool_name":"files.read_file","surface_id":"srf_{:016x}","native_call_id":"call_{:x}","status":"queued","queue_state":"queued","inputs":{{"call":{call_input}}},"actor_ref":"agent:{}","runtime_refs":["session:{session:x}"],"permission_decision_refs":["{decision}"],"telemetry_refs":[{{"trace_id":"{:016x}{:016x}","span_id":"{:016x}"}}],"status_transitions":[{{"seq":1,"to":"planned","at":"{at}","cause":"accepted","attempt":0}},{{"seq":3,"from":"planned","to":"queued","at":"{at}","cause":"allowed","attempt":0}}],"created_at":"{at}","safety":{{"is_read_only":true,"is_concurrency_safe":true,"is_destructive":false,"is_open_world":false,"is_idempotent":true,"requires_exclusive_context":false}},"dispatch":{{"pool":"default","plan_digest":"sha256:{}","timeout_ms":60000,"supports_cancel":true,"interrupt_behavior":"cancel","max_attempts":3,"start_guard":"store","retry_on_timeout":false,"context_modifier_policy":"forbid"}},"idempotency_key":"{id}","request_digest":"sha256:{}","deadline_at":"{at}","session_ref":"session:{session:x}","band":"normal","last_seq":3}}"#,
        noise(call % 50),
        noise(call + 9),
        call % 1000,
        noise(call + 2),
        noise(call + 3),
        noise(call + 4),
        digest(8),
        digest(call + 7)
    )
}
