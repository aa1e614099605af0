//! Agents that are connected and say nothing: what each takes, the CPU they cost, and a call beside them.

use std::time::Duration;

use tokio::task::JoinSet;
use toolplane_proto::v1;
use toolplane_testkit::Problem;
use toolplane_testkit::clients::Clients;

use super::Args;
use super::bed::Bed;
use super::figures::Figures;

/// Agents that connect at a time.
const AT_A_TIME: usize = 64;
/// How long nobody says anything: each connection is pinged twice within it.
const IDLE: Duration = Duration::from_secs(40);

pub(super) async fn run(args: &Args, figures: &mut Figures) -> Result<(), Problem> {
    let mut bed = Bed::start(args.store, "agents").await?;
    let alone = bed.calls_beside().await?;
    let before = bed.memory()?;
    let (agents, refusal) = connect(&bed, args.agents).await;
    let count = agents.len();
    if let Some(refusal) = refusal {
        figures.note(format!("{count} of {} agents are connected; the next one met: {refusal}", args.agents));
    }
    let each = bed.memory()?.saturating_sub(before) as f64 / count.max(1) as f64;
    figures.add(format!("{count} idle agents: memory of the process for each"), each, "bytes");
    let begin = bed.usage()?;
    tokio::time::sleep(IDLE).await;
    let used = bed.usage()?.per_call(&begin, IDLE.as_secs_f64());
    figures.add(format!("{count} idle agents: CPU of the process"), used.cpu_us / 1_000.0, "ms a second");
    let beside = bed.calls_beside().await?;
    for (percent, name) in [(50, "p50"), (99, "p99")] {
        figures.add(format!("a call with no other agent, {name}"), alone.percentile(percent) as f64, "us");
        figures.add(format!("a call beside {count} idle agents, {name}"), beside.percentile(percent) as f64, "us");
    }
    Ok(())
}

/// Connects so many agents, or as many as the server takes, and what it said then. Each has a connection of its own and has asked
/// for its surface.
async fn connect(bed: &Bed, agents: u64) -> (Vec<Clients>, Option<String>) {
    let (endpoint, surface_id) = (bed.cluster.endpoint(), bed.surface_id.clone());
    let (mut connecting, mut connected, mut refusal) = (JoinSet::new(), Vec::new(), None);
    let mut left = agents;
    while refusal.is_none() && (left > 0 || !connecting.is_empty()) {
        while left > 0 && connecting.len() < AT_A_TIME {
            left -= 1;
            connecting.spawn(agent(endpoint.clone(), surface_id.clone()));
        }
        match connecting.join_next().await {
            Some(Ok(Ok(agent))) => connected.push(agent),
            Some(Ok(Err(problem))) => refusal = Some(problem.to_string()),
            Some(Err(error)) => refusal = Some(error.to_string()),
            None => {}
        }
    }
    connected.extend(connecting.join_all().await.into_iter().flatten());
    (connected, refusal)
}

async fn agent(endpoint: String, surface_id: String) -> Result<Clients, Problem> {
    let clients = Clients::of(&endpoint)?;
    clients.surfaces().get_surface(v1::GetSurfaceRequest { surface_id, ..Default::default() }).await?;
    Ok(clients)
}
