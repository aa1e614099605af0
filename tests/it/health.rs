//! What a cluster of processes says of itself while parts of it are away.

use std::time::Instant;

use serde_json::json;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt as _;
use toolplane_proto::v1;
use toolplane_testkit::clients::payload;
use toolplane_testkit::layout::{Layout, Store};
use toolplane_testkit::processes::Processes;
use toolplane_testkit::{ports, tools};

use crate::bed::{PATIENCE, RULES, register, surface};

const CALLS: &str = "toolplane.v1.InvocationService";
const WORK: &str = "toolplane.v1.WorkerService";
const LIVENESS: &str = "liveness";

/// Whether a service serves, and what it lacks.
async fn health(channel: &Channel, service: &str) -> Option<(bool, String)> {
    let request = HealthCheckRequest { service: service.to_owned() };
    let answer = HealthClient::new(channel.clone()).check(request).await.ok()?;
    let reason = answer.metadata().get("toolplane-reason").and_then(|reason| reason.to_str().ok());
    Some((answer.get_ref().status() == ServingStatus::Serving, reason.unwrap_or_default().to_owned()))
}

/// Waits until a service says that it serves, or that it lacks this.
async fn until(channel: &Channel, service: &str, lacks: &str) {
    let start = Instant::now();
    loop {
        let found = health(channel, service).await;
        if found.as_ref().is_some_and(|(serves, said)| *serves == lacks.is_empty() && said.contains(lacks)) {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "`{service}` says {found:?} instead of `{lacks}`");
        toolplane_wait::look_again().await;
    }
}

/// Each process says what it itself lacks, an executor too, and no process is to be restarted for it.
#[tokio::test]
async fn readiness_is_told_for_each_role_and_what_it_needs() {
    let mut processes = Processes::prepare(Layout::new(1, 1, RULES).on(Store::Redis)).await.unwrap();
    let probed = format!("127.0.0.1:{}", ports::free());
    processes.set_env("executor-1", "TOOLPLANE__SERVER__HEALTH_LISTEN", Some(&probed)).unwrap();
    processes.launch_all().unwrap();
    processes.ready().await.unwrap();
    let channel = |name: &str| {
        let endpoint = processes.member(name).unwrap().endpoint().unwrap();
        Endpoint::from_shared(endpoint).unwrap().connect_lazy()
    };
    let (scheduler, permission, surfaces) = (channel("scheduler-1"), channel("permission"), channel("surface"));
    let executor = Endpoint::from_shared(format!("http://{probed}")).unwrap().connect_lazy();
    for (channel, service) in
        [(&scheduler, CALLS), (&scheduler, WORK), (&permission, ""), (&surfaces, ""), (&executor, "executor")]
    {
        until(channel, service, "").await;
    }
    let clients = processes.clients().unwrap().clone();
    register(&clients, tools::examples().unwrap()).await;
    let surface_id = surface(&clients).await;

    processes.redis().unwrap().kill();
    for service in [CALLS, WORK, "", "scheduler"] {
        until(&scheduler, service, "the scheduler's store: Redis cannot be reached").await;
    }
    until(&executor, "", "the scheduler: it is not ready (the scheduler's store: Redis cannot be reached").await;
    until(&surfaces, "", "").await;
    for channel in [&scheduler, &executor, &permission] {
        assert_eq!(health(channel, LIVENESS).await, Some((true, String::new())), "a restart brings no Redis back");
    }
    // The caller is told the same: no other process is blamed.
    let spec = v1::InvocationSpec {
        surface_id,
        tool_name: "text.word_count".to_owned(),
        model_input: Some(payload(json!({"path": "words.txt"}).to_string())),
        ..Default::default()
    };
    let submit = v1::SubmitInvocationRequest { spec: Some(spec) };
    let refused = clients.invocations().submit_invocation(submit).await.unwrap_err();
    let reason = refused.get_details_error_info().map(|info| info.reason);
    assert_eq!((refused.code(), reason.as_deref()), (Code::Unavailable, Some("STORE_UNAVAILABLE")), "{refused:?}");
    assert!(refused.message().contains("store"), "{refused:?}");

    processes.redis().unwrap().restart().await.unwrap();
    until(&scheduler, "", "").await;
    until(&executor, "", "").await;

    // Without the permission service no call is accepted, and those that were go on.
    processes.kill("permission").unwrap();
    until(&scheduler, CALLS, "the permission service: it cannot be reached").await;
    until(&scheduler, WORK, "").await;
    until(&executor, "", "").await;
    processes.start_again("permission").await.unwrap();
    until(&scheduler, "", "").await;
}
