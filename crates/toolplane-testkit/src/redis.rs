//! Real Redis servers for tests: found or installed, on their own port and folder, killed, paused and started again.
//!
//! Never the system's Redis: every server listens on a free port of the loopback address and leaves with its test.

mod certificates;
mod install;
mod nodes;

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub use certificates::Certificates;
pub use nodes::{RedisCluster, RedisSentinel, SlotMove};

use crate::ports;
use crate::problem::Problem;
use crate::process::Process;

/// For how long a server is given to answer after its start: it reads its append-only file first.
const START_PATIENCE: Duration = Duration::from_secs(20);
/// How often a start is tried again on another port when another process took the port in between.
const PORT_TRIES: u32 = 5;

/// When the server flushes its append-only file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// Before each answer.
    #[default]
    Always,
    /// Once a second.
    Everysec,
    /// When the system sees fit.
    No,
}

impl Fsync {
    /// The value of `appendfsync`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Everysec => "everysec",
            Self::No => "no",
        }
    }
}

/// How a test wants its server. The default is what we tell people to run: every write flushed, nothing evicted.
#[derive(Clone, Debug)]
pub struct RedisOptions {
    /// Whether there is an append-only file at all.
    pub appendonly: bool,
    /// When it is flushed.
    pub fsync: Fsync,
    /// What happens when memory is full.
    pub maxmemory_policy: String,
    /// A password every client must give, as the user `default`.
    pub password: Option<String>,
    /// Further users, in the words of `ACL SETUSER`: `agent on >secret ~{ns}:* +@all`.
    pub users: Vec<String>,
    /// Serves TLS, and only TLS, with certificates made for this server.
    pub tls: bool,
    /// Further settings: names and values as in a configuration file.
    pub settings: Vec<(String, String)>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            appendonly: true,
            fsync: Fsync::Always,
            maxmemory_policy: "noeviction".to_owned(),
            password: None,
            users: Vec::new(),
            tls: false,
            settings: Vec::new(),
        }
    }
}

/// A running `redis-server`. Dropping it kills the server and removes its folder.
#[derive(Debug)]
pub struct RedisServer {
    options: RedisOptions,
    port: u16,
    folder: TempDir,
    certificates: Option<Certificates>,
    process: Process,
    sentinel: bool,
}

impl RedisServer {
    /// Starts a server and waits until it answers. Installs Redis first when the machine has none.
    pub async fn start(options: RedisOptions) -> Result<Self, Problem> {
        Self::start_as(options, false).await
    }

    async fn start_as(options: RedisOptions, sentinel: bool) -> Result<Self, Problem> {
        tokio::task::spawn_blocking(install::make_sure)
            .await
            .map_err(|error| Problem::Missing(error.to_string()))??;
        let mut tries = 1;
        loop {
            match Self::start_once(&options, sentinel).await {
                Err(Problem::Program { .. }) if tries < PORT_TRIES => tries += 1,
                other => return other,
            }
        }
    }

    async fn start_once(options: &RedisOptions, sentinel: bool) -> Result<Self, Problem> {
        let folder = TempDir::new().map_err(Problem::file(std::env::temp_dir()))?;
        let certificates = options.tls.then(|| Certificates::write(folder.path())).transpose()?;
        let port = ports::free();
        write_configuration(folder.path(), port, options, certificates.as_ref())?;
        let process = spawn(folder.path(), sentinel)?;
        let mut server = Self { options: options.clone(), port, folder, certificates, process, sentinel };
        server.answers().await?;
        Ok(server)
    }

    /// The port it listens on, at `127.0.0.1`.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// `redis://127.0.0.1:<port>`, or `rediss://localhost:<port>` with TLS. Without user and password.
    pub fn url(&self) -> String {
        match self.options.tls {
            true => format!("rediss://localhost:{}", self.port),
            false => format!("redis://127.0.0.1:{}", self.port),
        }
    }

    /// The certificates of a server with TLS.
    pub fn certificates(&self) -> Option<&Certificates> {
        self.certificates.as_ref()
    }

    /// Where its data and its log lie.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Everything the server logged so far.
    pub fn log(&self) -> String {
        self.process.log()
    }

    /// SIGKILL, and waits until the process is gone. Its data stay.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// SIGSTOP: connections stay open and nothing answers.
    pub fn pause(&mut self) -> Result<(), Problem> {
        self.process.pause()
    }

    /// SIGCONT.
    pub fn resume(&mut self) -> Result<(), Problem> {
        self.process.resume()
    }

    /// Starts it again on the same port and data, killing it first when it still runs, and waits until it answers.
    pub async fn restart(&mut self) -> Result<(), Problem> {
        self.process.kill();
        self.process = spawn(self.folder.path(), self.sentinel)?;
        self.answers().await
    }

    /// Sets a configuration value of the running server. It is gone after a restart.
    pub fn config_set(&self, name: &str, value: &str) -> Result<(), Problem> {
        self.command(&["CONFIG", "SET", name, value]).map(drop)
    }

    /// Runs one command with `redis-cli`, as the user `default`, and returns what it printed without the final newline.
    /// An error answer of the server is a [`Problem::Program`].
    pub fn command(&self, words: &[&str]) -> Result<String, Problem> {
        let what = format!("`redis-cli {}`", words.join(" "));
        let mut cli = self.client();
        answer(what, cli.args(words).output())
    }

    /// Runs one command as a person would type it, with bytes in words quoted as `"\x00"`; what it prints is quoted, too.
    pub(super) fn typed(&self, line: &str) -> Result<String, Problem> {
        let what = format!("`redis-cli`: {line}");
        let failed = |error: std::io::Error| Problem::Program { what: what.clone(), said: error.to_string() };
        let mut cli = self.client();
        cli.arg("--no-raw").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = cli.spawn().map_err(failed)?;
        if let Some(mut input) = running.stdin.take() {
            input.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        }
        answer(what.clone(), running.wait_with_output())
    }

    fn client(&self) -> Command {
        let mut cli = Command::new(install::CLIENT);
        cli.args(["-e", "-h", "127.0.0.1", "-p", &self.port.to_string()]);
        if let Some(certificates) = &self.certificates {
            cli.arg("--tls").arg("--cacert").arg(&certificates.ca);
            cli.arg("--cert").arg(&certificates.client_cert).arg("--key").arg(&certificates.client_key);
        }
        if let Some(password) = &self.options.password {
            cli.args(["--no-auth-warning", "-a", password]);
        }
        cli
    }

    async fn answers(&mut self) -> Result<(), Problem> {
        let start = Instant::now();
        loop {
            self.process.expect_running()?;
            let said = match self.command(&["PING"]) {
                Ok(said) if said == "PONG" => return Ok(()),
                Ok(said) => said,
                Err(problem) => problem.to_string(),
            };
            if start.elapsed() > START_PATIENCE {
                return Err(Problem::TooLate {
                    what: "an answer of redis-server".to_owned(),
                    millis: START_PATIENCE.as_millis(),
                    said: format!(": {said}\n{}", self.process.log_tail()),
                });
            }
            toolplane_wait::look_again().await;
        }
    }
}

fn spawn(folder: &Path, sentinel: bool) -> Result<Process, Problem> {
    let mut command = Command::new(install::SERVER);
    command.arg(configuration(folder)).current_dir(folder);
    if sentinel {
        command.arg("--sentinel");
    }
    Process::start("redis-server", &mut command, &folder.join("log"))
}

fn configuration(folder: &Path) -> PathBuf {
    folder.join("redis.conf")
}

fn write_configuration(
    folder: &Path,
    port: u16,
    options: &RedisOptions,
    certificates: Option<&Certificates>,
) -> Result<(), Problem> {
    let mut lines = vec!["bind 127.0.0.1".to_owned(), "daemonize no".to_owned(), format!("dir {}", folder.display())];
    // A sentinel refuses the settings of a data server.
    if !options.settings.iter().any(|(name, _)| name.starts_with("sentinel")) {
        lines.push("save \"\"".to_owned());
        lines.push(format!("appendonly {}", if options.appendonly { "yes" } else { "no" }));
        lines.push(format!("appendfsync {}", options.fsync.as_str()));
        lines.push(format!("maxmemory-policy {}", options.maxmemory_policy));
    }
    match certificates {
        None => lines.push(format!("port {port}")),
        Some(files) => {
            lines.extend(["port 0".to_owned(), format!("tls-port {port}")]);
            lines.push(format!("tls-ca-cert-file {}", files.ca.display()));
            lines.push(format!("tls-cert-file {}", files.server_cert.display()));
            lines.push(format!("tls-key-file {}", files.server_key.display()));
        }
    }
    lines.extend(options.password.iter().map(|password| format!("requirepass {password}")));
    lines.extend(options.users.iter().map(|user| format!("user {user}")));
    lines.extend(options.settings.iter().map(|(name, value)| format!("{name} {value}")));
    let path = configuration(folder);
    std::fs::write(&path, lines.join("\n") + "\n").map_err(Problem::file(path))
}

fn answer(what: String, output: std::io::Result<Output>) -> Result<String, Problem> {
    let output = match output {
        Ok(output) => output,
        Err(error) => return Err(Problem::Program { what, said: error.to_string() }),
    };
    let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    match output.status.success() {
        true => Ok(said),
        false => Err(Problem::Program {
            what,
            said: format!("{said} {}", String::from_utf8_lossy(&output.stderr).trim_end()),
        }),
    }
}

#[cfg(test)]
mod tests;
