//! A running cluster of many processes, each of which can be killed, stopped, paused and started again by name.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use toolplane_proto::v1::{ListWorkersRequest, WorkerState};

use crate::clients::Clients;
use crate::problem::Problem;
use toolplane_records::cluster::ClusterRole;

use crate::layout::{Layout, Member, Store};
use crate::process::Process;
use crate::redis::RedisServer;

/// How long processes may take to be ready; slow machines that build at the same time included.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long one look may take: a paused process does not answer at all.
const ONE_LOOK: Duration = Duration::from_secs(2);

/// The processes of one cluster. Dropping it kills them.
#[derive(Debug)]
pub struct Processes {
    seats: Vec<Seat>,
    folder: PathBuf,
    redis: Option<RedisServer>,
    /// Removes the folder when the cluster is dropped.
    _temporary: Option<tempfile::TempDir>,
}

#[derive(Debug)]
struct Seat {
    member: Member,
    process: Option<Process>,
    /// Of processes that listen; they outlive restarts. A scheduler's lead to the other roles too.
    clients: Option<Clients>,
}

impl Processes {
    /// Starts all processes at once and waits until every one is ready.
    pub async fn start(layout: Layout) -> Result<Self, Problem> {
        let mut processes = Self::prepare(layout).await?;
        processes.launch_all()?;
        processes.ready().await?;
        Ok(processes)
    }

    /// Chooses ports and folders and starts the store, but no process of ours.
    pub async fn prepare(mut layout: Layout) -> Result<Self, Problem> {
        let redis = match layout.store {
            Store::Redis => Some(RedisServer::start(layout.redis.clone()).await?),
            Store::Embedded | Store::RedisAt(_) => None,
        };
        if let Some(redis) = &redis {
            layout.store = Store::RedisAt(redis.url());
        }
        let temporary = match &layout.folder {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(Problem::file("a temporary folder"))?),
        };
        let folder = match (&layout.folder, &temporary) {
            (Some(folder), _) => folder.clone(),
            (None, Some(temporary)) => temporary.path().to_owned(),
            (None, None) => return Err(Problem::Missing("a folder for the cluster".to_owned())),
        };
        let members = layout.members(&folder)?;
        let clients: Vec<Option<Clients>> = members
            .iter()
            .map(|member| clients_of(member, &members, layout.token.as_deref()))
            .collect::<Result<_, _>>()?;
        let seats = members.into_iter().zip(clients);
        let seats = seats.map(|(member, clients)| Seat { member, process: None, clients }).collect();
        Ok(Self { seats, folder, redis, _temporary: temporary })
    }

    /// The Redis server of the cluster's own.
    pub fn redis(&mut self) -> Result<&mut RedisServer, Problem> {
        self.redis.as_mut().ok_or_else(|| Problem::Missing("this cluster has no Redis server of its own".to_owned()))
    }

    /// The names of all processes, a service that is asked before those that ask it.
    pub fn names(&self) -> Vec<String> {
        self.seats.iter().map(|seat| seat.member.name.clone()).collect()
    }

    /// The names of the processes of one role.
    pub fn names_of(&self, role: ClusterRole) -> Vec<String> {
        let seats = self.seats.iter().filter(|seat| seat.member.role == role);
        seats.map(|seat| seat.member.name.clone()).collect()
    }

    /// What a process is and how it is started.
    pub fn member(&self, name: &str) -> Result<&Member, Problem> {
        let seat = self.seats.iter().find(|seat| seat.member.name == name);
        seat.map(|seat| &seat.member).ok_or_else(|| unknown(name))
    }

    /// Sets a variable in the environment of a process, from its next start on; `None` removes it.
    pub fn set_env(&mut self, name: &str, variable: &str, value: Option<&str>) -> Result<(), Problem> {
        let environment = &mut self.seat(name)?.member.environment;
        environment.retain(|(known, _)| known != variable);
        environment.extend(value.map(|value| (variable.to_owned(), value.to_owned())));
        Ok(())
    }

    /// Clients by way of the first scheduler.
    pub fn clients(&self) -> Result<&Clients, Problem> {
        self.clients_by("scheduler-1")
    }

    /// Clients by way of the named scheduler, with the surface and permission services beside it; for a process of another
    /// role, clients of that process alone.
    pub fn clients_by(&self, name: &str) -> Result<&Clients, Problem> {
        let seat = self.seats.iter().find(|seat| seat.member.name == name);
        seat.and_then(|seat| seat.clients.as_ref()).ok_or_else(|| unknown(name))
    }

    /// Starts every process that does not run, without waiting for anything.
    pub fn launch_all(&mut self) -> Result<(), Problem> {
        self.names().iter().try_for_each(|name| self.launch(name))
    }

    /// Starts a process without waiting for anything. One that runs is left alone.
    pub fn launch(&mut self, name: &str) -> Result<(), Problem> {
        let seat = self.seat(name)?;
        if seat.process.is_none() {
            let mut command = seat.member.command()?;
            seat.process = Some(Process::start(name, &mut command, &seat.member.log_file())?);
        }
        Ok(())
    }

    /// Starts a process and waits until it is ready.
    pub async fn start_again(&mut self, name: &str) -> Result<(), Problem> {
        self.launch(name)?;
        self.ready_one(name).await
    }

    /// SIGKILL: nothing is flushed, nothing is said. Harmless when it does not run.
    pub fn kill(&mut self, name: &str) -> Result<(), Problem> {
        self.seat(name)?.process = None;
        Ok(())
    }

    /// SIGTERM, and the end; a process drains within its own bound.
    pub async fn stop(&mut self, name: &str) -> Result<ExitStatus, Problem> {
        let status = self.running(name)?.terminate(PATIENCE).await?;
        self.seat(name)?.process = None;
        Ok(status)
    }

    /// SIGSTOP: the process is paused and keeps everything it has.
    pub fn pause(&mut self, name: &str) -> Result<(), Problem> {
        self.running(name)?.pause()
    }

    /// SIGCONT: it goes on as if no time had passed.
    pub fn resume(&mut self, name: &str) -> Result<(), Problem> {
        self.running(name)?.resume()
    }

    /// The process of this name.
    pub fn running(&mut self, name: &str) -> Result<&mut Process, Problem> {
        let seat = self.seat(name)?;
        seat.process.as_mut().ok_or_else(|| Problem::Missing(format!("{name} is not running")))
    }

    /// Waits until every process that was launched is ready.
    pub async fn ready(&mut self) -> Result<(), Problem> {
        for name in self.names() {
            if self.seat(&name)?.process.is_some() {
                self.ready_one(&name).await?;
            }
        }
        Ok(())
    }

    /// Waits until a process answers or, an executor, until a scheduler that runs knows it as ready.
    pub async fn ready_one(&mut self, name: &str) -> Result<(), Problem> {
        let start = Instant::now();
        loop {
            self.running(name)?.expect_running()?;
            if self.is_ready(name).await? {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(Problem::TooLate {
                    what: format!("readiness of {name}"),
                    millis: PATIENCE.as_millis(),
                    said: format!("; its log ends with:\n{}", self.running(name)?.log_tail()),
                });
            }
            toolplane_wait::look_again().await;
        }
    }

    async fn is_ready(&self, name: &str) -> Result<bool, Problem> {
        let member = self.member(name)?;
        if member.role != ClusterRole::Executor {
            return Ok(serves(self.clients_by(name)?.channel_of(member.role)).await);
        }
        let schedulers =
            self.seats.iter().filter(|seat| seat.member.role == ClusterRole::Scheduler && seat.process.is_some());
        for clients in schedulers.filter_map(|seat| seat.clients.as_ref()) {
            if knows(clients, name).await {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Everything a process wrote so far, over all starts.
    pub fn log(&self, name: &str) -> Result<String, Problem> {
        let file = self.member(name)?.log_file();
        let bytes = std::fs::read(&file).map_err(Problem::file(&file))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The folder of configuration, states and logs.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the tools of all executors work.
    pub fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    fn seat(&mut self, name: &str) -> Result<&mut Seat, Problem> {
        self.seats.iter_mut().find(|seat| seat.member.name == name).ok_or_else(|| unknown(name))
    }
}

fn unknown(name: &str) -> Problem {
    Problem::Missing(format!("no process of this cluster is called `{name}`, or it does not listen"))
}

/// Clients by way of a process; a scheduler's callers need the other two roles as well.
fn clients_of(member: &Member, members: &[Member], token: Option<&str>) -> Result<Option<Clients>, Problem> {
    match (clients_without(member, members)?, token) {
        (Some(clients), Some(token)) => clients.with_token(token).map(Some),
        (clients, _) => Ok(clients),
    }
}

fn clients_without(member: &Member, members: &[Member]) -> Result<Option<Clients>, Problem> {
    // A gateway is asked for its health alone.
    let asked = member.health.map_or_else(|| member.endpoint(), |port| Some(format!("http://127.0.0.1:{port}")));
    let Some(endpoint) = asked else { return Ok(None) };
    if member.role != ClusterRole::Scheduler {
        return Clients::of(&endpoint).map(Some);
    }
    let beside = |role| members.iter().find(|other| other.role == role).and_then(Member::endpoint);
    let surface = beside(ClusterRole::Surface).unwrap_or_else(|| endpoint.clone());
    let permission = beside(ClusterRole::Permission).unwrap_or_else(|| endpoint.clone());
    Clients::of_roles(&surface, &permission, &endpoint).map(Some)
}

/// Whether the process behind a channel says that it serves.
pub async fn serves(channel: Channel) -> bool {
    let mut health = HealthClient::new(channel);
    let answer = tokio::time::timeout(ONE_LOOK, health.check(HealthCheckRequest::default())).await;
    matches!(answer, Ok(Ok(answer)) if answer.get_ref().status() == ServingStatus::Serving)
}

/// What a process that does not serve says it lacks; empty when it serves or does not answer.
pub async fn lacks(channel: Channel) -> String {
    let mut health = HealthClient::new(channel);
    let answer = tokio::time::timeout(ONE_LOOK, health.check(HealthCheckRequest::default())).await;
    let Ok(Ok(answer)) = answer else { return String::new() };
    answer.metadata().get("toolplane-reason").and_then(|reason| reason.to_str().ok()).unwrap_or_default().to_owned()
}

/// Whether a scheduler has this worker among those that are ready.
pub async fn knows(clients: &Clients, worker: &str) -> bool {
    let request = ListWorkersRequest { state: WorkerState::Ready.into(), ..Default::default() };
    let answer = tokio::time::timeout(ONE_LOOK, clients.invocations().list_workers(request)).await;
    matches!(answer, Ok(Ok(answer)) if answer.get_ref().workers.iter().any(|known| known.worker_id == worker))
}
