//! `toolplane workers`: who runs the calls.

use clap::Args;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_records::profile::{self, BUILT_IN};

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age, instant, payload_text};
use super::spelled::word;

/// Nothing to choose.
#[derive(Debug, Args)]
pub(crate) struct WorkersArgs {}

/// Lists the workers, with what they cannot do and why.
pub(crate) async fn run(_: WorkersArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut request = v1::ListWorkersRequest { page_size: 1000, ..Default::default() };
    let mut table = Table::new(&["WORKER", "STATE", "FREE", "SERVES", "CALLS", "SEEN", "SCHEDULER", "VERSION"]);
    let mut gaps = Vec::new();
    loop {
        let page = connection.invocations().list_workers(request.clone()).await?.into_inner();
        for worker in page.workers {
            if out.json() {
                out.value(&record(&worker))?;
                continue;
            }
            if worker.state() == v1::WorkerState::Lost {
                let (id, since) = (&worker.worker_id, age(worker.last_seen_at.as_ref()));
                gaps.push(format!("{id} is lost: its last message came {since} ago, and it did not sign off"));
            }
            let missing = worker.gaps.iter().filter(|_| worker.state() != v1::WorkerState::Lost);
            gaps.extend(missing.map(|gap| format!("{} cannot run {}: {}", worker.worker_id, gap.pool, gap.message)));
            table.row([
                worker.worker_id.clone(),
                word(worker.state().as_str_name(), "WORKER_STATE_"),
                format!("{}/{}", worker.free_slots, worker.slots),
                serves(&worker),
                worker.invocation_ids.len().to_string(),
                age(worker.last_seen_at.as_ref()),
                scheduler(&worker).to_owned(),
                worker.version.clone(),
            ]);
        }
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if !out.json() {
        out.table(&table, "no workers; start one with `toolplane serve` or `toolplane serve --role executor`")?;
        gaps.iter().try_for_each(|gap| out.note(gap))?;
    }
    Ok(CommandOutcome::Done)
}

/// Those of these tools, each with its pool, that no connected worker serves; none where this is not known or may not
/// be told.
pub(super) async fn unserved<'a>(
    tools: impl Iterator<Item = (&'a String, &'a Option<String>)>,
    connection: &Connection,
) -> Vec<(&'a str, &'a str)> {
    let request = v1::ListWorkersRequest { page_size: 1000, ..Default::default() };
    let Ok(answer) = connection.invocations().list_workers(request).await else { return Vec::new() };
    let workers = answer.into_inner().workers;
    let served = |pool: &str| workers.iter().any(|worker| profile::serves(&worker.pools, &worker.native_tools, pool));
    let bound = tools.filter_map(|(name, pool)| Some((name.as_str(), pool.as_deref()?)));
    bound.filter(|(_, pool)| !served(pool)).collect()
}

/// Its pools, and the native tools it serves beside the built-in ones of those.
fn serves(worker: &v1::WorkerRecord) -> String {
    let named = &worker.native_tools;
    let shared = |pool: &&String| profile::serves(&worker.pools, named, pool);
    let own = named.iter().filter(|name| !BUILT_IN.iter().any(|(_, tools)| tools.contains(&name.as_str())));
    worker.pools.iter().filter(shared).chain(own).cloned().collect::<Vec<_>>().join(",")
}

/// Where the scheduler that holds its stream is reached, else that one's name; `-` where none is known.
fn scheduler(worker: &v1::WorkerRecord) -> &str {
    [&worker.scheduler_endpoint, &worker.scheduler]
        .into_iter()
        .find(|told| !told.is_empty())
        .map_or("-", String::as_str)
}

fn record(worker: &v1::WorkerRecord) -> String {
    let gaps: Vec<_> = worker
        .gaps
        .iter()
        .map(|gap| json!({ "pool": gap.pool, "reason_code": gap.reason_code, "message": gap.message }))
        .collect();
    let head = json!({
        "worker_id": worker.worker_id,
        "incarnation": worker.incarnation,
        "version": worker.version,
        "state": word(worker.state().as_str_name(), "WORKER_STATE_"),
        "slots": worker.slots,
        "free_slots": worker.free_slots,
        "pools": worker.pools,
        "native_tools": worker.native_tools,
        "gaps": gaps,
        "connected_at": instant(worker.connected_at.as_ref()),
        "last_seen_at": instant(worker.last_seen_at.as_ref()),
        "invocation_ids": worker.invocation_ids,
        "scheduler": worker.scheduler,
        "scheduler_endpoint": worker.scheduler_endpoint,
    })
    .to_string();
    let posture = payload_text(worker.posture.as_ref()).unwrap_or_else(|| "null".to_owned());
    format!("{},\"posture\":{posture}}}", &head[..head.len() - 1])
}
