//! Resource locks: the holder of one is alone with it, in the order of arrival, and no call overtakes.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use tonic::Code;
use toolplane_proto::v1;
use toolplane_testkit::Options;
use toolplane_testkit::tools::TestTool;

use crate::bed::{Bed, register, surface};

const CONFIG: &str = r#"
[executor]
slots = 8

[[permission.rules]]
behavior = "allow"
tool = "locks.*"
reason = "the test's own tools"
"#;

/// Marks its beginning and its end in a file: overlaps can be read from it.
fn marker(name: &str) -> TestTool {
    let script = "echo \"+$1\" >> marks.txt; sleep 0.15; echo \"-$1\" >> marks.txt";
    TestTool {
        name: name.to_owned(),
        schema: json!({ "type": "object", "properties": { "mark": { "type": "string" } }, "required": ["mark"] }),
        argv: ["/bin/sh", "-c", script, "sh", "{mark}"].map(str::to_owned).to_vec(),
        idempotent: true,
        read_only: false,
        timeout_ms: 20_000,
    }
}

/// The same for a tool that does not say it is safe beside others.
fn careful(name: &str) -> v1::ToolRegistration {
    let mut registration = marker(name).registration().unwrap();
    let interface = registration.interface.as_mut().unwrap();
    let known = v1::SafetyFact { fact: Some(v1::safety_fact::Fact::Known(false)) };
    interface.is_concurrency_safe = Some(known);
    registration
}

async fn start() -> Bed {
    let mut bed = Bed::with(Options::new(CONFIG)).await;
    register(&bed.clients, vec![marker("locks.mark").registration().unwrap(), careful("locks.careful")]).await;
    bed.surface_id = surface(&bed.clients).await;
    bed
}

fn lock(key: &str, mode: v1::LockMode) -> v1::ResourceLock {
    v1::ResourceLock { key: key.to_owned(), mode: String::new(), mode_code: mode.into() }
}

fn call(bed: &Bed, tool: &str, mark: &str, locks: Vec<v1::ResourceLock>) -> v1::InvocationSpec {
    v1::InvocationSpec { resource_locks: locks, ..bed.spec(tool, json!({ "mark": mark }).to_string()) }
}

async fn all_succeed(bed: &Bed, ids: &[String]) {
    for id in ids {
        bed.until(id, v1::InvocationStatus::Succeeded).await;
    }
}

/// The marks in order, and the sets that were there at the same time.
fn marks(bed: &Bed) -> (Vec<String>, Vec<BTreeSet<String>>) {
    let text = std::fs::read_to_string(bed.cluster.workspace().join("marks.txt")).unwrap_or_default();
    let (mut now, mut sets) = (BTreeSet::new(), Vec::new());
    for line in text.lines() {
        match line.split_at(1) {
            ("+", mark) => drop(now.insert(mark.to_owned())),
            (_, mark) => drop(now.remove(mark)),
        }
        sets.push(now.clone());
    }
    (text.lines().map(str::to_owned).collect(), sets)
}

#[tokio::test]
async fn exclusive_locks_exclude_in_order_and_readers_do_not_overtake_a_writer() {
    use v1::LockMode::{Exclusive, Shared};
    let bed = start().await;
    // Two readers run together; the writer waits for them; the readers after it wait for the writer; other keys do not care.
    let plan = [
        ("r1", "db", Shared),
        ("r2", "db", Shared),
        ("w1", "db", Exclusive),
        ("r3", "db", Shared),
        ("r4", "db", Shared),
        ("other", "log", Exclusive),
    ];
    let mut ids = Vec::new();
    for (mark, key, mode) in plan {
        ids.push(bed.submit(call(&bed, "locks.mark", mark, vec![lock(key, mode)])).await.invocation_id);
    }
    all_succeed(&bed, &ids).await;
    let (order, sets) = marks(&bed);
    let place = |mark: &str| order.iter().position(|line| line == mark).unwrap();
    assert!(place("-r1") < place("+w1") && place("-r2") < place("+w1"), "{order:?}");
    assert!(place("-w1") < place("+r3") && place("-w1") < place("+r4"), "a reader overtook: {order:?}");
    for set in &sets {
        let exclusive = set.contains("w1") && set.iter().any(|mark| mark.starts_with('r'));
        assert!(!exclusive, "{set:?} at the same time: {order:?}");
    }

    let writer = bed.until(&ids[2], v1::InvocationStatus::Succeeded).await;
    let reader = bed.until(&ids[3], v1::InvocationStatus::Succeeded).await;
    assert_eq!(writer.lock_domain.as_deref(), Some("tenant"));
    assert!(writer.lock_fence < reader.lock_fence, "whoever gets a lock later has the larger fence");
    let events = bed.replay(&ids[2], 1).await.0;
    let kinds = crate::bed::kinds(&events);
    let place =
        |kind: &str| kinds.iter().position(|seen| *seen == kind).unwrap_or_else(|| panic!("{kind} in {kinds:?}"));
    assert!(place("ext.invocation.held") < place("ext.invocation.lock_granted"));
    assert!(place("ext.invocation.lock_granted") < place("tool.invocation.started"));
}

#[tokio::test]
async fn calls_that_are_not_safe_beside_others_take_turns_within_their_session_only() {
    let bed = start().await;
    let mut ids = Vec::new();
    for number in 0..4 {
        for session in ["one", "two"] {
            let spec = v1::InvocationSpec {
                session_ref: session.to_owned(),
                ..call(&bed, "locks.careful", &format!("{session}{number}"), Vec::new())
            };
            ids.push(bed.submit(spec).await.invocation_id);
        }
    }
    all_succeed(&bed, &ids).await;
    let (order, sets) = marks(&bed);
    for session in ["one", "two"] {
        let most = sets.iter().map(|set| set.iter().filter(|mark| mark.starts_with(session)).count()).max();
        assert_eq!(most, Some(1), "{order:?}");
        let begun: Vec<&String> = order.iter().filter(|line| line.starts_with(&format!("+{session}"))).collect();
        assert_eq!(begun, [0, 1, 2, 3].map(|n| format!("+{session}{n}")).iter().collect::<Vec<_>>(), "in their order");
    }
    assert!(sets.iter().any(|set| set.len() > 1), "two sessions do not wait for each other: {order:?}");
    let request = v1::ListInvocationsRequest { session_ref: "one".to_owned(), ..Default::default() };
    let listed = bed.clients.invocations().list_invocations(request).await.unwrap().into_inner().invocations;
    assert_eq!(listed.len(), 4);
    assert!(listed.iter().all(|call| call.lock_domain.as_deref() == Some("session:one")));
}

/// What the standard means by alone with the context: safe calls run beside each other, and beside no other.
#[tokio::test]
async fn a_call_that_is_not_safe_beside_others_runs_beside_no_safe_one_either() {
    let bed = start().await;
    let tools = ["locks.mark", "locks.mark", "locks.careful", "locks.mark", "locks.mark"];
    let specs = |place: &str| {
        let call = |(number, tool): (usize, &&str)| call(&bed, tool, &format!("{place}:{number}:{tool}"), Vec::new());
        tools.iter().enumerate().map(call).collect::<Vec<_>>()
    };
    let mut ids = Vec::new();
    for spec in specs("session") {
        let spec = v1::InvocationSpec { session_ref: "one".to_owned(), ..spec };
        ids.push(bed.submit(spec).await.invocation_id);
    }
    let calls = specs("batch").into_iter().map(|spec| v1::BatchCall { spec: Some(spec), ..Default::default() });
    let request = v1::SubmitBatchRequest { spec: Some(v1::BatchSpec { calls: calls.collect(), ..Default::default() }) };
    let batch = bed.clients.invocations().submit_batch(request).await.unwrap().into_inner();
    ids.extend(batch.invocations.iter().map(|call| call.invocation_id.clone()));
    all_succeed(&bed, &ids).await;
    let (order, sets) = marks(&bed);
    for place in ["session", "batch"] {
        let here: Vec<Vec<&String>> =
            sets.iter().map(|set| set.iter().filter(|mark| mark.starts_with(place)).collect()).collect();
        let alone = |set: &Vec<&String>| set.len() == 1 || set.iter().all(|mark| mark.ends_with("locks.mark"));
        assert!(here.iter().all(alone), "somebody was beside the careful one of the {place}: {order:?}");
        assert!(here.iter().any(|set| set.len() == 2), "safe ones of the {place} run together: {order:?}");
    }
}

#[tokio::test]
async fn a_killed_cluster_keeps_the_turns() {
    let config = format!("{CONFIG}\n[scheduler]\nlease_ms = 3000\nheartbeat_ms = 500\ntick_ms = 100\n");
    let mut bed = Bed::with(Options::new(config)).await;
    register(&bed.clients, vec![marker("locks.mark").registration().unwrap()]).await;
    bed.surface_id = surface(&bed.clients).await;
    let mut ids = Vec::new();
    for number in 0..8 {
        let spec = call(&bed, "locks.mark", &number.to_string(), vec![lock("db", v1::LockMode::Exclusive)]);
        ids.push(bed.submit(spec).await.invocation_id);
    }
    // A call whose worker dies a third time is given up, so there are two kills.
    for _ in 0..2 {
        toolplane_wait::pause(Duration::from_millis(400), "the process is killed somewhere in its work").await;
        bed.cluster.kill();
        bed.cluster.start_again().await.unwrap();
    }
    all_succeed(&bed, &ids).await;
    // A killed call leaves a beginning without an end, and begins again: but never beside another's.
    let (order, _) = marks(&bed);
    let mut open: Option<&str> = None;
    for line in &order {
        match line.split_at(1) {
            ("+", mark) => {
                assert!(open.is_none_or(|open| open == mark), "`{mark}` began beside {open:?}: {order:?}");
                open = Some(mark);
            }
            (_, mark) => {
                assert_eq!(open, Some(mark), "{order:?}");
                open = None;
            }
        }
    }
    // An execution that ended right before a kill is repeated: its report was lost.
    let mut ended: Vec<&str> = order.iter().filter_map(|line| line.strip_prefix('-')).collect();
    ended.dedup();
    assert_eq!(ended, ["0", "1", "2", "3", "4", "5", "6", "7"]);
}

#[tokio::test]
async fn wrong_locks_are_named() {
    let bed = start().await;
    let many = (0..17).map(|n| lock(&n.to_string(), v1::LockMode::Shared)).collect();
    for (locks, field) in
        [(many, "spec.resource_locks"), (vec![lock("", v1::LockMode::Shared)], "spec.resource_locks[0].key")]
    {
        let request = v1::SubmitInvocationRequest { spec: Some(call(&bed, "locks.mark", "x", locks)) };
        let refused = bed.clients.invocations().submit_invocation(request).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument);
        assert!(refused.message().contains(field), "{refused:?}");
    }
}
