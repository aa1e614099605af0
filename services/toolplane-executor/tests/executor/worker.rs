//! The real worker under test, and the calls it is offered.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::OnceCell;
use toolplane_execution::Toolbox;
use toolplane_executor::{ConnectError, ExecutorOptions, ExecutorRole, Schedulers};
use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::{Dispatch, LeaseRef, Offer};
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;
use toolplane_runtime::client::{PeerSettings, connect};
use toolplane_runtime::{Config, Shutdown};

/// A worker on a directory of its own.
pub(crate) struct Worker {
    pub(crate) handle: ExecutorRole,
    pub(crate) shutdown: Shutdown,
    _dir: tempfile::TempDir,
}

/// The tools of this machine, probed once. A machine without the sandbox fails the tests that need it.
pub(crate) async fn toolbox() -> Arc<Toolbox> {
    static TOOLBOX: OnceCell<Arc<Toolbox>> = OnceCell::const_new();
    let probe = async {
        let dir = tempfile::tempdir().unwrap().keep();
        Arc::new(toolplane_executor::toolbox(&config(&dir)).await.unwrap())
    };
    TOOLBOX.get_or_init(|| probe).await.clone()
}

pub(crate) fn config(dir: &Path) -> Config {
    let mut config = Config::default();
    config.server.data_dir = dir.to_owned();
    config.executor.slots = Some(4);
    config
}

pub(crate) fn schedulers(urls: &[&str]) -> Schedulers {
    let urls = urls.iter().map(|url| (*url).to_owned()).collect();
    let dial = |url: &str| connect(url, &PeerSettings::default()).map_err(|error| ConnectError(error.to_string()));
    Schedulers::new(urls, Arc::new(dial))
}

impl Worker {
    pub(crate) async fn start(url: &str) -> Self {
        Self::start_with(url, toolbox().await, |_| {})
    }

    pub(crate) fn start_with(url: &str, toolbox: Arc<Toolbox>, change: impl FnOnce(&mut ExecutorOptions)) -> Self {
        Self::start_among(&[url], toolbox, change)
    }

    pub(crate) fn start_among(urls: &[&str], toolbox: Arc<Toolbox>, change: impl FnOnce(&mut ExecutorOptions)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut options = ExecutorOptions::from_config(&config(dir.path())).unwrap();
        change(&mut options);
        let shutdown = Shutdown::new();
        let handle = ExecutorRole::open(options, toolbox, schedulers(urls), shutdown.clone()).unwrap();
        Self { handle, shutdown, _dir: dir }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shutdown.force();
    }
}

/// A call to be offered.
pub(crate) struct Call(Dispatch);

impl Call {
    pub(crate) fn native(name: &str, input: &str) -> Self {
        Self::of(ExecutionBinding::Native { name: name.to_owned() }, input)
    }

    pub(crate) fn shell(command: &str) -> Self {
        let input = serde_json::json!({ "command": command }).to_string();
        Self::of(ExecutionBinding::Shell { shell: None }, &input)
    }

    fn of(binding: ExecutionBinding, input: &str) -> Self {
        Self(Dispatch {
            tenant: "default".to_owned(),
            tool_id: "tool:test".to_owned(),
            tool_name: "test".to_owned(),
            pool: binding.pool().into_owned(),
            sandboxed: matches!(&*binding.pool(), "shell" | "process"),
            binding: Some((&binding).into()),
            call_input: Some((&JsonPayload::from_checked(input.to_owned())).into()),
            timeout_ms: 60_000,
            supports_cancel: true,
            attempt: 1,
            fence: 7,
            ..Dispatch::default()
        })
    }

    pub(crate) fn change(mut self, change: impl FnOnce(&mut Dispatch)) -> Self {
        change(&mut self.0);
        self
    }

    pub(crate) fn needs_grant(mut self) -> Self {
        self.0.requires_start_grant = true;
        self
    }

    pub(crate) fn exclusive(mut self) -> Self {
        self.0.exclusive_lock = true;
        self
    }

    pub(crate) fn not_cancelable(mut self) -> Self {
        self.0.supports_cancel = false;
        self
    }

    pub(crate) fn in_trace(mut self, traceparent: &str) -> Self {
        self.0.traceparent = traceparent.to_owned();
        self
    }

    pub(crate) fn timeout_ms(mut self, millis: u64) -> Self {
        self.0.timeout_ms = millis;
        self
    }

    /// The offer under a lease named after `name`.
    pub(crate) fn offer(mut self, name: &str) -> (LeaseRef, Command) {
        self.0.invocation_id = format!("inv_{name}");
        let lease = lease(name);
        (lease.clone(), Command::Offer(Offer { lease: Some(lease), dispatch: Some(Box::new(self.0)) }))
    }
}

pub(crate) fn lease(name: &str) -> LeaseRef {
    LeaseRef { invocation_id: format!("inv_{name}"), lease_no: 1, lease_id: format!("lease_{name}") }
}

/// Whether any process of this machine runs with `argument` among its arguments.
pub(crate) fn process_with(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|word| word == argument.as_bytes()))
}

/// Waits until no process has `argument`.
pub(crate) async fn gone(argument: &str) {
    for _ in 0..400 {
        if !process_with(argument) {
            return;
        }
        toolplane_wait::look_again().await;
    }
    panic!("a process with `{argument}` is left");
}

/// Waits until a process has `argument`.
pub(crate) async fn there(argument: &str) {
    for _ in 0..800 {
        if process_with(argument) {
            return;
        }
        toolplane_wait::look_again().await;
    }
    panic!("no process with `{argument}` came");
}
