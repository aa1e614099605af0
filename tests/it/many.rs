//! Many processes on one shared store: any scheduler serves any request, and any process may go.

use std::time::{Duration, Instant};

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::clients::{Clients, is_away, payload};
use toolplane_testkit::layout::Store;
use toolplane_testkit::tools::TestTool;
use toolplane_testkit::{ClusterRole, Layout, Processes, tools};

use crate::bed::{PATIENCE, assert_gapless, kinds, register, surface};

mod load;
mod services;
mod shards;
mod spread;

use load::Load;

/// Short terms, so that a death is noticed soon.
const CONFIG: &str = r#"
[log]
filter = "info"

[server]
drain_timeout_ms = 8000

[scheduler]
lease_ms = 3000
heartbeat_ms = 500
offer_ms = 1000
tick_ms = 100

[executor]
slots = 8

[[permission.rules]]
behavior = "allow"
tool = "*"
reason = "the tests' own tools"
"#;

/// A cluster with the example tools and a slow one in a surface.
struct Many {
    processes: Processes,
    surface_id: String,
}

impl Many {
    async fn start(layout: Layout) -> Self {
        Self::with(Processes::start(layout).await.unwrap()).await
    }

    async fn with(processes: Processes) -> Self {
        let clients = processes.clients().unwrap().clone();
        let mut registrations = tools::examples().unwrap();
        registrations.push(slow().registration().unwrap());
        register(&clients, registrations).await;
        let surface_id = surface(&clients).await;
        Self { processes, surface_id }
    }

    fn by(&self, scheduler: &str) -> Clients {
        self.processes.clients_by(scheduler).unwrap().clone()
    }

    fn spec(&self, tool: &str, input: &serde_json::Value) -> v1::InvocationSpec {
        v1::InvocationSpec {
            surface_id: self.surface_id.clone(),
            tool_name: tool.to_owned(),
            model_input: Some(payload(input.to_string())),
            ..Default::default()
        }
    }
}

fn shared(schedulers: usize, executors: usize) -> Layout {
    Layout::new(schedulers, executors, CONFIG).on(Store::Redis)
}

/// Works for as many seconds as it is told; running it again does no harm.
fn slow() -> TestTool {
    TestTool {
        name: "test.slow".to_owned(),
        schema: json!({
            "type": "object", "properties": { "seconds": { "type": "string" } }, "required": ["seconds"],
            "additionalProperties": false,
        }),
        argv: ["sh", "-c", "sleep \"$1\" && echo done", "slow", "{seconds}"].map(str::to_owned).to_vec(),
        idempotent: true,
        read_only: true,
        timeout_ms: 60_000,
    }
}

async fn submit(clients: &Clients, spec: v1::InvocationSpec) -> String {
    let request = v1::SubmitInvocationRequest { spec: Some(spec) };
    let answer = clients.invocations().submit_invocation(request).await.unwrap().into_inner();
    answer.accepted.unwrap().invocation_id
}

/// Follows a call to its result, or to the moment its scheduler is away.
async fn follow(clients: &Clients, id: &str, events: &mut Vec<v1::Event>) -> Option<v1::ToolResult> {
    let from_seq = events.last().map_or(1, |last| last.sequence + 1);
    let request = v1::WatchInvocationRequest { invocation_id: id.to_owned(), from_seq, ..Default::default() };
    let mut stream = match clients.invocations().watch_invocation(request).await {
        Ok(stream) => stream.into_inner(),
        Err(status) => return away(&status),
    };
    loop {
        match tokio::time::timeout(PATIENCE, stream.message()).await.unwrap() {
            Ok(Some(message)) => {
                events.extend(message.events);
                if let Some(result) = &message.result {
                    crate::coverage::ended(clients, events, result).await;
                    return message.result.map(|result| *result);
                }
            }
            Ok(None) => panic!("the stream ended without a result: {:?}", kinds(events)),
            Err(status) => return away(&status),
        }
    }
}

fn away<T>(status: &tonic::Status) -> Option<T> {
    assert!(is_away(status), "{status:?}");
    None
}

#[tokio::test]
async fn any_scheduler_serves_any_request() {
    let mut processes = Processes::prepare(shared(2, 1)).await.unwrap();
    // The one worker knows the first scheduler only; the calls are accepted by the other.
    let first = format!("[\"{}\"]", processes.member("scheduler-1").unwrap().endpoint().unwrap());
    processes.set_env("executor-1", "TOOLPLANE__PEERS__SCHEDULER", Some(&first)).unwrap();
    let begin = Instant::now();
    processes.launch_all().unwrap();
    processes.ready().await.unwrap();
    println!("five processes and a store were ready after {} ms", begin.elapsed().as_millis());
    let many = Many::with(processes).await;
    let (one, other) = (many.by("scheduler-1"), many.by("scheduler-2"));

    let id = submit(&other, many.spec("test.slow", &json!({ "seconds": "0.5" }))).await;
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let (result_here, result_there) = tokio::join!(follow(&one, &id, &mut here), follow(&other, &id, &mut there));
    let (result_here, result_there) = (result_here.unwrap(), result_there.unwrap());
    assert!(!result_here.is_error, "{:?}", result_here.error);
    assert_eq!(result_here, result_there);
    assert_eq!(here, there, "both tell the same story");
    assert_gapless(&here, 1);

    for clients in [&one, &other] {
        let request = v1::GetInvocationRequest { invocation_id: id.clone(), ..Default::default() };
        let invocation = clients.invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
        assert_eq!(invocation.status_code(), v1::InvocationStatus::Succeeded);
        let list = clients.invocations().list_invocations(v1::ListInvocationsRequest::default()).await.unwrap();
        assert!(list.into_inner().invocations.iter().any(|listed| listed.invocation_id == id));
    }

    // Asked to stop by way of the scheduler that did not accept it and does not hold the worker.
    let id = submit(&one, many.spec("test.slow", &json!({ "seconds": "50" }))).await;
    let mut events = Vec::new();
    let begin = Instant::now();
    let cancel = v1::CancelInvocationRequest { invocation_id: id.clone(), ..Default::default() };
    other.invocations().cancel_invocation(cancel).await.unwrap();
    let result = follow(&other, &id, &mut events).await.unwrap();
    assert!(result.is_error && begin.elapsed() < Duration::from_secs(40), "{result:?}");
}

/// Waits until the one worker of the cluster is told of in this state, whichever scheduler is asked.
async fn until_worker_is(clients: &Clients, state: v1::WorkerState) -> v1::WorkerRecord {
    let begin = Instant::now();
    loop {
        let listed = clients.invocations().list_workers(v1::ListWorkersRequest::default()).await.unwrap().into_inner();
        match <[v1::WorkerRecord; 1]>::try_from(listed.workers) {
            Ok([worker]) if worker.state() == state => return worker,
            other => assert!(begin.elapsed() < PATIENCE, "{state:?}: {other:?}"),
        }
        toolplane_wait::look_again().await;
    }
}

/// Any scheduler tells of the workers of all, and of those that went without a word.
#[tokio::test]
async fn any_scheduler_lists_the_workers_of_all() {
    let mut processes = Processes::prepare(shared(2, 1)).await.unwrap();
    let first = format!("[\"{}\"]", processes.member("scheduler-1").unwrap().endpoint().unwrap());
    processes.set_env("executor-1", "TOOLPLANE__PEERS__SCHEDULER", Some(&first)).unwrap();
    processes.launch_all().unwrap();
    processes.ready().await.unwrap();
    let (one, other) =
        (processes.clients_by("scheduler-1").unwrap().clone(), processes.clients_by("scheduler-2").unwrap().clone());
    let here = until_worker_is(&one, v1::WorkerState::Ready).await;
    let there = until_worker_is(&other, v1::WorkerState::Ready).await;
    assert_eq!((here.worker_id, here.pools, here.slots), (there.worker_id, there.pools, there.slots));
    processes.kill("executor-1").unwrap();
    for clients in [&one, &other] {
        let lost = until_worker_is(clients, v1::WorkerState::Lost).await;
        assert!(lost.free_slots == 0 && lost.last_seen_at.is_some(), "{lost:?}");
    }
    processes.start_again("executor-1").await.unwrap();
    until_worker_is(&other, v1::WorkerState::Ready).await;
}

#[tokio::test]
async fn a_call_survives_the_death_of_its_scheduler() {
    let mut many = Many::start(shared(2, 2)).await;
    let (one, other) = (many.by("scheduler-1"), many.by("scheduler-2"));
    // Enough of them that some run under workers of either scheduler.
    let mut ids = Vec::new();
    for _ in 0..6 {
        ids.push(submit(&one, many.spec("test.slow", &json!({ "seconds": "3" }))).await);
    }
    let watchers: Vec<_> = ids
        .into_iter()
        .map(|id| {
            let (one, other) = (one.clone(), other.clone());
            tokio::spawn(async move {
                let mut events = Vec::new();
                let before = follow(&one, &id, &mut events).await;
                assert!(before.is_none(), "its scheduler dies first");
                let result = follow(&other, &id, &mut events).await.expect("the other one stays");
                assert_gapless(&events, 1);
                (id, result, events)
            })
        })
        .collect();
    toolplane_wait::pause(Duration::from_millis(1_000), "the scheduler is killed somewhere in its work").await;
    many.processes.kill("scheduler-1").unwrap();
    for watcher in watchers {
        let (id, result, events) = tokio::time::timeout(PATIENCE, watcher).await.unwrap().unwrap();
        assert!(!result.is_error, "{id}: {:?} {:?}", result.error, kinds(&events));
        let starts = events.iter().filter(|event| event.event_type == "tool.invocation.started").count();
        assert!(starts <= 1, "{id}: the worker lives, so nothing runs twice: {:?}", kinds(&events));
    }
    // What comes back takes its part again.
    many.processes.start_again("scheduler-1").await.unwrap();
    let id = submit(&one, many.spec("native.echo", &json!({ "text": "again" }))).await;
    assert!(!follow(&one, &id, &mut Vec::new()).await.unwrap().is_error);
}

/// Every process is stopped and started again, one after the other, while calls are made; none fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_restart_fails_no_call() {
    let mut many = Many::start(shared(2, 2)).await;
    let load = Load::start(8, vec![many.by("scheduler-1"), many.by("scheduler-2")], &many.surface_id);
    for name in many.processes.names() {
        let before = load.done();
        let begin = Instant::now();
        let status = many.processes.stop(&name).await.unwrap();
        let drained = begin.elapsed();
        assert!(status.success(), "{name}: {status}");
        assert!(drained <= Duration::from_secs(25), "{name} took {drained:?} to drain");
        many.processes.start_again(&name).await.unwrap();
        load.until_done(before + 20).await;
        println!("{name}: drained in {} ms, away for {} ms", drained.as_millis(), begin.elapsed().as_millis());
    }
    let made = load.finish().await;
    println!("{} calls, {} tries more than calls", made.calls, made.tries - made.calls);
    assert_eq!(made.failed, Vec::<String>::new());
    assert!(made.calls >= 6 * 20, "{} calls are too few to show anything", made.calls);
}

/// A stop with calls running: streams are told, the work goes on elsewhere or to its end, and the bound holds.
#[tokio::test]
async fn a_drain_with_running_calls_keeps_its_bound() {
    let mut many = Many::start(shared(2, 1)).await;
    let (one, other) = (many.by("scheduler-1"), many.by("scheduler-2"));
    let id = submit(&one, many.spec("test.slow", &json!({ "seconds": "12" }))).await;
    let watching = tokio::spawn({
        let id = id.clone();
        async move {
            let mut events = Vec::new();
            let end = follow(&one, &id, &mut events).await;
            (end, events)
        }
    });
    toolplane_wait::pause(Duration::from_millis(500), "the scheduler is killed somewhere in its work").await;
    let begin = Instant::now();
    many.processes.stop("scheduler-1").await.unwrap();
    assert!(begin.elapsed() <= Duration::from_secs(25), "{:?}", begin.elapsed());
    let (end, mut events) = watching.await.unwrap();
    assert!(end.is_none(), "the watcher was told to come again");
    let result = follow(&other, &id, &mut events).await.unwrap();
    assert!(!result.is_error, "{:?}", result.error);
    assert_gapless(&events, 1);
    assert_eq!(many.processes.names_of(ClusterRole::Scheduler).len(), 2);
}
