//! One batch over two schedulers that share a store: either may go.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::clients::payload;
use toolplane_testkit::layout::Store;
use toolplane_testkit::tools::TestTool;
use toolplane_testkit::{ClusterRole, Layout, Processes};

use super::stream::Follower;
use crate::bed::{PATIENCE, assert_gapless, register, surface};

const CONFIG: &str = r#"
[scheduler]
lease_ms = 6000
heartbeat_ms = 500
tick_ms = 100

[executor]
slots = 4

[[permission.rules]]
behavior = "allow"
tool = "storm.*"
reason = "the storm's own tools"
"#;

#[tokio::test]
async fn the_other_scheduler_goes_on_with_the_batch_and_tells_the_rest() {
    let mut processes = Processes::start(Layout::new(2, 1, CONFIG).on(Store::Redis)).await.unwrap();
    let schedulers = processes.names_of(ClusterRole::Scheduler);
    let [first, second] = [0, 1].map(|number| processes.clients_by(&schedulers[number]).unwrap().clone());
    let tool = TestTool {
        name: "storm.short".to_owned(),
        schema: json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }),
        argv: ["/bin/sh", "-c", "sleep 0.05; echo \"$1\"", "sh", "{n}"].map(str::to_owned).to_vec(),
        idempotent: true,
        read_only: true,
        timeout_ms: 20_000,
    };
    register(&first, vec![tool.registration().unwrap()]).await;
    let surface_id = surface(&first).await;
    let calls = (0..27).map(|n| v1::BatchCall {
        spec: Some(v1::InvocationSpec {
            surface_id: surface_id.clone(),
            tool_name: "storm.short".to_owned(),
            model_input: Some(payload(json!({ "n": n }).to_string())),
            // One after the other by a lock, and two at a time by the policy.
            resource_locks: vec![v1::ResourceLock { key: format!("lane-{}", n % 2), ..Default::default() }],
            ..Default::default()
        }),
        ..Default::default()
    });
    let policy = v1::SchedulerPolicy { max_parallel: Some(4), ..Default::default() };
    let spec = v1::BatchSpec { calls: calls.collect(), policy: Some(policy), ..Default::default() };

    let request = v1::InvokeBatchRequest { spec: Some(spec), form: None };
    let mut stream = first.invocations().invoke_batch(request).await.unwrap().into_inner();
    let mut follower = Follower::default();
    while follower.results.len() < 5 {
        let message = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
        if let Some(accepted) = message.accepted {
            follower.batch_id = accepted.batch_id;
        }
        follower.take(message.items);
    }
    processes.kill(&schedulers[0]).unwrap();

    let mut stream = second.invocations().watch_batch(follower.request()).await.unwrap().into_inner();
    while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
        follower.take(message.items);
        follower.batch = message.batch;
    }
    assert_eq!(follower.order(), (0..27).collect::<Vec<u32>>());
    assert!(follower.results.iter().all(|(_, result)| !result.is_error), "{:?}", follower.results);
    follower.events.values().for_each(|events| assert_gapless(events, 1));
    assert_eq!(follower.batch.unwrap().yields, 27);
}
