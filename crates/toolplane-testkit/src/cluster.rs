//! A real cluster, or one role of it: the `toolplane` program as a child process, on a port and a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use toolplane_proto::v1::{ListWorkersRequest, WorkerState};

use crate::clients::Clients;
use crate::problem::Problem;
use crate::process::Process;
use crate::{binary, ports};

/// How long a cluster may take to be ready; slow machines that build at the same time included.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a cluster is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The configuration as TOML, without listener and folder, which the kit chooses.
    pub config: String,
    /// One role; all of them in one process when absent.
    pub role: Option<String>,
    /// Further environment variables, e.g. overrides of the configuration.
    pub environment: Vec<(String, String)>,
    /// Where the cluster keeps everything; a temporary folder that is removed at the end when absent.
    pub folder: Option<PathBuf>,
    /// The port; a free one when absent.
    pub port: Option<u16>,
    /// What its clients show, where it asks: a bearer token or an API key of an operator.
    pub token: Option<String>,
    /// Whether it answers HTTP, too, on a free port.
    pub http: bool,
}

impl Options {
    /// All roles in one process with this configuration.
    pub fn new(config: impl Into<String>) -> Self {
        Self { config: config.into(), ..Self::default() }
    }

    /// The same for a cluster that asks who calls.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The same with the gateway role.
    #[must_use]
    pub fn http(mut self) -> Self {
        self.http = true;
        self
    }

    /// The same with a variable more in the environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }
}

/// A running `toolplane serve`. Dropping it kills the process.
#[derive(Debug)]
pub struct Cluster {
    options: Options,
    port: u16,
    http: Option<u16>,
    folder: PathBuf,
    process: Option<Process>,
    clients: Clients,
    /// Removes the folder when the cluster is dropped.
    _temporary: Option<tempfile::TempDir>,
}

impl Cluster {
    /// Starts a cluster and waits until it is ready.
    pub async fn start(options: Options) -> Result<Self, Problem> {
        let mut cluster = Self::prepare(options)?;
        cluster.start_again().await?;
        Ok(cluster)
    }

    /// Chooses port and folder and writes the configuration, without starting anything.
    pub fn prepare(options: Options) -> Result<Self, Problem> {
        let temporary = match &options.folder {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(Problem::file("a temporary folder"))?),
        };
        let folder = match (&options.folder, &temporary) {
            (Some(folder), _) => folder.clone(),
            (None, Some(temporary)) => temporary.path().to_owned(),
            (None, None) => return Err(Problem::Missing("a folder for the cluster".to_owned())),
        };
        std::fs::create_dir_all(folder.join("data/workspace")).map_err(Problem::file(&folder))?;
        let config = folder.join("toolplane.toml");
        std::fs::write(&config, &options.config).map_err(Problem::file(&config))?;
        let port = options.port.unwrap_or_else(ports::free);
        // A configuration that has the role gets a port of its own, too.
        let configured = ["[gateway]", "[mcp]"].iter().any(|section| options.config.contains(section));
        let http = (options.http || configured).then(ports::free);
        let mut clients = Clients::of(&format!("http://127.0.0.1:{port}"))?;
        if let Some(token) = &options.token {
            clients = clients.with_token(token)?;
        }
        Ok(Self { options, port, http, folder, process: None, clients, _temporary: temporary })
    }

    /// Starts the process again on the same port and folder, and waits until it is ready.
    pub async fn start_again(&mut self) -> Result<(), Problem> {
        self.launch()?;
        self.ready().await
    }

    /// Starts the process without waiting for anything.
    pub fn launch(&mut self) -> Result<(), Problem> {
        let name = self.options.role.as_deref().map_or_else(|| "the cluster".to_owned(), |role| format!("the {role}"));
        let mut command = self.command()?;
        self.process = Some(Process::start(&name, &mut command, &self.log_file())?);
        Ok(())
    }

    /// The command that starts the process.
    pub fn command(&self) -> Result<Command, Problem> {
        let mut command = Command::new(binary::toolplane()?);
        command.current_dir(&self.folder).arg("serve").arg("--config").arg(self.folder.join("toolplane.toml"));
        if let Some(role) = &self.options.role {
            command.args(["--role", role]);
        }
        command
            .env("TOOLPLANE__SERVER__LISTEN", format!("127.0.0.1:{}", self.port))
            .env("TOOLPLANE__SERVER__DATA_DIR", self.data_dir())
            .envs(self.options.environment.iter().map(|(name, value)| (name, value)));
        if let Some(port) = self.http {
            command.env("TOOLPLANE__GATEWAY__LISTEN", format!("127.0.0.1:{port}"));
        }
        Ok(command)
    }

    /// Waits until every service of the process answers and, where it has an executor, a worker is ready.
    pub async fn ready(&mut self) -> Result<(), Problem> {
        let start = Instant::now();
        loop {
            self.running()?.expect_running()?;
            if self.answers().await {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(Problem::TooLate {
                    what: "readiness of the cluster".to_owned(),
                    millis: PATIENCE.as_millis(),
                    said: format!("; its log ends with:\n{}", self.running()?.log_tail()),
                });
            }
            toolplane_wait::look_again().await;
        }
    }

    async fn answers(&self) -> bool {
        let mut health = HealthClient::new(self.clients.channel());
        let serving = health.check(HealthCheckRequest::default()).await;
        if !serving.is_ok_and(|answer| answer.get_ref().status() == ServingStatus::Serving) {
            return false;
        }
        if self.options.role.is_some() {
            return true;
        }
        let request = ListWorkersRequest { state: WorkerState::Ready.into(), ..Default::default() };
        let workers = self.clients.invocations().list_workers(request).await;
        workers.is_ok_and(|answer| !answer.get_ref().workers.is_empty())
    }

    /// SIGKILL: nothing is flushed, nothing is said.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// SIGTERM, and the end; a cluster drains within its own bound.
    pub async fn stop(&mut self) -> Result<ExitStatus, Problem> {
        let status = self.running()?.terminate(PATIENCE).await?;
        self.process = None;
        Ok(status)
    }

    /// The process.
    pub fn running(&mut self) -> Result<&mut Process, Problem> {
        self.process.as_mut().ok_or_else(|| Problem::Missing("the cluster is not running".to_owned()))
    }

    /// Clients of this cluster; they outlive restarts.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// Where it listens.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Where it answers HTTP, as a URL; with [`Options::http`] alone.
    pub fn http(&self) -> Result<String, Problem> {
        let port = self.http.ok_or_else(|| Problem::Missing("this cluster answers no HTTP".to_owned()))?;
        Ok(format!("http://127.0.0.1:{port}"))
    }

    /// Where it keeps its state.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Where its tools work.
    pub fn workspace(&self) -> PathBuf {
        self.data_dir().join("workspace")
    }

    /// Everything it wrote so far, over all starts.
    pub fn log_file(&self) -> PathBuf {
        self.folder.join("toolplane.log")
    }

    /// The folder of configuration, state and log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
