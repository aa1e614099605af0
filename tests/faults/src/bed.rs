//! A cluster of processes to be broken: surface, permission, schedulers, the test's own workers, real executors, a store, and
//! the guarded resource. Whatever is done to a process is written into the history.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolplane_faultpoint::{FAULT_VARIABLE, MUTANT_VARIABLE, Mutant};
use toolplane_proto::v1;
use toolplane_proto::v1::invocation_service_client::InvocationServiceClient;
use toolplane_testkit::clients::{Clients, Transport};
use toolplane_testkit::process::Process;
use toolplane_testkit::proxy::{self, Proxy};
use toolplane_testkit::redis::RedisServer;
use toolplane_testkit::{ClusterRole, Layout, Processes};

use crate::history::{History, Record, Recorder};
use crate::register::Register;
use crate::trouble::Trouble;

mod acts;
mod store;
mod tools;

pub use store::StoreKind;
pub(crate) use tools::{AGAIN, ASK, NOTHING, ONCE, SERVERS, SHELL, server_tool};

use store::Backing;

/// Timers so short that a fault test need not wait: a lease of 1.5 s instead of 15 s, and the rest in proportion.
const CONFIG: &str = r#"
[log]
filter = "warn"

[scheduler]
lease_ms = 1500
offer_ms = 500
heartbeat_ms = 300
tick_ms = 100

[executor]
slots = 4

[[permission.rules]]
behavior = "allow"
tool = "storm.*"
reason = "the storm's own tools"

[[permission.rules]]
behavior = "ask"
tool = "storm.ask"
reason = "somebody has to say yes"
"#;

/// A full lease under the configuration above.
pub const LEASE: Duration = Duration::from_millis(1500);

/// How long a process may take to end after it was asked to.
const DRAIN: Duration = Duration::from_secs(25);

/// What a bed consists of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where schedulers keep calls.
    pub store: StoreKind,
    /// Schedulers; one on the embedded store.
    pub schedulers: usize,
    /// Workers that write ledgers.
    pub workers: usize,
    /// Real executors, which run processes in sandboxes.
    pub executors: usize,
    /// What the schedulers do wrong on purpose.
    pub mutant: Option<Mutant>,
    /// Further environment of every process, e.g. overrides of the configuration.
    pub environment: Vec<(String, String)>,
    /// Fault points can be armed while processes run.
    pub points: bool,
    /// There is something breakable between the processes: see [`Bed::store_link`] and [`Bed::scheduler_link`].
    pub links: bool,
    /// Workers go on with what was taken from them, and report it all the same.
    pub deaf: bool,
    /// Calls a ledger worker runs at once.
    pub slots: u32,
    /// The pool of the real executors.
    pub executor_pool: &'static str,
    /// There are tools of MCP servers, whose command lines hold this text.
    pub servers: Option<String>,
    /// Where everything is kept; a temporary folder when absent.
    pub folder: Option<PathBuf>,
}

impl Plan {
    /// One scheduler on the embedded store, or two on a shared one, and this many workers.
    pub fn on(store: StoreKind, workers: usize) -> Self {
        let schedulers = if store == StoreKind::Embedded { 1 } else { 2 };
        Self {
            store,
            schedulers,
            workers,
            executors: 0,
            mutant: None,
            environment: Vec::new(),
            points: false,
            links: false,
            deaf: false,
            slots: 16,
            executor_pool: "process",
            servers: None,
            folder: None,
        }
    }

    /// The same with a setting changed, e.g. `TOOLPLANE__SCHEDULER__LEASE_MS`.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A running cluster. Dropping it kills everything.
#[derive(Debug)]
pub struct Bed {
    processes: Processes,
    workers: Vec<Seat>,
    /// Between schedulers and all other processes, in the order of the schedulers.
    links: Vec<Proxy>,
    store: Backing,
    register: Register,
    recorder: Recorder,
    surface_id: String,
    temporary: Option<tempfile::TempDir>,
    folder: PathBuf,
    points: bool,
    deaf: bool,
    slots: u32,
    is_mutant: bool,
}

/// One ledger worker.
#[derive(Debug)]
struct Seat {
    name: String,
    process: Option<Process>,
}

impl Bed {
    /// Starts everything and loads the storm's tools into a surface.
    pub async fn start(plan: Plan) -> Result<Self, Trouble> {
        let temporary = match plan.folder {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(Trouble::file(Path::new("a temporary folder")))?),
        };
        let kept = plan.folder.or_else(|| temporary.as_ref().map(|folder| folder.path().to_owned()));
        let folder = kept.unwrap_or_default();
        std::fs::create_dir_all(&folder).map_err(Trouble::file(&folder))?;
        let recorder = Recorder::create(&folder.join("history.jsonl"))?;
        let register = Register::start(recorder.clone()).await?;
        let store = Backing::start(plan.store, plan.links).await?;
        let layout = Layout::new(plan.schedulers, plan.executors, CONFIG);
        let mut layout = store.place(layout).within(folder.join("cluster"));
        for (name, value) in plan.environment {
            layout = layout.env(name, value);
        }
        if let Some(mutant) = plan.mutant {
            layout = layout.env(MUTANT_VARIABLE, mutant.name());
        }
        layout = layout.env("TOOLPLANE__EXECUTOR__POOLS", format!("[\"{}\"]", plan.executor_pool));
        let mut processes = Processes::prepare(layout).await?;
        for name in processes.names() {
            if plan.points {
                processes.set_env(&name, FAULT_VARIABLE, Some(&arms(&folder, &name)))?;
            }
            processes.launch(&name)?;
        }
        processes.ready().await?;
        let seat = |number| Seat { name: format!("worker-{number}"), process: None };
        let workers = (1..=plan.workers).map(seat).collect();
        let surface_id = String::new();
        let mut links = Vec::new();
        for name in processes.names_of(ClusterRole::Scheduler).iter().filter(|_| plan.links) {
            let port = processes.member(name)?.port.unwrap_or_default();
            links.push(Proxy::start((Ipv4Addr::LOCALHOST, port).into()).await?);
        }
        let (points, is_mutant) = (plan.points, plan.mutant.is_some());
        let mut bed = Self {
            processes,
            workers,
            links,
            store,
            register,
            recorder,
            surface_id,
            temporary,
            folder,
            points,
            deaf: plan.deaf,
            slots: plan.slots,
            is_mutant,
        };
        bed.surface_id = tools::load(bed.processes.clients()?, plan.servers.as_deref()).await?;
        for name in bed.worker_names() {
            bed.launch(&name)?;
        }
        for name in bed.worker_names() {
            bed.ready(&name).await?;
        }
        Ok(bed)
    }

    /// Where everything is recorded.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// The surface in which the tools are loaded.
    pub fn surface_id(&self) -> &str {
        &self.surface_id
    }

    /// Clients by way of each scheduler.
    pub fn clients(&self) -> Result<Vec<Clients>, Trouble> {
        let url = |role: &str| Ok::<_, Trouble>(self.processes.member(role)?.endpoint().unwrap_or_default());
        let (surface, permission) = (url("surface")?, url("permission")?);
        let schedulers = self.endpoints()?;
        schedulers.iter().map(|scheduler| Ok(Clients::of_roles(&surface, &permission, scheduler)?)).collect()
    }

    /// Where workers and callers find each scheduler.
    fn endpoints(&self) -> Result<Vec<String>, Trouble> {
        if !self.links.is_empty() {
            return Ok(self.links.iter().map(|link| format!("http://127.0.0.1:{}", link.port())).collect());
        }
        let mut endpoints = Vec::new();
        for name in self.scheduler_names() {
            endpoints.extend(self.processes.member(&name)?.endpoint());
        }
        Ok(endpoints)
    }

    /// Does this to the connections between schedulers and their store.
    pub fn store_link(&self, fault: proxy::Fault) {
        self.store.link(fault);
    }

    /// Does this to the connections of all other processes to one scheduler.
    pub fn scheduler_link(&self, number: u64, fault: proxy::Fault) {
        let count = self.links.len().max(1) as u64;
        if let Some(link) = self.links.get(usize::try_from(number % count).unwrap_or_default()) {
            link.set(fault);
        }
    }

    /// Answers of the store that were swallowed so far.
    pub fn swallowed(&self) -> u64 {
        self.store.swallowed()
    }

    /// The Redis server, where the store is one.
    pub fn redis(&mut self) -> Result<&mut RedisServer, Trouble> {
        self.store.server()
    }

    /// The schedulers' names.
    pub fn scheduler_names(&self) -> Vec<String> {
        self.processes.names_of(ClusterRole::Scheduler)
    }

    /// The names of the workers that write ledgers.
    pub fn worker_names(&self) -> Vec<String> {
        self.workers.iter().map(|seat| seat.name.clone()).collect()
    }

    /// The names of the real executors.
    pub fn executor_names(&self) -> Vec<String> {
        self.processes.names_of(ClusterRole::Executor)
    }

    /// Its schedulers break a promise on purpose.
    pub fn is_mutant(&self) -> bool {
        self.is_mutant
    }

    /// The store is a process that can be killed.
    pub fn has_store_process(&self) -> bool {
        self.store.has_process()
    }

    /// The scheduler a worker is connected to: the one that says so of itself.
    pub async fn scheduler_of(&self, worker: &str) -> Result<String, Trouble> {
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            for name in self.scheduler_names() {
                if holds(self.processes.clients_by(&name)?.invocations(), worker).await == Some(true) {
                    return Ok(name);
                }
            }
            toolplane_wait::look_again().await;
        }
        Err(Trouble::Said(format!("{worker} is connected to no scheduler")))
    }

    /// The folder in which the tools of the real executors work.
    pub fn workspace(&self) -> PathBuf {
        self.processes.workspace()
    }

    /// The number of a process of the cluster, when it runs.
    pub fn pid(&mut self, name: &str) -> Option<u32> {
        self.processes.running(name).ok().map(|process| process.id())
    }

    /// What a process wrote, over all starts.
    pub fn log(&self, name: &str) -> String {
        let own = std::fs::read_to_string(self.folder.join(format!("{name}.log")));
        own.or_else(|_| self.processes.log(name)).unwrap_or_default()
    }

    /// What the workers' tools wrote, over all starts.
    pub fn ledgers(&self) -> Result<History, Trouble> {
        let mut all = History::default();
        for name in self.worker_names() {
            let folder = self.folder.join("ledgers").join(name);
            for entry in std::fs::read_dir(&folder).map_err(Trouble::file(&folder))? {
                let path = entry.map_err(Trouble::file(&folder))?.path();
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    all.add(History::read(&path)?);
                }
            }
        }
        let shell = self.processes.workspace().join(tools::SHELL_LEDGER);
        if shell.exists() {
            all.add(History::read(&shell)?);
        }
        Ok(all)
    }

    /// Leaves history, ledgers, logs and stores where they are, for people to look into; answers with where that is.
    pub fn keep(&mut self) -> &Path {
        if let Some(temporary) = self.temporary.take() {
            let _ = temporary.keep();
        }
        &self.folder
    }

    /// Stops all processes, schedulers in order, and records what is left in their store that must not be.
    pub async fn close(&mut self) -> Result<(), Trouble> {
        for name in self.worker_names() {
            self.kill(&name).await?;
        }
        for name in self.executor_names() {
            self.kill(&name).await?;
        }
        for target in self.scheduler_names() {
            let in_time = self.processes.running(&target)?.terminate(DRAIN).await.is_ok();
            self.kill(&target).await?;
            self.recorder.record(Record::Drained { target, in_time });
        }
        for (index, members) in self.store.leaks(&self.folder.join("cluster")).await? {
            self.recorder.record(Record::Left { index, members });
        }
        Ok(())
    }
}

/// Whether a scheduler has this worker among those that are ready, at any scheduler.
async fn connected(client: InvocationServiceClient<Transport>, worker: &str) -> bool {
    holds(client, worker).await.is_some()
}

/// Whether this scheduler holds the stream of a worker that is ready; nothing when it knows none of that name.
async fn holds(mut client: InvocationServiceClient<Transport>, worker: &str) -> Option<bool> {
    let request = v1::ListWorkersRequest { state: v1::WorkerState::Ready.into(), ..Default::default() };
    let answer = tokio::time::timeout(Duration::from_secs(2), client.list_workers(request)).await;
    let answer = answer.ok()?.ok()?.into_inner();
    let known = answer.workers.into_iter().find(|known| known.worker_id == worker)?;
    Some(known.scheduler == answer.scheduler)
}

/// Says that a process reads its armed fault points from a file.
fn arms(folder: &Path, name: &str) -> String {
    format!("@{}", folder.join(format!("{name}.arms")).display())
}
