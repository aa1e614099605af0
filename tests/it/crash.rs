//! SIGKILL at any moment: no accepted call is lost, none ends twice, nothing that must not start twice does.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::clients::Clients;
use toolplane_testkit::tools::TestTool;
use toolplane_testkit::{Cluster, Options};

use crate::bed::{register, surface};

mod ledger;
mod load;

use load::{Accepted, Load};

/// How often the cluster is killed.
const KILLS: u32 = 20;
/// Callers at a time.
const CALLERS: usize = 64;
/// How long the cluster lives between two kills, at least; it varies, so that kills meet every phase of a call.
const LIFE: Duration = Duration::from_millis(250);

const CONFIG: &str = r#"
[log]
filter = "warn"

[executor]
slots = 8

[[permission.rules]]
behavior = "allow"
tool = "storm.*"
reason = "the storm's own tools"
"#;

/// Appends the call's mark to a ledger, on disk before it ends.
fn appender(name: &str, idempotent: bool) -> TestTool {
    let script = format!("printf '%s\\n' \"$1\" >> {} && sync {0}", ledger::file_of(idempotent));
    TestTool {
        name: name.to_owned(),
        schema: json!({ "type": "object", "properties": { "mark": { "type": "string" } }, "required": ["mark"] }),
        argv: ["/bin/sh", "-c", script.as_str(), "sh", "{mark}"].map(str::to_owned).to_vec(),
        idempotent,
        read_only: false,
        timeout_ms: 20_000,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_kills_under_load_lose_and_repeat_nothing() {
    let mut cluster = Cluster::start(Options::new(CONFIG)).await.unwrap();
    let clients = cluster.clients().clone();
    let tools = [appender("storm.once", false), appender("storm.again", true)];
    register(&clients, tools.iter().map(|tool| tool.registration().unwrap()).collect()).await;
    let load = Arc::new(Load::new(clients.clone(), surface(&clients).await));

    let callers: Vec<_> = (0..CALLERS).map(|number| tokio::spawn(Arc::clone(&load).caller(number))).collect();
    for kill in 0..KILLS {
        toolplane_wait::pause(
            LIFE + Duration::from_millis(u64::from(kill * 37 % 11) * 60),
            "the process is killed somewhere in its work",
        )
        .await;
        cluster.kill();
        cluster.start_again().await.unwrap();
    }
    load.stop();
    for caller in callers {
        caller.await.unwrap();
    }

    let accepted = load.accepted();
    let verdict = judge(&clients, &accepted, &cluster.workspace()).await;
    println!("{} kills, {} accepted calls: {verdict:?}", KILLS, accepted.len());
    assert!(accepted.len() > 200, "only {} calls: too little load to show anything", accepted.len());
    assert!(verdict.succeeded > 50, "hardly anything succeeded: {verdict:?}");
    assert!(verdict.outcome_unknown + verdict.repeated > 0, "no kill met a running call: {verdict:?}");
    assert!(verdict.wrong.is_empty(), "{:#?}", verdict.wrong);
}

/// What the records and the ledgers say after the storm.
#[derive(Debug, Default)]
struct Verdict {
    succeeded: usize,
    outcome_unknown: usize,
    /// Idempotent calls that were started more than once, as they may be.
    repeated: usize,
    failed_otherwise: BTreeMap<String, usize>,
    lost: usize,
    double_results: usize,
    double_starts: usize,
    /// Everything that must not be, in words.
    wrong: Vec<String>,
}

/// Waits for every accepted call and compares what was promised with what happened.
async fn judge(clients: &Clients, accepted: &[Accepted], workspace: &Path) -> Verdict {
    let mut verdict = Verdict::default();
    let until = Instant::now() + Duration::from_secs(60);
    let mut ended = Vec::new();
    for call in accepted {
        match terminal(clients, call, until).await {
            Ok((events, result)) => ended.push((call, events, result)),
            Err(said) => {
                verdict.lost += 1;
                verdict.wrong.push(format!("lost: {} ({said})", call.invocation_id));
            }
        }
    }
    // Only now: what ended while the judge was waiting has left its marks too.
    let (once, again) = (ledger::read(workspace, false), ledger::read(workspace, true));
    for (call, events, result) in &ended {
        verdict.count(result);
        let ends = events.iter().filter(|event| event.event_type == "tool.result.created").count();
        let seen_otherwise = call.seen_result.as_ref().is_some_and(|seen| *seen != result.result_id);
        if ends != 1 || seen_otherwise {
            verdict.double_results += 1;
            verdict.wrong.push(format!("{} results: {}", ends, call.invocation_id));
        }
        let ledger = if call.idempotent { &again } else { &once };
        let starts = ledger.get(&call.mark).copied().unwrap_or_default();
        if !call.idempotent && starts > 1 {
            verdict.double_starts += 1;
            verdict.wrong.push(format!("started {starts} times: {}", call.invocation_id));
        }
        if call.idempotent && starts > 1 {
            verdict.repeated += 1;
        }
        if !result.is_error && starts == 0 {
            verdict.wrong.push(format!("succeeded without a start: {}", call.invocation_id));
        }
        if call.twice_accepted {
            verdict.wrong.push(format!("one key, two calls: {}", call.mark));
        }
    }
    verdict
}

impl Verdict {
    fn count(&mut self, result: &v1::ToolResult) {
        match &result.error {
            None => self.succeeded += 1,
            Some(error) if error.error_code == "exec.outcome_unknown" => self.outcome_unknown += 1,
            Some(error) => *self.failed_otherwise.entry(error.error_code.clone()).or_default() += 1,
        }
    }
}

/// The whole log of a call up to its result; an error when it is gone or does not end in time.
async fn terminal(
    clients: &Clients,
    call: &Accepted,
    until: Instant,
) -> Result<(Vec<v1::Event>, v1::ToolResult), String> {
    let request =
        v1::WatchInvocationRequest { invocation_id: call.invocation_id.clone(), from_seq: 1, ..Default::default() };
    let patience = until.saturating_duration_since(Instant::now()).max(Duration::from_secs(1));
    let watched = tokio::time::timeout(patience, async {
        let mut stream = clients.invocations().watch_invocation(request).await?.into_inner();
        let mut events = Vec::new();
        while let Some(message) = stream.message().await? {
            events.extend(message.events);
            if let Some(result) = message.result {
                return Ok((events, Some(result)));
            }
        }
        Ok::<_, tonic::Status>((events, None))
    });
    match watched.await {
        Ok(Ok((events, Some(result)))) => Ok((events, *result)),
        Ok(Ok((_, None))) => Err("its stream ended without a result".to_owned()),
        Ok(Err(status)) => Err(format!("{:?}: {}", status.code(), status.message())),
        Err(_) => Err("it does not end".to_owned()),
    }
}
