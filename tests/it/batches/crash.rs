//! A cluster that is killed in the middle of a batch goes on with it.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::Options;
use toolplane_testkit::tools::TestTool;

use super::stream::{Follower, get, watch, watch_some};
use crate::bed::{Bed, RULES, assert_gapless, register, surface};

const STORM: &str = r#"
[executor]
slots = 4

[scheduler]
lease_ms = 3000
heartbeat_ms = 500
tick_ms = 100

[[permission.rules]]
behavior = "allow"
tool = "storm.*"
reason = "the storm's own tools"
"#;

#[tokio::test]
async fn a_killed_cluster_goes_on_with_the_batch() {
    let mut bed = Bed::with(Options::new(format!("{RULES}{STORM}"))).await;
    let script = "[ \"$1\" = 5 ] && exit 3; sleep 0.1; echo \"$1\" >> marks.txt; echo \"$1\"";
    let tool = TestTool {
        name: "storm.mark".to_owned(),
        schema: json!({ "type": "object", "properties": { "mark": { "type": "string" } }, "required": ["mark"] }),
        argv: ["/bin/sh", "-c", script, "sh", "{mark}"].map(str::to_owned).to_vec(),
        idempotent: true,
        read_only: false,
        timeout_ms: 20_000,
    };
    register(&bed.clients, vec![tool.registration().unwrap()]).await;
    bed.surface_id = surface(&bed.clients).await;
    // Call 5 fails; call 20 waits for it and must not run.
    let calls = (0..27_u32).map(|mark| v1::BatchCall {
        spec: Some(bed.spec("storm.mark", json!({ "mark": mark.to_string() }).to_string())),
        depends_on: if mark == 20 { vec![5] } else { Vec::new() },
        ..Default::default()
    });
    let policy = v1::SchedulerPolicy {
        max_parallel: Some(3),
        sibling_failure_policy: v1::SiblingFailurePolicy::CancelDependent.into(),
        ..Default::default()
    };
    let spec = v1::BatchSpec { calls: calls.collect(), policy: Some(policy), ..Default::default() };
    let request = v1::SubmitBatchRequest { spec: Some(spec) };
    let accepted = bed.clients.invocations().submit_batch(request).await.unwrap().into_inner().accepted.unwrap();

    let mut follower = Follower::of(&accepted.batch_id);
    for kill in 0..3 {
        watch_some(&bed, &mut follower, |seen| seen.results.len() > 4 + kill * 6).await;
        bed.cluster.kill();
        bed.cluster.start_again().await.unwrap();
    }
    let follower = watch(&bed, &accepted.batch_id, follower).await;

    assert_eq!(follower.order(), (0..27).collect::<Vec<u32>>());
    let status = |index: usize| follower.results[index].1.status.as_str();
    assert_eq!((status(5), status(20)), ("failed", "canceled"));
    let wrong = follower.results.iter().filter(|(index, result)| result.is_error && ![5, 20].contains(index));
    assert_eq!(wrong.count(), 0, "{:?}", follower.results);
    follower.events.values().for_each(|events| assert_gapless(events, 1));
    let marks = std::fs::read_to_string(bed.cluster.workspace().join("marks.txt")).unwrap();
    let marks: std::collections::BTreeSet<&str> = marks.lines().collect();
    assert_eq!(marks.len(), 25, "every call that succeeded left its mark");
    assert!(!marks.contains("20") && !marks.contains("5"));
    let batch = get(&bed, &accepted.batch_id).await;
    assert_eq!(batch.members[20].canceled_by, Some(5));
}
