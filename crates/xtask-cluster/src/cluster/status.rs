//! How a cluster is.

use toolplane_proto::v1::{ListWorkersRequest, WorkerState};
use toolplane_testkit::ClusterRole;
use toolplane_testkit::clients::Clients;
use toolplane_testkit::layout::Member;
use toolplane_testkit::processes::{knows, lacks, serves};

use super::state::{State, What};

/// A row for every process and what the store promises.
pub(super) async fn table(state: &State) -> String {
    let mut text = format!("{:<12} {:>7}  {:<9} endpoint\n", "process", "pid", "state");
    for seat in &state.seats {
        let pid = seat.running.map_or_else(|| "-".to_owned(), |running| running.pid.to_string());
        let (endpoint, ready, note) = match &seat.what {
            What::Redis(redis) if seat.lives() => (redis.url(), redis.answers(), redis.promise()),
            What::Redis(redis) => (redis.url(), false, String::new()),
            What::Member(member) => {
                let endpoint = member.endpoint().unwrap_or_else(|| "-".to_owned());
                let ready = seat.lives() && is_ready(member, state).await;
                let note = if ready { workers(member).await } else { missing(member).await };
                (endpoint, ready, note)
            }
        };
        let word = match (seat.lives(), ready) {
            (false, _) => "gone",
            (true, false) => "not ready",
            (true, true) => "ready",
        };
        let row = format!("{:<12} {pid:>7}  {word:<9} {endpoint:<24} {note}", seat.name());
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// Whether a process does its work: it answers or, an executor, a scheduler knows its worker as ready.
pub(super) async fn is_ready(member: &Member, state: &State) -> bool {
    if let Some(endpoint) = member.endpoint() {
        return match Clients::of(&endpoint) {
            Ok(clients) => serves(clients.channel()).await,
            Err(_) => false,
        };
    }
    for seat in state.seats.iter().filter(|seat| seat.lives()) {
        let What::Member(scheduler) = &seat.what else { continue };
        let clients = scheduler.endpoint().filter(|_| scheduler.role == ClusterRole::Scheduler);
        if let Some(Ok(clients)) = clients.map(|endpoint| Clients::of(&endpoint))
            && knows(&clients, &member.name).await
        {
            return true;
        }
    }
    false
}

/// What a process says it lacks.
async fn missing(member: &Member) -> String {
    let clients = member.endpoint().map(|endpoint| Clients::of(&endpoint));
    let Some(Ok(clients)) = clients else { return String::new() };
    lacks(clients.channel()).await
}

/// The workers that are connected to a scheduler.
async fn workers(member: &Member) -> String {
    let endpoint = member.endpoint().filter(|_| member.role == ClusterRole::Scheduler);
    let Some(Ok(clients)) = endpoint.map(|endpoint| Clients::of(&endpoint)) else { return String::new() };
    let request = ListWorkersRequest { state: WorkerState::Ready.into(), ..Default::default() };
    let Ok(answer) = clients.invocations().list_workers(request).await else { return String::new() };
    let names: Vec<String> = answer.into_inner().workers.into_iter().map(|worker| worker.worker_id).collect();
    if names.is_empty() { "no workers".to_owned() } else { format!("workers: {}", names.join(", ")) }
}
