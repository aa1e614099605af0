//! A store of several shards: what calls share is one, wherever it lies, and shards move and go while calls are made.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, is_away};
use toolplane_testkit::layout::Store;
use toolplane_testkit::redis::{RedisCluster, RedisOptions, RedisServer};
use toolplane_testkit::tools::TestTool;
use toolplane_testkit::{ClusterRole, Layout};

use super::{CONFIG, Load, Many, follow, submit};
use crate::bed::{PATIENCE, register};

/// Two of a tool at a time, over all shards.
const BOUND: &str = r#"
[[scheduler.tools]]
tool = "shard.two"
max_running = 2
"#;

/// A cluster whose three shards lie on these servers in turn.
fn spread(servers: &[&RedisServer]) -> Layout {
    let urls: Vec<String> = servers[1..].iter().map(|server| format!("\"{}\"", server.url())).collect();
    Layout::new(2, 2, format!("{CONFIG}{BOUND}"))
        .on(Store::RedisAt(servers[0].url()))
        .env("TOOLPLANE__STORE__REDIS__SHARDS", "3")
        .env("TOOLPLANE__STORE__REDIS__URLS", format!("[{}]", urls.join(",")))
}

/// Marks the beginning and the end of a call in a file.
fn marker(name: &str, idempotent: bool) -> TestTool {
    let script = "echo \"+$2\" >> \"$1.marks\"; sleep 0.1; echo \"-$2\" >> \"$1.marks\"";
    TestTool {
        name: name.to_owned(),
        schema: json!({
            "type": "object", "properties": { "file": { "type": "string" }, "mark": { "type": "string" } },
            "required": ["file", "mark"],
        }),
        argv: ["/bin/sh", "-c", script, "sh", "{file}", "{mark}"].map(str::to_owned).to_vec(),
        idempotent,
        read_only: false,
        timeout_ms: 20_000,
    }
}

/// A cluster with the tools of these tests in its surface.
async fn start(layout: Layout) -> Many {
    let mut many = Many::start(layout).await;
    let clients = many.processes.clients().unwrap().clone();
    let mut tools =
        vec![marker("shard.two", true).registration().unwrap(), marker("shard.once", false).registration().unwrap()];
    // One that does not say it is safe beside others is alone with its session.
    let mut careful = marker("shard.careful", true).registration().unwrap();
    let known = v1::SafetyFact { fact: Some(v1::safety_fact::Fact::Known(false)) };
    careful.interface.as_mut().unwrap().is_concurrency_safe = Some(known);
    tools.push(careful);
    register(&clients, tools).await;
    many.surface_id = crate::bed::surface(&clients).await;
    many
}

/// The marks of a file in their order, and how many calls were at work at the same time.
fn marks(many: &Many, file: &str) -> (Vec<String>, usize) {
    let text = std::fs::read_to_string(many.processes.workspace().join(format!("{file}.marks"))).unwrap_or_default();
    let (mut now, mut most) = (BTreeSet::new(), 0);
    for line in text.lines() {
        match line.split_at(1) {
            ("+", mark) => assert!(now.insert(mark.to_owned()), "{mark} began twice at once"),
            (_, mark) => assert!(now.remove(mark), "{mark} ended without a beginning"),
        }
        most = most.max(now.len());
    }
    (text.lines().filter_map(|line| line.strip_prefix('+').map(str::to_owned)).collect(), most)
}

fn call(many: &Many, tool: &str, file: &str, mark: &str) -> v1::InvocationSpec {
    many.spec(tool, &json!({ "file": file, "mark": mark }))
}

async fn succeeds(clients: &Clients, id: &str) {
    let result = follow(clients, id, &mut Vec::new()).await.unwrap();
    assert!(!result.is_error, "{id}: {:?}", result.error);
}

/// How many calls each shard holds.
fn calls_by_shard(servers: &[&RedisServer]) -> BTreeMap<usize, usize> {
    let count = |number: usize| {
        let name = if number == 0 { "{toolplane}".to_owned() } else { format!("{{toolplane/{number}}}") };
        let held =
            servers[number % servers.len()].command(&["ZCARD", &format!("{name}:x:invocations/default")]).unwrap();
        (number, held.parse().unwrap())
    };
    (0..3).map(count).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_batches_and_bounds_are_one_over_three_shards_on_two_servers() {
    let (first, second) = (
        RedisServer::start(RedisOptions::default()).await.unwrap(),
        RedisServer::start(RedisOptions::default()).await.unwrap(),
    );
    let servers = [&first, &second];
    let many = start(spread(&servers)).await;
    let ways = [many.by("scheduler-1"), many.by("scheduler-2")];

    // Six sessions, whose calls are alone in theirs, in the order they came; their own ids lie with them.
    let mut ids = Vec::new();
    for number in 0..5 {
        for session in 0..6 {
            let spec = v1::InvocationSpec {
                session_ref: format!("s{session}"),
                idempotency_key: format!("key-{session}-{number}"),
                ..call(&many, "shard.careful", &format!("s{session}"), &number.to_string())
            };
            ids.push((submit(&ways[(number + session) % 2], spec.clone()).await, spec));
        }
    }
    // Calls of a tool that may run twice at a time, whichever scheduler and shard they come to.
    let mut bounded = Vec::new();
    for number in 0..24 {
        bounded.push(submit(&ways[number % 2], call(&many, "shard.two", "two", &number.to_string())).await);
    }
    for (at, (id, spec)) in ids.iter().enumerate() {
        succeeds(&ways[at % 2], id).await;
        // The same key in the same session is the same call, whoever is asked.
        assert_eq!(submit(&ways[(at + 1) % 2], spec.clone()).await, *id);
    }
    for (at, id) in bounded.iter().enumerate() {
        succeeds(&ways[at % 2], id).await;
    }
    for session in 0..6 {
        assert_eq!(marks(&many, &format!("s{session}")), (["0", "1", "2", "3", "4"].map(str::to_owned).to_vec(), 1));
    }
    let (done, most) = marks(&many, "two");
    assert_eq!((done.len(), most), (24, 2), "never more than two, and no place stays empty");

    batches(&many, &ways).await;
    own_ids(&many, &ways).await;
    let held = calls_by_shard(&servers);
    assert!(held.values().all(|count| *count > 0), "every shard has its part: {held:?}");
    let listed = v1::ListInvocationsRequest { page_size: 200, ..Default::default() };
    let listed = ways[1].invocations().list_invocations(listed).await.unwrap().into_inner().invocations;
    assert_eq!(listed.len(), held.values().sum::<usize>());
    let key = v1::ListInvocationsRequest { idempotency_key: "key-3-2".to_owned(), ..Default::default() };
    let found = ways[0].invocations().list_invocations(key).await.unwrap().into_inner().invocations;
    assert_eq!(found.len(), 1);
}

/// Batches with dependencies, some of them in sessions, each with an id of the cluster.
async fn batches(many: &Many, ways: &[Clients]) {
    for number in 0..6 {
        let calls = (0..5).map(|at| v1::BatchCall {
            spec: Some(many.spec("native.echo", &json!({ "text": format!("{number}/{at}") }))),
            depends_on: if at == 4 { vec![0, 1, 2, 3] } else { vec![] },
            ..Default::default()
        });
        let spec = v1::BatchSpec {
            calls: calls.collect(),
            session_ref: if number % 2 == 0 { format!("s{number}") } else { String::new() },
            idempotency_key: format!("batch-{number}"),
            ..Default::default()
        };
        let mut batch_ids = BTreeSet::new();
        for way in ways {
            let request = v1::InvokeBatchRequest { spec: Some(spec.clone()), form: None };
            let mut stream = way.invocations().invoke_batch(request).await.unwrap().into_inner();
            let mut results = 0;
            while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
                batch_ids.extend(message.accepted.map(|accepted| accepted.batch_id));
                results += message.items.iter().filter(|item| item.result.is_some()).count();
            }
            assert_eq!(results, 5, "batch {number}");
        }
        assert_eq!(batch_ids.len(), 1, "asked twice, made once");
    }
}

/// An id that a caller chose is the call's where it lies with its session and key. Elsewhere the call has another id, which the acceptance
/// says, and is found by both; clients that give an id and a key, as ours do, notice nothing.
async fn own_ids(many: &Many, ways: &[Clients]) {
    let (mut taken, mut others) = (0, BTreeSet::new());
    for number in 0..24 {
        let own = format!("mine-{number}");
        let spec = v1::InvocationSpec {
            invocation_id: own.clone(),
            idempotency_key: if number % 3 == 0 { format!("own-key-{number}") } else { String::new() },
            session_ref: if number % 2 == 0 { "s1".to_owned() } else { String::new() },
            ..many.spec("native.echo", &json!({ "text": "a" }))
        };
        let id = submit(&ways[number % 2], spec.clone()).await;
        succeeds(&ways[(number + 1) % 2], &id).await;
        assert_eq!(submit(&ways[(number + 1) % 2], spec.clone()).await, id, "the same request, the same call");
        if id == own {
            taken += 1;
        } else {
            assert!(others.insert(id.clone()));
        }
        if id == own || spec.idempotency_key.is_empty() {
            let request = v1::GetInvocationRequest { invocation_id: own, ..Default::default() };
            let found = ways[0].invocations().get_invocation(request).await.unwrap().into_inner().invocation;
            assert_eq!(found.unwrap().invocation_id, id);
        }
    }
    assert!(taken > 0 && !others.is_empty(), "{taken} of 24 keep their ids, {others:?} do not");
    let alone =
        v1::InvocationSpec { invocation_id: "alone".to_owned(), ..many.spec("native.echo", &json!({ "text": "a" })) };
    assert_eq!(submit(&ways[0], alone).await, "alone");
    own_ids_of_batches(many, ways).await;
}

/// The same of batches and their calls.
async fn own_ids_of_batches(many: &Many, ways: &[Clients]) {
    let mut others = 0;
    for number in 0..8 {
        let own = format!("my-batch-{number}");
        let call = |at: u32| v1::BatchCall {
            spec: Some(v1::InvocationSpec {
                invocation_id: format!("{own}-{at}"),
                ..many.spec("native.echo", &json!({ "text": "a" }))
            }),
            ..Default::default()
        };
        let spec = v1::BatchSpec {
            batch_id: own.clone(),
            session_ref: "s2".to_owned(),
            idempotency_key: if number % 2 == 0 { format!("{own}-key") } else { String::new() },
            calls: (0..3).map(call).collect(),
            ..Default::default()
        };
        let request = v1::InvokeBatchRequest { spec: Some(spec), form: None };
        let mut stream = ways[number % 2].invocations().invoke_batch(request).await.unwrap().into_inner();
        let (mut id, mut results) = (String::new(), 0);
        while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
            id = message.accepted.map_or(id, |accepted| accepted.batch_id);
            results += message.items.iter().filter(|item| item.result.is_some()).count();
        }
        assert_eq!(results, 3);
        others += usize::from(id != own);
        let named = if number % 2 == 0 { &id } else { &own };
        let request = v1::GetBatchRequest { batch_id: named.clone(), ..Default::default() };
        let found = ways[0].invocations().get_batch(request).await.unwrap().into_inner().batch.unwrap();
        assert_eq!(found.batch_id, id);
        let request = v1::GetInvocationRequest { invocation_id: format!("{own}-1"), ..Default::default() };
        let member = ways[1].invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
        assert_eq!(member.batch.unwrap().batch_id, id);
    }
    assert!(others > 0 && others < 8, "{others} of 8 have another id");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_go_on_after_every_scheduler_and_a_server_of_shards_was_killed() {
    let (first, mut second) = (
        RedisServer::start(RedisOptions::default()).await.unwrap(),
        RedisServer::start(RedisOptions::default()).await.unwrap(),
    );
    let mut many = start(spread(&[&first, &second])).await;
    let ways = vec![many.by("scheduler-1"), many.by("scheduler-2")];
    let load = Load::start(6, ways, &many.surface_id);
    load.until_done(40).await;
    second.kill();
    second.restart().await.unwrap();
    load.until_done(load.done() + 40).await;
    for scheduler in many.processes.names_of(ClusterRole::Scheduler) {
        many.processes.kill(&scheduler).unwrap();
    }
    for scheduler in many.processes.names_of(ClusterRole::Scheduler) {
        many.processes.start_again(&scheduler).await.unwrap();
    }
    load.until_done(load.done() + 40).await;
    let made = load.finish().await;
    assert_eq!(made.failed, Vec::<String>::new(), "{} calls with {} tries", made.calls, made.tries);
}

/// Calls of a tool that must not run twice, made until somebody takes them, while two shards move to other nodes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_is_lost_or_started_twice_while_shards_move_in_a_redis_cluster() {
    let cluster = RedisCluster::start(RedisOptions::default()).await.unwrap();
    let layout = Layout::new(2, 2, CONFIG)
        .on(Store::RedisAt(cluster.nodes[0].url()))
        .env("TOOLPLANE__STORE__REDIS__MODE", "cluster")
        .env("TOOLPLANE__STORE__REDIS__SHARDS", "3");
    let many = start(layout).await;
    let ways = vec![many.by("scheduler-1"), many.by("scheduler-2")];
    let load = Load::start(3, ways.clone(), &many.surface_id);
    let once =
        (0..3).map(|caller| tokio::spawn(calls_once(ways.clone(), call(&many, "shard.once", "once", ""), caller)));
    let once: Vec<_> = once.collect();
    load.until_done(20).await;
    for key in ["{toolplane/1}:x", "{toolplane}:x"] {
        let from = cluster.owner(key).unwrap();
        let to = (from + 1) % cluster.nodes.len();
        let moving = cluster.move_slot(key, from, to).unwrap();
        while moving.keys(25).unwrap() > 0 {
            toolplane_wait::look_again().await;
        }
        moving.finish().unwrap();
        load.until_done(load.done() + 20).await;
    }
    let made = load.finish().await;
    assert_eq!(made.failed, Vec::<String>::new(), "{} calls with {} tries", made.calls, made.tries);
    let mut expected = BTreeSet::new();
    for caller in once {
        expected.extend(caller.await.unwrap());
    }
    let (began, _) = marks(&many, "once");
    assert_eq!(began.len(), began.iter().collect::<BTreeSet<_>>().len(), "none was started twice");
    assert_eq!(began.into_iter().collect::<BTreeSet<_>>(), expected, "and none was lost");
}

/// Makes ten calls of `spec`, each with a mark and a key of its own, and returns the marks of those that succeeded: all.
async fn calls_once(ways: Vec<Clients>, spec: v1::InvocationSpec, caller: usize) -> Vec<String> {
    let mut marks = Vec::new();
    for number in 0..10 {
        let mark = format!("{caller}-{number}");
        let input = json!({ "file": "once", "mark": mark });
        let spec = v1::InvocationSpec {
            model_input: Some(toolplane_testkit::clients::payload(input.to_string())),
            idempotency_key: format!("once-{mark}"),
            ..spec.clone()
        };
        let ask = async |attempt: usize| {
            let request = v1::CallRequest { spec: Some(spec.clone()), ..Default::default() };
            ways[attempt % 2].invocations().call(request).await
        };
        let mut attempt = 0;
        let end = tokio::time::Instant::now() + PATIENCE;
        let result = loop {
            match ask(attempt).await {
                Ok(answer) => {
                    if let Some(result) = answer.into_inner().result {
                        break result;
                    }
                }
                Err(status) => assert!(is_away(&status), "{mark}: {status:?}"),
            }
            assert!(tokio::time::Instant::now() < end, "{mark} has no answer");
            attempt += 1;
            toolplane_wait::pause(Duration::from_millis(50), "callers come back after a while").await;
        };
        assert!(!result.is_error, "{mark}: {:?}", result.error);
        marks.push(mark);
    }
    marks
}
